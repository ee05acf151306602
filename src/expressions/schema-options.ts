// How ajv compiles JSON Schemas that people write: strictly, and with patterns by RE2, in linear time for every text.
// Loaded only where there is such a schema, because RE2 loads slowly.
import { RE2JS, RE2JSException } from 're2js';

/** Of a pattern. */
export const LONGEST_PATTERN = 500;
/** What one character of a text may cost. */
export const MOST_INSTRUCTIONS = 1_000;

const compiled = (source: string): RE2JS => RE2JS.compile(RE2JS.translateRegExp(source));

/** Why a pattern cannot be matched; undefined where it can. */
export function patternFault(source: string): string | undefined {
  if (source.length > LONGEST_PATTERN) return `it is longer than ${LONGEST_PATTERN} characters`;
  try {
    const size = compiled(source).programSize();
    return size > MOST_INSTRUCTIONS ? 'with its repetitions written out it is too long' : undefined;
  } catch (error) {
    if (error instanceof RE2JSException) return syntaxWords(error);
    throw error;
  }
}

/** What is wrong with the syntax of a pattern. */
const syntaxWords = ({ message }: RE2JSException): string =>
  message.replace(/^error parsing regexp: /, '');

/** ajv distinguishes patterns by their text. */
const regExp = Object.assign(
  (source: string) => {
    const pattern = compiled(source);
    return { test: (text: string): boolean => pattern.test(text), toString: () => source };
  },
  { code: 're2js' },
);

/** Inherited members are not members of a value. */
export const schemaOptions = {
  strict: true,
  strictTypes: false,
  strictRequired: false,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  ownProperties: true,
  code: { regExp },
} as const;
