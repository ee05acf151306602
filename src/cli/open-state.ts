// The state in front of the commands that care for it. Looking takes no lock; changing takes it like any run.
import { didYouMean, refuse, type Entry, type Result, type State } from '../model/index.js';
import type { Session, Snapshot, Store } from '../state/index.js';
import type { Context } from './context.js';
import { storeOf } from './state-location.js';
import { settingsHere } from './project.js';

export const storeHere = async (context: Context): Promise<Store> =>
  storeOf(context, await settingsHere(context));

export async function readSnapshot(context: Context): Promise<Partial<Snapshot>> {
  return (await (await storeHere(context)).read()) ?? {};
}

/** @throws Refusal where nothing is bound to the address. */
export function entryOf(state: State | undefined, address: string): Entry {
  const { resources = {} } = state ?? {};
  const entry = Object.hasOwn(resources, address) ? resources[address] : undefined;
  return (
    entry ??
    refuse(
      'not-managed',
      `${address} is not in the state.${didYouMean(address, Object.keys(resources))}`,
      { detail: 'What is there: trueup state list' },
    )
  );
}

/** Records what `results` makes of the state, under the lock. */
export async function rewrite(
  context: Context,
  operation: string,
  results: (snapshot: Snapshot) => readonly Result[],
): Promise<void> {
  const store = await storeHere(context);
  const before = await store.read();
  if (!before)
    return refuse('not-managed', 'There is no state yet.', {
      detail: `It would be at ${store.location}.`,
    });
  const { target } = before.state;
  await underLock(store, operation, { cloud: { target } }, async (session) => {
    await session.record(...results(session.snapshot));
    await session.compact();
  });
}

/** Runs `work` while no other run may write. */
export async function underLock<T>(
  store: Store,
  operation: string,
  { cloud }: { readonly cloud: { readonly target: string } },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await store.open(operation, cloud.target);
  try {
    return await work(session);
  } finally {
    await session.release();
  }
}
