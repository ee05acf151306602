// `state migrate`: moves the state to another place. Both places are locked. Until the old one is marked as moved, the
// new one is marked as unfinished, so at no moment can runs open both. A migration that was ended at any step is
// finished by the same command.
import { equal, exits, isAddress, refuse, resultRecord, type State } from '../../model/index.js';
import {
  MovedState,
  type Moved,
  type Session,
  type Snapshot,
  type Store,
} from '../../state/index.js';
import type { Command } from '../context.js';
import { settingsHere } from '../project.js';
import { storeOf } from '../state-location.js';
import { underLock } from '../working-context.js';

export const run: Command = async (context) => {
  const { to } = context.flags;
  if (to === undefined || !isAddress(to))
    return refuse('usage', '--to takes the address of a remote backend.', {
      detail: 'For example: trueup state migrate --to s3://bucket/prefix',
    });
  const settings = await settingsHere(context);
  const old = await storeOf(context, settings);
  const next = await storeOf(context, { ...settings, state: { ...settings.state, url: to } });
  const places: Places = {
    old,
    next,
    here: settings.state?.url ?? context.environment['TRUEUP_STATE'],
  };
  const found = await old.read().catch((error: unknown) => {
    if (error instanceof MovedState && equal(error.moved, { to })) return 'moved' as const;
    throw error;
  });
  if (found === 'moved') {
    const before = `${old.location} moved to ${next.location} before.`;
    if (!context.flags.dryRun) await finish({ old, next });
    context.out.write(`${before} Name it in the settings: settings.state: ${to}\n`);
    return exits.done;
  }
  if (!found)
    return refuse('not-managed', 'There is no state yet: nothing has to be moved.', {
      detail: `Name the new place in the settings: settings.state: ${to}`,
    });
  const { state, pending } = found;
  const objects = Object.keys(state.resources).length;
  const what = `serial ${state.serial}, ${objects} objects, ${pending.length} requests with an unknown outcome`;
  if (context.flags.dryRun) {
    await markOfFree(places);
    context.out.write(`${old.location} would move to ${next.location}: ${what}.\n`);
    return exits.done;
  }
  await underLock(old, 'state migrate', { cloud: state }, (session) => move(session, places, to));
  context.out.write(
    `${old.location} moved to ${next.location}: ${what}.\nName it in the settings: settings.state: ${to}\n`,
  );
  return exits.done;
};

interface Places {
  readonly old: Store;
  readonly next: Store;
  /** The old place, as the settings or TRUEUP_STATE name it. */
  readonly here: string | undefined;
}

/** @param to the new place, as typed */
async function move(session: Session, places: Places, to: string): Promise<void> {
  const { old, next } = places;
  const from: Moved = { from: old.location };
  const snapshot = session.snapshot.unfinished ? await session.compact() : session.snapshot;
  const mark = await markOfFree(places);
  const target = await next.open('state migrate', snapshot.state.target, mark);
  try {
    await target.mark(from);
    await write(target, snapshot);
    await verify(next, snapshot.state);
    await session.mark({ to });
    await target.mark(null);
  } finally {
    await target.release();
  }
}

/** The mark of a new place that is free, left by an earlier attempt or since the state moved here from there. @throws Refusal where it holds another state */
async function markOfFree({ old, next, here }: Places): Promise<Moved> {
  const marks: readonly Moved[] = [
    { from: old.location },
    ...(here === undefined ? [] : [{ to: here }]),
  ];
  try {
    if (!(await next.read())) return marks[0]!;
  } catch (error) {
    const mark = error instanceof MovedState && marks.find((one) => equal(one, error.moved));
    if (!mark) throw error;
    return mark;
  }
  return refuse('other-lineage', `${next.location} holds a state already.`, {
    detail: 'Name another place or another project: settings.state.project',
  });
}

/** An earlier attempt may have left requests there that are settled in the old place by now. */
async function write(target: Session, { state, pending }: Snapshot): Promise<void> {
  const left = target.snapshot.pending;
  const missing = pending.filter(({ op }) => !left.some((one) => one.op === op));
  const settled = left.filter(({ op }) => !pending.some((one) => one.op === op));
  const dropped = settled.map(({ op, address }) => resultRecord(address, 'not_sent', { op }));
  if (missing.length + dropped.length > 0) await target.record(...missing, ...dropped);
  await target.compact({ finish: () => Promise.resolve(state), always: true });
}

async function verify(next: Store, state: State): Promise<void> {
  const [written] = await next.history();
  const found = await written?.read();
  if (!found || found.lineage !== state.lineage || !equal(found.resources, state.resources))
    refuse('migration-differs', `What ${next.location} shows is not what was written.`, {
      detail: 'The old place still holds the state. Check the new one: trueup doctor',
    });
}

/** The old place is marked already: only the new one may still be. */
async function finish({ old, next }: Pick<Places, 'old' | 'next'>): Promise<void> {
  const from: Moved = { from: old.location };
  const [newest] = await next.history();
  if (!newest) return;
  const { target } = await newest.read();
  const session = await next.open('state migrate', target, from);
  try {
    await session.mark(null);
  } finally {
    await session.release();
  }
}
