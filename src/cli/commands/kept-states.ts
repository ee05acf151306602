// The commands for whole states: `state history`, `rollback`, `pull` and `push`. No request is sent to the cloud.
import { resolve } from 'node:path';
import { defined, exits, refuse, pathWord, type State } from '../../model/index.js';
import type { Session, Snapshot, Store } from '../../state/index.js';
import { typed } from '../commands-to-type.js';
import { wholeNumber, type Command } from '../context.js';
import { table } from '../tables.js';
import { version } from '../version.js';
import { underLock } from '../working-context.js';
import { current, storeHere } from './state.js';

/** The highest serial that can be typed. */
const MOST = 999_999_999;

/** The states that the store holds, one line each. */
export const history: Command = async (context) => {
  const store = await storeHere(context);
  const kept = await store.history();
  // A state that cannot be read is no reason to hide the earlier ones.
  const unread: unknown[] = [];
  const newest = await store.read().catch((error: unknown) => void unread.push(error));
  const recorded = new Map((newest?.state.runs ?? []).toReversed().map((one) => [one.serial, one]));
  if (kept.length > 0)
    context.out.write(
      table(
        ['serial', 'written', 'by', 'on', 'objects'],
        kept.map((one) => {
          const { serial, objects } = one;
          const { at = '', operation = '', host = '' } = { ...recorded.get(serial), ...one };
          return [String(serial), at, operation, host, String(objects)];
        }),
      ),
    );
  if (unread.length > 0) throw unread[0];
  if (kept.length === 0) context.err.write('There is no state yet.\n');
  return exits.done;
};

/** Writes the objects of an earlier state under a new serial. What counts against limits stays. */
export const rollback: Command = async (context, [asked]) => {
  const store = await storeHere(context);
  if (context.flags.accept) {
    if (asked !== undefined) refuse('usage', 'Type either a serial or --accept.');
    const accepted = await store.accept?.();
    if (accepted === undefined)
      return refuse(
        'not-managed',
        'There is no state in a remote place: nothing is to be accepted.',
      );
    context.out.write(`The state with serial ${accepted} is accepted.\n`);
    return exits.done;
  }
  if (asked === undefined)
    return refuse('usage', 'Type the serial of the state to restore.', {
      detail: 'Those that are kept: trueup state history',
    });
  const serial = wholeNumber('SERIAL', asked, 0, MOST);
  const kept = await store.history();
  const found = kept.find((one) => one.serial === serial);
  if (!found)
    return refuse('unknown-serial', `There is no state with serial ${serial}.`, {
      detail: 'Those that are kept: trueup state history',
    });
  const earlier = await found.read();
  const snapshot = await rewrite(store, `state rollback ${serial}`, ({ state }) => {
    if (state.lineage !== earlier.lineage)
      refuse('other-lineage', `The state with serial ${serial} belongs to another state.`);
    return { ...state, resources: earlier.resources };
  });
  context.out.write(
    `The state has serial ${snapshot.state.serial} now, with the objects of serial ${serial}. Live objects are not changed. To see the differences: ${typed('trueup plan', context.said)}\n`,
  );
  return exits.done;
};

/** Prints the state. What an unfinished run recorded is in it; its open requests are not. */
export const pull: Command = async (context) => {
  const { encodeState } = await import('../../state/index.js');
  const { state, pending } = await current(await storeHere(context));
  context.out.write(encodeState(state));
  if (pending.length > 0)
    context.err.write(
      `Not in it: requests with an unknown outcome: ${pending.length}. The next apply or destroy settles them.\n`,
    );
  return exits.done;
};

/** Replaces the state of a known serial. What counts against limits, and the runs, stay. */
export const push: Command = async (context, [path = '']) => {
  const { readStateFile } = await import('../../state/index.js');
  const { files, cwd } = context;
  const pushed = await readStateFile(resolve(cwd, path), { files, version });
  const store = await storeHere(context);
  const before = (await store.read())?.state;
  const { serial: given } = context.flags;
  const replaced = given === undefined ? pushed.serial : wholeNumber('--serial', given, 0, MOST);
  const snapshot = await rewrite(
    store,
    'state push',
    ({ state, pending }) => {
      if (before && state.lineage !== pushed.lineage)
        refuse('other-lineage', `${path} belongs to another state: the lineages differ.`, {
          detail: 'Name the right place: settings.state, TRUEUP_STATE, --env',
        });
      if (before && state.serial !== replaced)
        refuse(
          'other-serial',
          `The state has serial ${state.serial}, and not ${replaced}, ${given === undefined ? `as ${path}` : 'as --serial says'}: it was written since.`,
          {
            detail: `Pull it again. To replace it all the same: trueup state push ${pathWord(path)} --serial ${state.serial}`,
          },
        );
      if (pending.length > 0)
        refuse('unfinished', 'An earlier run left requests with an unknown outcome.', {
          detail:
            'The next apply or destroy settles them. To see what is left to change: trueup plan',
        });
      if (!before) return pushed;
      const { spent, recent, runs } = state;
      const { recent: _, runs: __, ...objects } = pushed;
      return { ...objects, spent, ...defined({ recent, runs }) };
    },
    pushed.target,
  );
  context.out.write(`The state has serial ${snapshot.state.serial} now.\n`);
  return exits.done;
};

async function rewrite(
  store: Store,
  operation: string,
  change: (snapshot: Snapshot) => State,
  target?: string,
): Promise<Snapshot> {
  const cloud = { target: target ?? (await current(store)).state.target };
  return underLock(store, operation, { cloud }, (session: Session) => {
    const changed = change(session.snapshot);
    return session.compact({ finish: () => Promise.resolve(changed), always: true });
  });
}
