// The result of both YAML readers: plain values, and the offsets of each key and item, without any interpretation.
import { isList, isObject, own, type Diagnostic } from '../../model/index.js';

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
}

/** A syntax error. */
export interface SyntaxFault extends Pick<Diagnostic, 'code' | 'summary' | 'detail'> {
  readonly offset: number;
}

/** A token costs up to 400 bytes once it is a value. */
export const limits = { bytes: 2 * 1024 * 1024, levels: 64, tokens: 900_000 } as const;

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
  { root, marks }: RawDocument,
  kept: (key: string) => boolean,
): readonly RawDocument[] {
  if (!isMap(root)) return [{ root, marks }];
  const entries = Object.entries(root).filter(([key]) => kept(key));
  const less = Object.fromEntries(entries);
  const offsets = marks.get(root);
  return entries.length === 0
    ? []
    : [{ root: less, marks: offsets ? new Map([...marks, [less, offsets]]) : marks }];
}

/** The offset of the deepest step of `path` that `document` has, and how many steps that is. */
export function offsetOf(
  { root, marks }: RawDocument,
  path: readonly string[],
): { readonly offset: number; readonly steps: number } {
  let value: Raw | undefined = root;
  let offset = 0;
  let steps = 0;
  for (const step of path) {
    const here: number | undefined =
      typeof value === 'object' && value !== null ? marks.get(value)?.get(step) : undefined;
    if (here === undefined) break;
    offset = here;
    steps += 1;
    value = isMap(value) || isList(value) ? own<Raw>(value, step) : undefined;
  }
  return { offset, steps };
}
