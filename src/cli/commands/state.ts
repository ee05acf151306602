// The commands for the state: `state list`, `show`, `mv` and `rm`, and `unlock`. Reading takes no lock; changing takes
// it like any run. No request is sent.
import {
  canonicalAddress,
  compareText,
  defined,
  didYouMeanAddress,
  exits,
  firstNamed,
  own,
  refuse,
  resultRecord,
  shellWord,
  sorted,
  tryAddress,
  warning,
  Refusal,
  type Entry,
  type Result,
  type State,
} from '../../model/index.js';
import { columns, guard, visible } from '../../report/index.js';
import type { Snapshot, Store } from '../../state/index.js';
import type { Command, Context } from '../context.js';
import { chosen, projectToPlan, settingsHere, wholeProject } from '../project.js';
import { storeOf } from '../state-location.js';
import { table } from '../tables.js';
import { requestOf, underLock } from '../working-context.js';

/** Members of a `for_each` that a message names at most. */
const FEW = 5;

/** The managed objects, one line each. */
export const list: Command = async (context) => {
  const { out, err } = context;
  const rows = Object.entries((await resourcesHere(context)) ?? {})
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([address, { id, file }]) => [address, id, file]);
  if (rows.length === 0) err.write('Nothing is managed here.\n');
  else {
    const lines = table(['address', 'id', 'declared in'], rows);
    const isWide = lines.split('\n').some((line) => columns(line) > out.style.width);
    out.write(isWide ? rows.map(inTwoLines).join('') : lines);
  }
  return exits.done;
};

/** Where a terminal is too narrow for a table: an address and an id are copied whole. */
const inTwoLines = ([address = '', ...rest]: readonly string[]): string =>
  [address, `    ${rest.join('  ')}`].map((line) => `${guard(visible(line))}\n`).join('');

/** The entry of one address as JSON. */
export const show: Command = async (context, [given = '']) => {
  const address = canonicalAddress(given);
  const entry = entryOf(await resourcesHere(context), address);
  const shown = sorted(context.masking.said({ address, ...entry }));
  context.out.write(`${JSON.stringify(shown, null, 2)}\n`);
  return exits.done;
};

/** Gives a managed object another address, and everything that depended on it with it. */
export const mv: Command = async (context, args) => {
  const [from = '', to = ''] = args.map(canonicalAddress);
  const state = await rewrite(context, 'state mv', ({ state }) => {
    const entry = entryOf(state.resources, from);
    if (from === to) refuse('usage', `Both addresses are ${from}: there is nothing to move.`);
    if (tryAddress(to)?.kind !== entry.kind)
      refuse('usage', `${to} is not an address of ${entry.kind}.`, {
        detail: `For example: trueup state mv ${shellWord(from)} ${entry.kind}.another-name`,
      });
    if (state.resources[to])
      refuse('bound', `${to} is bound to ${state.resources[to].id} already.`, {
        detail: `Forget it first: trueup state rm ${shellWord(to)}`,
      });
    const result = (address: string, entry: Entry | null): Result =>
      resultRecord(address, 'applied', { entry });
    const dependents = Object.entries(state.resources).filter(
      ([address, one]) => address !== from && one.depends_on.includes(from),
    );
    const moved = dependents.map(([address, one]) => {
      const depends_on = one.depends_on.map((name) => (name === from ? to : name));
      return result(address, { ...one, depends_on });
    });
    return [result(to, entry), result(from, null), ...moved];
  });
  context.out.write(`${from} is ${to} now.\n`);
  const { isRemoved, next } = await declaredFor(context, state, to);
  const back = `move it back: trueup state mv ${shellWord(to)} ${shellWord(from)}`;
  if (isRemoved)
    await context.tell([
      warning(
        'undeclared',
        `${to} is not declared, so a plan counts its object as removed.`,
        `Declare it, or ${back}`,
      ),
    ]);
  if (next !== undefined)
    await context.tell([
      warning(
        'moves-on',
        `${to} is declared as an earlier address of ${next}, so the next apply moves its object there.`,
        `Delete the moved block or lifecycle.renamed_from, or ${back}`,
      ),
    ]);
  return exits.done;
};

/** Whether a plan would remove the object of an address, and to which it would move it. Neither if the declarations do not load, or a CDK program makes them: none is run. */
async function declaredFor(
  context: Context,
  state: State,
  address: string,
): Promise<{ readonly isRemoved?: boolean; readonly next?: string }> {
  const how = chosen(context);
  const reading = { checks: 'never', synthesise: async () => refuse('not-run', '') } as const;
  try {
    const loaded = await projectToPlan(context, context.flags.path ?? [], how, reading);
    const project = await wholeProject(context, loaded, how);
    const { selected } = await import('../../reconciler/plan/propose.js');
    const request = { ...requestOf(context), audit: true } as const;
    const { removed, declarations } = await selected(context.kinds, project, state, request);
    const { formerAddressInState } = await import('../../reconciler/plan/match.js');
    const next = [...declarations.values()].find(
      (one) => formerAddressInState(one, state) === address,
    );
    return {
      isRemoved: removed.some(([one]) => one === address),
      ...defined({ next: next?.address }),
    };
  } catch (error) {
    if (error instanceof Refusal) return {};
    throw error;
  }
}

/**
 * Forgets objects. If a create of one has an unknown outcome, it drops the attempt; the address stays bound to its
 * earlier object.
 */
export const rm: Command = async (context, args) => {
  const addresses = args.map(canonicalAddress);
  await rewrite(context, 'state rm', ({ state, pending }) =>
    addresses.flatMap((address): readonly Result[] => {
      const attempts = pending.filter((intent) => intent.address === address);
      const dropped = attempts.map(({ op }) => resultRecord(address, 'not_sent', { op }));
      if (
        attempts.length > 0 &&
        (!state.resources[address] || attempts.some(({ action }) => action === 'create'))
      )
        return dropped;
      entryOf(state.resources, address);
      return [...dropped, resultRecord(address, 'applied', { entry: null })];
    }),
  );
  context.out.write(`${addresses.join(', ')}: forgotten. The live objects are not changed.\n`);
  return exits.done;
};

/** Removes a lock whose holder cannot be proven gone, on a person's word. */
export const unlock: Command = async (context, [id = '']) => {
  await (await storeHere(context)).unlock(id);
  context.out.write('Unlocked.\n');
  return exits.done;
};

export const storeHere = async (context: Context): Promise<Store> =>
  storeOf(context, await settingsHere(context));

/** @throws Refusal where there is none */
export const current = async (store: Store): Promise<Snapshot> =>
  (await store.read()) ??
  refuse('not-managed', 'There is no state yet.', {
    detail: `It would be at ${store.location}.`,
  });

const resourcesHere = async (context: Context): Promise<State['resources'] | undefined> =>
  (await (await storeHere(context)).read())?.state.resources;

/** @throws Refusal where nothing is bound to the address. */
function entryOf(resources: State['resources'] = {}, address: string): Entry {
  const found = own(resources, address);
  if (found) return found;
  const all = Object.keys(resources);
  const members = all.filter((one) => one.startsWith(`${address}[`));
  const instead =
    members.length === 0
      ? didYouMeanAddress(address, all, shellWord)
      : ` It has members: ${firstNamed(members.map(shellWord), FEW)}`;
  return refuse('not-managed', `${address} is not in the state.${instead}`, {
    detail: 'List the addresses: trueup state list',
  });
}

/** Records what `results` makes of the state, under the lock. @returns the state afterwards */
async function rewrite(
  context: Context,
  operation: string,
  results: (snapshot: Snapshot) => readonly Result[],
): Promise<State> {
  const store = await storeHere(context);
  const { target } = (await current(store)).state;
  return underLock(store, operation, { cloud: { target } }, async (session) => {
    await session.record(...results(session.snapshot));
    return (await session.compact()).state;
  });
}
