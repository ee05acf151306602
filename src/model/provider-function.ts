// Functions of the Terraform provider: pure, named in the vocabulary of attributes, and the same before anything is configured.
import type { Attribute, Attributes } from './attribute.js';
import type { Json } from './json.js';

/** A result, or what is wrong with an argument. */
export type FunctionResult =
  { readonly result: Json } | { readonly error: string; readonly argument: string };

export interface ProviderFunction {
  readonly name: string;
  /** One sentence. */
  readonly doc: string;
  /** More about it: what it is for. */
  readonly detail: string;
  /** In their order. */
  readonly parameters: Attributes;
  readonly returns: Attribute;
  /** An expression in HCL that calls it. */
  readonly example: string;
  readonly call: (given: Readonly<Record<string, unknown>>) => FunctionResult;
}
