// Reads the attributes and addresses of `moved`, `removed` and `import` blocks.
import {
  defined,
  didYouMean,
  formatAddress,
  mapMembers,
  tryAddress,
  tryJson,
  wholeOf,
  type Address,
  type AddressRange,
  type Declaration,
  type Origin,
  type Values,
} from '../model/index.js';
import { placeText, type RawEntry } from './collect.js';
import { expanded, type Member } from './for-each.js';
import { substitute, type Filling } from './interpolate.js';
import { escapeText, literalOf } from './reference-syntax.js';
import { complain, read, type ResolveRun } from './resolve-declaration.js';
import { joinedKey } from './template-references.js';
import { found, type Violation } from './validation.js';
import { blocks, type BlockSection } from './vocabulary.js';
import { isMap, type Raw } from './yaml/raw-values.js';

/** What blocks are compared with. */
export interface RefactoringWork {
  readonly run: ResolveRun;
  readonly pieces: readonly RawEntry[];
  /** What declares each name, one for each use of its template, and each address; faulty ones too. */
  readonly names: ReadonlyMap<string, readonly RawEntry[]>;
  readonly addresses: ReadonlyMap<string, Declaration>;
  /** Declarations with `lifecycle.renamed_from`, by that address. */
  readonly renamed: ReadonlyMap<string, Declaration>;
}

/** A block takes an address away that a declaration still has. */
export function complainOfDeclared(
  work: RefactoringWork,
  piece: RawEntry,
  range: AddressRange,
  [code, summary]: readonly [code: string, summary: string],
): boolean {
  const { names, addresses } = work;
  const text = formatAddress(range);
  const declared = range.members ? names.get(text)?.[0] : addresses.get(text);
  const member = range.key === undefined ? undefined : addresses.get(text);
  const keys = member && partsOfKey(work, range, member);
  if (!declared) return false;
  complain(work.run, piece, {
    path: ['from'],
    code,
    summary: `${summary}, but ${text} is still declared`,
    detail: keys?.length
      ? `Remove the key ${keys.join(', or the key ')}, or delete the block.`
      : `It is in ${placeText(declared.origin)}. Remove the declaration, or delete the block.`,
  });
  return true;
}

/** The parts of a key, each with the `for_each` that it comes from: that of the declaration, and those of the uses around it, the innermost first. None for a `count`. */
function partsOfKey(
  { run, names }: RefactoringWork,
  range: Address,
  { at }: Declaration,
): readonly string[] {
  const pieces = names.get(wholeOf(range)) ?? [];
  return pieces.flatMap((piece) => {
    const { instance, raw } = piece;
    const each = isMap(raw) ? raw['for_each'] : undefined;
    const members = expanded(each, piece, { ...run.scope, ...defined({ instance }) }, () => {});
    const isMember = (one?: Member): boolean => joinedKey(instance?.key, one?.key) === range.key;
    if (piece.counted || !members?.some(isMember)) return [];
    const own = members.find(isMember);
    const loops = (instance?.loops ?? []).toReversed();
    return [
      ...(own
        ? [`${JSON.stringify(own.key)} from the \`for_each\` in ${placeText(at('for_each'))}`]
        : []),
      ...loops.map(
        ({ key, origin }) =>
          `${JSON.stringify(key)} from the \`for_each\` of the \`use\` in ${placeText(origin)}`,
      ),
    ];
  });
}

export const blocksOfSection = (
  { pieces }: RefactoringWork,
  section: BlockSection,
): readonly RawEntry[] => pieces.filter(({ path }) => path[0] === section);

const FORMS: Readonly<Record<BlockSection, string>> = {
  moved: '{ from: ADDRESS, to: ADDRESS }',
  removed: '{ from: ADDRESS, lifecycle: { destroy: false } }',
  import: '{ to: ADDRESS, id: "ID" }',
};

/** The attributes of a block. */
export function blockValues(
  run: ResolveRun,
  piece: RawEntry,
  section: BlockSection,
): Values | undefined {
  const { raw } = piece;
  if (!isMap(raw)) {
    const summary = `a mapping is expected, not ${found(raw)}`;
    const detail = `Write: ${section}: [${FORMS[section]}]`;
    complain(run, piece, { path: [], code: 'wrong-type', summary, detail });
    return undefined;
  }
  const filled = mapMembers(raw, (value: Raw, word) =>
    typeof value === 'string' && (word === 'from' || word === 'to')
      ? addressText(value, {
          path: [word],
          scope: run.scope,
          complain: (complaint) => complain(run, piece, complaint),
        })
      : value,
  );
  return read(
    run,
    { ...piece, raw: filled },
    {
      attributes: blocks[section].attributes,
      validator: run.validators.blocks[section],
      what: `${section === 'import' ? 'an' : 'a'} \`${section}\` block`,
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
export function blockAddress(
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

export const conflictingBlock = (summary: string, word: string, other: Origin): Violation => ({
  path: [word],
  code: 'conflicting-blocks',
  summary,
  detail: `The other block is in ${placeText(other)}. Keep one of them.`,
});
