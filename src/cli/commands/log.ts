// `trueup log`: the runs that changed the state, as the state records them. What only the backend kept of earlier states
// is listed with what is known of it. No request is sent to the cloud.
import { defined, exits, type RecordedRun, type RunAuthor } from '../../model/index.js';
import { jsonText } from '../../report/json-output.js';
import { BETWEEN_PARTS, flow, type Lines } from '../../report/layout.js';
import { screenOf, type Screen } from '../../report/style.js';
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
  else if (runs.length > 0) {
    const screen = screenOf(out.style);
    out.write([...runs.flatMap((one) => [...entry(one, screen)]), ''].join('\n'));
  }
  if (snapshot?.unfinished)
    err.write(
      `The outcome of a run is not known yet, so the run is not listed. The next apply or destroy finds it out. To see what is left to change: ${typed('trueup plan', said)}\n`,
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

/** As in `4  2026-07-01T12:00:00Z  apply  2 created, 1 updated, 0 deleted`, and below it the rest. */
function* entry(one: LoggedRun, screen: Screen): Lines {
  const { serial, at = 'at an unknown time', operation = 'unknown operation' } = one;
  const first = [serial, at.replace(/\.\d+(?=Z$)/, ''), operation, ...counts(one)];
  const digest = one.digest === undefined ? [] : [`declarations ${one.digest.slice(0, 12)}`];
  const resumed = one.resumed ? ['with writes of an interrupted run'] : [];
  const objects = `${plural(one.objects, 'object')} in the state`;
  const second = [objects, `by ${author(one)}`, ...digest, ...resumed].join('; ');
  yield* flow(first.join('  '), screen, { hang: 4, breaks: BETWEEN_PARTS });
  yield* flow(second, screen, { lead: '    ', breaks: BETWEEN_PARTS });
}

/** In the words and in the order of an apply. */
function counts({ created, updated = 0, deleted = 0, ...run }: LoggedRun): readonly string[] {
  if (created === undefined) return [];
  const { adopted = 0, renamed = 0, forgotten = 0, failed = 0, skipped = 0, unknown = 0 } = run;
  const some = (numbers: Readonly<Record<string, number>>): readonly string[] =>
    Object.entries(numbers).flatMap(([word, number]) => (number > 0 ? `${number} ${word}` : []));
  const done = [
    `${created} created`,
    ...some({ adopted }),
    `${updated} updated`,
    `${deleted} deleted`,
    ...some({ forgotten, renamed }),
  ];
  const open = some({ failed, skipped, unknown });
  return [
    [done, open]
      .filter((all) => all.length > 0)
      .map((all) => all.join(', '))
      .join('; '),
  ];
}

function author({ user, host, url }: Partial<RunAuthor>): string {
  const who = [user ?? 'unknown', ...(host === undefined ? [] : [host])].join('@');
  return url === undefined ? who : `${who} in ${url}`;
}
