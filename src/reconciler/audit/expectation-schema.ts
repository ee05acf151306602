// Compiles the schema of an expectation. In a file of its own, because ajv takes its time to load and few projects
// need it. The schema was checked while loading, so that it ends, and refers to nothing.
import { Ajv, type ErrorObject } from 'ajv';
import { RE2JS } from 're2js';
import { holdsExact, wireText, type Json, type JsonObject } from '../../model/index.js';

/** Patterns are matched by RE2, which no text holds up. They were compiled once while loading. ajv tells patterns apart by their text. */
const regExp = Object.assign(
  (source: string) => {
    const pattern = RE2JS.compile(RE2JS.translateRegExp(source));
    return { test: (text: string): boolean => pattern.test(text), toString: () => source };
  },
  { code: 're2js' },
);

/** What a record inherits is no field of it. */
export const options = {
  strict: true,
  strictTypes: false,
  strictRequired: false,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  ownProperties: true,
  code: { regExp },
} as const;

/** Undefined for a record that satisfies the schema; otherwise where it does not, and by which rule. Never what stands there. */
export function conformity(every: JsonObject): (record: JsonObject) => string | undefined {
  const validate = new Ajv(options).compile(every);
  return (record) => (validate(plain(record)) ? undefined : why(validate.errors ?? []));
}

/** A number beyond a double is no less a number. */
const plain = <T extends Json>(value: T): T =>
  holdsExact(value) ? (JSON.parse(wireText(value)) as T) : value;

/** The rule that is broken stands last, behind what was tried for it; `if` stands behind the rule of its branch. */
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

function rule({ keyword, params }: ErrorObject): string | undefined {
  const { allowedValue, allowedValues, additionalProperty, propertyName } = params as Readonly<
    Record<string, unknown>
  >;
  if (keyword === 'const') return `must be ${JSON.stringify(allowedValue)}`;
  if (keyword === 'enum')
    return `must be one of ${(allowedValues as readonly Json[]).map((one) => JSON.stringify(one)).join(', ')}`;
  if (keyword === 'required') return `must have ${JSON.stringify(params['missingProperty'])}`;
  if (keyword === 'additionalProperties')
    return `must not have ${JSON.stringify(additionalProperty)}`;
  if (keyword === 'propertyNames') return `must not have ${JSON.stringify(propertyName)}`;
  if (keyword === 'not') return 'must not be what `not` describes';
  return keyword === 'false schema' ? 'must not be there' : undefined;
}
