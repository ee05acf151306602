// Blocks of a project that say which objects got other addresses, are declared no more, or are taken over by their id.
import { formatAddress, type Address } from './address.js';
import type { Origin } from './diagnostic.js';

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
