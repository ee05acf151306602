// `moved`, `removed` and `import` blocks: reads them, refuses those that contradict one another or what is declared, and
// gives declarations their earlier addresses and the ids that they take over.
import {
  defined,
  didYouMean,
  formatAddress,
  isTree,
  mapMembers,
  moveOf,
  movesWhole,
  namedId,
  notAnId,
  tryAddress,
  tryJson,
  wholeOf,
  type Address,
  type AddressRange,
  type Declaration,
  type ImportBlock,
  type MovedBlock,
  type Origin,
  type Project,
  type RemovedBlock,
  type Values,
} from '../model/index.js';
import { placeText, type Collected, type RawEntry } from './collect.js';
import { expanded } from './for-each.js';
import { substitute, type Filling, type Scope } from './interpolate.js';
import {
  circlesIn,
  earlierAddresses,
  followed,
  indexed,
  MOST_IN_A_ROW,
  overlongIn,
  type Circle,
  type Move,
  type Moves,
} from './moves.js';
import { escapeText, literalOf } from './reference-syntax.js';
import { complain, read, type ResolveRun } from './resolve-declaration.js';
import type { Complain, Violation } from './validation.js';
import { blocks, type BlockSection } from './vocabulary.js';
import { isMap, type Raw } from './yaml/raw-values.js';

/** What blocks are compared with. */
interface RefactoringWork {
  readonly run: ResolveRun;
  readonly pieces: readonly RawEntry[];
  /** Where each name is declared, and each address, faulty ones too. */
  readonly names: ReadonlyMap<string, Origin>;
  readonly addresses: ReadonlyMap<string, Origin>;
  /** Declarations with `lifecycle.renamed_from`, by that address. */
  readonly renamed: ReadonlyMap<string, Declaration>;
}

/** Carries the blocks over to the declarations that they are about. */
export function refactored(
  run: ResolveRun,
  { blocks: pieces, declared }: Pick<Collected, 'blocks' | 'declared'>,
  declarations: readonly Declaration[],
): Required<Pick<Project, 'declarations' | 'refactorings'>> {
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
  const removed = removals(work, moves);
  const isOverlong = checkMoves(work, moves, removed);
  const imports = importsIn(work, new Map(declarations.map((one) => [one.address, one])));
  return {
    declarations: declarations.map((one) =>
      withImport(isOverlong ? one : moved(work, one, moves), imports.ids.get(one.address)),
    ),
    refactorings: [
      ...(isOverlong ? [] : moves.all.map((move) => movedBlock(move, moves))),
      ...removed,
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

/** A block takes an address away that a declaration still has. */
function complainOfDeclared(
  work: RefactoringWork,
  piece: RawEntry,
  range: AddressRange,
  [code, summary]: readonly [code: string, summary: string],
): boolean {
  const origin = (range.members ? work.names : work.addresses).get(formatAddress(range));
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
function checkMoves(
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
        summary: `${before} is moved to ${after}, which nothing that was read declares.${didYouMean(
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

const movedBlock = (move: Move, moves: Moves): MovedBlock => {
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

/** The block that moves a removed address: by that address, or with its name to one that is declared. */
function movedBy({ addresses }: RefactoringWork, from: Address, moves: Moves): Move | undefined {
  const own = moveOf(from, moves);
  if (!own || own === moves.byFrom.get(formatAddress(from))) return own;
  return addresses.has(formatAddress(followed(from, moves).at)) ? own : undefined;
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
    const other = movedBy(work, from, moves)?.piece ?? known.get(text);
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

/** The id that a block gives to an address. */
interface GivenId {
  readonly id: string;
  readonly piece: RawEntry;
}

function importsIn(
  work: RefactoringWork,
  declarations: ReadonlyMap<string, Declaration>,
): { readonly blocks: readonly ImportBlock[]; readonly ids: ReadonlyMap<string, GivenId> } {
  const { run } = work;
  const ids = new Map<string, GivenId>();
  const found = blocksOfSection(work, 'import').map((piece): ImportBlock => {
    const { for_each: each, ...raw } = isMap(piece.raw) ? piece.raw : {};
    const say: Complain = (complaint) => complain(run, piece, complaint);
    const members = expanded(each, piece, run.scope, say) ?? [];
    const bare = isMap(piece.raw) ? { ...piece, raw } : piece;
    const to = members.flatMap((member) => {
      const scope: Scope = { ...run.scope, loops: true, ...defined({ each: member }) };
      const values = blockValues({ ...run, scope }, bare, 'import');
      const address = values && blockAddress(work, piece, 'to', String(values['to']));
      if (!address) return [];
      const text = formatAddress(address);
      const kind = run.kinds.get(address.kind)!;
      const id = namedId(kind, values['id']);
      if (id === undefined) {
        complain(run, piece, { path: ['id'], ...notAnId(kind, values['id']) }, text);
        return [text];
      }
      const wrong = importError(work, address, {
        id,
        declaration: declarations.get(text),
        other: ids.get(text)?.piece,
      });
      if (wrong) complain(run, piece, wrong, text);
      else ids.set(text, { id, piece });
      return [text];
    });
    return { block: 'import', to, origin: piece.origin };
  });
  return { blocks: found, ids };
}

function importError(
  { addresses }: RefactoringWork,
  address: Address,
  {
    id,
    declaration,
    other,
  }: {
    readonly id: string;
    readonly declaration: Declaration | undefined;
    /** An earlier block with the address. */
    readonly other: RawEntry | undefined;
  },
): Violation | undefined {
  const text = formatAddress(address);
  const { adopt } = declaration?.lifecycle ?? {};
  if (!addresses.has(text)) {
    const member = [...addresses.keys()].find((one) => one.startsWith(`${text}[`));
    return {
      path: ['to'],
      code: 'undeclared',
      ...(member === undefined
        ? {
            summary: `${id} is imported to ${text}, which nothing that was read declares.${didYouMean(text, addresses.keys())}`,
            detail: 'Declare it, add its file to the PATHs, or delete the block.',
          }
        : {
            summary: `${id} is imported to ${text}, which has a \`for_each\``,
            detail: `Name one of its members, such as ${member}.`,
          }),
      names: [address.kind, address.name],
    };
  }
  if (other) return conflictingBlock(`two imports lead to ${text}`, 'to', other.origin);
  if (adopt === undefined || adopt === id) return undefined;
  return {
    path: ['id'],
    code: 'conflicting-blocks',
    summary: `${id} is imported to ${text}, which has \`lifecycle.adopt: ${adopt}\``,
    detail: 'Delete the block, or remove `lifecycle.adopt`.',
  };
}

/** The declaration with the id of an `import` block. */
function withImport(declaration: Declaration, given: GivenId | undefined): Declaration {
  if (!given) return declaration;
  const { origin } = given.piece;
  return {
    ...declaration,
    lifecycle: { ...declaration.lifecycle, adopt: given.id },
    import_origin: origin,
    at: (path) => (path === 'lifecycle.adopt' ? origin : declaration.at(path)),
  };
}

const blocksOfSection = ({ pieces }: RefactoringWork, section: BlockSection): readonly RawEntry[] =>
  pieces.filter(({ path }) => path[0] === section);

/** The attributes of a block. */
function blockValues(run: ResolveRun, piece: RawEntry, section: BlockSection): Values | undefined {
  const { raw } = piece;
  const filled = isMap(raw)
    ? mapMembers(raw, (value: Raw, word) =>
        typeof value === 'string' && (word === 'from' || word === 'to')
          ? addressText(value, {
              path: [word],
              scope: run.scope,
              complain: (complaint) => complain(run, piece, complaint),
            })
          : value,
      )
    : raw;
  return read(
    run,
    { ...piece, raw: filled },
    {
      attributes: blocks[section].attributes,
      validator: run.validators.blocks[section],
      what: `a \`${section}\` block`,
    },
  );
}

const MEMBER = /^([^[\]]*)\[\s*(?:("(?:[^"\\]|\\.)*")|(each\.[\w.-]+))\s*\]$/s;

/** An address with its key filled in and quoted anew, whatever the value holds. */
function addressText(text: string, filling: Filling): string {
  const [, whole, quoted = '', each] = MEMBER.exec(text) ?? [];
  const inner = each === undefined ? tryJson(quoted) : `\${${each}}`;
  if (whole === undefined || typeof inner !== 'string') return text;
  const filled = substitute(inner, undefined, filling);
  const key = typeof filled === 'string' ? literalOf(filled) : undefined;
  return key === undefined ? text : `${whole}[${escapeText(JSON.stringify(key))}]`;
}

/** The address at `from` or `to` of a block. */
function blockAddress(
  { run }: RefactoringWork,
  piece: RawEntry,
  word: 'from' | 'to',
  text: string,
): Address | undefined {
  const address = tryAddress(text);
  if (!address)
    return void complain(run, piece, {
      path: [word],
      code: 'bad-address',
      summary: `\`${word}\`: \`${text.slice(0, 200)}\` is not an address`,
      detail:
        'Addresses are <kind>.<name>, as in accounts.store, with the key in double quotes for a member of a for_each: accounts.store["north"].',
    });
  if (run.kinds.has(address.kind)) return address;
  return void complain(run, piece, {
    path: [word],
    code: 'unknown-kind',
    summary: `\`${word}\`: \`${address.kind}\` is not a kind.${didYouMean(address.kind, run.kinds.keys())}`,
    detail: `Kinds: ${[...run.kinds.keys()].join(', ')}.`,
  });
}

const conflictingBlock = (summary: string, word: string, other: Origin): Violation => ({
  path: [word],
  code: 'conflicting-blocks',
  summary,
  detail: `The other block is in ${placeText(other)}. Keep one of them.`,
});
