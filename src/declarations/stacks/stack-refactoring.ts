// `import`, `moved` and `removed` of a stack, as the blocks of a declaration file. What they say is checked there.
import {
  defined,
  formatAddress,
  isList,
  isObject,
  nearest,
  type Json,
  type JsonObject,
} from '../../model/index.js';
import { escapeText } from '../reference-syntax.js';
import type { BlockSection } from '../vocabulary.js';
import type { RawMap } from '../yaml/raw-values.js';
import { repetitionOf, repeatedPlace } from './blocks.js';
import { bareAddress, placeBelow, rawValueOf, type Stack, type StackPlace } from './values.js';

export interface StackRefactoring {
  readonly section: BlockSection;
  readonly raw: RawMap;
}

/** Blocks about resources of other providers are left out. */
export function refactoringOf(site: StackPlace): readonly StackRefactoring[] {
  const { tree } = site.stack;
  return [
    ...blocksOf(tree['import']).flatMap((block) => importOf(block, site)),
    ...blocksOf(tree['moved']).flatMap((block) => moveOf(block, site)),
    ...blocksOf(tree['removed']).flatMap((block) => removalOf(block, site)),
  ];
}

/** Resources (`TYPE.NAME`) that are the old or the new name in a `moved` block. */
export const movedIn = (tree: JsonObject): ReadonlySet<string> =>
  new Set(
    blocksOf(tree['moved']).flatMap(({ from, to }) =>
      [from, to].map((address) => String(address).replace(/\[.*$/s, '')),
    ),
  );

function blocksOf(value: Json | undefined): readonly JsonObject[] {
  return [value ?? []].flat().filter((one): one is JsonObject => isObject(one));
}

/** The modules in front of the address of a resource in one. */
const MODULES = /^(?:module\.[\w-]+(?:\[(?:\d+|"(?:[^"\\]|\\.)*")\])?\.)+/;

/** What a text names, with its address in a file, which a resource of another provider has not. Undefined for what is no address. */
function addressed(text: Json | undefined, { stack }: StackPlace) {
  if (typeof text !== 'string') return undefined;
  const inner = text.replace(MODULES, '');
  const bare = bareAddress(inner, stack);
  if (!bare || mistakenType(inner, stack) || (bare.kind && inner !== text)) return undefined;
  const { kind } = bare;
  return { kind, address: kind && escapeText(formatAddress({ ...bare, kind: kind.name })) };
}

/** Advice for a type that is meant to be of this provider: a kind of declaration files, or a wrong type. */
function mistakenType(text: Json | undefined, { kinds }: Stack): string | undefined {
  const [, word = '', rest = ''] =
    /^([\w-]+)\.(.+)$/s.exec(typeof text === 'string' ? text : '') ?? [];
  const types = [...kinds.keys()];
  if (kinds.has(word)) return undefined;
  const type = types.find((one) => kinds.get(one)!.name === word) ?? nearest(word, types);
  return type && `Write it with its type: ${type}.${rest}`;
}

/** @param addresses of resources that the block names */
function refuse(
  { complain, stack }: StackPlace,
  section: BlockSection,
  {
    what,
    detail,
    addresses,
  }: { what: string; detail: string; addresses: readonly (Json | undefined)[] },
): readonly [] {
  const summary = `${what} is not supported here`;
  const [advice = detail] = addresses.flatMap((one) => mistakenType(one, stack) ?? []);
  complain({ path: [section], code: `unsupported-${section}`, summary, detail: advice });
  return [];
}

/** What the members of a `for_each` are imported to. */
const OF_EACH = /^(.*)\[each\.(key|value)\]$/s;

function importOf(
  { to, id, for_each, '//': _, ...more }: JsonObject,
  site: StackPlace,
): readonly StackRefactoring[] {
  const [, resource = to, member] = OF_EACH.exec(String(to)) ?? [];
  const target = addressed(resource, site);
  const address = target?.address;
  if (target && address === undefined) return [];
  if (address === undefined || id === undefined || Object.keys(more).length > 0)
    return refuse(site, 'import', {
      what: `the import to ${String(to)}`,
      detail: `Import it by hand, as in: trueup import ${target?.kind?.name ?? 'KIND'}.NAME ID`,
      addresses: [resource],
    });
  const repeated: JsonObject = defined({ for_each });
  const place = placeBelow(site, 'import');
  const raw = {
    to: member === undefined ? address : `${address}["\${each.${member}}"]`,
    id: rawValueOf(id, placeBelow(repeatedPlace(repeated, place), 'id')),
    ...defined({ for_each: repetitionOf(repeated, place) }),
  };
  return [{ section: 'import', raw }];
}

function moveOf({ from, to }: JsonObject, site: StackPlace): readonly StackRefactoring[] {
  const [former, successor] = [addressed(from, site), addressed(to, site)];
  if (former?.address !== undefined && successor?.address !== undefined)
    return [{ section: 'moved', raw: { from: former.address, to: successor.address } }];
  if (former && successor && former.address === successor.address) return [];
  return refuse(site, 'moved', {
    what: `the move from ${String(from)} to ${String(to)}`,
    detail: 'Move it by hand, as in: trueup state mv FROM TO',
    addresses: [from, to],
  });
}

function removalOf(
  { from, lifecycle, '//': _, ...more }: JsonObject,
  site: StackPlace,
): readonly StackRefactoring[] {
  const target = addressed(from, site);
  const address = target?.address;
  if (target && address === undefined) return [];
  const words = isList(lifecycle) && lifecycle.length === 1 ? lifecycle[0] : lifecycle;
  const { destroy, ...others } = isObject(words) ? words : {};
  const isPlain = Object.keys(others).length === 0 && Object.keys(more).length === 0;
  const isKnown = destroy === undefined || typeof destroy === 'boolean';
  if (address === undefined || !isPlain || !isKnown)
    return refuse(site, 'removed', {
      what: `the removal of ${String(from)}`,
      detail: 'Forget the object by hand, as in: trueup state rm ADDRESS',
      addresses: [from],
    });
  const raw = { from: address, ...(destroy !== undefined && { lifecycle: { destroy } }) };
  return [{ section: 'removed', raw }];
}
