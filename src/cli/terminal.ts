// stdout is for the output of a command, stderr for all messages. Colour, width and animation depend on what each
// stream is connected to. If a reader closes its end (`| head`), the run continues without writing to it.
import { fstatSync, statSync, type Stats } from 'node:fs';
import { devNull } from 'node:os';
import type { Environment } from '../declarations/environment.js';
import type { Style } from '../report/index.js';

export type Out = Readonly<ReturnType<typeof outlet>>;

const NARROWEST = 40;
const USUAL = 80;
const USUAL_ROWS = 24;
const ends = ['drain', 'error', 'close'] as const;
const CLEAR = '\r\u001b[2K';

export function outlet(stream: NodeJS.WriteStream, environment: Environment) {
  // A stream that is no terminal has no isTTY at all, whatever its type says.
  const isTTY = Object.is(stream.isTTY, true);
  const terminal = isTTY && environment['TERM'] !== 'dumb' && !environment['CI'];
  let failure: NodeJS.ErrnoException | undefined;
  /** Lines of the status. */
  let shown = 0;
  stream.on('error', (error) => void (failure ??= error));
  const send = (text: string): boolean => failure !== undefined || stream.write(text);
  const available = (): Promise<void> =>
    new Promise((resolve) => {
      const over = (): void => {
        for (const event of ends) stream.off(event, over);
        resolve();
      };
      for (const event of ends) stream.on(event, over);
    });
  /** Shows lines, none wider than the terminal, until the next write or status; undefined clears them. Nothing where not animated. */
  const status = (lines: string | undefined): void => {
    if (!terminal || (lines === undefined && shown === 0)) return;
    const clear = shown > 1 ? `\r\u001b[${shown - 1}A\u001b[J` : CLEAR;
    shown = lines === undefined ? 0 : lines.split('\n').length;
    send(clear + (lines ?? ''));
  };
  return {
    style: {
      color: terminal && !environment['NO_COLOR'],
      width: isTTY ? Math.max(NARROWEST, stream.columns || USUAL) : Infinity,
    } satisfies Style,
    /** Lines of the terminal. */
    rows: (isTTY && stream.rows) || USUAL_ROWS,
    /** True for any terminal. */
    terminal: isTTY,
    /** True if lines may be overwritten. */
    animated: terminal,
    write(text: string) {
      status(undefined);
      send(text);
    },
    /** Writes, and resolves once what reads has kept up: whether anybody still reads. */
    async feed(text: string) {
      status(undefined);
      if (!send(text)) await available();
      return failure === undefined;
    },
    status,
    /** Resolves once everything is handed over; rejects where that failed for another reason than a reader gone. */
    async drained() {
      if (!failure) await new Promise<void>((resolve) => stream.write('', () => resolve()));
      if (failure && failure.code !== 'EPIPE')
        throw Object.assign(failure, {
          path: 'The output',
          problem: `could not be written (${failure.code})`,
        });
    },
  };
}

interface Descriptor {
  readonly isTTY?: boolean;
  readonly fd: number;
}

/** Whether nothing is read on stderr that is not read on stdout as well: both go to one terminal, file or pipe, or stderr is closed or thrown away. */
export function isOneStream(stdout: Descriptor, stderr: Descriptor): boolean {
  if ([stdout, stderr].every(({ isTTY }) => Object.is(isTTY, true))) return true;
  try {
    const [out, err] = [fstatSync(stdout.fd), fstatSync(stderr.fd)];
    return (out.ino !== 0 && out.dev === err.dev && out.ino === err.ino) || isNullDevice(err);
  } catch {
    return false;
  }
}

/** Node.js opens it where a stream was closed before the start. */
const isNullDevice = (stream: Stats): boolean => {
  const device = statSync(devNull, { throwIfNoEntry: false });
  return stream.isCharacterDevice() && stream.rdev === device?.rdev;
};

/** For a run whose results are not printed, such as that of one tenant of a fleet. @param status takes its progress line */
export const silentOutlet = (status?: Out['status']): Out => ({
  style: { color: false, width: Infinity },
  rows: USUAL_ROWS,
  terminal: false,
  animated: status !== undefined,
  write: () => undefined,
  feed: () => Promise.resolve(true),
  status: status ?? (() => undefined),
  drained: () => Promise.resolve(),
});

/** All of standard input. */
export async function readAll(stdin: NodeJS.ReadStream, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    chunks.push(chunk);
    if (size > limit) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** One line typed by a person; empty where the input ends or the run is interrupted. */
export async function ask(
  stdin: NodeJS.ReadStream,
  stderr: NodeJS.WriteStream,
  question: string,
  signal: AbortSignal,
): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  // The terminal itself edits the line and turns Ctrl-C into a signal, as it does everywhere else in a run.
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(question, { signal }), closed]);
  } catch {
    return '';
  } finally {
    lines.close();
  }
}
