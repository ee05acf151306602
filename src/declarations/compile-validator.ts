// Compiles validators on the way, for kinds that none was compiled for beforehand. Loaded only then: ajv takes its time.
import { Ajv } from 'ajv';
import type { JsonObject } from '../model/index.js';
import type { Validator } from './validator.js';

export const ajvOptions = {
  allErrors: true,
  strict: false,
  messages: false,
  validateFormats: false,
} as const;

export function compile(schema: JsonObject): Validator {
  return new Ajv(ajvOptions).compile(schema) as Validator;
}
