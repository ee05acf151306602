// Writes declarations as YAML that loads as it stands: what `export` and the reference docs are made of.
import {
  canonical,
  isEmpty,
  isObject,
  isTree,
  masksIn,
  mergeOf,
  unmasked,
  walk,
  writable,
  writables,
  type Attribute,
  type Attributes,
  type Json,
  type Kind,
  type Kinds,
  type Value,
  type Values,
} from '../model/index.js';
import { spell } from './interpolate.js';
import { recognisedBy } from './lint.js';

/** One declaration to be written. */
export interface Written {
  readonly name: string;
  readonly values: Values;
  /** The live object to adopt. */
  readonly id?: string;
  /** Written above the declaration. */
  readonly comments?: readonly string[];
}

/**
 * File text for each kind that has objects. Attributes of the server, empty ones and secrets are left out (secrets with
 * a comment that says how to write them); identifiers of other exported objects become references to them.
 */
export function writeDeclarations(kinds: Kinds, estate: ReadonlyMap<string, readonly Written[]>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [kind, objects] of estate) for (const { id, name } of objects) if (id !== undefined) names.set(`${kind}.${id}`, name);
  const refer: Refer = (to, id) => {
    const name = names.get(`${to}.${id}`);
    return name === undefined ? undefined : `\${${to}.${name}.${kinds.get(to)?.id}}`;
  };
  const texts = new Map<string, string>();
  for (const [name, objects] of estate) {
    const kind = kinds.get(name);
    if (!kind || objects.length === 0) continue;
    const sources = objects.map(({ id: own, values }) => sourceOf(kind.attributes, values, (to, wanted) => (to === name && wanted === own ? undefined : refer(to, wanted))));
    const twins = twinsAmong(kind, sources);
    texts.set(name, `${name}:\n${objects.map((one, index) => writeDeclaration(kind, one, sources[index] as Source, twins.has(index))).join('\n\n')}\n`);
  }
  return texts;
}

/** Which of them nothing but their identifiers tells apart. */
function twinsAmong(kind: Kind, sources: readonly Source[]): ReadonlySet<number> {
  const keys = sources.map((source) => canonical(recognisedBy(kind).map((name) => source[name] ?? null)));
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return new Set(keys.flatMap((key, index) => ((counts.get(key) as number) > 1 ? [index] : [])));
}

/** Attributes of a declaration, in the spelling of a file. */
type Source = Readonly<Record<string, Json>>;

/** The text that refers to the object of kind `to` with this identifier, where there is one. */
type Refer = (to: string, id: string) => string | undefined;

function writeDeclaration(kind: Kind, { name, values, id, comments = [] }: Written, source: Source, twin: boolean): string {
  const plain = (comment: string): string => comment.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  const remarks = comments.map((comment) => `  # ${plain(comment)}`);
  const secrets = [...walk(kind.attributes)].filter(([, { secret }]) => secret === true);
  const masked = writables(kind).flatMap(([path, { wire }]) => (wire === 'merge' ? masksIn(mergeOf(values[path]).tree, path) : []));
  const hints = [...secrets.map(([path]) => path), ...masked].map((path) => `    # ${plain(path)} reads back masked and is left out; to manage it, write "\${secret.env.NAME}"`);
  const members = { ...source, ...(id === undefined ? {} : { lifecycle: { adopt: id, ...(twin ? { allow_twin: true } : {}) } }) };
  return [...remarks, `  ${scalar(name)}:`, ...hints, ...yamlLines(members, 4)].join('\n');
}

/** What is worth declaring of an object. */
function sourceOf(attributes: Attributes, values: Values, refer: Refer): Source {
  const out: Record<string, Json> = {};
  for (const [name, attribute] of Object.entries(attributes)) {
    const value = values[name] ?? null;
    if (!writable(attribute) || attribute.secret === true) continue;
    const source = spellAs(attribute, value, refer);
    const worthless = isEmpty(source) || (attribute.only_declared === true && source === false);
    if (attribute.optional !== true || !worthless) out[name] = source;
  }
  return out;
}

function spellAs(attribute: Attribute, value: Value, refer: Refer): Json {
  if (attribute.wire === 'merge') return [unmasked(mergeOf(value).tree)].filter((tree) => !isEmpty(tree)).map(spell);
  if (attribute.word === 'object') return isTree(value) ? sourceOf(attribute.attributes, value, refer) : {};
  if (attribute.word === 'list' || attribute.word === 'set') return Array.isArray(value) ? (value as readonly Value[]).map((item) => spellAs(attribute.of, item, refer)) : [];
  return (attribute.word === 'ref' && typeof value === 'string' ? refer(attribute.to, value) : undefined) ?? spell(value);
}

const WIDEST = 120;

/** A tree as block YAML, `indent` spaces in; collections of plain values stay on one line while they fit. */
export function yamlLines(tree: Readonly<Record<string, Json>>, indent: number): readonly string[] {
  const margin = ' '.repeat(indent);
  return Object.entries(tree).flatMap(([name, value]) => {
    const key = `${margin}${scalar(name)}:`;
    const short = inline(value);
    if (short !== undefined && key.length + short.length < WIDEST) return [`${key} ${short}`];
    if (Array.isArray(value)) return [key, ...(value as readonly Json[]).flatMap((item) => itemLines(item, indent + 2))];
    return isObject(value) ? [key, ...yamlLines(value, indent + 2)] : [`${key} ${short}`];
  });
}

function itemLines(item: Json, indent: number): readonly string[] {
  const margin = ' '.repeat(indent);
  const short = inline(item);
  if (short !== undefined || !isObject(item)) return [`${margin}- ${short ?? asJson(item)}`];
  const [first = '', ...rest] = yamlLines(item, indent + 2);
  return [`${margin}- ${first.trimStart()}`, ...rest];
}

/** One line for a scalar, for an object that holds scalars only, and for a list without objects. */
function inline(value: Json): string | undefined {
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map((item) => (isObject(item) ? undefined : inline(item)));
    return items.includes(undefined) ? undefined : `[${items.join(', ')}]`;
  }
  if (!isObject(value)) return scalar(value);
  const members = Object.entries(value);
  if (members.some(([, item]) => isObject(item) || Array.isArray(item))) return undefined;
  return members.length === 0 ? '{}' : `{ ${members.map(([key, item]) => `${scalar(key)}: ${scalar(item)}`).join(', ')} }`;
}

const PLAIN = /^[A-Za-z][A-Za-z0-9_./ -]*(?<! )$/;
const RESERVED = /^(?:null|true|false|yes|no|on|off|y|n)$/i;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu;

/** JSON, which is YAML too, with what cannot be seen as escapes. */
function asJson(value: Json): string {
  return JSON.stringify(value).replace(INVISIBLE, (character) => character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`));
}

/** A scalar as it may stand anywhere. */
function scalar(value: Json): string {
  return typeof value === 'string' && PLAIN.test(value) && !RESERVED.test(value) ? value : asJson(value);
}

/** By names that are taken: how far each name was counted. What is taken stays so, and no number is tried twice. */
const counted = new WeakMap<ReadonlySet<string>, Map<string, number>>();

/** A name for a declaration, made of any text; differs from those `taken`, a set that may grow between calls and not shrink. */
export function declarationName(text: string, taken: ReadonlySet<string>): string {
  const slug = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 60);
  const base = slug === '' ? 'object' : slug;
  const numbers = counted.get(taken) ?? new Map<string, number>();
  counted.set(taken, numbers);
  for (let number = numbers.get(base) ?? 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (taken.has(name)) continue;
    numbers.set(base, number);
    return name;
  }
}
