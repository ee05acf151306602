// `moved` and `removed` blocks: reads them, refuses those that contradict one another or what is declared, and gives
// declarations their earlier addresses, and the ids of `import` blocks.
import {
  didYouMean,
  formatAddress,
  isTree,
  tryAddress,
  type AddressRange,
  type Declaration,
  type MovedBlock,
  type Origin,
  type Refactoring,
  type RemovedBlock,
} from '../model/index.js';
import { placeText, type Collected, type RawEntry } from './collect.js';
import { importsIn, withImport } from './import-blocks.js';
import {
  circlesIn,
  earlierAddresses,
  indexed,
  MOST_IN_A_ROW,
  movesWhole,
  overlongIn,
  wholeOf,
} from './moves.js';
import type { Move, Moves } from './moves.js';
import {
  blockAddress,
  blocksOfSection,
  blockValues,
  conflictingBlock,
  type RefactoringWork,
} from './refactoring-blocks.js';
import { complain, type ResolveRun } from './resolve-declaration.js';

export interface Refactored {
  readonly declarations: readonly Declaration[];
  readonly refactorings: readonly Refactoring[];
}

/** Carries the blocks over to the declarations that they are about. */
export function refactored(
  run: ResolveRun,
  { blocks: pieces, declared }: Pick<Collected, 'blocks' | 'declared'>,
  declarations: readonly Declaration[],
): Refactored {
  if (pieces.length === 0) return { declarations, refactorings: [] };
  const work: RefactoringWork = {
    run,
    pieces,
    names: new Map(declared.map(({ path, origin }) => [path.join('.'), origin])),
    addresses: new Map(
      [...run.unusable, ...declarations].map(({ address, origin }) => [address, origin]),
    ),
    renamed: new Map(
      declarations.flatMap((one) => {
        const { renamed_from: former } = one.lifecycle;
        return former === undefined ? [] : [[`${one.kind}.${former}`, one] as const];
      }),
    ),
  };
  const moves = indexed(distinctMoves(work));
  const isOverlong = checkMoves(work, moves);
  const imports = importsIn(work, new Map(declarations.map((one) => [one.address, one])));
  return {
    declarations: declarations.map((one) =>
      withImport(isOverlong ? one : moved(work, one, moves), imports.ids.get(one.address)),
    ),
    refactorings: [
      ...(isOverlong ? [] : moves.all.map((move) => movedBlock(move, moves))),
      ...removals(work, moves),
      ...imports.blocks,
    ],
  };
}

/** The moves that can be read, without those that contradict an earlier one. */
function distinctMoves(work: RefactoringWork): readonly Move[] {
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

/** Where something of a range is declared. */
function declaredAt(
  { names, addresses }: RefactoringWork,
  range: AddressRange,
): Origin | undefined {
  return range.members ? names.get(formatAddress(range)) : addresses.get(formatAddress(range));
}

/** A block takes an address away that a declaration still has. */
function complainOfDeclared(
  work: RefactoringWork,
  piece: RawEntry,
  range: AddressRange,
  [code, summary]: readonly [code: string, summary: string],
): boolean {
  const origin = declaredAt(work, range);
  if (!origin) return false;
  complain(work.run, piece, {
    path: ['from'],
    code,
    summary: `${summary}, but ${formatAddress(range)} is still declared`,
    detail: `It is in ${placeText(origin)}. Remove the declaration, or delete the block.`,
  });
  return true;
}

/** @returns whether too many follow one another to be carried out */
function checkMoves(work: RefactoringWork, moves: Moves): boolean {
  const { run, names } = work;
  const movedOn = new Set(moves.all.map(({ from }) => wholeOf(from)));
  const circles = circlesIn(moves);
  for (const {
    moves: [first],
    addresses,
  } of circles)
    complain(run, first.piece, {
      path: ['to'],
      code: 'moved-circle',
      summary: `these moves lead in a circle: ${circleText(addresses)}`,
      detail: 'Delete the blocks that are done, or one of them.',
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
    if (!names.has(wholeOf(to)) && !movedOn.has(wholeOf(to)))
      complain(run, piece, {
        path: ['to'],
        code: 'undeclared',
        summary: `${before} is moved to ${after}, which is declared nowhere.${didYouMean(wholeOf(to), names.keys())}`,
        detail: 'Declare it, add its file to the PATHs, or delete the block.',
        names: [to.kind, to.name],
      });
  }
  return overlong.size > 0;
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

const movedBlock = (move: Move, moves: Moves): MovedBlock => {
  const own = { ...move.from, members: movesWhole(move) };
  return {
    block: 'moved',
    from: formatAddress(move.from),
    to: formatAddress(move.to),
    sources: [own, ...earlierAddresses(own, moves).map(rangeOf)],
    origin: move.piece.origin,
  };
};

const rangeOf = ({ move: _, ...range }: AddressRange & { readonly move: Move }): AddressRange =>
  range;

/** The declaration with the addresses that it had before. */
function moved(
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

function removals(work: RefactoringWork, moves: Moves): readonly RemovedBlock[] {
  const { run } = work;
  const known = new Map<string, RawEntry>();
  return blocksOfSection(work, 'removed').flatMap((piece): readonly RemovedBlock[] => {
    const values = blockValues(run, piece, 'removed');
    const from = values && blockAddress(work, piece, 'from', String(values['from']));
    if (!from) return [];
    const text = formatAddress(from);
    const range = { ...from, members: from.key === undefined };
    const other = moves.byFrom.get(text)?.piece ?? known.get(text);
    const why = ['removed-declared', `${text} is to be removed`] as const;
    if (!complainOfDeclared(work, piece, range, why) && other) {
      const how = known.has(text) ? 'removed twice' : 'moved and removed';
      complain(run, piece, conflictingBlock(`${text} is ${how}`, 'from', other.origin));
    }
    known.set(text, piece);
    const { lifecycle } = values;
    const forgets = isTree(lifecycle) && lifecycle.destroy === false;
    return [{ block: 'removed', from: range, forgets, origin: piece.origin }];
  });
}
