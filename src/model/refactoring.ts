// Blocks of a project that say which objects got other addresses, are no longer declared, or are taken over by their id.
import { formatAddress, type Address } from './address.js';
import { defined } from './defined.js';
import type { Origin } from './diagnostic.js';

/** What is at one address gets another one. */
export interface AddressMove {
  readonly from: Address;
  readonly to: Address;
}

/** An address, or a name with all its members. */
export interface AddressRange extends Address {
  /** Whether the members of a `for_each` belong to it. */
  readonly members: boolean;
}

/** A `moved` block. */
export interface MovedBlock {
  readonly block: 'moved';
  /** As the block writes them. */
  readonly from: string;
  readonly to: string;
  /** The addresses whose objects it moves: first its own, then those of the moves before it. */
  readonly sources: readonly [AddressRange, ...AddressRange[]];
  readonly origin: Origin;
}

/** A `removed` block. */
export interface RemovedBlock {
  readonly block: 'removed';
  readonly from: AddressRange;
  /** `destroy: false`: the live object stays as it is. */
  readonly forgets: boolean;
  readonly origin: Origin;
}

/** An `import` block: the addresses that its ids were given to. */
export interface ImportBlock {
  readonly block: 'import';
  readonly to: readonly string[];
  readonly origin: Origin;
}

export type Refactoring = MovedBlock | RemovedBlock | ImportBlock;

/** An earlier address of a declaration, and the `moved` block that names it. */
export interface FormerAddress {
  readonly address: string;
  readonly origin: Origin;
}

export function isInRange(address: string, range: AddressRange): boolean {
  const own = formatAddress(range);
  return address === own || (range.members && address.startsWith(`${own}[`));
}

/** An address without its key. */
export const wholeOf = ({ kind, name }: Address): string => formatAddress({ kind, name });

/** Whether a name is moved, with every member of its `for_each`. */
export const movesWhole = ({ from, to }: AddressMove): boolean =>
  from.key === undefined && to.key === undefined;

/** The block that moves an address: that of a member wins over that of its name. */
export function moveOf<Move extends AddressMove>(
  address: Address,
  { byFrom }: { readonly byFrom: ReadonlyMap<string, Move> },
): Move | undefined {
  const own = byFrom.get(formatAddress(address));
  const whole = own ?? byFrom.get(wholeOf(address));
  return own ?? (whole && movesWhole(whole) ? whole : undefined);
}

/** @param move one that moves the address */
export const movedTo = ({ key }: Address, move: AddressMove): Address =>
  movesWhole(move) ? { ...move.to, ...defined({ key }) } : move.to;
