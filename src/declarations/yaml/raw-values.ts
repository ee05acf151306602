// The result of both YAML readers: plain values, and the offsets of each key and item, without any interpretation.
import { cached, isList, isObject, own, type Diagnostic } from '../../model/index.js';
import { escapeText } from '../reference-syntax.js';

/** A plain `yes`, `no`, `on` or `off`: text in YAML 1.2, a flag in 1.1. Only a free-form document may hold one. */
export class Word {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

export type Raw = null | boolean | number | string | Word | readonly Raw[] | RawMap;
export interface RawMap {
  readonly [key: string]: Raw;
}

/** Offsets of the keys of each mapping and of the items of each sequence, by the object that holds them. */
export type Marks = Map<object, ReadonlyMap<string, number>>;

export interface RawDocument {
  readonly root: Raw;
  readonly marks: Marks;
  /** A key holds `${`. */
  readonly inKeys?: true;
}

/** A syntax error. */
export interface SyntaxFault extends Pick<Diagnostic, 'code' | 'summary' | 'detail'> {
  readonly offset: number;
  /** Of what stands there twice: the offset of the first. */
  readonly first?: number;
}

/** A token costs up to 400 bytes once it is a value. */
export const limits = { bytes: 2 * 1024 * 1024, levels: 64, tokens: 900_000 } as const;

/** Of values that are put together: far more than files hold, and soon reached by what doubles. */
export const MOST_BYTES = 32 * 1024 * 1024;
export const TOO_LARGE = 'it is larger than 32 MiB';

/** What a value costs beside its characters. */
const ITEM = 16;

const sizes = new WeakMap<object, number>();

/** About the bytes of a value, with a part counted at each of its places. */
export function sizeOf(raw: Raw): number {
  if (typeof raw === 'string') return ITEM + raw.length;
  if (raw === null || typeof raw !== 'object' || raw instanceof Word) return ITEM;
  return cached(sizes, raw, () =>
    Object.entries<Raw>(raw).reduce((sum, [key, one]) => sum + key.length + sizeOf(one), ITEM),
  );
}

/** How deep JSON text nests, before anything that recurs reads it. */
export function jsonLevels(text: string): number {
  let [level, deepest, quoted] = [0, 0, false];
  for (const [token] of text.matchAll(/\\[^]|["[\]{}]/g)) {
    if (token === '"') quoted = !quoted;
    else if (quoted || token.startsWith('\\')) continue;
    else level += token === '[' || token === '{' ? 1 : -1;
    deepest = Math.max(deepest, level);
  }
  return deepest;
}

const WORD = /^(?:yes|no|on|off)$/i;

/** The value of a plain scalar that no other rule claims. */
export function plainText(text: string): string | Word {
  return text.length <= 3 && WORD.test(text) ? new Word(text) : text;
}

export const isMap = (value: Raw | undefined): value is RawMap =>
  isObject(value) && !(value instanceof Word);

/** A document with the top-level keys that are kept, or none where it has none of them. What is no mapping stays as it is. */
export function withKeys(
  document: RawDocument,
  kept: (key: string) => boolean,
): readonly RawDocument[] {
  const { root, marks } = document;
  if (!isMap(root)) return [document];
  const entries = Object.entries(root).filter(([key]) => kept(key));
  const less = Object.fromEntries(entries);
  const offsets = marks.get(root);
  return entries.length === 0
    ? []
    : [{ ...document, root: less, marks: offsets ? new Map([...marks, [less, offsets]]) : marks }];
}

/** The offset of the deepest step of `path` that `document` has, and how many steps that is. A key that holds `${` may be given as it is written or as it is read. */
export function offsetOf(
  { root, marks }: RawDocument,
  path: readonly string[],
): { readonly offset: number; readonly steps: number } {
  let value: Raw | undefined = root;
  let offset = 0;
  let steps = 0;
  for (const step of path) {
    const offsets: ReadonlyMap<string, number> | undefined =
      typeof value === 'object' && value !== null ? marks.get(value) : undefined;
    const written: string = offsets?.has(step) ? step : escapeText(step);
    const here = offsets?.get(written);
    if (here === undefined) break;
    offset = here;
    steps += 1;
    value = isMap(value) || isList(value) ? own<Raw>(value, written) : undefined;
  }
  return { offset, steps };
}
