// Compiles the JSON Schema of an expectation. In its own file, because ajv loads slowly and few projects need it.
// Loading has checked that the schema is finite and has no references, and has compiled its patterns once.
import { Ajv, type ErrorObject } from 'ajv';
import { schemaOptions } from '../../expressions/schema-options.js';
import { holdsExact, wireText, type JsonObject } from '../../model/index.js';

/** Undefined for a record that satisfies the schema; otherwise the place and the rule that failed, never the value. */
export function conformity(every: JsonObject): (record: JsonObject) => string | undefined {
  const validate = new Ajv(schemaOptions).compile(every);
  return (record) => (validate(plain(record)) ? undefined : why(validate.errors ?? []));
}

/** Converts exact numbers to doubles, because they are numbers as well. */
function plain(record: JsonObject): JsonObject {
  const rounded: JsonObject = holdsExact(record) ? JSON.parse(wireText(record)) : record;
  return rounded;
}

/** The broken rule is the last error, after those of its alternatives; only `if` comes after the rule of its branch. */
function why(errors: readonly ErrorObject[]): string {
  const error = errors.findLast(({ keyword }) => keyword !== 'if');
  if (!error) return 'the record is not as expected';
  const { instancePath, message = 'is not as expected' } = error;
  const path = instancePath
    .slice(1)
    .replaceAll('/', '.')
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
  return `${path === '' ? 'the record' : path} ${rule(error) ?? message}`;
}

const listed = (values: unknown): string =>
  (Array.isArray(values) ? values : []).map((one: unknown) => JSON.stringify(one)).join(', ');

function rule({ keyword, params }: ErrorObject): string | undefined {
  const { allowedValue, allowedValues, additionalProperty, propertyName } = params as Readonly<
    Record<string, unknown>
  >;
  if (keyword === 'const') return `must be ${JSON.stringify(allowedValue)}`;
  if (keyword === 'enum') return `must be one of ${listed(allowedValues)}`;
  if (keyword === 'required') return `must have ${JSON.stringify(params['missingProperty'])}`;
  if (keyword === 'additionalProperties')
    return `must not have ${JSON.stringify(additionalProperty)}`;
  if (keyword === 'propertyNames') return `must not have ${JSON.stringify(propertyName)}`;
  if (keyword === 'not') return 'must not be what `not` describes';
  return keyword === 'false schema' ? 'must not be there' : undefined;
}
