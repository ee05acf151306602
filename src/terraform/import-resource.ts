// ImportResourceState: an object by its id, or by its identity, such as `user=77,account=12`.
import {
  isEmpty,
  refuse,
  Refusal,
  writables,
  type Attribute,
  type Diagnostic,
  type Kind,
  type Live,
  type Value,
} from '../model/index.js';
import type { LiveCollection } from '../reconciler/live-collections.js';
import { isSameValue } from './convert.js';
import { wordsFor } from './wire-diagnostics.js';
import type { ListingCache } from './listing-cache.js';

/** The id of the object that is meant. @throws Refusal where there is none, or more than one */
export async function importedId(
  listings: ListingCache,
  kind: Kind,
  asked: string,
): Promise<string> {
  const id = asked.trim();
  const none = (summary: string): never =>
    refuse('no-object', summary, { detail: formsOf(kind), attribute: kind.id });
  if (id === '') return none(`An id of ${wordsFor(kind)} is missing.`);
  const conditions = conditionsIn(kind, id);
  if (conditions) return (await theOne(listings, kind, conditions)).id;
  if (!(await listings.find(kind, id).catch((error: unknown) => advised(kind, error))))
    return none(`There is no ${kind.singular.replaceAll('_', ' ')} with the id ${id}.`);
  return id;
}

/** A service may refuse to look for what it takes for no id. @throws what went wrong, with what may be given instead */
function advised(kind: Kind, error: unknown): never {
  if (!(error instanceof Refusal)) throw error;
  throw new Refusal(
    error.diagnostics.map((one) => ({ detail: formsOf(kind), ...one })),
    error.exit,
  );
}

const formsOf = (kind: Kind): string =>
  `Give its id${kind.identity === 'content' ? '' : `, or ${kind.identity.map((name) => `${name}=…`).join(',')}`}. List what is live: trueup get ${kind.name}`;

/** `name=value` pairs; a comma parts them only where the name of an attribute follows. Undefined for what is an id. */
function conditionsIn(kind: Kind, text: string): ReadonlyMap<string, string> | undefined {
  const asked = writables(kind).flatMap(([name, { word }]) =>
    ['text', 'choice', 'ref'].includes(word) ? [name] : [],
  );
  const pair = new RegExp(`(?:^|,)\\s*(${asked.join('|')})=`, 'g');
  const found = asked.length === 0 ? [] : [...text.matchAll(pair)];
  if (found[0]?.index !== 0) return undefined;
  return new Map(
    found.map((match, index) => [
      match[1]!,
      text.slice(match.index + match[0].length, found[index + 1]?.index).trim(),
    ]),
  );
}

async function theOne(listings: ListingCache, kind: Kind, conditions: ReadonlyMap<string, string>) {
  const collection = await listings.list(kind);
  const met = [...collection.byId.values()].filter((live) =>
    [...conditions].every(([name, value]) =>
      meets(collection, kind.attributes[name]!, live.values[name], value),
    ),
  );
  return onlyOne(kind, met, 'no-object', () => ({ detail: formsOf(kind), attribute: kind.id }));
}

/** @throws Refusal unless exactly one live object meets a condition */
export function onlyOne(
  { name }: Kind,
  met: readonly Live[],
  code: string,
  more: (first?: Live) => Partial<Diagnostic>,
): Live {
  const [first] = met;
  if (first && met.length === 1) return first;
  const shown = met.slice(0, 5).map(({ id }) => id);
  const found = first ? `${met.length} do: ${shown.join(', ')}` : 'none does';
  return refuse(code, `Exactly one of ${name} must match, but ${found}.`, more(first));
}

/** Nothing stands for nothing, and for the top of a tree: the account that the keys belong to. */
function meets(
  { kind, byId }: LiveCollection,
  attribute: Attribute,
  live: Value | undefined,
  wanted: string,
): boolean {
  if (wanted !== '') return isSameValue(attribute, wanted, live);
  if (isEmpty(live)) return true;
  if (attribute.word !== 'ref' || attribute.to !== kind.name) return false;
  const top = byId.get(String(live));
  const own = Object.entries(kind.attributes).find(([, one]) => one === attribute)?.[0] ?? '';
  return top === undefined || isEmpty(top.values[own]) || !byId.has(String(top.values[own]));
}
