// An emulator whose data outlive the process: no write is answered before it is on disk, as a cloud would have it.
import { dirname } from 'node:path';
import type { Emulator, EmulatorOptions } from '../emulator/index.js';
import { wireText } from '../model/index.js';
import type { Context } from './context.js';

export interface Emulated extends Pick<EmulatorOptions, 'faults' | 'behaviours'> {
  /** File that keeps the estate; absent: it ends with the process. */
  readonly data?: string | undefined;
  /** File with the estate to begin with, where `data` holds none yet. */
  readonly seed?: string | undefined;
}

/** @throws Refusal where a file holds no estate. */
export async function durable(context: Context, { data, seed, ...options }: Emulated): Promise<Emulator> {
  const { createEmulator, parseEstate } = await import('../emulator/index.js');
  const { kinds, collections, clock, random, files } = context;
  const kept = data === undefined ? undefined : await files.read(data).catch(absent);
  const [text, file] = kept !== undefined || seed === undefined ? [kept, data] : [await files.read(seed), seed];
  const emulator = createEmulator({ kinds, collections, clock, random, ...options, ...(text !== undefined && { estate: parseEstate(text, file as string) }) });
  if (data === undefined) return emulator;
  // The folder is made by the first change: who only looks leaves nothing behind.
  const save = saver(emulator, async () => {
    await files.makeFolder(dirname(data));
    await files.replace(data, `${wireText(emulator.snapshot())}\n`, 0o600);
  });
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
      await save();
    },
  };
}

const absent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};

/** Resolves once every change made so far is on disk; changes made together share one writing. */
function saver(emulator: Emulator, write: () => Promise<void>): () => Promise<void> {
  let dirty = false;
  let writing: Promise<void> | undefined;
  emulator.onChange(() => (dirty = true));
  const begin = (): Promise<void> => {
    dirty = false;
    return write().finally(() => (writing = undefined));
  };
  return async () => {
    while (dirty || writing) await (writing ??= begin());
  };
}
