// The queue of the records of a run: one write after the other; records that wait at the same time are written together.
import type { RunRecord } from '../model/index.js';
import { encodeRecord } from './journal-text.js';
import type { Session } from './store-port.js';

export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Everything that writes goes one after the other, failures or not. @param around gives errors their messages */
export function queue(around: InTurn): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(() => around(work));
    last = done.catch(() => undefined);
    return done;
  };
}

/** Records that wait for their turn together are written together, and share one write. */
export function grouped(
  inTurn: InTurn,
  known: readonly RunRecord[],
  append: (records: readonly RunRecord[], lines: string) => Promise<void>,
): Session['record'] {
  const intents = new Map(
    known.flatMap((record) => (record.type === 'intent' ? [[record.op, record] as const] : [])),
  );
  let waiting:
    | { readonly records: RunRecord[]; readonly lines: string[]; readonly written: Promise<void> }
    | undefined;
  const start = () => {
    const [records, lines]: [RunRecord[], string[]] = [[], []];
    const written = inTurn(() => {
      waiting = undefined;
      return append(records, lines.join(''));
    });
    return { records, lines, written };
  };
  return async (...added) => {
    for (const record of added) {
      if (record.type !== 'intent') continue;
      const before = intents.get(record.op);
      if (before && !(before.address === record.address && before.at < record.at))
        throw new TypeError(`the journal already holds an intent ${record.op}`);
      intents.set(record.op, record);
    }
    const lines = added.map(encodeRecord);
    waiting ??= start();
    waiting.records.push(...added);
    waiting.lines.push(...lines);
    await waiting.written;
  };
}
