// `import` blocks: reads them, refuses those that contradict a declaration or one another, and gives declarations the ids.
import {
  didYouMean,
  formatAddress,
  idOf,
  type Address,
  type Declaration,
  type ImportBlock,
} from '../model/index.js';
import type { RawEntry } from './collect.js';
import { expanded } from './for-each.js';
import type { Scope } from './interpolate.js';
import {
  blockAddress,
  blocksOfSection,
  blockValues,
  conflictingBlock,
  type RefactoringWork,
} from './refactoring-blocks.js';
import { complain } from './resolve-declaration.js';
import type { Complain, Violation } from './validation.js';
import { isMap } from './yaml/raw-values.js';

/** The id that a block gives to an address. */
interface GivenId {
  readonly id: string;
  readonly piece: RawEntry;
}

export function importsIn(
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
      const scope: Scope = { ...run.scope, loops: true, ...(member && { each: member }) };
      const values = blockValues({ ...run, scope }, bare, 'import');
      const address = values && blockAddress(work, piece, 'to', String(values['to']));
      if (!address) return [];
      const text = formatAddress(address);
      const id = String(idOf(values['id']));
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
            summary: `${id} is imported to ${text}, which is declared nowhere.${didYouMean(text, addresses.keys())}`,
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
  if (adopt === undefined || idOf(adopt) === id) return undefined;
  return {
    path: ['id'],
    code: 'conflicting-blocks',
    summary: `${id} is imported to ${text}, which has \`lifecycle.adopt: ${adopt}\``,
    detail: 'Delete the block, or remove `lifecycle.adopt`.',
  };
}

/** The declaration with the id of an `import` block. */
export function withImport(declaration: Declaration, given: GivenId | undefined): Declaration {
  if (!given) return declaration;
  const { origin } = given.piece;
  return {
    ...declaration,
    lifecycle: { ...declaration.lifecycle, adopt: given.id },
    import_origin: origin,
    at: (path) => (path === 'lifecycle.adopt' ? origin : declaration.at(path)),
  };
}
