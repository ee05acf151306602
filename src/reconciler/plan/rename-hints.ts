// A new address that is probably an old one renamed: suggested, never assumed.
import {
  append,
  cached,
  defined,
  firstNamed,
  isKnown,
  secretsIn,
  shellWord,
  tryAddress,
  withoutKey,
  type Change,
  type Create,
  type Delete,
  type Diagnostic,
  type Kind,
  type Live,
  type Values,
} from '../../model/index.js';
import { isApplied } from './diff.js';
import { identityKey, ownRoot } from './match.js';
import { movedBlock, moveEntry } from './plan-errors.js';
import { declaredValueAt, fillAll, type Resolver } from './resolve-references.js';
import type { LiveCollections } from '../live-collections.js';

/** What a note names at most. */
const FEW = 3;

/** An object that would be created with the identity of one that would be deleted; or one that only another address holds. */
export interface Rename {
  readonly old: Pick<Change, 'address' | 'name'>;
  readonly change: Pick<Change, 'address' | 'origin'>;
  /** Addresses of what depends on the object and would still be created. */
  readonly waiting: readonly string[];
  /** Whether no member of its `for_each` stays. */
  readonly isWhole: boolean;
  /** Whether the object has all values that are declared. */
  readonly isAsDeclared: boolean;
}

/** In the order of the creates, where an object comes after those that it refers to. @param addresses all that are declared or in the state: a plan may cover a part of them */
export function renamesIn(
  changes: readonly Change[],
  liveObjects: LiveCollections,
  addresses: Iterable<string>,
): readonly Rename[] {
  const going = new Map<string, Delete>();
  for (const change of changes)
    if (change.action === 'delete' && !change.deposed) {
      const kind = liveObjects.get(change.kind)?.kind;
      const identity = kind && identityKey(kind, change.before);
      if (identity !== undefined) going.set(`${change.kind} ${identity}`, change);
    }
  if (going.size === 0) return [];
  const renamed = new Map<string, Delete>();
  const different = new Set<string>();
  // What refers to a renamed object has the identity that the old one gives it.
  const resolver: Resolver = ({ target, attribute }) => {
    const old = renamed.get(target);
    if (!old) return undefined;
    return liveObjects.get(old.kind)?.kind.id === attribute
      ? old.id
      : declaredValueAt(old.before, attribute);
  };
  const creates = changes.filter((change): change is Create => change.action === 'create');
  for (const { address, kind: name, declaredObject } of creates) {
    const collection = liveObjects.get(name);
    if (!collection) continue;
    const { kind } = collection;
    const filled = fillAll(kind.attributes, declaredObject.declared, resolver);
    const key = `${name} ${identityKey(kind, { ...ownRoot(collection), ...filled })}`;
    const old = going.get(key);
    if (old) {
      renamed.set(address, old);
      if (!isAsLive(kind, filled, { id: old.id, values: old.before })) different.add(address);
    }
    going.delete(key);
  }
  const waiting = new Map<string, string[]>();
  for (const { address, depends_on } of creates)
    if (!renamed.has(address)) for (const one of depends_on) append(waiting, one, address);
  const found = creates.flatMap((change): Found | [] => {
    const old = renamed.get(change.address);
    if (!old) return [];
    const isAsDeclared = !different.has(change.address);
    return { old, change, waiting: waiting.get(change.address) ?? [], isAsDeclared };
  });
  return withWholes(found, addresses);
}

/** Whether nothing differs for certain: what is not known yet may, and so may a secret. */
export const isAsLive = (kind: Kind, values: Values, live: Live): boolean =>
  Object.values(values).every(isKnown) &&
  secretsIn(values).size === 0 &&
  isApplied(kind, values, live);

type Found = Omit<Rename, 'isWhole'>;

/** Whether each of them is of a `for_each` of which no member stays. @param addresses as for `renamesIn` */
export function withWholes(
  found: readonly Found[],
  addresses: Iterable<string>,
): readonly Rename[] {
  if (found.length === 0) return [];
  const moved = new Set(found.flatMap(({ old, change }) => [old.address, change.address]));
  const staying = new Set(
    [...addresses].flatMap((address) => (moved.has(address) ? [] : withoutKey(address))),
  );
  return found.map((one) => ({ ...one, isWhole: !staying.has(withoutKey(one.old.address)) }));
}

/** What is said of one of them. */
export const renameNote = ({ old, change, ...more }: Rename): Diagnostic => ({
  severity: 'info',
  code: 'looks-renamed',
  summary: `${change.address} would be created with the identity of ${old.address}, which would be deleted.`,
  detail: renaming(old, change, more),
  address: change.address,
  ...defined({ origin: change.origin }),
});

/** One note for all of them, with one text to paste. @param addresses as for `renamesIn` */
export function renameNotes(
  renames: readonly Rename[],
  addresses: Iterable<string>,
): readonly Diagnostic[] {
  const [first, ...more] = renames;
  if (!first) return [];
  const note = renameNote(first);
  if (more.length === 0) return [note];
  const summary = `${named(renames, 'change')} would be created with the identities of ${named(renames, 'old')}, which would be deleted.`;
  return [{ ...note, summary, detail: movesDetail(renames, addresses) }];
}

/** One error for declarations of which only addresses that are no longer declared hold the objects, and whose kind cannot be created. @param addresses as for `renamesIn` */
export function renamedErrors(
  renames: readonly Rename[],
  addresses: Iterable<string>,
): readonly Diagnostic[] {
  const [first, ...more] = renames;
  if (!first) return [];
  const [has, is] =
    more.length === 0 ? ['has the identity of', 'is'] : ['have the identities of', 'are'];
  return [
    {
      ...renameNote(first),
      severity: 'error',
      summary: `${named(renames, 'change')} ${has} ${named(renames, 'old')}, which ${is} in the state and no longer declared.`,
      ...(more.length > 0 && { detail: movesDetail(renames, addresses) }),
    },
  ];
}

const named = (renames: readonly Rename[], side: 'old' | 'change'): string =>
  firstNamed(
    renames.map((one) => one[side].address),
    FEW,
  );

function movesDetail(renames: readonly Rename[], addresses: Iterable<string>): string {
  const waiting = [...new Set(renames.flatMap((one) => one.waiting))];
  return [
    ...stillCreated(waiting, 'them'),
    `If they were renamed, write this into a new declaration file, and ${nothingSent(renames, waiting, 'them')}:`,
    'moved:',
    ...movesOf(renames, addresses).map((move) => `  - ${move}`),
  ].join('\n');
}

/** Of single objects, or of a whole `for_each` of which every member has another name now and its key still. */
function movesOf(renames: readonly Rename[], addresses: Iterable<string>): readonly string[] {
  const keyOf = (address: string): string | undefined => tryAddress(address)?.key;
  const alike = renames.filter(({ old, change }) => keyOf(old.address) === keyOf(change.address));
  const moved = new Set(alike.map(({ old }) => old.address));
  const parts = new Set(
    [...addresses].flatMap((address) => (moved.has(address) ? [] : withoutKey(address))),
  );
  // A name moves once, and one alone moves to another name.
  const [goals, sources] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  for (const { old, change } of renames) {
    const [from, to] = [withoutKey(old.address), withoutKey(change.address)];
    cached(goals, from, () => new Set()).add(to);
    cached(sources, to, () => new Set()).add(from);
  }
  const moves = renames.map(({ old, change }) => {
    const [from, to] = [withoutKey(old.address), withoutKey(change.address)];
    const isWhole = moved.has(old.address) && !parts.has(from);
    return isWhole && goals.get(from)!.size === 1 && sources.get(to)!.size === 1
      ? moveEntry(from, to)
      : moveEntry(old.address, change.address);
  });
  return [...new Set(moves)];
}

/** What a rename sends: not even an update, where every object has all declared values. */
function nothingSent(
  renames: readonly Pick<Rename, 'isAsDeclared'>[],
  waiting: readonly string[],
  what: 'it' | 'them',
): string {
  const sent = renames.every(({ isAsDeclared }) => isAsDeclared) ? 'sent' : 'created or deleted';
  return `nothing is ${sent}${waiting.length === 0 ? '' : ` for ${what}`}`;
}

const stillCreated = (waiting: readonly string[], what: 'it' | 'them'): readonly string[] =>
  waiting.length === 0
    ? []
    : [
        `These depend on ${what} and would still be created, unless they are renamed, too: ${firstNamed(waiting, FEW)}`,
      ];

/** Begins the line with the command that changes the state. */
export const WITHOUT_REVIEW = 'The same without a review: ';

/**
 * The declaration or command with which a rename sends nothing. A lifecycle applies to a whole `for_each`: it can say
 * that all members had another name, but not that one of them had another key. In a template it applies
 * to every use, and a stack of a CDK program has none.
 */
export function renaming(
  old: Rename['old'],
  { address, origin }: Rename['change'],
  more: Pick<Rename, 'waiting' | 'isWhole' | 'isAsDeclared'>,
): string {
  const { waiting, isWhole } = more;
  const [former, now] = [tryAddress(old.address), tryAddress(address)];
  const isMade = origin?.used_at !== undefined || origin?.path !== undefined;
  const written = (name: string, from: string, to: string): string =>
    isMade
      ? `write \`${movedBlock(from, to)}\``
      : `write \`lifecycle: { renamed_from: ${JSON.stringify(name)} }\``;
  const nothing = `and ${nothingSent([more], waiting, 'it')}.`;
  const command = [
    `${WITHOUT_REVIEW}trueup state mv ${shellWord(old.address)} ${shellWord(address)}`,
    ...stillCreated(waiting, 'it'),
  ].join('\n');
  if (now?.key === undefined)
    return `If it was renamed, ${written(old.name, old.address, address)}, ${nothing}\n${command}`;
  const whole =
    now.key === former?.key && isWhole
      ? `If the whole for_each was renamed, ${written(former.name, `${former.kind}.${former.name}`, `${now.kind}.${now.name}`)}${isMade ? '' : ' beside it'}, ${nothing}\n`
      : '';
  return `${whole}If ${whole === '' ? 'it' : 'this member alone'} was renamed, write \`${movedBlock(old.address, address)}\`, ${nothing}\n${command}`;
}
