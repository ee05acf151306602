// An emulator whose data outlive the process: each write is on disk before its response. The file holds the whole
// estate, followed by one line for the changes of each moment; after a normal end it holds only the estate.
import { dirname } from 'node:path';
import type { Emulator, EmulatorOptions, EstateStep } from '../emulator/index.js';
import { wireText } from '../model/index.js';
import type { Appender, Files } from '../platform/index.js';
import { ifThere } from '../state/disk-errors.js';
import type { Context } from './context.js';

export interface Emulated extends Pick<
  EmulatorOptions,
  'faults' | 'behaviours' | 'deliveries' | 'credentials' | 'like'
> {
  /** File that keeps the estate; absent: it ends with the process. */
  readonly data?: string | undefined;
  /** File with the estate to begin with, where `data` holds none yet. */
  readonly seed?: string | undefined;
}

/** @throws Refusal where a file holds no estate. */
export async function durable(
  context: Pick<Context, 'kinds' | 'collections' | 'clock' | 'random' | 'files'>,
  { data, seed, ...options }: Emulated,
): Promise<Emulator> {
  const { createEmulator, parseEstate } = await import('../emulator/index.js');
  const { kinds, collections, clock, random, files } = context;
  const kept = data === undefined ? undefined : await ifThere(files.read(data));
  const [text, file] =
    kept !== undefined || seed === undefined ? [kept, data] : [await files.read(seed), seed];
  const emulator = createEmulator({
    kinds,
    collections,
    clock,
    random,
    ...options,
    ...(text !== undefined && { estate: parseEstate(text, file!) }),
  });
  if (data === undefined) return emulator;
  const { save, close } = dataFile(files, data, emulator);
  return {
    ...emulator,
    async fetch(request) {
      try {
        return await emulator.fetch(request);
      } finally {
        await save();
      }
    },
    async settled() {
      await emulator.settled();
      await close();
    },
  };
}

const MODE = 0o600;
/** The estate is written whole again once the lines are longer than it; but not below the first of these, and always above the second. */
const [LEAST_LINES, MOST_LINES] = [1024 * 1024, 32 * 1024 * 1024];

interface Written {
  appender?: Appender;
  /** Of the file, as it was left. */
  stamp: string | undefined;
  readonly whole: number;
  lines: number;
}

/** `save` resolves once every change made so far is on disk; changes made together share one writing. `close` leaves the estate alone behind. */
function dataFile(
  files: Files,
  path: string,
  emulator: Emulator,
): { save(): Promise<void>; close(): Promise<void> } {
  let pending: EstateStep[] = [];
  // True after a change that no write has started to save.
  let dirty = false;
  // Absent: the file is not ours, not there, or of unknown state after a failed write, and has to be written whole.
  let written: Written | undefined;
  let writing: Promise<void> | undefined;

  const taken = (): readonly EstateStep[] => {
    const steps = pending;
    [pending, dirty] = [[], false];
    return steps;
  };
  // The folder is made by the first change: who only looks leaves nothing behind.
  const writeWhole = async (): Promise<void> => {
    taken();
    const text = `${wireText(emulator.snapshot())}\n`;
    await written?.appender?.close();
    written = undefined;
    await files.makeFolder(dirname(path));
    await files.replace(path, text, MODE);
    written = { stamp: await files.stamp(path), whole: text.length, lines: 0 };
  };
  const writeLine = async (one: Written): Promise<void> => {
    one.appender ??= await files.append(path, MODE);
    const text = `${wireText(taken())}\n`;
    await one.appender.write(text);
    one.stamp = await files.stamp(path);
    one.lines += text.length;
  };
  const write = async (): Promise<void> => {
    const short =
      written && written.lines <= Math.min(Math.max(written.whole, LEAST_LINES), MOST_LINES);
    return written && short && (await files.stamp(path)) === written.stamp
      ? writeLine(written)
      : writeWhole();
  };
  const begin = async (): Promise<void> => {
    try {
      await write();
    } catch (error) {
      dirty = true;
      await written?.appender?.close().catch(() => undefined);
      written = undefined;
      throw error;
    } finally {
      writing = undefined;
    }
  };
  const save = async (): Promise<void> => {
    while (dirty || writing) await (writing ??= begin());
  };
  emulator.onChange((steps) => {
    dirty = true;
    pending.push(...steps);
    // Changes beside requests are saved, too. Where that fails, the next request says so.
    queueMicrotask(() => void save().catch(() => undefined));
  });
  return {
    save,
    async close() {
      await save();
      if (written && written.lines > 0) await writeWhole();
      await written?.appender?.close();
      written = undefined;
    },
  };
}
