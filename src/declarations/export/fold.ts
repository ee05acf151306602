// Folds equal declarations of a kind into one with `for_each`: those that differ in one reference alone, such as rules
// for many accounts. What other declarations can refer to is not folded, so that a reference names it and not its key.
import {
  canonical,
  groupedBy,
  isEmpty,
  isList,
  isReferredTo,
  mapMembers,
  Reference,
  tryAddress,
  writables,
  type Attribute,
  type Json,
  type Kind,
  type Kinds,
  type LabelOf,
  type Value,
} from '../../model/index.js';
import { spell } from '../interpolate.js';
import { targetOf } from '../vocabulary.js';
import { unique, inComment, type ExportedDeclaration, type NameFor } from './declarations.js';

export interface FoldedMember {
  readonly key: string;
  readonly id: string;
  readonly comments: readonly string[];
  /** The reference in which it differs from the others, by its name in `each.value`. */
  readonly own: Readonly<Record<string, Json>>;
}

export interface FoldedDeclaration extends ExportedDeclaration {
  /** Absent: one object, as it is. */
  readonly each?: {
    readonly members: readonly FoldedMember[];
    /** The attribute in which the members differ, as it is written. */
    readonly written: Readonly<Record<string, Json>>;
  };
}

/** Fewer objects are written one by one: with two, a `for_each` is no shorter. */
const LEAST = 3;

/** More objects become several declarations: one stands in one file, and a file has a largest size. */
const MOST = 2500;

export interface FoldingChoices {
  readonly labels: LabelOf;
  readonly nameFor: NameFor;
  /** Names that stand elsewhere, by kind. */
  readonly taken: ReadonlyMap<string, ReadonlySet<string>>;
  /** The file of an object by its id. Objects of several files are not folded, so that each stays where it belongs. */
  readonly fileOf: (kind: Kind, id: string | undefined) => string;
}

/** @param entries all of the kind */
export function foldedDeclarations(
  entries: readonly ExportedDeclaration[],
  kinds: Kinds,
  { fileOf, taken: elsewhere, ...words }: FoldingChoices,
): readonly FoldedDeclaration[] {
  const [first] = entries;
  if (!first || isReferredTo(first.kind, kinds)) return entries;
  const taken = new Set([
    ...entries.map(({ name }) => name),
    ...(elsewhere.get(first.kind.name) ?? []),
  ]);
  const foldedBy = new Map<ExportedDeclaration, FoldedDeclaration | undefined>();
  for (const group of groupsAmong(first.kind, entries, fileOf)) {
    const left = group.members.filter((one) => !foldedBy.has(one));
    for (let begin = 0; begin < left.length; begin += MOST) {
      const members = left.slice(begin, begin + MOST);
      const [head, ...rest] = members;
      if (!head || members.length < LEAST) continue;
      const one = foldedOf({ ...group, members }, head, { ...words, kinds, taken });
      taken.add(one.name);
      foldedBy.set(head, one);
      for (const other of rest) foldedBy.set(other, undefined);
    }
  }
  return entries.flatMap((one) => (foldedBy.has(one) ? (foldedBy.get(one) ?? []) : one));
}

interface Group {
  readonly name: string;
  readonly attribute: Attribute;
  /** What the attribute refers to. */
  readonly to: string;
  readonly members: readonly ExportedDeclaration[];
}

/** Declarations of one file that are equal but for one attribute, a reference or several; the largest group first. */
function groupsAmong(
  kind: Kind,
  entries: readonly ExportedDeclaration[],
  fileOf: FoldingChoices['fileOf'],
): readonly Group[] {
  const free = entries.filter(({ id, isEqual }) => id !== undefined && !isEqual);
  const groups = writables(kind).flatMap(([name, attribute]) => {
    const to = targetOf(attribute);
    if (to === undefined) return [];
    const rest = ({ values, masked, id }: ExportedDeclaration): string | undefined =>
      isEmpty(values[name])
        ? undefined
        : canonical([fileOf(kind, id), mapMembers({ ...values, [name]: null }, spell), masked]);
    return groupedBy(free, rest).map((members) => ({ name, attribute, to, members }));
  });
  return groups.toSorted((a, b) => b.members.length - a.members.length);
}

interface Folding extends Omit<FoldingChoices, 'fileOf' | 'taken'> {
  readonly kinds: Kinds;
  readonly taken: ReadonlySet<string>;
}

function foldedOf(
  { name, attribute, to, members }: Group,
  head: ExportedDeclaration,
  { kinds, labels, nameFor, taken }: Folding,
): FoldedDeclaration {
  const { kind, id: _, label: __, ...shared } = head;
  const word = kinds.get(to)?.singular ?? to.replace(/s$/, '');
  const each = `each ${word.replaceAll('_', ' ')}`;
  const differing = new Set(members.flatMap(({ live }) => [live[name]].flat()));
  const label = kind.label?.(head.live, (one, id) =>
    one === to && differing.has(id) ? each : labels(one, id),
  );
  const isSingle = members.every(({ values }) => [values[name]].flat().length === 1);
  const field = isSingle && attribute.word !== 'ref' ? word : name;
  const whole = `\${each.value.${field}}`;
  const common = head.comments.filter((text) =>
    members.every(({ comments }) => comments.includes(text)),
  );
  const keys = new Set<string>();
  return {
    ...shared,
    kind,
    name: nameFor(label ?? `${kind.singular} of ${each}`, taken, { kind: kind.singular, id: '' }),
    comments: common,
    ...(label !== undefined && { label: inComment(label) }),
    each: {
      written: { [name]: isSingle && attribute.word !== 'ref' ? [whole] : whole },
      members: members.map((one) => {
        const value = one.values[name]!;
        const key = unique(
          keyOf(value, (id) => labels(to, id), nameFor),
          keys,
        );
        keys.add(key);
        return {
          key,
          id: one.id!,
          comments: one.comments.filter((text) => !common.includes(text)),
          own: { [field]: spell(isSingle && isList(value) ? value[0]! : value) },
        };
      }),
    },
  };
}

/** Named after the declarations that are referred to, else after what the service calls them, else after their ids. */
function keyOf(
  value: Value,
  labelled: (id: string) => string | undefined,
  nameFor: NameFor,
): string {
  // A key may begin with a digit, a name may not.
  const plain = (text: string): string =>
    nameFor(`k ${text}`, new Set(), { kind: 'object', id: '' }).replace(/^k-?/, '');
  const names = [value].flat().map((one) => {
    if (one instanceof Reference) return tryAddress(one.target)?.name ?? '';
    const label = labelled(String(one));
    return (label === undefined ? '' : plain(label)) || String(one);
  });
  const text = names.join('-');
  return /^[A-Za-z0-9][\w-]{0,60}$/.test(text) ? text : plain(text) || 'object';
}
