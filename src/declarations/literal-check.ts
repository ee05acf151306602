// Checks parts of files in which nothing is filled in, as a fleet and its policies are: only strings may hold `${…}`.
import { isList, type Attribute, type Attributes } from '../model/index.js';
import type { DeclarationForm } from './resolve-declaration.js';
import { check, mismatch, type Violation } from './validation.js';
import { isMap, Word, type Raw } from './yaml/raw-values.js';

export type LiteralForm = Omit<DeclarationForm, 'references'>;

/** The complaint about a plain word such as `no`, which is neither a string nor a boolean. */
export type WordComplaint = (
  path: readonly string[],
  attribute: Attribute,
  word: string,
) => Violation;

/** Every complaint about `data`, which should be an object of that form. */
export const checkLiteral = (
  { attributes, validator, what }: LiteralForm,
  data: Raw,
  ofWord: WordComplaint,
): readonly Violation[] => [
  ...check(validator, attributes, data, what),
  ...unfilled(attributes, data, [], ofWord),
];

function unfilled(
  attributes: Attributes,
  data: Raw,
  path: readonly string[],
  ofWord: WordComplaint,
): readonly Violation[] {
  const below = (attribute: Attribute, value: Raw, at: readonly string[]): readonly Violation[] => {
    if (value instanceof Word) return [ofWord(at, attribute, String(value))];
    const { word } = attribute;
    if (typeof value === 'string')
      return word === 'text' || !value.includes('${') ? [] : [mismatch(at, attribute, value)];
    if (word === 'object') return unfilled(attribute.attributes, value, at, ofWord);
    if ((word === 'map' && isMap(value)) || (word === 'list' && isList(value)))
      return Object.entries<Raw>(value).flatMap(([key, one]) =>
        below(attribute.of, one, [...at, key]),
      );
    return [];
  };
  return Object.entries(isMap(data) ? data : {}).flatMap(([name, value]) => {
    const attribute = attributes[name];
    return attribute ? below(attribute, value, [...path, name]) : [];
  });
}
