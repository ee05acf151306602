// Compares names and ids with the texts of a file that is not evaluated: an expression in a text may stand for anything.
import {
  canonicalAddress,
  isList,
  nearest,
  tryAddress,
  withoutKey,
  type RemovedObject,
} from '../model/index.js';
import { literalOf, partsOf } from './reference-syntax.js';
import { isMap, type Raw } from './yaml/raw-values.js';

export const isLiteral = (text: string): boolean => literalOf(text) !== undefined;

/** The name in an address, without the key of a member. */
export const nameOf = (address: string): string => withoutKey(address).replace(/^.*?\./, '');

/** The names that a use of a template can have which makes an object: `a-b` and `a` for `accounts.a-b-c`. */
export function usesOf(address: string): readonly string[] {
  const name = nameOf(address);
  return [...name.matchAll(/-/g)].map(({ index }) => name.slice(0, index));
}

/** Whether a text is an address of the object, or of its whole `for_each`, or may be one. */
export function mayName(text: string, { addresses, kind }: RemovedObject): boolean {
  if (isLiteral(text) && isMisspelled(tryAddress(text)?.kind, kind)) {
    // It is an error, and may be meant as the address.
    const words: readonly string[] = text.match(/[\w-]+/g) ?? [];
    return addresses.some((one) => words.includes(nameOf(one)));
  }
  const address = canonicalAddress(text);
  return [...addresses, ...addresses.map(withoutKey)].some((one) => mayBe(address, one));
}

/** Whether a text is no kind, or nearly this one. */
export const isMisspelled = (text: string | undefined, kind: string): boolean =>
  text === undefined || (text !== kind && nearest(text, [kind]) !== undefined);

/** Whether a text is a value, or may be one once its expressions are filled in. */
function mayBe(text: string, value: string): boolean {
  const parts = partsOf(text);
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (parts.length < 2 && typeof first === 'string') return first === value;
  return (
    (typeof first !== 'string' || value.startsWith(first)) &&
    (typeof last !== 'string' || value.endsWith(last))
  );
}

/** Whether one of the texts is the id of an object, or a path that ends with it. */
export const holdsId = (texts: readonly string[], id: string): boolean =>
  texts.some((text) => literalOf(text)?.replace(/\/$/, '').split('/').at(-1) === id);

/** Whether a text contains an address, or the name of its `for_each`. `[each.key]` counts as another member. */
export function refersTo(text: string, address: string): boolean {
  const name = withoutKey(address);
  if (!text.includes(name)) return false;
  // An index in another form counts as the whole name.
  const index = String.raw`(?:\[("[^"\\]*"|each\.[\w.]+)\])?`;
  const pattern = new RegExp(`(?<![\\w.-])${name}(?![\\w-])${index}`, 'g');
  return [...text.matchAll(pattern)].some(
    ([, key]) => key === undefined || canonicalAddress(`${name}[${key}]`) === address,
  );
}

/** All texts and numbers in a value. */
export function textsIn(raw: Raw | undefined): readonly string[] {
  if (isList(raw)) return raw.flatMap(textsIn);
  if (isMap(raw)) return Object.values(raw).flatMap(textsIn);
  return raw === undefined || raw === null ? [] : [String(raw)];
}

/** All texts, numbers and keys in a value. */
export const wordsIn = (raw: Raw | undefined): readonly string[] => [
  ...textsIn(raw),
  ...keysIn(raw),
];

const keysIn = (raw: Raw | undefined): readonly string[] =>
  isMap(raw) || isList(raw)
    ? [...(isMap(raw) ? Object.keys(raw) : []), ...Object.values<Raw>(raw).flatMap(keysIn)]
    : [];

/** All texts below the keys of this name, or of a similar one, at any depth. */
export function textsBelow(raw: Raw, key: string): readonly string[] {
  if (isList(raw)) return raw.flatMap((one) => textsBelow(one, key));
  if (!isMap(raw)) return [];
  return Object.entries<Raw>(raw).flatMap(([name, value]) =>
    nearest(name, [key]) === undefined ? textsBelow(value, key) : textsIn(value),
  );
}
