// Addresses name declarations: `<kind>.<name>`, with `["key"]` appended for a member of a `for_each`.
import { tryJson } from './exact-numbers.js';

export const NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;
/** The rule of `NAME` in words, to follow "a name". */
export const nameWords = 'begins with a letter and goes on with letters, digits, `_` and `-`.';
const ADDRESS = /^([a-z][a-z0-9_]*)\.([A-Za-z][A-Za-z0-9_-]*)(?:\[("(?:[^"\\]|\\.)*")\])?$/;

export interface Address {
  readonly kind: string;
  readonly name: string;
  /** The `for_each` key, if there is one. */
  readonly key?: string;
}

export function formatAddress({
  kind,
  name,
  key,
}: Omit<Address, 'key'> & { readonly key?: string | undefined }): string {
  return key === undefined ? `${kind}.${name}` : `${kind}.${name}[${JSON.stringify(key)}]`;
}

/** The canonical spelling of an address, whose key may have any escapes of JSON. Other text is returned as it is. */
export function canonicalAddress(text: string): string {
  const address = tryAddress(text);
  return address ? formatAddress(address) : text;
}

/** An address without its key. */
export const withoutKey = (address: string): string => address.replace(/\[.*$/s, '');

export function tryAddress(text: string): Address | undefined {
  const match = ADDRESS.exec(text);
  if (!match) return undefined;
  const [, kind = '', name = '', quoted] = match;
  if (quoted === undefined) return { kind, name };
  const key = tryJson(quoted);
  return typeof key === 'string' ? { kind, name, key } : undefined;
}
