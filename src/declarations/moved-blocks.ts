// `moved` blocks: reads them, refuses those that contradict one another or what is declared, and gives declarations the
// addresses that they had before.
import {
  append,
  defined,
  didYouMeanAddress,
  formatAddress,
  movedTo,
  moveOf,
  movesWhole,
  tryAddress,
  wholeOf,
  type Address,
  type AddressMove,
  type AddressRange,
  type Declaration,
  type MovedBlock,
  type RemovedBlock,
} from '../model/index.js';
import { placeText, type RawEntry } from './collect.js';
import {
  blockAddress,
  blocksOfSection,
  blockValues,
  complainOfDeclared,
  conflictingBlock,
  type RefactoringWork,
} from './refactoring-blocks.js';
import { complain } from './resolve-declaration.js';

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
interface Earlier extends AddressRange {
  readonly move: Move;
}

/** Moves that follow one another: more are refused, since their addresses would fill the memory. */
const MOST_IN_A_ROW = 100;

/** The latest first. */
function earlierAddresses(range: AddressRange, moves: Moves): readonly Earlier[] {
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

interface Circle {
  /** Each leads to where the next begins, and the last to where the first does. */
  readonly moves: readonly [Move, ...Move[]];
  /** The first is also the last. */
  readonly addresses: readonly string[];
}

function circlesIn(moves: Moves): readonly Circle[] {
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
function followed(
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
function overlongIn(moves: Moves): ReadonlySet<Move> {
  const first = moves.all.filter(({ from }) => !moves.byTo.has(formatAddress(from)));
  return new Set(first.flatMap(({ from }) => followed(from, moves).move ?? []));
}

/** The moves that can be read, without those that contradict an earlier one. */
export function distinctMoves(work: RefactoringWork): readonly Move[] {
  const { run } = work;
  const known = new Map<string, RawEntry>();
  return blocksOfSection(work, 'moved').flatMap((piece): readonly Move[] => {
    const values = blockValues(run, piece, 'moved');
    if (!values) return [];
    const from = blockAddress(work, piece, 'from', String(values['from']));
    const to = blockAddress(work, piece, 'to', String(values['to']));
    if (!from || !to) return [];
    const [before, after] = [formatAddress(from), formatAddress(to)];
    if (from.kind !== to.kind) {
      complain(run, piece, {
        path: ['to'],
        code: 'moved-kind',
        summary: `${before} cannot be moved to ${after}: an object keeps its kind`,
        detail: `Move it to another name of ${from.kind}, or delete the block.`,
      });
      return [];
    }
    const [again, both] = [known.get(`from ${before}`), known.get(`to ${after}`)];
    const other = again ?? both;
    if (other) {
      const what = again ? `${before} is moved twice` : `two moves lead to ${after}`;
      complain(run, piece, conflictingBlock(what, again ? 'from' : 'to', other.origin));
      return [];
    }
    known.set(`from ${before}`, piece).set(`to ${after}`, piece);
    return [{ from, to, piece }];
  });
}

/** @returns whether too many follow one another to be carried out */
export function checkMoves(
  work: RefactoringWork,
  moves: Moves,
  removed: readonly RemovedBlock[],
): boolean {
  const { run, names } = work;
  const movedOn = new Set(moves.all.map(({ from }) => wholeOf(from)));
  const removedAt = new Set(removed.map(({ from }) => formatAddress(from)));
  const circles = circlesIn(moves);
  for (const circle of circles)
    complain(run, circle.moves[0].piece, {
      path: ['to'],
      code: 'moved-circle',
      summary: `these moves lead in a circle: ${circleText(circle.addresses)}`,
      detail: adviceOnCircle(circle),
    });
  const overlong = circles.length === 0 ? overlongIn(moves) : new Set<Move>();
  for (const { to, piece } of overlong)
    complain(run, piece, {
      path: ['to'],
      code: 'too-many',
      summary: `more than ${MOST_IN_A_ROW} moves follow one another up to ${formatAddress(to)}`,
      detail: 'Delete the blocks that every environment has applied.',
    });
  const circular = new Set(circles.flatMap((one) => one.moves));
  for (const move of moves.all) {
    const { from, to, piece } = move;
    if (circular.has(move)) continue;
    const [before, after] = [formatAddress(from), formatAddress(to)];
    const range = { ...from, members: movesWhole(move) };
    complainOfDeclared(work, piece, range, ['moved-declared', `${before} is moved to ${after}`]);
    const isRemoved = [after, wholeOf(to)].some((one) => removedAt.has(one));
    if (!names.has(wholeOf(to)) && !movedOn.has(wholeOf(to)) && !isRemoved)
      complain(run, piece, {
        path: ['to'],
        code: 'undeclared',
        summary: `${before} is moved to ${after}, which nothing that was read declares.${didYouMeanAddress(
          wholeOf(to),
          [...names.keys()].filter((one) => one !== wholeOf(from)),
        )}`,
        detail:
          'Declare it, add its file to the PATHs, or delete the block. If it was removed since, name it in a `removed` block.',
        names: [to.kind, to.name],
      });
  }
  return overlong.size > 0;
}

function adviceOnCircle({ moves: [, ...more] }: Circle): string {
  const last = more.at(-1);
  if (!last) return 'Delete the block.';
  const [from, to] = [formatAddress(last.from), formatAddress(last.to)];
  return `Delete the blocks that are done. If none is, apply one move at a time, each with its block alone: first ${from} to a third name, then each move to a name that became free, and last from the third name to ${to}.`;
}

/** Addresses of a circle that are shown. */
const MOST_OF_CIRCLE = 10;

function circleText(addresses: readonly string[]): string {
  const shown = addresses.slice(0, MOST_OF_CIRCLE);
  const more = addresses.length - shown.length;
  return [...shown, ...(more > 1 ? ['…'] : []), ...(more > 0 ? addresses.slice(-1) : [])].join(
    ' → ',
  );
}

export const blockOfMove = (move: Move, moves: Moves): MovedBlock => {
  const own = { ...move.from, members: movesWhole(move) };
  return {
    block: 'moved',
    from: formatAddress(move.from),
    to: formatAddress(move.to),
    sources: [own, ...earlierAddresses(own, moves).map(({ move: _, ...range }) => range)],
    origin: move.piece.origin,
  };
};

/** The declaration with the addresses that it had before. */
export function moved(
  { run, renamed }: RefactoringWork,
  declaration: Declaration,
  moves: Moves,
): Declaration {
  const address = tryAddress(declaration.address);
  if (!address || !moves.leadingTo.has(wholeOf(address))) return declaration;
  const earlier = earlierAddresses({ ...address, members: false }, moves);
  const moved_from = earlier.map(({ move, ...range }) => {
    const former = formatAddress(range);
    const other = renamed.get(former);
    if (other && other.address !== declaration.address)
      complain(run, move.piece, {
        path: ['from'],
        code: 'conflicting-renames',
        summary: `${former} is moved to ${declaration.address}, but ${other.address} has \`renamed_from: ${String(other.lifecycle.renamed_from)}\``,
        detail: `That is in ${placeText(other.origin)}. Keep one of them.`,
      });
    return { address: former, origin: move.piece.origin };
  });
  return moved_from.length === 0 ? declaration : { ...declaration, moved_from };
}

/** The block that moves a removed address: by that address, or with its name to one that is declared. */
export function movedBy(
  { addresses }: RefactoringWork,
  from: Address,
  moves: Moves,
): Move | undefined {
  const own = moveOf(from, moves);
  if (!own || own === moves.byFrom.get(formatAddress(from))) return own;
  return addresses.has(formatAddress(followed(from, moves).at)) ? own : undefined;
}
