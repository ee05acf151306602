// Compiles validators at run time, for kinds without a generated one. Loaded only then, because ajv loads slowly.
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
