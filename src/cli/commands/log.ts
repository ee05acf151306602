// `trueup log`: the runs that changed the state, as the state records them. What only the backend kept of earlier states
// is listed with what is known of it. No request is sent to the cloud.
import { defined, exits, type RecordedRun, type RunAuthor } from '../../model/index.js';
import { guard, visible } from '../../report/index.js';
import { jsonText } from '../../report/json-output.js';
import { plural } from '../../report/words.js';
import type { KeptState } from '../../state/index.js';
import { typed } from '../commands-to-type.js';
import { wholeNumber, type Command } from '../context.js';
import { storeHere } from './state.js';

const MOST = 1_000_000;

/** A recorded run; of a state that no run of this version wrote, as much as is known. */
type LoggedRun = Pick<RecordedRun, 'serial' | 'objects'> & Partial<RecordedRun>;

export const run: Command = async (context) => {
  const { flags, out, err, masking, said } = context;
  const limit = flags.limit === undefined ? MOST : wholeNumber('--limit', flags.limit, 1, MOST);
  const store = await storeHere(context);
  const snapshot = await store.read();
  const recorded = snapshot?.state.runs ?? [];
  const runs = masking.said(logged(recorded, await store.history()).slice(0, limit));
  if (flags.format === 'json') out.write(jsonText(runs));
  else if (runs.length > 0) out.write(runs.map(entry).join(''));
  if (snapshot?.unfinished)
    err.write(
      `A run did not come to its end, and is not listed yet. The next apply or destroy settles what it sent. To see what is left to change: ${typed('trueup plan', said)}\n`,
    );
  else if (runs.length === 0)
    err.write(
      `No run has changed the state yet. To make the first one: ${typed('trueup apply', said)}\n`,
    );
  return exits.done;
};

/** The newest first. */
function logged(
  recorded: readonly RecordedRun[],
  kept: readonly KeptState[],
): readonly LoggedRun[] {
  const known = new Set(recorded.map(({ serial }) => serial));
  const others = kept
    .filter(({ serial }) => !known.has(serial))
    .map(({ serial, objects, at, operation, host }) => ({
      serial,
      objects,
      ...defined({ at, operation, host }),
    }));
  return [...recorded, ...others].toSorted((a, b) => b.serial - a.serial);
}

/** Two lines, of which the first is as in `4  2026-07-01T12:00:00.000Z  apply  2 created, 1 updated, 0 deleted; 12 objects`. */
function entry(one: LoggedRun): string {
  const { serial, at = 'at an unknown time', operation = 'unknown operation' } = one;
  const first = [serial, at, operation, counts(one)].join('  ');
  const digest = one.digest === undefined ? [] : [`declarations ${one.digest.slice(0, 12)}`];
  const resumed = one.resumed ? ['with writes of an interrupted run'] : [];
  const second = [`by ${author(one)}`, ...digest, ...resumed].join('; ');
  return [first, `    ${second}`].map((line) => `${guard(visible(line))}\n`).join('');
}

function counts({ created, updated, deleted, ...run }: LoggedRun): string {
  const { adopted = 0, renamed = 0, forgotten = 0, failed = 0, skipped = 0, unknown = 0 } = run;
  const { objects } = run;
  const others = Object.entries({ adopted, renamed, forgotten, failed, skipped, unknown })
    .filter(([, number]) => number > 0)
    .map(([word, number]) => `, ${number} ${word}`);
  const writes =
    created === undefined
      ? []
      : [`${created} created, ${updated} updated, ${deleted} deleted${others.join('')}`];
  return [...writes, `${plural(objects, 'object')} in the state`].join('; ');
}

function author({ user, host, url }: Partial<RunAuthor>): string {
  const who = [user ?? 'unknown', ...(host === undefined ? [] : [host])].join('@');
  return url === undefined ? who : `${who} in ${url}`;
}
