// How ajv compiles JSON Schemas that people write: strictly, and with patterns by RE2, in linear time for every text.
import { RE2JS } from 're2js';

/** ajv distinguishes patterns by their text. */
const regExp = Object.assign(
  (source: string) => {
    const pattern = RE2JS.compile(RE2JS.translateRegExp(source));
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
