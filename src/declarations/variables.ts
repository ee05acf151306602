// What variables are given from outside is text. Where a variable is known to hold something else, the text says that.
import { holdsExact, parseJson, type Json } from '../model/index.js';
import { escapeText } from './expression.js';
import { converted, spell } from './interpolate.js';
import type { Raw } from './raw.js';

/** `json`: lists and mappings. */
export type VariableType = 'number' | 'flag' | 'json';
export type VariableTypes = ReadonlyMap<string, VariableType>;

/** The type that a stack gives a variable; undefined for text. */
export function typeIn(words: string): VariableType | undefined {
  const type = words.replace(/^\$\{([^]*)\}$/, '$1').trim();
  if (type === 'number') return 'number';
  if (type === 'bool') return 'flag';
  return type === 'string' || type === '' ? undefined : 'json';
}

/** The value that a text says. @param before what the files give the variable. @returns undefined for a text that says none */
export function outsideValue(text: string, type: VariableType | undefined, before: Raw | undefined): Raw | undefined {
  if (type === 'number' || type === 'flag') return converted(escapeText(text), { word: type, doc: '' });
  if (type !== 'json' && (typeof before !== 'object' || before === null)) return escapeText(text);
  try {
    const value = parseJson(text);
    return holdsExact(value) ? undefined : spell(value as Json);
  } catch {
    return undefined;
  }
}
