// Terraform's values and their msgpack form, which depends on the type. Numbers keep every digit, unknown is a value,
// and any bytes that do not match the type are a `CtyError` with the path.
import { Decoder, Encoder, ExtData, ExtensionCodec } from '@msgpack/msgpack';
import {
  ExactNumber,
  isObject,
  mapMembers,
  needsExact,
  own,
  parseJson,
} from '../../model/index.js';

/** As terraform writes types in JSON, a schema's `type` being its text; no schema of this provider has another one. */
export type CtyType =
  | 'string'
  | 'number'
  | 'bool'
  | readonly ['list', CtyType]
  | readonly ['set', CtyType]
  | readonly ['map', CtyType]
  | readonly ['object', { readonly [name: string]: CtyType }];

/** An attribute's name, the index of an element, or the key of a map. */
export type PathStep = string | number | { readonly key: string };
export type Path = readonly PathStep[];

/** A value that is not known yet; with `refinements`, as core writes them, what is promised of it: core holds the provider to that after apply. */
export class Unknown {
  constructor(readonly refinements?: Uint8Array) {}
}

/** It will not be null. */
export const NOT_NULL = Uint8Array.of(0x81, 1, 0xc2);

/** Lists and sets (in any order) are arrays; maps and objects are plain objects. */
export type CtyValue =
  null | string | boolean | number | ExactNumber | Unknown | readonly CtyValue[] | CtyObject;
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

/** True for values with elements: lists, sets, maps and objects. */
export const isInside = (value: unknown): value is CtyObject | readonly CtyValue[] =>
  typeof value === 'object' &&
  value !== null &&
  !(value instanceof Unknown) &&
  !(value instanceof ExactNumber);

/** A member of an object; null if there is no such member or no object. */
export const memberOf = (value: CtyValue, name: string): CtyValue =>
  isInside(value) ? (own(value, name) ?? null) : null;

/** A path before what is said of it. Core shows none where it has no line, as for what stands in a state. */
export const wordsOfPath = (path: Path): string =>
  path.length === 0
    ? ''
    : `${path.map((step) => (typeof step === 'object' ? step.key : step)).join('.')}: `;

/** The source of a value: msgpack, which is exact about an object's members, or JSON of a state, which may be older. */
type Form = 'msgpack' | 'json';

/** A message without a value is null. @throws CtyError */
export function decode(type: CtyType, message: DynamicValue | null): CtyValue {
  if (!message) return null;
  const { msgpack, json } = message;
  if (msgpack.length > 0) return read(type, unpacked(msgpack), undefined, 'msgpack');
  return json.length > 0 ? fromJson(type, parsed(json)) : null;
}

/** A value from the JSON that terraform keeps in its state, as `decode` has it of what `encode` makes of it. Missing members become null, those the type does not know are dropped. @throws CtyError */
export function fromJson(type: CtyType, json: unknown): CtyValue {
  return read(type, json, undefined, 'json');
}

const utf8 = new TextDecoder();

/** JSON with exact numbers. @throws CtyError */
export function parsed(json: Uint8Array): unknown {
  try {
    return parseJson(utf8.decode(json));
  } catch {
    throw new CtyError([], 'the value is not JSON');
  }
}

/** The steps to a value, last first: a path is made of them only where something is wrong. */
interface Trail {
  readonly step: PathStep;
  readonly up: Trail | undefined;
}

const under = (up: Trail | undefined, step: PathStep): Trail => ({ step, up });

function misfit(at: Trail | undefined, summary: string): never {
  const path: PathStep[] = [];
  for (let trail = at; trail; trail = trail.up) path.unshift(trail.step);
  throw new CtyError(path, summary);
}

function read(type: CtyType, raw: unknown, at: Trail | undefined, form: Form): CtyValue {
  if (raw === null || raw === undefined) return null;
  if (raw instanceof Unknown) return raw;
  if (typeof type === 'string') return readPrimitive(type, raw, at, form);
  if (type[0] === 'map')
    return Object.fromEntries(
      Object.entries(members(raw, at)).map(([key, item]) => [
        key.toWellFormed(),
        read(type[1], item, under(at, { key }), form),
      ]),
    );
  if (type[0] === 'object') return readObject(type[1], members(raw, at), at, form);
  return listed(raw, at).map((item, index) => read(type[1], item, under(at, index), form));
}

const listed = <T>(raw: T, at: Trail | undefined) =>
  Array.isArray(raw) ? (raw as readonly T[]) : misfit(at, 'a list is expected');

function members(raw: unknown, at: Trail | undefined): Readonly<Record<string, unknown>> {
  if (!isObject(raw) || Object.getPrototypeOf(raw) !== Object.prototype)
    return misfit(at, 'an object is expected');
  return raw;
}

/** The members are those of a schema: none of them is `__proto__`. */
function readObject(
  types: Readonly<Record<string, CtyType>>,
  raw: Readonly<Record<string, unknown>>,
  at: Trail | undefined,
  form: Form,
): CtyObject {
  const object: Record<string, CtyValue> = {};
  let found = 0;
  for (const [name, of] of Object.entries(types)) {
    if (Object.hasOwn(raw, name)) found += 1;
    else if (form === 'msgpack') return misfit(under(at, name), 'the attribute is missing');
    const held = own(raw, name) ?? null;
    object[name] = held === null ? null : read(of, held, under(at, name), form);
  }
  const odd =
    form === 'msgpack' && Object.keys(raw).length > found
      ? Object.keys(raw).find((name) => !Object.hasOwn(types, name))
      : undefined;
  return odd === undefined ? object : misfit(under(at, odd), 'there is no such attribute');
}

function readPrimitive(
  type: 'string' | 'number' | 'bool',
  packed: unknown,
  at: Trail | undefined,
  form: Form,
): CtyValue {
  const raw =
    packed instanceof Uint8Array
      ? Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength).toString()
      : packed;
  if (type === 'string' && typeof raw === 'string') return raw.toWellFormed();
  if (type === 'bool' && typeof raw === 'boolean') return raw;
  // Core has no negative zero.
  if (type === 'number' && form === 'json' && typeof raw === 'number') return raw === 0 ? 0 : raw;
  const number =
    type !== 'number' || (typeof raw === 'string' && form === 'json') ? undefined : numberOf(raw);
  return number ?? misfit(at, `a ${type} is expected`);
}

const NUMERAL = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** A number of Terraform as a JavaScript number, by its shortest decimal text; undefined if it is not finite or not a number. */
function numberOf(raw: unknown): number | ExactNumber | undefined {
  if (raw instanceof ExactNumber) return raw;
  if (typeof raw === 'string' && !NUMERAL.test(raw)) return undefined;
  if (typeof raw === 'string') return needsExact(raw) ? new ExactNumber(raw) : Number(raw);
  if (typeof raw === 'bigint')
    return Number.isSafeInteger(Number(raw)) ? Number(raw) : new ExactNumber(String(raw));
  if (typeof raw !== 'number' || !Number.isFinite(raw)) return undefined;
  const digits = exactDigits(raw);
  return needsExact(digits) ? new ExactNumber(digits) : Number(digits);
}

/** Every digit of a double: 0.1 is not one of them, but 0.1000000000000000055511151231257827021181583404541015625. */
function exactDigits(value: number): string {
  let places = 0;
  let whole = value;
  for (; !Number.isInteger(whole); places += 1) whole *= 2;
  const digits = String(BigInt(whole) * 5n ** BigInt(places));
  if (places === 0) return digits;
  const [, sign, plain = ''] = /^(-?)(.*)$/.exec(digits)!;
  const padded = plain.padStart(places + 1, '0');
  return `${sign}${padded.slice(0, -places)}.${padded.slice(-places)}`;
}

/** A text as core keeps it: of whole characters, and those composed. */
export const keptText = (text: string): string => text.toWellFormed().normalize();

/** Missing members of objects become null; nothing that would harm core gets out. @throws CtyError */
export function encode(type: CtyType, value: CtyValue): Uint8Array {
  return packer.encode(packable(type, value, undefined));
}

function packable(type: CtyType, value: CtyValue, at: Trail | undefined): unknown {
  if (value === null || value === undefined) return null;
  if (value instanceof Unknown)
    return value.refinements
      ? new ExtData(REFINED, value.refinements)
      : new ExtData(UNKNOWN, new Uint8Array(1));
  if (type === 'number') return packableNumber(value, at);
  if (type === 'string' || type === 'bool') {
    if (typeof value !== (type === 'string' ? 'string' : 'boolean'))
      return misfit(at, `a ${type} is expected`);
    return typeof value === 'string' ? value.toWellFormed() : value;
  }
  if (type[0] === 'map' || type[0] === 'object') return packableMembers(type, value, at);
  return listed(value, at).map((item, index) => packable(type[1], item, under(at, index)));
}

function packableMembers(
  type: readonly ['map', CtyType] | readonly ['object', Readonly<Record<string, CtyType>>],
  value: CtyValue,
  at: Trail | undefined,
): unknown {
  if (!isObject(value)) return misfit(at, 'an object is expected');
  if (type[0] === 'map')
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key.toWellFormed(),
        packable(type[1], item, under(at, { key })),
      ]),
    );
  const odd = Object.keys(value).find((name) => !Object.hasOwn(type[1], name));
  if (odd !== undefined) return misfit(under(at, odd), 'there is no such attribute');
  return mapMembers(type[1], (of, name) => packable(of, own(value, name) ?? null, under(at, name)));
}

/** Integers as integers, everything else as decimal text: core keeps the digits that are written. */
function packableNumber(value: CtyValue, at: Trail | undefined): number | bigint | string {
  if (typeof value === 'number' && Number.isFinite(value))
    return Number.isSafeInteger(value) ? value : String(value);
  if (!(value instanceof ExactNumber)) return misfit(at, 'a number is expected');
  if (!/^-?\d+$/.test(value.text)) return value.text;
  const whole = BigInt(value.text);
  return BigInt.asIntN(64, whole) === whole ? whole : value.text;
}

const UNKNOWN = 0;
const REFINED = 12;
const extensionCodec = new ExtensionCodec();
extensionCodec.register({ type: UNKNOWN, encode: () => null, decode: () => new Unknown() });
extensionCodec.register({
  type: REFINED,
  encode: () => null,
  decode: (body) => new Unknown(Uint8Array.from(body)),
});
const packer = new Encoder({ useBigInt64: true });

/** No list or map is longer than its bytes, whatever it says of itself. Texts stay bytes: the decoder would take a mark of byte order from long ones. */
function unpacked(bytes: Uint8Array): unknown {
  try {
    return new Decoder({
      extensionCodec,
      useBigInt64: true,
      rawStrings: true,
      maxArrayLength: bytes.length,
      maxMapLength: bytes.length,
    }).decode(bytes);
  } catch {
    throw new CtyError([], 'the value is not msgpack');
  }
}
