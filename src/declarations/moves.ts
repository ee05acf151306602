// All `moved` blocks together: the addresses that led to an address, and moves that lead back to where they began.
import {
  append,
  defined,
  formatAddress,
  movedTo,
  moveOf,
  movesWhole,
  wholeOf,
  type Address,
  type AddressMove,
  type AddressRange,
} from '../model/index.js';
import type { RawEntry } from './collect.js';

export interface Move extends AddressMove {
  readonly piece: RawEntry;
}

export interface Moves {
  readonly all: readonly Move[];
  /** By address; both are unique. */
  readonly byFrom: ReadonlyMap<string, Move>;
  readonly byTo: ReadonlyMap<string, Move>;
  /** By the name of `to`, without key. */
  readonly leadingTo: ReadonlyMap<string, readonly Move[]>;
}

/** @param all no two of them from one address, or to one */
export function indexed(all: readonly Move[]): Moves {
  const leadingTo = new Map<string, Move[]>();
  for (const move of all) append(leadingTo, wholeOf(move.to), move);
  return {
    all,
    byFrom: new Map(all.map((move) => [formatAddress(move.from), move])),
    byTo: new Map(all.map((move) => [formatAddress(move.to), move])),
    leadingTo,
  };
}

/** Addresses of objects that a move brings to an address, at once or over others. */
export interface Earlier extends AddressRange {
  readonly move: Move;
}

/** Moves that follow one another: more are refused, since their addresses would fill the memory. */
export const MOST_IN_A_ROW = 100;

/** The latest first. */
export function earlierAddresses(range: AddressRange, moves: Moves): readonly Earlier[] {
  const found: Earlier[] = [];
  const seen = new Set([textOf(range)]);
  let open: readonly AddressRange[] = [range];
  for (let step = 0; step < MOST_IN_A_ROW && open.length > 0; step += 1) {
    const before = open
      .flatMap((one) => oneMoveBefore(one, moves))
      .filter((earlier) => seen.size < seen.add(textOf(earlier)).size);
    for (const earlier of before) found.push(earlier);
    open = before;
  }
  return found;
}

const textOf = (range: AddressRange): string =>
  `${formatAddress(range)}${range.members ? ' with members' : ''}`;

function oneMoveBefore(range: AddressRange, moves: Moves): readonly Earlier[] {
  const { byTo, leadingTo } = moves;
  if (range.members)
    return (leadingTo.get(wholeOf(range)) ?? []).map((move) => ({
      ...move.from,
      members: movesWhole(move),
      move,
    }));
  const { key } = range;
  const toIt = [byTo.get(formatAddress(range)), byTo.get(wholeOf(range))];
  return [...new Set(toIt)].flatMap((move) => {
    if (!move || (formatAddress(move.to) !== formatAddress(range) && !movesWhole(move))) return [];
    const from = movesWhole(move) ? { ...move.from, ...defined({ key }) } : move.from;
    // Another block may move this member elsewhere.
    return moveOf(from, moves) === move ? [{ ...from, members: false, move }] : [];
  });
}

export interface Circle {
  /** Each leads to where the next begins, and the last to where the first does. */
  readonly moves: readonly [Move, ...Move[]];
  /** The first is also the last. */
  readonly addresses: readonly string[];
}

export function circlesIn(moves: Moves): readonly Circle[] {
  const known = new Set<string>();
  return moves.all.flatMap(({ from }): readonly Circle[] => {
    const path: { readonly address: string; readonly move: Move }[] = [];
    let at = from;
    let address = formatAddress(at);
    for (let move = moveOf(at, moves); move && !known.has(address); move = moveOf(at, moves)) {
      known.add(address);
      path.push({ address, move });
      at = movedTo(at, move);
      address = formatAddress(at);
    }
    const [first, ...more] = path.slice(path.findIndex((one) => one.address === address));
    if (first?.address !== address) return [];
    const addresses = [first, ...more].map((one) => one.address);
    return [
      { moves: [first.move, ...more.map((one) => one.move)], addresses: [...addresses, address] },
    ];
  });
}

/** Where moves lead an address; where too many follow one another, an address on the way, and the move that goes on. */
export function followed(
  from: Address,
  moves: Moves,
): { readonly at: Address; readonly move: Move | undefined } {
  let at = from;
  let move = moveOf(at, moves);
  for (let step = 0; move && step < MOST_IN_A_ROW; step += 1) {
    at = movedTo(at, move);
    move = moveOf(at, moves);
  }
  return { at, move };
}

/** Moves to which too many others lead, one after the other. */
export function overlongIn(moves: Moves): ReadonlySet<Move> {
  const first = moves.all.filter(({ from }) => !moves.byTo.has(formatAddress(from)));
  return new Set(first.flatMap(({ from }) => followed(from, moves).move ?? []));
}
