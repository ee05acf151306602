// Checks props against the vocabulary: names, types and values, and converts them to the API's names. The compiler
// checks nearly as much, but not for JavaScript, and not for values from files.
import {
  camel,
  didYouMean,
  durationWords,
  isObject,
  lostNumberToken,
  mapMembers,
  number,
  stored,
  tryDuration,
  tryJson,
  withId,
  type Attribute,
  type Attributes,
  type Kind,
} from '../model/index.js';
import type { Given } from './props.js';

/** How one library writes what the vocabulary leaves open. */
export interface LibraryAdapter {
  /** Whether the value is, or is text that holds, something that is only known later. */
  readonly isToken: (value: unknown) => boolean;
  /** Whether it is a secret that is kept elsewhere, and nothing but that. */
  readonly isSecret: (value: unknown) => boolean;
  /** Continues "it has to be …". */
  readonly secretWords: string;
  /** The value that a token stands for, as far as the program knows. */
  readonly resolved: (value: unknown) => unknown;
  /** A secret `x` is given as `xWo` and `xWoVersion`. */
  readonly writeOnly: boolean;
  readonly document: (value: unknown) => unknown;
}

const version = number('Another number sends the secret again.', { optional: true });

/** The attributes, each with the name of its prop and the one it is written under. */
function membersOf(attributes: Attributes, { writeOnly }: LibraryAdapter) {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    if (attribute.secret !== true || !writeOnly) return [{ prop: camel(name), name, attribute }];
    return [
      { prop: `${camel(name)}Wo`, name: `${name}_wo`, attribute: { ...attribute, optional: true } },
      { prop: `${camel(name)}WoVersion`, name: `${name}_wo_version`, attribute: version },
    ];
  });
}

/** What can be read of an object. */
export const readOf = ({ id, attributes }: Kind): Attributes =>
  withId({ id, attributes: stored(attributes) });

/** The property of a class of constructs that is read so. */
export const getterOf = (read: (self: never) => unknown): PropertyDescriptor => ({
  get(this: never) {
    return read(this);
  },
  enumerable: true,
  configurable: true,
});

/** The props by the API's names, without those that are undefined. */
export const written = (attributes: Attributes, given: Given, endpoint: LibraryAdapter): Given =>
  Object.fromEntries(
    membersOf(attributes, endpoint).flatMap(({ prop, name, attribute }) =>
      given[prop] === undefined ? [] : [[name, writtenAs(attribute, given[prop], endpoint)]],
    ),
  );

/** A value of a wrong shape passes as it is: the libraries write everything before they ask whether it is right. */
function writtenAs(attribute: Attribute, value: unknown, endpoint: LibraryAdapter): unknown {
  if (attribute.word === 'document') return endpoint.document(value);
  if (endpoint.isToken(value)) return value;
  if (attribute.word === 'object' && isObject(value))
    return written(attribute.attributes, value, endpoint);
  if (attribute.word === 'map' && isObject(value))
    return mapMembers(value, (item) => writtenAs(attribute.of, item, endpoint));
  return (attribute.word === 'list' || attribute.word === 'set') && Array.isArray(value)
    ? value.map((item) => writtenAs(attribute.of, item, endpoint))
    : value;
}

/** Everything that is wrong with the props, each by its path. */
export function complaints(
  attributes: Attributes,
  given: Given,
  endpoint: LibraryAdapter,
  path = '',
): readonly string[] {
  const members = membersOf(attributes, endpoint);
  const declarable = members.filter(({ attribute }) => attribute.computed !== true);
  const unknown = Object.keys(given).flatMap((prop) => {
    if (given[prop] === undefined || declarable.some((one) => one.prop === prop)) return [];
    if (members.some((one) => one.prop === prop))
      return [`\`${path}${prop}\` belongs to the service and cannot be declared.`];
    const names = declarable.map((one) => one.prop);
    return [
      `\`${path}${prop}\` does not exist.${didYouMean(prop, names)} There are ${names.join(', ')}.`,
    ];
  });
  const wrong = declarable.flatMap(({ prop, attribute }) => {
    const value = given[prop];
    if (value !== undefined) return against(attribute, value, endpoint, path + prop);
    return attribute.optional === true ? [] : [`\`${path}${prop}\` is missing: ${attribute.doc}`];
  });
  return [...unknown, ...wrong];
}

function against(
  attribute: Attribute,
  value: unknown,
  endpoint: LibraryAdapter,
  path: string,
): readonly string[] {
  if (attribute.secret === true)
    return endpoint.isSecret(value)
      ? []
      : [
          `\`${path}\` is secret, and its value is not allowed in a program: it has to be ${endpoint.secretWords}.`,
        ];
  if (attribute.word === 'document') return againstDocument(attribute, value, endpoint, path);
  if (losesNumberToken(value, endpoint)) return [numberTokenLost(path)];
  if (endpoint.isToken(value) && attribute.block)
    return [
      `\`${path}\` is a block, which no token can stand for: write its members, which may be tokens.`,
    ];
  if (endpoint.isToken(value))
    return attribute.word === 'object'
      ? hidden(attribute.attributes, endpoint.resolved(value), endpoint, `${path}.`)
      : [];
  if (attribute.word === 'object' && isObject(value))
    return complaints(attribute.attributes, value, endpoint, `${path}.`);
  if (attribute.word === 'map' && isObject(value))
    return Object.entries(value).flatMap(([key, item]) =>
      against(attribute.of, item, endpoint, `${path}.${key}`),
    );
  if ((attribute.word === 'list' || attribute.word === 'set') && Array.isArray(value))
    return value.flatMap((item, index) =>
      against(attribute.of, item, endpoint, `${path}.${index}`),
    );
  return fits(attribute, value)
    ? []
    : [
        `\`${path}\`: ${expected(attribute)} is expected, not ${found(value)}.${wordMeant(attribute, value)}`,
      ];
}

/** The faults of secrets in an object that a token stands for; it names them as the API does. */
function hidden(
  attributes: Attributes,
  whole: unknown,
  endpoint: LibraryAdapter,
  path: string,
): readonly string[] {
  if (!isObject(whole)) return [];
  return membersOf(attributes, endpoint).flatMap(({ prop, name, attribute }) => {
    if (attribute.secret === true)
      return whole[name] === undefined
        ? []
        : against(attribute, whole[name], endpoint, path + prop);
    return attribute.word === 'object'
      ? hidden(attribute.attributes, whole[name], endpoint, `${path}${prop}.`)
      : [];
  });
}

/**
 * Whether a string holds a number token that the library will not find: `acc-${count}` gives `acc--8.1e+298`. It takes
 * signs and digits before a token for a part of it.
 */
const losesNumberToken = (value: unknown, { isToken }: LibraryAdapter): boolean =>
  typeof value === 'string' &&
  (value.match(/[-|\d.+]+e[-|\d.eE+]+/g) ?? []).some(
    (whole) =>
      !isToken(Number(whole)) &&
      (whole.match(/-\d\.\d+e\+\d+/g) ?? []).some((digits) => isToken(Number(digits))),
  );

const numberTokenLost = (path: string): string =>
  `\`${path}\` ${lostNumberToken.what}. ${lostNumberToken.advice}`;

function fits(attribute: Attribute, value: unknown): boolean {
  switch (attribute.word) {
    case 'text':
      return (
        typeof value === 'string' &&
        (attribute.format !== 'duration' || tryDuration(value) !== undefined)
      );
    case 'ref':
      return typeof value === 'string' && value !== '';
    case 'choice':
      return typeof value === 'string' && (attribute.open || attribute.values.includes(value));
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'flag':
      return typeof value === 'boolean' && !(attribute.only_false === true && value);
    default:
      return false;
  }
}

function againstDocument(
  attribute: Attribute,
  value: unknown,
  endpoint: LibraryAdapter,
  path: string,
): readonly string[] {
  const isToken = endpoint.isToken(value);
  if (typeof value === 'string' && endpoint.writeOnly)
    return isToken || tryJson(value) !== undefined
      ? []
      : [`\`${path}\`: ${expected(attribute)} is expected, or the JSON text of one.`];
  const isRight =
    isObject(value) || (attribute.wire === 'merge' ? Array.isArray(value) : value === null);
  return isToken || isRight
    ? unspeakable(value, endpoint, path)
    : [`\`${path}\`: ${expected(attribute)} is expected, not ${found(value)}.`];
}

/** A file of declarations takes 64 levels, of which some are around a document. */
const DEEPEST = 56;

/** The fault of a value that JSON has no form for. A token that is no text has none either. `inside` are the values on the way to this one. */
function unspeakable(
  value: unknown,
  endpoint: LibraryAdapter,
  path: string,
  inside: readonly unknown[] = [],
): readonly string[] {
  if (losesNumberToken(value, endpoint)) return [numberTokenLost(path)];
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return [];
  if (endpoint.isToken(value) || (typeof value === 'number' && !Number.isFinite(value)))
    return [
      `\`${path}\` has no form in JSON. A token has to be a string, as \`Token.asString(…)\` makes it.`,
    ];
  if (typeof value === 'number') return [];
  if (!Array.isArray(value) && !isObject(value)) return [`\`${path}\` has no form in JSON.`];
  if (inside.length > DEEPEST)
    return [`\`${path.slice(0, 60)}…\` is nested more than ${DEEPEST} levels deep.`];
  if (inside.includes(value)) return [`\`${path}\` leads back to itself, and has no form in JSON.`];
  const runContext = [...inside, value];
  if (hasOwnForm(value)) {
    const form = value.toJSON(path.slice(path.lastIndexOf('.') + 1));
    return unspeakable(form, endpoint, path, runContext);
  }
  if (isObject(value) && !isPlain(value))
    return [
      `\`${path}\` is of the class \`${value.constructor.name}\`, which has no form in JSON. Write a plain object or a list.`,
    ];
  return Object.entries(value).flatMap(([key, item]) => {
    if (item === undefined) return [];
    return key === '__proto__'
      ? [`\`${path}\` has the key \`__proto__\`, which nobody reads.`]
      : unspeakable(item, endpoint, `${path}.${key}`, runContext);
  });
}

const hasOwnForm = (value: object): value is { toJSON(key: string): unknown } =>
  'toJSON' in value && typeof value.toJSON === 'function';

/** Whether an object is of no class: one in the realm of another script has another `Object`. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const plainWords = {
  text: 'a string',
  ref: 'an identifier as a string, or a reference,',
  integer: 'an integer',
  number: 'a number',
  flag: 'true or false',
  list: 'a list',
  set: 'a list',
  map: 'an object',
  object: 'an object',
  document: 'an object or null',
};

function expected(attribute: Attribute): string {
  const { word, wire } = attribute;
  if (word === 'text' && attribute.format === 'duration') return `${durationWords},`;
  if (word === 'choice')
    return attribute.open ? 'a string' : `one of ${attribute.values.join(', ')}`;
  if (word === 'flag' && attribute.only_false === true)
    return 'false (the service sets true by itself)';
  if (word === 'document' && wire === 'merge')
    return 'an object, or a list of one and of the paths removed from the defaults,';
  return plainWords[word];
}

function found(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (Number.isInteger(value)) return 'an integer';
  if (typeof value === 'number') return Number.isFinite(value) ? 'a fraction' : String(value);
  if (typeof value === 'string') return value === '' ? 'an empty string' : 'a string';
  if (typeof value === 'boolean') return 'true or false';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const wordMeant = (attribute: Attribute, value: unknown): string =>
  attribute.word === 'choice' && typeof value === 'string'
    ? didYouMean(value, attribute.values)
    : '';
