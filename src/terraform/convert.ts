// Converts values between Terraform and trueup, in both directions. Equal values keep Terraform's spelling, so that
// texts of documents, ids, sets and times never differ; secrets are converted only towards the API.
import {
  ExactNumber,
  isEmpty,
  isTree,
  mapMembers,
  normal,
  normalAll,
  parseJson,
  Reference,
  same,
  Secret,
  sorted,
  unescapeAll,
  unescapeHtml,
  wireText,
  type Attribute,
  type Attributes,
  type Json,
  type JsonObject,
  type Kind,
  type Live,
  type ObjectOf,
  type Value,
  type Values,
  isList,
} from '../model/index.js';
import { isDocumentApplied, comparedDocument } from '../reconciler/plan/document-diff.js';
import { covered } from './covered-documents.js';
import { isInside, keptText, Unknown, type CtyObject, type CtyValue } from './protocol/cty.js';

/** An unknown value stands among our values as a reference that nobody resolves. */
const NOT_KNOWN = new Reference('declared', 'unknown', 'value');

export const writeOnly = (name: string): string => `${name}_wo`;
export const versionOf = (name: string): string => `${name}_wo_version`;

export const isRecord = (value: unknown): value is CtyObject =>
  value !== undefined && isInside(value) && !Array.isArray(value);

/** The tree in a JSON text; undefined if the text is not JSON. */
export function tryDocument(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A text that is no JSON is equal to no tree. */
function treeOf(text: string): Value {
  const tree = tryDocument(text);
  return tree === undefined ? text : tree;
}

/** One value in normal form. */
export const valueOf = (attribute: Attribute, held: CtyValue | undefined): Value =>
  normal(attribute, plain(attribute, held));

/** The values of a block, in normal form: members that are null are left out, secrets are read from their write-only attributes. */
export function valuesOf(attributes: Attributes, block: CtyObject): Values {
  return normalAll(attributes, membersOf(attributes, block));
}

const membersOf = (attributes: Attributes, block: CtyObject): Values =>
  eachGiven(attributes, block, (name, attribute, held): Value =>
    attribute.secret ? secretOf(name, held) : plain(attribute, held),
  );

/** A record of what is made of each attribute that a block gives. A secret stands under its write-only name. */
function eachGiven<T>(
  attributes: Attributes,
  block: CtyObject,
  make: (name: string, attribute: Attribute, held: CtyValue) => T,
): Readonly<Record<string, T>> {
  const made: Record<string, T> = {};
  for (const [name, attribute] of Object.entries(attributes)) {
    const held = block[attribute.secret ? writeOnly(name) : name] ?? null;
    if (held !== null) made[name] = make(name, attribute, held);
  }
  return made;
}

function secretOf(name: string, held: CtyValue): Value {
  return held instanceof Unknown
    ? NOT_KNOWN
    : new Secret(writeOnly(name), () => (typeof held === 'string' ? held : undefined));
}

/** Applies `each` to the elements of a list, a set or a map; null for other values. */
export function elementsOf<U>(
  { word }: Attribute,
  held: CtyValue | Value | undefined,
  each: (item: never) => U,
): readonly U[] | { readonly [key: string]: U } | null {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- who calls knows what the list or map holds
  const inner = held as readonly never[] | Readonly<Record<string, never>>;
  if (word !== 'map') return isList(inner) ? inner.map((item) => each(item)) : null;
  return isTree(held) && isRecord(held) && !isList(inner)
    ? mapMembers(inner, (item) => each(item))
    : null;
}

function plain(attribute: Attribute, held: CtyValue | undefined): Value {
  if (held instanceof Unknown) return NOT_KNOWN;
  if (held === null || held === undefined) return null;
  switch (attribute.word) {
    case 'document':
      return typeof held === 'string' ? treeOf(held) : null;
    case 'object':
      return isRecord(held) ? membersOf(attribute.attributes, held) : null;
    case 'list':
    case 'set':
    case 'map':
      return elementsOf(attribute, held, (item: CtyValue) => plain(attribute.of, item));
    default:
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a single value, or an exact number
      return held as Value;
  }
}

/** True if the wanted value is live already, in any Unicode form: Terraform core composes every string. Both values are in normal form. */
export const isSameValue = (
  attribute: Attribute,
  wanted: Value,
  there: Value | undefined,
): boolean =>
  meets(attribute, wanted, there) || meets(attribute, composed(wanted), composed(there ?? null));

const meets = (attribute: Attribute, wanted: Value, there: Value | undefined): boolean =>
  attribute.wire === 'merge' ? isDocumentApplied(wanted, there) : same(attribute, wanted, there);

/** A value with its texts as core keeps them. */
export function composed(value: Value): Value {
  if (typeof value === 'string') return keptText(value);
  if (Array.isArray(value)) return (value as readonly Value[]).map(composed);
  return isTree(value) ? composedAll(value) : value;
}

export const composedAll = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).map(([name, one]) => [keptText(name), composed(one)]));

/** A live object, or a part of one, as terraform's state holds it. Other members stay as they were. */
export function stateOf(attributes: Attributes, live: Values, prior: CtyObject | null): CtyObject {
  const state: Record<string, CtyValue> = { ...prior };
  for (const [name, attribute] of Object.entries(attributes)) {
    if (!attribute.secret) state[name] = heldOf(attribute, live[name], prior?.[name] ?? null);
    else {
      state[writeOnly(name)] = null;
      state[versionOf(name)] = prior?.[versionOf(name)] ?? null;
    }
  }
  return state;
}

/** A value that the service returns only now and then, as after a create, stays as it was last returned. */
function heldOf(attribute: Attribute, live: Value | undefined, prior: CtyValue): CtyValue {
  if (prior !== null && (prior === live || (live === undefined && attribute.computed)))
    return prior;
  if (attribute.word === 'object')
    return objectHeld(attribute, live, isRecord(prior) ? prior : null);
  if (prior === null) return fresh(attribute, live);
  const before = valueOf(attribute, prior);
  const now = asShown(attribute, live, before);
  if (isSameValue(attribute, before, now)) return prior;
  return written(attribute, attribute.wire === 'merge' ? comparedDocument(before, now) : now);
}

/** A live value with what is named as a secret covered in a document, unless it is `held` in clear. */
export const asShown = (
  { word }: Attribute,
  live: Value | undefined,
  held?: Value,
): Value | undefined => (word === 'document' && live !== undefined ? covered(live, held) : live);

/** An empty one counts as absent: a response may contain an empty one, or leave it out. */
function objectHeld(attribute: ObjectOf, live: Value | undefined, prior: CtyObject | null) {
  const visible = Object.entries(attribute.attributes).filter(([, inner]) => inner.secret !== true);
  const there = isTree(live) ? live : {};
  if (
    visible.every(
      ([name, inner]) =>
        isEmpty(there[name]) && (prior === null || isEmpty(valueOf(inner, prior[name]))),
    )
  )
    return prior;
  return isTree(live) ? stateOf(attribute.attributes, live, prior) : null;
}

/** A live value that terraform does not hold, in a spelling of our own. */
export const fresh = (attribute: Attribute, live: Value | undefined): CtyValue =>
  written(attribute, asShown(attribute, live));

/** Whatever the service returns, it has the type that the schema promises. */
function written(attribute: Attribute, live: Value | undefined): CtyValue {
  const nothing = live === undefined || live === null;
  switch (attribute.word) {
    case 'list':
    case 'set':
      return elementsOf(attribute, live, (item: Value) => fresh(attribute.of, item)) ?? [];
    case 'map':
      return elementsOf(attribute, live, (item: Value) => fresh(attribute.of, item));
    case 'object':
      return isTree(live) ? stateOf(attribute.attributes, live, null) : null;
    case 'document':
      return nothing ? null : wireText(sorted(unescapeAll(live)));
    case 'integer':
    case 'number':
      return typeof live === 'number' || live instanceof ExactNumber ? live : null;
    case 'flag':
      return typeof live === 'boolean' ? live : null;
    default:
      if (nothing) return null;
      return typeof live === 'object' ? wireText(covered(live)) : unescapeHtml(String(live));
  }
}

/** The values of a live object as Terraform has them: its identifier is `id`, too. */
export const identified = ({ id, values }: Live): Values => ({ ...values, id });

/** The planned values, with the unknown ones filled in from the live object. */
export function resultOf(attributes: Attributes, planned: CtyObject, live: Values): CtyObject {
  return mapMembers(planned, (held, name): CtyValue => {
    const attribute = attributes[name];
    const inner = live[name];
    if (held instanceof Unknown) return attribute ? heldOf(attribute, inner, null) : null;
    return attribute?.word === 'object' && isRecord(held)
      ? resultOf(attribute.attributes, held, isTree(inner) ? inner : {})
      : held;
  });
}

/** The planned values that the configuration declares: the rest is not managed. Secrets are the configuration's. */
export function managed(kind: Kind, planned: CtyObject, config: CtyObject): Values {
  return valuesOf(kind.attributes, spokenOf(kind.attributes, planned, config));
}

function spokenOf(attributes: Attributes, planned: CtyObject, config: CtyObject): CtyObject {
  const spoken: Record<string, CtyValue> = {};
  for (const [name, attribute] of Object.entries(attributes)) {
    const key = attribute.secret ? writeOnly(name) : name;
    const [wanted, will] = [config[key] ?? null, planned[key] ?? null];
    if (attribute.computed || wanted === null) continue;
    if (attribute.secret) spoken[key] = wanted;
    else if (attribute.word === 'object' && isRecord(wanted) && isRecord(will))
      spoken[key] = spokenOf(attribute.attributes, will, wanted);
    else spoken[key] = will;
  }
  return spoken;
}

/** A block as the declaration it would be in a file, for validation: what is not known yet, and every secret, is a `${…}`. */
export const rawOf = (attributes: Attributes, block: CtyObject): JsonObject =>
  eachGiven(attributes, block, (_, attribute, held): Json =>
    attribute.secret ? '${secret.env.GIVEN}' : rawValue(attribute, held),
  );

function rawValue(attribute: Attribute, held: CtyValue): Json {
  if (held instanceof Unknown) return '${unknown}';
  if (attribute.word === 'object') return isRecord(held) ? rawOf(attribute.attributes, held) : null;
  if ('of' in attribute)
    return elementsOf(attribute, held, (item: CtyValue) => rawValue(attribute.of, item));
  if (attribute.word === 'document')
    return typeof held === 'string' ? (tryDocument(held) ?? null) : null;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a single value
  return held instanceof ExactNumber ? Number(held.text) : (held as Json);
}
