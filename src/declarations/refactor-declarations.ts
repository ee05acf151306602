// Carries `moved`, `removed` and `import` blocks over to the declarations: their earlier addresses, and the ids that they
// take over. `moved` blocks are read in `moved-blocks.ts`, the others here.
import {
  defined,
  didYouMeanAddress,
  formatAddress,
  groupedBy,
  isTree,
  namedId,
  notAnId,
  type Address,
  type Declaration,
  type ImportBlock,
  type Project,
  type RemovedBlock,
} from '../model/index.js';
import type { Collected, RawEntry } from './collect.js';
import { expanded } from './for-each.js';
import type { Scope } from './interpolate.js';
import {
  checkMoves,
  distinctMoves,
  indexed,
  moved,
  blockOfMove,
  movedBy,
  type Moves,
} from './moved-blocks.js';
import {
  blocksOfSection,
  blockAddress,
  blockValues,
  complainOfDeclared,
  conflictingBlock,
  type RefactoringWork,
} from './refactoring-blocks.js';
import { complain, type ResolveRun } from './resolve-declaration.js';
import type { Complain, Violation } from './validation.js';
import { isMap } from './yaml/raw-values.js';

const nameOf = ({ path }: RawEntry): string => path.join('.');

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
    names: new Map(groupedBy(declared, nameOf).map((same) => [nameOf(same[0]!), same])),
    addresses: new Map([...run.unusable, ...declarations].map((one) => [one.address, one])),
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
      ...(isOverlong ? [] : moves.all.map((move) => blockOfMove(move, moves))),
      ...removed,
      ...imports.blocks,
    ],
  };
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
            summary: `${id} is imported to ${text}, which nothing that was read declares.${didYouMeanAddress(text, addresses.keys())}`,
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
