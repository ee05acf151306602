// The exported part of a live estate, for every language: the attributes of each object with references to the others,
// without masked values, and the objects that only an identifier distinguishes.
import {
  cached,
  Reference,
  canonical,
  groupedBy,
  isEmpty,
  isList,
  isTree,
  documentOf,
  masksIn,
  mergeOf,
  recognisedBy,
  unmasked,
  walk,
  writable,
  writables,
  type Attribute,
  type Attributes,
  type Kind,
  type Kinds,
  type Value,
  type Values,
} from '../../model/index.js';
import { spell } from '../interpolate.js';

/** One declaration to be written. */
export interface WrittenObject {
  readonly name: string;
  readonly values: Values;
  /** The live object to adopt. */
  readonly id?: string;
  /** How people recognise an object that has no name: the first comment. */
  readonly label?: string;
  /** Written above the declaration. */
  readonly comments?: readonly string[];
}

/** A live estate: objects by the name of their kind. */
export type ExportedObjects = ReadonlyMap<string, readonly WrittenObject[]>;

/** A declaration as every language writes it. */
export interface ExportedDeclaration extends WrittenObject {
  readonly kind: Kind;
  /** As it was read. */
  readonly live: Values;
  /** Without the label. */
  readonly comments: readonly string[];
  /** The attributes worth declaring, in normal form; identifiers of other objects of the estate are references. */
  readonly values: Values;
  /** Dotted paths of what reads back masked and is left out: secrets, and members of documents. */
  readonly secrets: readonly string[];
  readonly masked: readonly string[];
  /** Only its identifier distinguishes it from another one. */
  readonly isEqual: boolean;
}

/** The entries of each kind that has objects. Attributes of the server, empty ones and secrets are left out. */
export function exportedEntriesOf(
  kinds: Kinds,
  estate: ExportedObjects,
): ReadonlyMap<Kind, readonly ExportedDeclaration[]> {
  const references = new Map<string, Reference>();
  for (const [kind, objects] of estate)
    for (const { id, name } of objects)
      if (id !== undefined)
        references.set(
          `${kind}.${id}`,
          new Reference('declared', `${kind}.${name}`, kinds.get(kind)?.id ?? 'id'),
        );
  const entries = new Map<Kind, readonly ExportedDeclaration[]>();
  for (const [name, objects] of estate) {
    const kind = kinds.get(name);
    if (!kind || objects.length === 0) continue;
    const worth = objects.map(({ id, values }) =>
      worthOf(kind.attributes, values, (to, wanted) =>
        to === name && wanted === id ? undefined : references.get(`${to}.${wanted}`),
      ),
    );
    const equals = equalsAmong(kind, worth);
    const secrets = [...walk(kind.attributes)].flatMap(([path, { secret }]) =>
      secret === true ? [path] : [],
    );
    const masked = (live: Values): readonly string[] =>
      writables(kind).flatMap(([path, { wire }]) =>
        wire === 'merge' ? masksIn(mergeOf(live[path]).tree, `${path}.0`).map(inComment) : [],
      );
    entries.set(
      kind,
      objects.map((one, index) => ({
        ...one,
        kind,
        live: one.values,
        values: worth[index]!,
        ...(one.label !== undefined && { label: inComment(one.label) }),
        comments: (one.comments ?? []).map(inComment),
        secrets,
        masked: masked(one.values),
        isEqual: equals.has(index),
      })),
    );
  }
  return entries;
}

/** What stands above a declaration. */
export const remarksOf = ({
  label,
  comments,
}: Pick<ExportedDeclaration, 'label' | 'comments'>): readonly string[] => [
  ...(label === undefined ? [] : [label]),
  ...comments,
];

/** Text that stays on its line, and shows all there is of it. */
export const inComment = (comment: string): string =>
  comment.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');

/** The objects that only their identifiers distinguish. */
function equalsAmong(kind: Kind, worth: readonly Values[]): ReadonlySet<number> {
  const alike = groupedBy([...worth.entries()], ([, values]) =>
    canonical(recognisedBy(kind, values).map((name) => spell(values[name] ?? null))),
  );
  return new Set(alike.filter(({ length }) => length > 1).flatMap((all) => all.map(([at]) => at)));
}

/** The object of kind `to` with this identifier, where it is written too. */
type Refer = (to: string, id: string) => Reference | undefined;

function worthOf(attributes: Attributes, values: Values, refer: Refer): Values {
  const out: Record<string, Value> = {};
  for (const [name, attribute] of Object.entries(attributes)) {
    if (!writable(attribute) || attribute.secret === true) continue;
    const value = referring(attribute, values[name] ?? null, refer);
    const worthless =
      isEmpty(value) ||
      (attribute.only_declared === true && value === false) ||
      attribute.only_false === true;
    if (attribute.optional !== true || !worthless) out[name] = value;
  }
  return out;
}

function referring(attribute: Attribute, value: Value, refer: Refer): Value {
  if (attribute.wire === 'merge') return exported(value);
  if (attribute.word === 'object')
    return isTree(value) ? worthOf(attribute.attributes, value, refer) : {};
  if (attribute.word === 'list' || attribute.word === 'set')
    return isList(value) ? value.map((item) => referring(attribute.of, item, refer)) : [];
  const isRef = attribute.word === 'ref' && typeof value === 'string';
  return isRef ? (refer(attribute.to, value) ?? value) : value;
}

/** A document without masks, and with the removed paths where there are some. */
function exported(value: Value): Value {
  const { tree, removed } = mergeOf(value);
  const worth = unmasked(tree);
  if (isEmpty(removed)) return isEmpty(worth) ? null : [worth];
  return documentOf({ tree: worth, removed });
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu;

/** A JSON text with what cannot be seen as escapes. */
export function showing(json: string): string {
  return json.replace(INVISIBLE, (character) =>
    character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** What an object without a name in letters is called: its kind, with its digits or else its identifier behind. */
export interface NameInstead {
  readonly kind: string;
  readonly id: string;
}

/** A name for a declaration, made of any text; differs from those `taken`. */
export type NameFor = (text: string, taken: ReadonlySet<string>, instead: NameInstead) => string;

/** Of the letters that are Latin, or Latin with a mark. */
export const declarationName: NameFor = (text, taken, { kind, id }) => {
  const digits = dashed(text);
  const letters = fromLetter(digits);
  const name =
    letters === '' ? fromLetter(dashed(`${kind} ${digits === '' ? id : digits}`)) : letters;
  return unique(name.slice(0, 60), taken);
};

const dashed = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');

const fromLetter = (text: string): string => text.replace(/^[^a-z]+/, '');

/** By names that are taken: how far each name was counted. What is taken stays so, and no number is tried twice. */
const counted = new WeakMap<ReadonlySet<string>, Map<string, number>>();

/** The name, or the first of its numbered ones, that is not among those `taken`, a set that may grow between calls and not shrink. */
export function unique(base: string, taken: ReadonlySet<string>, joint = '-'): string {
  const numbers = cached(counted, taken, () => new Map<string, number>());
  for (let number = numbers.get(base + joint) ?? 1; ; number += 1) {
    const name = number === 1 ? base : `${base}${joint}${number}`;
    if (taken.has(name)) continue;
    numbers.set(base + joint, number);
    return name;
  }
}
