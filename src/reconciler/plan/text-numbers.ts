// A number that no double can hold is declared and exported as a string. If the live document has a number at its
// place, the string means that number; if it has a string, the string stays one.
import {
  digitsOf,
  ExactNumber,
  isTree,
  mapMembers,
  needsExact,
  recordFrom,
  type Kind,
  type Value,
  type Values,
} from '../../model/index.js';

/** Declared values in normal form, with exact numbers where the live documents have numbers. */
export function withNumbers(kind: Kind, declared: Values, live: Values): Values {
  const documents = Object.keys(declared).filter(
    (name) => kind.attributes[name]?.word === 'document' && mayHold(declared[name]!),
  );
  if (documents.length === 0) return declared;
  return {
    ...declared,
    ...recordFrom(documents, (name) => numbered(declared[name]!, () => [live[name]])),
  };
}

/** True if some string inside could be such a number. Called for every document; almost none contains one. */
function mayHold(value: Value): boolean {
  if (typeof value === 'string') return needsExact(value);
  if (Array.isArray(value)) return (value as readonly Value[]).some(mayHold);
  if (!isTree(value)) return false;
  for (const name in value) if (mayHold(value[name]!)) return true;
  return false;
}

/** @param live what is live at this place, the most likely first; of a list every item, because others come and go. Asked only where a text could be a number */
function numbered(wanted: Value, live: () => readonly (Value | undefined)[]): Value {
  if (typeof wanted === 'string') {
    if (!needsExact(wanted)) return wanted;
    const there = live();
    const same = there.find((one) => digitsOf(one) === wanted);
    return (
      same ??
      (there.length > 0 && there.every(isNumber)
        ? // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an exact number passes for a value
          (new ExactNumber(wanted) as unknown as Value)
        : wanted)
    );
  }
  if (Array.isArray(wanted)) {
    const lists = (): readonly (readonly Value[])[] =>
      live().filter((one): one is readonly Value[] => Array.isArray(one));
    return (wanted as readonly Value[]).map((item, index) =>
      numbered(item, () => lists().flatMap((list) => [...list.slice(index, index + 1), ...list])),
    );
  }
  if (!isTree(wanted)) return wanted;
  const members = (name: string): readonly (Value | undefined)[] =>
    live().flatMap((one) => (isTree(one) && Object.hasOwn(one, name) ? [one[name]] : []));
  return mapMembers(wanted, (item, name) => numbered(item, () => members(name)));
}

const isNumber = (value: unknown): boolean =>
  typeof value === 'number' || value instanceof ExactNumber;
