// The keywords of JSON Schema that an expectation may hold: those of draft-07 that are cheap and known to every editor.
// Each is named only here; error messages and the completion of editors are generated from this table.
import {
  canonical,
  isList,
  isObject,
  mapMembers,
  type Json,
  type JsonObject,
} from '../model/index.js';

/** The operand of a keyword. */
export interface Operand {
  /** Continues "… is expected". */
  readonly words: string;
  /** For editors. */
  readonly schema: JsonObject;
  readonly fits: (value: Json) => boolean;
  /** Schemas inside it, by the step that leads there. */
  readonly inner?: (value: Json) => readonly (readonly [step: readonly string[], schema: Json])[];
}

const SELF: JsonObject = { $ref: '#/definitions/every' };
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

const isSchema = (value: Json): boolean => typeof value === 'boolean' || isObject(value);
const distinct = (list: readonly Json[]): boolean =>
  new Set(list.map(canonical)).size === list.length;
const isType = (value: Json): boolean => typeof value === 'string' && TYPES.includes(value);

export const schema: Operand = {
  words: 'a schema: a mapping of keywords, or true or false',
  schema: SELF,
  fits: isSchema,
  inner: (value) => [[[], value]],
};
const schemas: Operand = {
  words: 'a list of schemas, at least one,',
  schema: { type: 'array', minItems: 1, items: SELF },
  fits: (value) => isList(value) && value.length > 0,
  inner: (value) => (isList(value) ? value.map((one, index) => [[String(index)], one]) : []),
};
const members: Operand = {
  words: 'a mapping of names to schemas',
  schema: { type: 'object', additionalProperties: SELF },
  fits: isObject,
  inner: (value) =>
    isObject(value) ? Object.entries(value).map(([name, one]) => [[name], one]) : [],
};
const types: Operand = {
  words: `one of ${TYPES.join(', ')}, or a list of them,`,
  schema: {
    anyOf: [
      { enum: TYPES },
      { type: 'array', minItems: 1, uniqueItems: true, items: { enum: TYPES } },
    ],
  },
  fits: (value) =>
    isType(value) || (isList(value) && value.length > 0 && value.every(isType) && distinct(value)),
};
const names: Operand = {
  words: 'a list of names, none of them twice,',
  schema: { type: 'array', uniqueItems: true, items: { type: 'string' } },
  fits: (value) =>
    isList(value) && value.every((one) => typeof one === 'string') && distinct(value),
};
const values: Operand = {
  words: 'a list of values, at least one and none of them twice,',
  schema: { type: 'array', minItems: 1, uniqueItems: true },
  fits: (value) => isList(value) && value.length > 0 && distinct(value),
};
const value: Operand = { words: 'a value', schema: {}, fits: () => true };
const ofType = (words: string, type: 'number' | 'string'): Operand => ({
  words,
  schema: { type },
  fits: (one) => typeof one === type,
});
const number = ofType('a number', 'number');
const size: Operand = {
  words: 'an integer, 0 or more,',
  schema: { type: 'integer', minimum: 0 },
  fits: (one) => Number.isInteger(one) && Number(one) >= 0,
};
const text = ofType('text', 'string');

/** Filled in before it is looked at: `${…}` may stand wherever a value may. */
export const keywords: Readonly<Record<string, Operand>> = {
  type: types,
  const: value,
  enum: values,
  properties: members,
  required: names,
  additionalProperties: schema,
  propertyNames: schema,
  minProperties: size,
  maxProperties: size,
  items: schema,
  contains: schema,
  minItems: size,
  maxItems: size,
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  minLength: size,
  maxLength: size,
  pattern: text,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  if: schema,
  // oxlint-disable-next-line unicorn/no-thenable -- JSON Schema's own word
  then: schema,
  else: schema,
  default: value,
  title: text,
  description: text,
  $comment: text,
};

/** Advice for keywords of JSON Schema that are not taken. */
export const instead: Readonly<Record<string, string>> = {
  $ref: 'Write the schema out; a YAML alias saves repeating it.',
  $id: 'Leave it out: the schema is complete in itself.',
  $schema: 'Leave it out: it is a part of draft-07.',
  definitions: 'Write each schema where it is needed; a YAML alias saves repeating it.',
  format: 'Say with `pattern` what the string has to look like.',
  patternProperties: 'Use `propertyNames` and `additionalProperties`.',
};

/** The schema of such a schema, for `#/definitions/every`. */
export function everySchema(): JsonObject {
  const filled: JsonObject = { type: 'string', pattern: '\\$\\{' };
  const properties = mapMembers(keywords, (operand) =>
    operand === text || operand === value || operand.schema === SELF
      ? operand.schema
      : { anyOf: [operand.schema, filled] },
  );
  return {
    description: 'A JSON Schema, in plain keywords of draft-07.',
    type: ['object', 'boolean', 'string'],
    pattern: '\\$\\{',
    properties,
    additionalProperties: false,
  };
}
