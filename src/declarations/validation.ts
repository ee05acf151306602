// Checks shapes with ajv and reports errors in trueup's own words. The validators of the built-in kinds are generated;
// each is found by the digest of its schema, so an outdated one is never used.
import {
  cached,
  defined,
  durationWords,
  didYouMean,
  firstNamed,
  nearest,
  walk,
  digest,
  idOf,
  isList,
  onlyFalse,
  own,
  writable,
  type Attribute,
  type Attributes,
  type Collections,
  type Diagnostic,
  type JsonObject,
  type Kind,
  type Kinds,
} from '../model/index.js';
import { precompiled } from './generated/validators.js';
import { Word, isMap, type Raw } from './yaml/raw-values.js';
import {
  blockSchema,
  bodySchema,
  expectationSchema,
  settingsSchema,
  whereSchema,
} from './file-schema.js';
import type { SchemaError, Validator } from './validator.js';
import { anything, attributeAt } from './vocabulary.js';

/** A fault inside one declaration; `path` leads to the place, from its attributes on. */
export interface Violation extends Pick<Diagnostic, 'code' | 'summary' | 'detail' | 'frame'> {
  readonly path: readonly string[];
  /** It says that this is nowhere, which is not known if a file or section could not be read. */
  readonly names?: readonly [section: string, name: string];
  /** The text at the path that is wrong, and the offset in it. */
  readonly within?: { readonly text: string; readonly start: number };
}

export type Complain = (complaint: Violation) => void;

/** Where a complaint belongs, and whom to tell. */
export interface ComplaintPlace {
  readonly path: readonly string[];
  readonly complain: Complain;
}

export function complainAt(
  { path, complain }: ComplaintPlace,
  code: string,
  summary: string,
  detail?: string,
): undefined {
  complain({ path, code, summary, ...defined({ detail }) });
}

export type Validators = Awaited<ReturnType<typeof newValidators>>;

/** A schema takes longer to write than a small project to check, and a fleet loads many projects. */
const made = new WeakMap<Kinds, WeakMap<Collections, Promise<Validators>>>();

export const validatorsOf = (kinds: Kinds, collections: Collections): Promise<Validators> =>
  cached(
    cached(made, kinds, () => new WeakMap<Collections, Promise<Validators>>()),
    collections,
    () => newValidators(kinds, collections),
  );

async function newValidators(kinds: Kinds, collections: Collections) {
  const ofKinds = async (schemaOf: (kind: Kind) => JsonObject) => {
    const found = new Map<string, Validator>();
    for (const kind of kinds.values()) found.set(kind.name, await validatorOf(schemaOf(kind)));
    return found;
  };
  return {
    settings: await validatorOf(settingsSchema()),
    expectation: await validatorOf(expectationSchema(collections)),
    blocks: {
      moved: await validatorOf(blockSchema('moved')),
      removed: await validatorOf(blockSchema('removed')),
      import: await validatorOf(blockSchema('import')),
    },
    body: await ofKinds(bodySchema),
    where: await ofKinds(whereSchema),
  };
}

export const bodyValidator = (kind: Kind): Promise<Validator> => validatorOf(bodySchema(kind));

/** The generated one, where there is one. */
export async function validatorOf(schema: JsonObject): Promise<Validator> {
  const known = precompiled[digest(schema)];
  if (known) return known;
  return (await import('./compile-validator.js')).compile(schema);
}

/** Every complaint about `data`, which should be an object with these attributes. `what` names it, as in `alert_rules`. */
export function check(
  validator: Validator,
  attributes: Attributes,
  data: Raw,
  what: string,
): readonly Violation[] {
  if (!isMap(data)) {
    const summary = `a mapping of attributes is expected, not ${found(data)}`;
    return [{ path: [], code: 'wrong-type', summary }];
  }
  if (validator(data)) return [];
  const errors = (validator.errors ?? []).filter(
    ({ schemaPath }) => !/\/anyOf\/\d/.test(schemaPath),
  );
  return errors.flatMap((error) => explain(error, attributes, data, what) ?? []);
}

/** The steps to the value that an error is about. */
export const stepsOfError = ({
  instancePath,
}: Pick<SchemaError, 'instancePath'>): readonly string[] =>
  instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

function explain(
  error: SchemaError,
  attributes: Attributes,
  data: Raw,
  what: string,
): Violation | undefined {
  const { keyword, params } = error;
  const path = stepsOfError(error);
  const value = rawValueAt(data, path);
  if (value instanceof Word) return undefined;
  const attribute = path.length === 0 ? undefined : attributeAt(attributes, path);
  const below = attribute?.word === 'object' ? attribute.attributes : {};
  const runContext = path.length === 0 ? attributes : below;
  const where = path.length === 0 ? what : `\`${path.join('.')}\``;
  if (keyword === 'additionalProperties')
    return unknown([...path, String(params['additionalProperty'])], runContext, where);
  if (keyword === 'required')
    return missing(path, String(params['missingProperty']), runContext, where);
  if (attribute?.secret === true && typeof value === 'string' && value.includes('${'))
    return undefined;
  return attribute && mismatch(path, attribute, value, [params['type']].flat().includes('null'));
}

export function rawValueAt(data: Raw, path: readonly string[]): Raw | undefined {
  let value: Raw | undefined = data;
  for (const step of path)
    value = isList(value) || isMap(value) ? own<Raw>(value, step) : undefined;
  return value;
}

/** The attribute inside another one that was most likely meant. A filter is also known by its name without `__in`. */
function meantInside(name: string, attributes: Attributes): string {
  const paths = new Map(
    [...walk(attributes)]
      .filter(([, attribute]) => writable(attribute))
      .map(([path]) => [path.slice(path.lastIndexOf('.') + 1).replace(/__[a-z]+$/, ''), path]),
  );
  const found = nearest(name, paths.keys());
  return found === undefined ? '' : ` Did you mean \`${paths.get(found)}\`?`;
}

/** The one name of which `name` is a word, as `wait` is one of `then_wait`. */
function meantWhole(name: string, names: readonly string[]): string {
  const [found, ...others] = names.filter((one) => one.split('_').includes(name));
  return found === undefined || others.length > 0 ? '' : ` Did you mean \`${found}\`?`;
}

function unknown(path: readonly string[], runContext: Attributes, where: string): Violation {
  const name = path.at(-1)!;
  if (Object.hasOwn(runContext, name))
    return {
      path,
      code: 'computed-attribute',
      summary: `\`${name}\` belongs to the server and cannot be declared`,
      detail: 'Remove it.',
    };
  const names = Object.keys(runContext).filter((one) => runContext[one]?.computed !== true);
  return {
    path,
    code: 'unknown-attribute',
    summary: `\`${name}\` is not an attribute of ${where}.${didYouMean(name, names) || meantInside(name, runContext) || meantWhole(name, names)}`,
    detail: `Attributes: ${names.join(', ')}.`,
  };
}

function missing(
  path: readonly string[],
  name: string,
  runContext: Attributes,
  where: string,
): Violation {
  const doc = runContext[name]?.doc;
  const detail = doc ? `\`${name}\`: ${doc}` : undefined;
  const summary = `\`${name}\` is missing in ${where}`;
  return { path, code: 'missing-attribute', summary, ...defined({ detail }) };
}

/** Values of a choice that a message names. */
export const MOST_WORDS = 10;

/** A value that does not fit its attribute. A secret's value is not even described. @param nullable whether null would have fitted, where that is known */
export function mismatch(
  path: readonly string[],
  attribute: Attribute,
  value: Raw | undefined,
  nullable = false,
): Violation {
  const where = path.join('.');
  if (attribute.secret === true)
    return {
      path,
      code: 'literal-secret',
      summary: `\`${where}\` is secret: its value is not allowed in a file`,
      detail: 'Write `"${secret.env.NAME}"` or `"${secret.file.PATH}"`.',
    };
  if (attribute.word === 'choice' && typeof value === 'string')
    return {
      path,
      code: 'unknown-choice',
      summary: `\`${where}\` is not one of its words.${didYouMean(value, attribute.values)}`,
      detail: `Words: ${firstNamed(attribute.values, MOST_WORDS)}.`,
    };
  if (attribute.only_false === true && value === true) return { ...onlyFalse(where), path };
  const named = namesNothing(attribute, value) ? ' that names nothing' : '';
  return {
    path,
    code: value === null ? 'null-value' : 'wrong-type',
    summary: `\`${where}\`: ${expected(attribute, nullable)} is expected, not ${found(value)}${named}`,
    ...defined({ detail: remedy(path, attribute, value) }),
  };
}

const namesNothing = ({ word }: Attribute, value: Raw | undefined): boolean =>
  word === 'ref' && typeof value === 'string' && idOf(value) === null;

const plainWords = {
  text: 'a string',
  integer: 'an integer',
  number: 'a number',
  flag: 'true or false',
  list: 'a list',
  set: 'a list',
  map: 'a mapping',
  object: 'a mapping',
};

function expected(attribute: Attribute, nullable: boolean): string {
  if (attribute.word === 'choice') return `one of ${firstNamed(attribute.values, MOST_WORDS)}`;
  if (attribute.word === 'ref')
    return `an identifier ${attribute.wire === 'integer' ? 'of digits ' : ''}or a reference`;
  if (attribute.word !== 'document') return plainWords[attribute.word];
  return attribute.wire === 'merge' || attribute === anything
    ? 'a list of an object and of the paths removed from the defaults,'
    : `a mapping${nullable ? ' or null' : ''}`;
}

export function found(value: Raw | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object')
    return value instanceof Word ? `the word \`${String(value)}\`` : 'a mapping';
  if (typeof value === 'string') return 'a string';
  if (typeof value === 'boolean') return 'true or false';
  return Number.isInteger(value) ? 'an integer' : 'a number';
}

const IN_QUOTES = 'Write it in quotes.';

/** The text that stands at the path, or that gives what is at the path. */
export const textAt = (written: Raw, path: readonly string[]): string | undefined =>
  [written, ...path.map((_, step) => rawValueAt(written, path.slice(0, step + 1)))].find(
    (one) => typeof one === 'string',
  );

/** The same complaint, where the value is not written but comes from an expression. @param written what the expressions stand in */
export const ofExpression = (one: Violation, written: Raw): Violation =>
  one.detail === IN_QUOTES && textAt(written, one.path) !== undefined
    ? { ...one, detail: 'Convert it in the expression: `string(…)`.' }
    : one;

function remedy(
  path: readonly string[],
  attribute: Attribute,
  value: Raw | undefined,
): string | undefined {
  const { word } = attribute;
  const isListed = word === 'list' || word === 'set';
  if (value === null || namesNothing(attribute, value)) {
    const isItem = /^\d+$/.test(path.at(-1) ?? '');
    const ways = [
      'Give it a value',
      ...(isItem ? ['remove it'] : []),
      ...(attribute.optional === true ? ['leave the key out: what is absent is not managed'] : []),
    ];
    return `${ways.join(', or ')}.${isListed ? ' `[]` means none.' : ''}`;
  }
  const isText =
    word === 'text' ||
    (word === 'choice' && (attribute.open || attribute.values.includes(String(value))));
  const advice = howToWrite({ isText, isListed }, value);
  return advice === IN_QUOTES && word === 'text' && attribute.format === 'duration'
    ? `Write ${durationWords}.`
    : advice;
}

/** How a value becomes one of the type that is expected. */
export function howToWrite(
  { isText, isListed }: { readonly isText: boolean; readonly isListed: boolean },
  value: Raw | undefined,
): string | undefined {
  if (isText && ['number', 'boolean'].includes(typeof value)) return IN_QUOTES;
  const isSingle = value !== null && !isList(value) && !isMap(value);
  return isListed && isSingle ? 'Write it in brackets: `[ … ]`.' : undefined;
}
