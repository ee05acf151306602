// Writes live values into the declarations that they differ from, in place. A value that is not written plainly at one
// place of a YAML file is refused: changing it there would change something else, or show what is secret.
import {
  append,
  below,
  cached,
  defined,
  equal,
  idOf,
  isList,
  isMask,
  isTree,
  masksIn,
  own,
  Secret,
  same,
  secretsIn,
  shellWord,
  stepsIn,
  tryAddress,
  unescapeAll,
  type Attribute,
  type Declaration,
  type Diagnostic,
  type Kind,
  type Kinds,
  type Masking,
  type Origin,
  type Value,
} from '../model/index.js';
import { placeText } from './collect.js';
import { errorAt } from './diagnostics-list.js';
import { escapeText, literalOf, partsOf } from './reference-syntax.js';
import { indexLines, positionOf, type SourceText } from './source-text.js';
import { attributeAt, targetOf } from './vocabulary.js';
import {
  edited,
  editablePlaces,
  type Obstacle,
  type ScalarValue,
  type TextEdit,
} from './yaml/edit.js';

/** A declared value, and what is live in its place. */
export interface LiveDifference {
  readonly declaration: Declaration;
  /** Dotted, as in a change of a plan. */
  readonly path: string;
  readonly declared: Value | undefined;
  readonly live: Value | undefined;
}

export interface UpdateSources {
  readonly kinds: Kinds;
  /** The text of a file without its byte order mark. */
  readonly read: (file: string) => string;
  /** The address of the declaration with an object. */
  readonly addressOf: (kind: string, id: string) => string | undefined;
  /** The id of the object of an address. */
  readonly idAt: (address: string) => string | undefined;
  readonly holds: Masking['holds'];
  /** What is said below the plan of an object, which is advised where a rule blocks the apply that would restore it. */
  readonly blocked: (address: string) => string | undefined;
}

export interface UpdatedFile {
  readonly before: string;
  readonly after: string;
}

/** Finds the places of all values, or why they cannot be written. Writes nothing. */
export function updatesOf(differences: readonly LiveDifference[], sources: UpdateSources) {
  const pages = new Map<string, Page>();
  const edits = new Map<string, TextEdit[]>();
  const refusals: Diagnostic[] = [];
  const members = differences.flatMap((one) => {
    const { attributes } = sources.kinds.get(one.declaration.kind)!;
    const attribute = attributes[stepsIn(one.path)[0]!];
    // What a declaration does not name in a document that is merged is not managed.
    return inMembers(one, attribute?.word === 'document' && attribute.wire !== 'merge');
  });
  for (const one of members) {
    const { origin } = one.declaration;
    const kind = sources.kinds.get(one.declaration.kind)!;
    const found = refusedUnread(one, kind, sources) ?? changed(one, kind, { sources, pages });
    if ('edits' in found) for (const edit of found.edits) append(edits, origin.file, edit);
    else refusals.push(refusalOf(one, found, sources));
  }
  const files = [...edits].map(([file, some]): [string, UpdatedFile] => {
    const before = pages.get(file)!.text;
    return [file, { before, after: edited(before, some) }];
  });
  return { files: new Map(files), refusals };
}

/** The members that differ, where both values are objects of a document. A secret that reads back masked differs from nothing. */
function inMembers(one: LiveDifference, isWhole: boolean): readonly LiveDifference[] {
  const { path, declared, live } = one;
  if (declared instanceof Secret && isMask(live)) return [];
  if (!isTree(declared) || !isTree(live)) return [one];
  const names = Object.keys(isWhole ? { ...declared, ...live } : declared);
  return names
    .map((name) => ({ name, value: own<Value>(declared, name), now: own<Value>(live, name) }))
    .filter(({ value, now }) => !equal(value ?? null, now ?? null))
    .flatMap(({ name, value, now }) =>
      inMembers({ ...one, path: below(path, name), declared: value, live: now }, isWhole),
    );
}

interface Refused {
  readonly why: string;
  readonly instead: string;
  readonly place?: Origin;
}
type Changed = { readonly edits: readonly TextEdit[] } | Refused;

function refusalOf(
  { declaration, path }: LiveDifference,
  { why, instead, place }: Refused,
  { blocked }: UpdateSources,
): Diagnostic {
  const { address } = declaration;
  const target = `--target ${shellWord(address)}`;
  const said = instead.endsWith(APPLY) ? blocked(address) : undefined;
  const command = said === undefined ? APPLY : 'trueup plan';
  // A key before it may hold the same words.
  const advice = instead.endsWith(APPLY)
    ? `${instead.slice(0, -APPLY.length)}${command} ${target}`
    : instead;
  const refusal = errorAt(declaration, path, {
    code: 'not-updatable',
    summary: `The live value of ${path} cannot be written into ${address}: ${why}.`,
    detail: said === undefined ? advice : `${advice}\n${said}`,
  });
  return { ...refusal, ...defined({ origin: place ?? refusal.origin }) };
}

const EMPTY: ReadonlyMap<Value | undefined, string> = new Map([
  [null, 'the live value is null'],
  ['', 'the live value is an empty string'],
]);

const accepting = (live: Value | undefined): string =>
  EMPTY.has(live)
    ? `To accept it, write ${JSON.stringify(live)} by hand, if the attribute may be so. `
    : '';

/** At the end of advice about one object. */
const APPLY = 'trueup apply';

const BY_HAND = `Write it there by hand, or restore what is declared: ${APPLY}`;

/** What can be refused without the file. */
function refusedUnread(
  { declaration: { name, origin }, declared, live }: LiveDifference,
  kind: Kind,
  { holds }: UpdateSources,
): Refused | undefined {
  if (origin.path !== undefined || origin.file.endsWith('.json'))
    return {
      why: 'a stack declares it',
      instead: `Change the program that makes the stack, or restore what is declared: ${APPLY}`,
    };
  if (origin.file === '-')
    return { why: 'it was read from standard input', instead: 'Name its file as a PATH.' };
  if (origin.used_at !== undefined)
    return {
      why: 'a template makes the declaration',
      instead: `Change the template, or what \`use\` gives it in ${placeText({ ...origin.used_at })}, by hand; or restore what is declared: ${APPLY}`,
    };
  const key = tryAddress(`${kind.name}.${name}`)?.key;
  if (key !== undefined)
    return {
      why: 'a `for_each` makes the declaration',
      instead: `To accept it, change by hand what the \`for_each\` holds for ${JSON.stringify(key)}. If it holds no value for this attribute, all members share one: give each its own. To restore what is declared: ${APPLY}`,
    };
  if (!isList(declared) && (live ?? '') === '')
    return {
      why: EMPTY.get(live) ?? 'there is no live value',
      instead: `${accepting(live)}To stop managing the attribute, remove it from the declaration. To restore it: ${APPLY}`,
    };
  if (secretsIn(declared ?? null).size > 0 || holds(live))
    return {
      why: 'the declared or the live value holds a secret',
      instead: `Change the secret where it is kept, or restore it: ${APPLY}`,
    };
  if (hasMask(declared) || hasMask(live))
    return {
      why: 'the live value is masked, so it is not known',
      instead: `Restore what is declared: ${APPLY}`,
    };
  return undefined;
}

const hasMask = (value: Value | undefined): boolean =>
  value !== undefined && masksIn(value).length > 0;

/** A file, read once for all of its values. */
interface Page extends SourceText {
  readonly places: ReturnType<typeof editablePlaces>;
}

interface Reading {
  readonly sources: UpdateSources;
  readonly pages: Map<string, Page>;
}

const obstacles: Readonly<Record<Obstacle['obstacle'], readonly [why: string, instead: string]>> = {
  absent: ['it is not written in the declaration itself', BY_HAND],
  alias: ['it is an alias, which stands for the value of an anchor', BY_HAND],
  anchor: ['it has an anchor, and its aliases would change, too', BY_HAND],
  mapping: ['it is neither a single value nor a list of single values', BY_HAND],
  comments: ['the list holds comments, or several items a line, and could lose some', BY_HAND],
};

function changed(one: LiveDifference, kind: Kind, { sources, pages }: Reading): Changed {
  const { file } = one.declaration.origin;
  const page = cached(pages, file, () => {
    const text = sources.read(file);
    return { ...indexLines(text), places: editablePlaces(text) };
  });
  const at = (offset: number): Origin => ({ file, ...positionOf(page, offset) });
  const hindered = ({ obstacle, offset }: Obstacle): Refused => {
    const [why, instead] = obstacles[obstacle];
    return { why, instead, ...(obstacle !== 'absent' && { place: at(offset) }) };
  };
  const steps = stepsIn(one.path);
  const attribute = attributeAt(kind.attributes, steps);
  const { places } = page;
  const base = [kind.name, one.declaration.name];
  let place = places([...base, ...steps]);
  // A document alone stands for a list of it.
  if ('obstacle' in place && place.obstacle === 'absent' && steps[1] === '0')
    place = places([...base, steps[0]!, ...steps.slice(2)]);
  if ('obstacle' in place) return hindered(place);
  const spelled: Spelling = { attribute, sources, self: one.declaration.address };
  const behind = (expression: string): Refused => ({
    why: `it is written with ${expression}`,
    instead: `Change the value behind the expression, or write a plain value there; or restore what is declared: ${APPLY}`,
    place: at(place.offset),
  });
  const live = unescapeAll(one.live ?? ('items' in place ? [] : null));
  if (!('items' in place)) {
    const expression = expressionIn(place.value, attribute);
    if (expression !== undefined) return behind(expression);
    const value = plainOf(live, spelled);
    return value === undefined
      ? hindered({ obstacle: 'mapping', offset: place.offset })
      : { edits: place.replacedBy(value) };
  }
  if (!isList(live)) return hindered({ obstacle: 'mapping', offset: place.offset });
  const { kept, left, gone } = remaining(place.items, [listOf(one.declared), live], spelled);
  if (gone !== undefined) return behind(gone);
  const added = left.flatMap((value) => plainOf(value, spelled) ?? []);
  if (added.length < left.length) return hindered({ obstacle: 'mapping', offset: place.offset });
  const edits = place.replacedBy((index) => kept.has(index), added);
  return 'obstacle' in edits ? hindered(edits) : { edits };
}

interface Spelling {
  readonly attribute: Attribute | undefined;
  readonly sources: UpdateSources;
  readonly self: string;
}

/** An expression that a live value would take the place of, other than a whole reference to an object by its id. */
function expressionIn(value: unknown, attribute: Attribute | undefined): string | undefined {
  if (typeof value !== 'string' || literalOf(value) !== undefined) return undefined;
  const parts = partsOf(value);
  const [only] = parts;
  const isId =
    parts.length === 1 &&
    typeof only === 'object' &&
    targetOf(attribute) !== undefined &&
    only.from === 'declared' &&
    (only.index === undefined || 'key' in only.index);
  if (isId) return undefined;
  return parts
    .map((part) => (typeof part === 'string' ? '' : part.text))
    .find((text) => text !== '');
}

/** A live value as a declaration writes it: the id of a declared object as a reference to it. */
function plainOf(value: Value, { attribute, sources, self }: Spelling): ScalarValue | undefined {
  const to = targetOf(attribute);
  if (to !== undefined) {
    const id = idOf(value);
    if (id === null) return undefined;
    const address = sources.addressOf(to, id);
    const kind = sources.kinds.get(to);
    return address !== undefined && kind && address !== self
      ? `\${${address}.${kind.id}}`
      : escapeText(id);
  }
  if (typeof value === 'string') return escapeText(value);
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

const listOf = (value: Value | undefined): readonly Value[] => {
  const whole = unescapeAll(value ?? []);
  return isList(whole) ? whole : [];
};

/**
 * Items that are live still, and live values that no item says. Which items expressions stand for is known of all of
 * them together: they are kept where all of that is live, and `gone` is one of them where it is not.
 */
function remaining(
  items: readonly unknown[],
  [declared, live]: readonly [declared: readonly Value[], live: readonly Value[]],
  { attribute, sources }: Spelling,
): { readonly kept: ReadonlySet<number>; readonly left: readonly Value[]; readonly gone?: string } {
  const expressions = items.map((item) => expressionIn(item, attribute));
  const values = items.map((item, index) =>
    expressions[index] === undefined ? itemValue(item, sources) : undefined,
  );
  const given = matched(values, declared, attribute).left;
  const others = matched(given, live, attribute);
  const { kept, left } = matched(values, others.left, attribute);
  const filled = expressions.flatMap((one, index) => (one === undefined ? [] : index));
  const gone = others.kept.size < given.length ? expressions.find(Boolean) : undefined;
  return { kept: new Set([...kept, ...filled]), left, ...defined({ gone }) };
}

/** The values that are among others, and those others that no value is. */
function matched(
  values: readonly (Value | undefined)[],
  others: readonly Value[],
  attribute: Attribute | undefined,
) {
  const of = attribute?.word === 'set' || attribute?.word === 'list' ? attribute.of : undefined;
  const left = [...others];
  const kept = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue;
    const found = left.findIndex((one) =>
      of
        ? same(of, normal(value, of), normal(one, of))
        : JSON.stringify(one) === JSON.stringify(value),
    );
    if (found < 0) continue;
    kept.add(index);
    left.splice(found, 1);
  }
  return { kept, left };
}

const normal = (value: Value, { word }: Attribute): Value => (word === 'ref' ? idOf(value) : value);

/** What an item of a list stands for. */
function itemValue(item: unknown, { idAt }: UpdateSources): Value {
  if (typeof item === 'bigint') return Number(item);
  if (typeof item !== 'string')
    return typeof item === 'boolean' || typeof item === 'number' ? item : null;
  const literal = literalOf(item);
  if (literal !== undefined) return literal;
  const [only] = partsOf(item);
  return typeof only === 'object'
    ? (idAt(only.text.replace(/^\$\{(.*)\.[^.]*\}$/s, '$1')) ?? null)
    : null;
}
