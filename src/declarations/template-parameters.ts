// The parameters of templates: checked with ajv by the JSON Schema of the template, which also gives defaults. Loaded
// only if there are templates, because ajv loads slowly.
import { Ajv, type ErrorObject } from 'ajv';
import { patternFault, schemaOptions } from '../expressions/schema-options.js';
import {
  cached,
  defined,
  didYouMean,
  firstNamed,
  isObject,
  isList,
  mapMembers,
  own,
  type Json,
  type JsonObject,
} from '../model/index.js';
import { schemaComplaints } from './expectation-schema-checks.js';
import { holdsExpression, spell } from './interpolate.js';
import { literalOf } from './reference-syntax.js';
import { keywords } from './schema-keywords.js';
import {
  found as foundWord,
  howToWrite,
  rawValueAt,
  stepsOfError,
  type Complain,
  type Violation,
} from './validation.js';
import { isMap, Word, type Raw, type RawMap } from './yaml/raw-values.js';

/** What is given, with defaults; undefined after a complaint. */
export type Parameters = (given: RawMap, complain: Complain) => RawMap | undefined;
/** Undefined after a complaint about the schema. */
export type ParametersOf = (schema: Raw, complain: Complain) => Parameters | undefined;

const options = {
  ...schemaOptions,
  allErrors: true,
  useDefaults: true,
  verbose: true,
  addUsedSchema: false,
} as const;

type Validate = ReturnType<Ajv['compile']>;

/** Many templates have the same parameters, and compiling takes milliseconds. */
export function parametersReader(): ParametersOf {
  const ajv = new Ajv(options);
  const known = new Map<string, Validate>();
  const compile = (schema: JsonObject): Validate =>
    cached(known, JSON.stringify(schema), () => ajv.compile(schema));
  return (raw, complain) => parametersOf(raw, complain, compile);
}

function parametersOf(
  raw: Raw,
  complain: Complain,
  compile: (schema: JsonObject) => Validate,
): Parameters | undefined {
  const schema = jsonOf(raw);
  const wrongSchema = schemaComplaints(schema, patternFault, 'parameters');
  const faults = wrongSchema.length > 0 ? wrongSchema : [...filledInnerDefaults(raw)];
  faults.forEach(complain);
  if (faults.length > 0) return undefined;
  if (!isObject(schema) || (schema['type'] ?? 'object') !== 'object') {
    const summary = '`parameters` has to be the schema of a mapping';
    const detail =
      'As in `parameters: { required: [title], properties: { title: { type: string } } }`.';
    return void complain({ path: ['parameters'], code: 'bad-schema', summary, detail });
  }
  const whole = { type: 'object', additionalProperties: false, ...schema };
  const missing = [...unknownRequired(whole)];
  missing.forEach(complain);
  if (missing.length > 0) return undefined;
  try {
    const validate = compile(whole);
    const defaults = defaultsIn(raw);
    const wrong = wrongDefaults(defaults, compile({ ...whole, required: [] }));
    wrong.forEach(complain);
    return wrong.length > 0 ? undefined : checked(whole, validate, defaults);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^strict mode: /, '') : '';
    return void complain({
      path: ['parameters'],
      code: 'bad-schema',
      summary: `\`parameters\` is not a schema that can be checked: ${why}`,
    });
  }
}

/** Names that are required, and that no use may give. */
function* unknownRequired(schema: JsonObject): Generator<Violation> {
  const { required, properties = {}, additionalProperties } = schema;
  if (additionalProperties !== false) return;
  const names = isObject(properties) ? properties : {};
  for (const [index, name] of (isList(required) ? required : []).entries())
    if (typeof name === 'string' && !Object.hasOwn(names, name))
      yield {
        path: ['parameters', 'required', String(index)],
        code: 'bad-schema',
        summary: `\`parameters.required\` names \`${name}\`, which \`properties\` does not have.${didYouMean(name, Object.keys(names))}`,
      };
}

/** Defaults with expressions that are not those of parameters: ajv gives them as they stand. */
function* filledInnerDefaults(
  schema: Raw,
  path: readonly string[] = ['parameters'],
): Generator<Violation> {
  for (const [keyword, operand] of Object.entries(isMap(schema) ? schema : {})) {
    const at = [...path, keyword];
    const isOfParameter = path.length === 3 && path[1] === 'properties';
    if (keyword === 'default' && !isOfParameter && holdsExpression(operand))
      yield {
        path: at,
        code: 'bad-schema',
        summary: `\`${at.join('.')}\` cannot hold references or expressions`,
        detail:
          'Write a plain value, or put it into the `default` of the parameter itself, which can hold references and expressions.',
      };
    for (const [step] of own(keywords, keyword)?.inner?.(jsonOf(operand)) ?? [])
      yield* filledInnerDefaults(rawValueAt(operand, step) ?? null, [...at, ...step]);
  }
}

/** Defaults that the schema does not allow. Checking nothing fills them in; what is wrong with nothing itself does not matter. */
function wrongDefaults(defaults: Defaults, validate: Validate): readonly Violation[] {
  if (defaults.size === 0 || validate({})) return [];
  return (validate.errors ?? []).flatMap((error) => {
    const [name = '', ...rest] = stepsOfError(error);
    const isOfDefault =
      defaults.has(name) && /^#\/(?:properties|\$defs|definitions)\//.test(error.schemaPath);
    if (!isOfDefault) return [];
    return violationOf(error, [], ['parameters', 'properties', name, 'default', ...rest]) ?? [];
  });
}

function checked(schema: JsonObject, validate: Validate, defaults: Defaults): Parameters {
  const properties = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  const written = Object.fromEntries(defaults);
  return (given, complain) => {
    const all = { ...written, ...given };
    const values = jsonOf(all);
    if (validate(values)) return withInnerDefaults(all, values);
    for (const error of validate.errors ?? []) {
      const violation = violationOf(error, properties, ['with', ...stepsOfError(error)]);
      if (violation) complain(violation);
    }
    return undefined;
  };
}

/** A text with a reference counts as text. */
function jsonOf(raw: Raw): Json {
  if (typeof raw === 'string') return literalOf(raw) ?? raw;
  if (raw instanceof Word) return String(raw);
  if (isList(raw)) return raw.map(jsonOf);
  return isMap(raw) ? mapMembers(raw, (one: Raw) => jsonOf(one)) : raw;
}

/** Defaults of parameters as they are written: they may hold references. */
type Defaults = ReadonlyMap<string, Raw>;

function defaultsIn(schema: Raw): Defaults {
  const properties = isMap(schema) ? schema['properties'] : undefined;
  return new Map(
    Object.entries(isMap(properties) ? properties : {}).flatMap(([name, one]) =>
      isMap(one) && one['default'] !== undefined ? [[name, one['default']]] : [],
    ),
  );
}

/** Adds the members that checking added. */
function withInnerDefaults(given: RawMap, values: Json): RawMap {
  const merged = (raw: Raw, value: Json): Raw => {
    if (isList(raw) && isList(value))
      return raw.map((one, index) => merged(one, value[index] ?? null));
    if (!isMap(raw) || !isObject(value)) return raw;
    return mapMembers(value, (one: Json, name) =>
      Object.hasOwn(raw, name) ? merged(raw[name] ?? null, one) : spell(one),
    );
  };
  const all = merged(given, values);
  return isMap(all) ? all : given;
}

/** Those of `allOf`, `if` and the like are told by what is inside of them. @param path where the value stands */
function violationOf(
  error: ErrorObject,
  properties: readonly string[],
  path: readonly string[],
): Violation | undefined {
  const { keyword, message = 'is not as expected' } = error;
  if (keyword === 'if') return undefined;
  const { missingProperty, additionalProperty, allowedValues } = error.params as Readonly<
    Record<string, unknown>
  >;
  if (typeof missingProperty === 'string')
    return {
      path,
      code: 'missing-parameter',
      summary: `\`${[...path, missingProperty].join('.')}\` is missing`,
    };
  if (typeof additionalProperty === 'string')
    return {
      path: [...path, additionalProperty],
      code: 'unknown-parameter',
      summary: `\`${additionalProperty}\` is not a parameter.${didYouMean(additionalProperty, properties)}`,
      ...(properties.length > 0 && { detail: `Parameters: ${properties.join(', ')}.` }),
    };
  if (Array.isArray(allowedValues)) return noChoice(allowedValues, error.data, path);
  const code = 'wrong-parameter';
  const summary = `\`${path.join('.')}\` ${message}`;
  if (keyword !== 'type') return { path, code, summary };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ajv was given JSON
  const value = error.data as Raw;
  const types = [error.params['type']].flat();
  const [isText, isListed] = [types.includes('string'), types.includes('array')];
  const detail = howToWrite({ isText, isListed }, value);
  return { path, code, summary: `${summary}, not ${foundWord(value)}`, ...defined({ detail }) };
}

function noChoice(values: readonly unknown[], found: unknown, path: readonly string[]): Violation {
  const words = values.filter((one) => typeof one === 'string');
  const meant = typeof found === 'string' ? didYouMean(found, words) : '';
  const texts = values.map((one) => JSON.stringify(one));
  return {
    path,
    code: 'wrong-parameter',
    summary: `\`${path.join('.')}\` is not one of the allowed values.${meant}`,
    detail: `Allowed values: ${firstNamed(texts, MOST_VALUES)}.`,
  };
}

/** Values of a parameter that an error names. */
const MOST_VALUES = 20;
