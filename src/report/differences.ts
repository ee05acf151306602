// The differences of each attribute of a change, as one list that text and Markdown lay out in their own way.
import { diffArrays } from 'diff';
import {
  mapMembers,
  NOT_KNOWN,
  SENSITIVE,
  defined,
  canonical,
  compareText,
  equal,
  isObject,
  own,
  tally,
  wireText,
  type Author,
  type DriftChange,
  type DriftRecord,
  type Json,
  type JsonObject,
  type ReferenceLabels,
  type ResourceChange,
  isList,
  isEmpty,
} from '../model/index.js';
import { inert, shorten, visible } from './escaping.js';
import { patched, pointer } from './patch.js';
import { plural } from './words.js';

/** One attribute, or one member of an object; `undefined` on a side where it is not set. */
export interface Difference {
  /** Dotted path. */
  readonly path: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  /** Part of `after` is known only after apply; `after` has the text of its reference. */
  readonly unknown: boolean;
  readonly sensitive: boolean;
  /** A plan sends the value. */
  readonly isSent?: true;
  /** No update can make this change, so the object is replaced. */
  readonly forces?: boolean;
  /** Of a group of changes whose values differ here: the difference of each. */
  readonly others?: readonly Difference[];
  /** What people call the objects that the values refer to, by identifier. */
  readonly labels?: Labels;
  /** What text says below it. */
  readonly below?: string;
}

type Labels = ReferenceLabels[string];

/** The remark after a value. */
export const remark = ({ unknown, forces, others }: Difference): string =>
  [
    others && `  (${plural(differentValues(others), 'value')})`,
    unknown && '  (known after apply)',
    forces && '  # forces replacement',
  ]
    .filter(Boolean)
    .join('');

/** How many different values the objects of a group have. */
const differentValues = (others: readonly Difference[]): number =>
  new Set(others.map(({ before, after }) => canonical([before ?? null, after ?? null]))).size;

/** One line of a difference of several lines. */
export interface Row {
  readonly sign: '+' | '-' | ' ';
  readonly text: string;
}

/** The attributes that a create sets, a delete loses or an update changes. A delete loses nothing where there was nothing. */
export function differences({
  change,
  patch,
  reference_labels,
}: ResourceChange): readonly Difference[] {
  if (patch.length === 0) return [];
  const touched = new Set(patch.flatMap(({ op, path }) => (op === 'replace' ? [path] : [])));
  const after = patched(change.before, patch);
  const fixed = change.replace_paths ?? [];
  const sides = { before: change.before ?? undefined, after: after ?? undefined };
  return [...leaves({ path: [], ...sides })]
    .filter(
      ({ path, before, after: now }) =>
        (!equal(before, now) || touched.has(pointer(path))) &&
        !(now === undefined && isEmpty(before)),
    )
    .map(({ path, ...both }) => ({
      ...shown({ path, ...both }),
      unknown: marked(change.after_unknown, path),
      sensitive: marked(change.before_sensitive, path) || marked(change.after_sensitive, path),
      isSent: true as const,
      forces: fixed.some((names) => names.every((name, index) => path[index] === name)),
      ...labelsAt(reference_labels, path[0]),
    }));
}

const labelsAt = (all: ReferenceLabels | undefined, name = ''): Pick<Difference, 'labels'> =>
  defined({ labels: all && own(all, name) });

type Labelled = Pick<DriftRecord, 'reference_labels'>;

/** The differences of an object from what was applied to what is live. */
export const outsideDifference =
  ({ reference_labels }: Labelled) =>
  ({ path, applied = null, live }: Omit<DriftChange, 'declared'>): Difference => ({
    path,
    before: brief(applied),
    after: brief(live),
    unknown: false,
    sensitive: applied === SENSITIVE,
    ...labelsAt(reference_labels, path),
  });

/** The differences of an object that drifted: from what is declared, or, where it settled, from what was applied. */
export function recordDifference(record: DriftRecord): (change: DriftChange) => Difference {
  const difference = outsideDifference(record);
  return record.status === 'settled'
    ? difference
    : ({ path, declared, live }) => difference({ path, applied: declared, live });
}

/** What was last applied, of changes of which something else is declared by now. */
export function appliedOtherwise({
  status,
  changes,
  reference_labels,
}: DriftRecord): readonly { readonly path: string; readonly applied: string }[] {
  if (status === 'settled') return [];
  return changes.flatMap(({ path, applied, declared }) =>
    applied === undefined || equal(applied, declared)
      ? []
      : [{ path, applied: inline(applied, labelsAt(reference_labels, path).labels) }],
  );
}

/** The changes in the activity log. */
export function loggedDifferences(author: Author): readonly Difference[] {
  if (author === 'unknown' || (author.before === null && author.after === null)) return [];
  const sides = { before: author.before ?? undefined, after: author.after ?? undefined };
  return [...leaves({ path: [], ...sides })]
    .filter(({ path, before, after }) => path.length > 0 && !equal(before, after))
    .map((leaf) => ({ ...shown(leaf), unknown: false, sensitive: false }));
}

/** Characters of one text within a value: a difference is for reading. */
const longest = 20_000;

function brief(value: Json): Json {
  if (typeof value === 'string') return shorten(value, longest);
  if (Array.isArray(value)) return value.map(brief);
  return isObject(value) ? mapMembers(value, (member) => brief(member)) : value;
}

interface Leaf extends Pick<Difference, 'before' | 'after'> {
  readonly path: readonly string[];
}

const shown = ({ path, before, after }: Leaf): Pick<Difference, 'path' | 'before' | 'after'> => ({
  path: dotted(path),
  before: before && brief(before),
  after: after && brief(after),
});
/** Whether it is a document and what goes with it, as configurations are: shown member by member. */
const isDocument = (value: Json | undefined): value is readonly Json[] =>
  Array.isArray(value) && isObject(value[0]);

function* leaves({ path, before, after }: Leaf): Generator<Leaf> {
  if (isDocument(before) && isDocument(after) && before.length === after.length) {
    for (const [index, item] of before.entries())
      yield* leaves({ path: [...path, String(index)], before: item, after: after[index] });
    return;
  }
  if (!isTree(before, after) && !isTree(after, before)) {
    yield { path, before, after };
    return;
  }
  const old = isObject(before) ? before : {};
  const now = isObject(after) ? after : {};
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  for (const name of [...names].toSorted(compareText))
    yield* leaves({ path: [...path, name], before: own(old, name), after: own(now, name) });
}

/** An object with members, opposite an object or nothing. */
const isTree = (value: Json | undefined, other: Json | undefined): boolean =>
  isObject(value) &&
  Object.keys(value).length > 0 &&
  (other === undefined || other === null || isObject(other));

function marked(marks: JsonObject, path: readonly string[]): boolean {
  let mark: Json | undefined = marks;
  for (const name of path) {
    if (!isObject(mark) && !isList(mark)) break;
    mark = own<Json>(mark, name);
  }
  return mark === true;
}

const dotted = (path: readonly string[]): string =>
  path.map((name) => (/^[\w-]+$/.test(name) ? name : inline(name))).join('.');

/**
 * A value in one line, as JSON with a space behind each comma, where it may be broken.
 * @param labels behind the identifiers that have one
 */
export function inline(value: Json, labels?: Labels): string {
  if (value === SENSITIVE || value === NOT_KNOWN) return value;
  if (Array.isArray(value)) {
    const members: readonly Json[] = value;
    return `[${members.map((one) => inline(one, labels)).join(', ')}]`;
  }
  if (isObject(value)) {
    const members = Object.entries(value).map(
      ([key, member]) => `${visible(JSON.stringify(key))}:${inline(member)}`,
    );
    return `{${members.join(', ')}}`;
  }
  const label = labels && own(labels, String(value));
  return visible(wireText(value) + (label === undefined ? '' : ` (${unmistakable(label)})`));
}

/** A name that anybody may have given, in quotes where it could be read as the end of itself. */
const unmistakable = (label: string): string =>
  /["()[\]{},→]/.test(label) ? JSON.stringify(label) : label;

/** The side of a difference that has no value. */
export const NOT_SET = 'not set';

/**
 * The whole difference in one line; undefined where that would hide what changed. Of a group: the first value and the last one.
 * @param isUpdate whether some attributes are set and others removed: then a side without a value is named
 */
export function oneLine(
  { before, after, sensitive, isSent, others, labels }: Difference,
  isUpdate = false,
): string | undefined {
  const ends = others && [others[0]!, others.at(-1)!].map((one) => oneLine(one, isUpdate));
  if (ends) return ends.includes(undefined) ? undefined : ends.join(' … ');
  if ([before, after].some(isLong)) return undefined;
  // The service does not say what a secret was.
  const isNamed = isUpdate && !sensitive;
  if (after === undefined)
    return `${inline(before ?? null, labels)}${isNamed ? ` → ${NOT_SET}` : ''}`;
  if (before === undefined) return `${isNamed ? `${NOT_SET} → ` : ''}${inline(after, labels)}`;
  // Whether the live secret differs, nobody can read.
  if (sensitive && after === SENSITIVE) return isSent ? `${SENSITIVE}, is sent` : SENSITIVE;
  if (equal(before, after)) return `${inline(after, labels)}, changes`;
  if (Array.isArray(before) && Array.isArray(after) && before.length + after.length > 2)
    return undefined;
  return `${inline(before, labels)} → ${inline(after, labels)}`;
}

const isLong = (value: Json | undefined): boolean =>
  typeof value === 'string' ? value.includes('\n') : Array.isArray(value) && value.some(isObject);

/** The difference line by line: members of collections, lines of long texts. A secret sent again is both removed and added. */
export function rows({ before, after, others, labels }: Difference): readonly Row[] {
  if (others) return [...rows(others[0]!), row(' ', '…'), ...rows(others.at(-1)!)];
  if (before !== undefined && after !== undefined && equal(before, after))
    return [...signed('-', [inline(before, labels)]), ...signed('+', [inline(after, labels)])];
  if (isMembers(before) && isMembers(after) && !isEmptySide(before, after))
    return memberRows(before ?? [], after ?? [], labels);
  return lineRows(linesOf(before, labels), linesOf(after, labels));
}

/** An empty collection opposite nothing: `[]` alone is set or lost. */
const isEmptySide = (before: Json | undefined, after: Json | undefined): boolean =>
  (before === undefined || after === undefined) && equal(before ?? after, []);

/** A collection of plain values, or nothing. */
const isMembers = (value: Json | undefined): value is readonly Json[] | undefined =>
  value === undefined ||
  (Array.isArray(value) && !value.some((item: Json) => isObject(item) || Array.isArray(item)));

function memberRows(
  before: readonly Json[],
  after: readonly Json[],
  labels: Labels | undefined,
): readonly Row[] {
  const shownMember = (one: Json): string => inline(one, labels);
  const removed = without(before, after).map(shownMember);
  const added = without(after, before).map(shownMember);
  if (removed.length + added.length === 0)
    return [...signed('-', [inline(before, labels)]), ...signed('+', [inline(after, labels)])];
  const kept = before.length - removed.length;
  return [
    ...signed('-', removed),
    ...signed('+', added),
    ...signed(' ', kept > 0 ? [`… ${kept} unchanged`] : []),
  ];
}

/** Members of `all` that `others` lacks; one seen twice must be there twice. */
function without(all: readonly Json[], others: readonly Json[]): readonly Json[] {
  const counts = tally(others.map(canonical));
  return all.filter((one) => {
    const left = counts.get(canonical(one)) ?? 0;
    counts.set(canonical(one), left - 1);
    return left <= 0;
  });
}

function linesOf(value: Json | undefined, labels?: Labels): readonly string[] {
  if (value === undefined) return [];
  if (typeof value === 'string' && value.includes('\n')) return value.split('\n').map(visible);
  return isLong(value) ? inert(wireText(value, 2)).split('\n') : [inline(value, labels)];
}

/** Unchanged lines shown around each changed one. */
const runContext = 2;
/** Above this many pairs of lines the middle is shown as removed and added as a whole. */
const mostPairs = 250_000;

function lineRows(before: readonly string[], after: readonly string[]): readonly Row[] {
  const least = Math.min(before.length, after.length);
  const start = before.findIndex((line, index) => line !== after[index]);
  const head = start === -1 ? least : start;
  let tail = 0;
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const end = before.length - tail;
  return folded([
    ...signed(' ', before.slice(0, head)),
    ...align(before.slice(head, end), after.slice(head, after.length - tail)),
    ...signed(' ', before.slice(end)),
  ]);
}

/** The longest common subsequence keeps its lines; the others are removed and added. */
function align(before: readonly string[], after: readonly string[]): readonly Row[] {
  if (before.length * after.length > mostPairs)
    return [...signed('-', before), ...signed('+', after)];
  return diffArrays([...before], [...after]).flatMap(({ value, added, removed }) => {
    const changed = added ? '+' : '-';
    return signed(added || removed ? changed : ' ', value);
  });
}

/** Long runs of unchanged lines become a count. */
function folded(all: readonly Row[]): readonly Row[] {
  const near = all.map((_, index) =>
    all
      .slice(Math.max(index - runContext, 0), index + runContext + 1)
      .some(({ sign }) => sign !== ' '),
  );
  const out: Row[] = [];
  for (let index = 0; index < all.length;) {
    const end = near.indexOf(true, index);
    const hidden = (end === -1 ? all.length : end) - index;
    if (hidden > 1) out.push(row(' ', `… ${plural(hidden, 'unchanged line')}`));
    else out.push(...all.slice(index, index + Math.max(hidden, 1)));
    index += Math.max(hidden, 1);
  }
  return out;
}

const row = (sign: Row['sign'], text: string): Row => ({ sign, text });
const signed = (sign: Row['sign'], texts: readonly string[]): readonly Row[] =>
  texts.map((text) => row(sign, text));
