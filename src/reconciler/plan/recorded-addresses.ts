// Where `moved` blocks lead recorded addresses, and which of them `removed` blocks forget. Moves come first: the state may
// be behind by any number of them, and a `removed` block names the address after them.
import {
  cached,
  formatAddress,
  movedTo,
  moveOf,
  objectsIn,
  tryAddress,
  withoutKey,
  type Address,
  type AddressMove,
  type Change,
  type Entry,
  type MovedBlock,
  type Project,
  type RemovedBlock,
} from '../../model/index.js';

/** What a `moved` block does to one recorded address. */
interface Step extends AddressMove {
  readonly block: MovedBlock;
}

export type MovedAddresses = ReturnType<typeof movedAddresses>;

type Blocks = Pick<Project, 'refactorings'>;

export function movedAddresses({ refactorings = [] }: Blocks) {
  const steps = refactorings.flatMap((block): readonly Step[] => {
    if (block.block !== 'moved') return [];
    const to = tryAddress(block.to);
    return to ? [{ from: block.sources[0], to, block }] : [];
  });
  const moves = { byFrom: new Map(steps.map((one) => [formatAddress(one.from), one])) };
  const nextOf = (address: Address): Address | undefined => {
    const step = moveOf(address, moves);
    return step && movedTo(address, step);
  };
  const known = new Map<string, readonly string[]>();
  return {
    /** The block that moves an address. */
    blockOf(address: string): MovedBlock | undefined {
      const parsed = tryAddress(address);
      return parsed && moveOf(parsed, moves)?.block;
    },
    /** The address, and those that moves lead it to, one after the other. */
    pathOf: (address: string): readonly string[] =>
      cached(known, address, () => {
        const path = new Set([address]);
        const first = steps.length > 0 ? tryAddress(address) : undefined;
        let next = first && nextOf(first);
        for (; next && !path.has(formatAddress(next)); next = nextOf(next))
          path.add(formatAddress(next));
        return [...path];
      }),
  };
}

/** The `removed` blocks of an address, or of one that moves lead it to: those of members if there are any, else those of names. */
export function removedBlocks(project: Blocks): (address: string) => readonly RemovedBlock[] {
  const blocks = new Map(
    (project.refactorings ?? []).flatMap((one) =>
      one.block === 'removed' ? [[formatAddress(one.from), one] as const] : [],
    ),
  );
  if (blocks.size === 0) return () => [];
  const { pathOf } = movedAddresses(project);
  const known = new Map<string, readonly RemovedBlock[]>();
  return (address) =>
    cached(known, address, () => {
      const path = pathOf(address);
      const own = path.flatMap((one) => blocks.get(one) ?? []);
      return own.length > 0 ? own : path.flatMap((one) => blocks.get(withoutKey(one)) ?? []);
    });
}

/** The `removed` block that says that the live object of an address stays. If several disagree, it stays. */
export function forgetting(project: Blocks): (address: string) => RemovedBlock | undefined {
  const blocksOf = removedBlocks(project);
  return (address) => blocksOf(address).find(({ forgets }) => forgets);
}

/** Addresses by what they manage: those of a plan, and those that the state holds beside them. */
export function managers(
  changes: readonly Change[],
  entries: Readonly<Record<string, Entry>>,
): (kind: string, id: string) => string | undefined {
  const addresses = (): ReadonlyMap<string, string> => {
    const recorded = Object.entries(entries).flatMap(([address, entry]) =>
      objectsIn(entry).map((object) => [object, address] as const),
    );
    const planned = changes.flatMap((change) =>
      change.action === 'create' ? [] : [[`${change.kind} ${change.id}`, change.address] as const],
    );
    return new Map([...recorded, ...planned]);
  };
  // Most rules name no object.
  let all: ReadonlyMap<string, string> | undefined;
  return (kind, id) => (all ??= addresses()).get(`${kind} ${id}`);
}
