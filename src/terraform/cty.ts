// Terraform's values and their msgpack form, which is directed by the type. Numbers keep every digit, unknown is a
// value, and bytes that do not fit the type are a `CtyError` with the path, whatever they are.
import { ExactNumber } from '../model/index.js';

/** As terraform writes types in JSON, a schema's `type` being its text. */
export type CtyType =
  | 'string'
  | 'number'
  | 'bool'
  | 'dynamic'
  | readonly ['list' | 'set' | 'map', CtyType]
  | readonly ['object', { readonly [name: string]: CtyType }]
  | readonly ['tuple', readonly CtyType[]];

/** An attribute's name, the index of an element, or the key of a map. */
export type Step = string | number | { readonly key: string };
export type Path = readonly Step[];

type Bound = readonly [value: number | ExactNumber, inclusive: boolean];

/** What is promised of a value that is not known yet: core holds the provider to it after apply. */
export interface Refinements {
  readonly notNull?: true;
  readonly prefix?: string;
  readonly min?: Bound;
  readonly max?: Bound;
  readonly minLength?: number;
  readonly maxLength?: number;
}

export class Unknown {
  constructor(readonly refinements: Refinements = {}) {}
}

/** A value of type `dynamic`, with the type it has. (Null and unknown stand for themselves.) */
export class Dynamic {
  constructor(
    readonly type: CtyType,
    readonly value: CtyValue,
  ) {}
}

/** Lists, sets (in any order) and tuples are arrays; maps and objects are plain objects. */
export type CtyValue = null | string | boolean | number | ExactNumber | Unknown | Dynamic | readonly CtyValue[] | CtyObject;
export interface CtyObject {
  readonly [name: string]: CtyValue;
}

export interface DynamicValue {
  readonly msgpack: Uint8Array;
  readonly json: Uint8Array;
}

export class CtyError extends Error {
  constructor(
    readonly path: Path,
    summary: string,
  ) {
    super(summary);
    this.name = 'CtyError';
  }
}

/** @throws CtyError */
export function decode(_type: CtyType, _value: DynamicValue): CtyValue {
  throw new Error('to come');
}

/** Missing members of objects become null. @throws CtyError */
export function encode(_type: CtyType, _value: CtyValue): Uint8Array {
  throw new Error('to come');
}

/** A value from the JSON that terraform keeps in its state. Missing members become null, those the type does not know are dropped. @throws CtyError */
export function fromJson(_type: CtyType, _json: unknown): CtyValue {
  throw new Error('to come');
}
