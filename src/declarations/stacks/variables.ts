// The types of a stack's variables. A given value (from outside: text) is converted as Terraform does, or refused.
import { holdsExact, isList, parseJson } from '../../model/index.js';
import { escapeText } from '../reference-syntax.js';
import { spell } from '../interpolate.js';
import { isMap, jsonLevels, limits, type Raw } from '../yaml/raw-values.js';

interface Collective {
  readonly of: VariableType;
  readonly holds: 'list' | 'set' | 'map';
}
export type VariableType = 'text' | 'number' | 'flag' | 'any' | Collective;

const simple: ReadonlyMap<string, VariableType | undefined> = new Map([
  ['string', 'text'],
  ['number', 'number'],
  ['bool', 'flag'],
  ['any', 'any'],
  ['', undefined],
]);

/** The type that a stack gives a variable; undefined where it gives none. */
export function typeIn(words: string): VariableType | undefined {
  const type = words.replace(/^\$\{([^]*)\}$/, '$1').trim();
  if (simple.has(type)) return simple.get(type);
  const [, word = '', inner = ''] = /^(list|set|map|object|tuple)\(([^]*)\)$/.exec(type) ?? [];
  if (word === 'list' || word === 'set' || word === 'map')
    return { of: typeIn(inner) ?? 'any', holds: word };
  // The members of an object stay as they are.
  if (word === 'object') return { of: 'any', holds: 'map' };
  return word === 'tuple' ? { of: 'any', holds: 'list' } : 'any';
}

/** A value converted to the type; undefined if that is not possible. */
export function ofType(value: Raw, type: VariableType | undefined): Raw | undefined {
  if (type === undefined || type === 'any' || value === null) return value;
  if (typeof type === 'object') return membersOfType(value, type);
  const isSingle =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  if (type === 'text') return isSingle ? String(value) : undefined;
  if (typeof value === 'string') return type === 'number' ? numberIn(value) : flags.get(value);
  return typeof value === (type === 'number' ? 'number' : 'boolean') ? value : undefined;
}

function membersOfType(value: Raw, { of, holds }: Collective): Raw | undefined {
  if (holds === 'map' ? !isMap(value) : !isList(value)) return undefined;
  const members: [key: string, item: Raw][] = [];
  for (const [key, before] of Object.entries<Raw>(isMap(value) || isList(value) ? value : [])) {
    const item = ofType(before, of);
    if (item === undefined) return undefined;
    members.push([key, item]);
  }
  if (holds === 'map') return Object.fromEntries(members);
  const items = members.map(([, item]) => item);
  return holds === 'set' ? [...new Set(items)] : items;
}

const flags: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** The digits that every double can hold. */
const DIGITS = 15;

function numberIn(text: string): number | undefined {
  const [, digits = ''] = /^[+-]?((?:\d+\.?\d*|\.\d+))(?:e[+-]?\d+)?$/i.exec(text) ?? [];
  const exact = digits !== '' && digits.replace('.', '').replace(/^0+/, '').length <= DIGITS;
  return exact && !/e/.test(String(Number(text))) && Number.isFinite(Number(text))
    ? Number(text)
    : undefined;
}

const isWhole = (type: VariableType | undefined): boolean =>
  type === 'any' || typeof type === 'object';

/** A number or a boolean in the place of one, if the text is how one is written; otherwise the text. */
function likeBefore(text: string, before: Raw | undefined): Raw {
  const value = typeof before === 'number' ? numberIn(text) : flags.get(text);
  const isLike = typeof value === typeof before && String(value) === text;
  return value !== undefined && isLike ? value : escapeText(text);
}

/** The value that a text says. @param before what the files give the variable. @returns undefined for a text that says none */
export function outsideValue(
  text: string,
  type: VariableType | undefined,
  before: Raw | undefined,
): Raw | undefined {
  if (type === undefined && typeof before !== 'object') return likeBefore(text, before);
  if (!isWhole(type) && (type !== undefined || before === null))
    return ofType(escapeText(text), type);
  if (jsonLevels(text) > limits.levels) return undefined;
  try {
    const value = parseJson(text);
    return holdsExact(value) ? undefined : ofType(spell(value), type);
  } catch {
    return undefined;
  }
}

/** The type of a variable in words, and an example of a value. */
export function wordsOf(type: VariableType | undefined): {
  readonly what: string;
  readonly example: string;
} {
  if (type === 'number') return { what: `a number of at most ${DIGITS} digits`, example: '12' };
  if (type === 'flag') return { what: 'true or false', example: 'true' };
  if (type === undefined || typeof type === 'string')
    return type === 'text'
      ? { what: 'a string', example: 'text' }
      : { what: 'a list or a mapping', example: '["a", "b"]' };
  return type.holds === 'map'
    ? { what: 'a mapping', example: '{"a": "b"}' }
    : { what: 'a list', example: '["a", "b"]' };
}
