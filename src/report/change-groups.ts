// Changes that are read at once: equal updates, the objects of one `for_each`, and adoptions without a request.
import {
  canonical,
  compareText,
  equal,
  formatAddress,
  groupedBy,
  tally,
  tryAddress,
  type ResourceChange,
  type ResourceDrift,
} from '../model/index.js';
import { differences, type Difference } from './differences.js';
import {
  actionOf,
  adoptsAndWrites,
  baseSentence,
  circumstances,
  commonPlaces,
  destroys,
  isRename,
  verbOf,
  type SummaryKey,
} from './words.js';

/** Changes of one kind and action, by address. Most groups hold one. */
export interface ChangeGroup {
  readonly first: ResourceChange;
  readonly changes: readonly ResourceChange[];
  /** Of all of them. Where their values differ, see `Difference.others`. */
  readonly differences: readonly Difference[];
}

interface Member {
  readonly change: ResourceChange;
  readonly differences: readonly Difference[];
}

/** Fewer objects of one `for_each` with different values are shown one by one. */
const LEAST_SIBLINGS = 3;
/** Actions that set or lose all attributes of an object. */
const WHOLE: readonly SummaryKey[] = ['create', 'delete'];

/** @param verbose each change is a group of its own */
export function groupsOf(
  changes: readonly ResourceChange[],
  verbose: boolean,
): readonly ChangeGroup[] {
  const members = changes.map((change) => ({ change, differences: differences(change) }));
  if (verbose) return groupedBy(members, () => undefined).map(groupOf);
  const siblings = new Set(
    groupedBy(mergeable(members), siblingKey)
      .filter((all) => all.length >= LEAST_SIBLINGS)
      .flat(),
  );
  const keyOf = (member: Member): string | undefined =>
    (siblings.has(member) ? siblingKey : equalKey)(member);
  return groupedBy(members, keyOf).map(groupOf);
}

/** All creates and deletes, and of the others those that equal few: many equal ones have a block that says more. */
function mergeable(members: readonly Member[]): readonly Member[] {
  const [whole, others] = [true, false].map((isWhole) =>
    members.filter(({ change }) => WHOLE.includes(actionOf(change)) === isWhole),
  );
  const few = groupedBy(others!, equalKey).filter((all) => all.length < LEAST_SIBLINGS);
  return [...whole!, ...few.flat()];
}

/** The same for changes whose reading is the same but for their addresses and ids. */
function equalKey({ change, differences: all }: Member): string | undefined {
  const former = formerWhole(change);
  const names = former === undefined ? [] : [former, tryAddress(change.address)!.name];
  if (isRename(change)) return former && canonical(['rename', ...names]);
  if (!(former === undefined ? isPlain : isPlainBesideName)(change)) return undefined;
  if (isUnchangedAdoption(change)) return canonical(['adopt', change.kind, ...names]);
  const differences = all.map((one) => ({ ...one }));
  return canonical([verbOf(change), change.kind, change.reason, differences, ...names]);
}

/** The same for creates, deletes and updates of one `for_each` that have or change the same attributes. */
function siblingKey({ change, differences: all }: Member): string | undefined {
  const { kind, name, key } = tryAddress(change.address) ?? {};
  const isWritten = [...WHOLE, 'update'].includes(actionOf(change)) || adoptsAndWrites(change);
  if (!isWritten || key === undefined || !isPlain(change)) return undefined;
  const paths = all.map(({ path, unknown, sensitive }) => [path, unknown, sensitive]);
  const methods = change.requests.map(({ method }) => method);
  return canonical([verbOf(change), kind!, name!, change.reason, paths, methods]);
}

/** Without anything to say of this object alone. */
const isPlain = (change: ResourceChange): boolean =>
  change.previous_address === undefined && isPlainBesideName(change);

const isPlainBesideName = (change: ResourceChange): boolean =>
  change.previous_id === undefined &&
  change.deposed === undefined &&
  change.requests.every(({ base }) => base === undefined);

/** The earlier name of a `for_each`, of whose members one has another address now and its key still. */
function formerWhole(change: ResourceChange): string | undefined {
  const [former, now] = [change.previous_address, change.address].map((one) =>
    one === undefined ? undefined : tryAddress(one),
  );
  return former?.key !== undefined && former.key === now?.key
    ? formatAddress({ kind: former.kind, name: former.name })
    : undefined;
}

/** Whether an object is adopted, and no request is sent. */
const isUnchangedAdoption = (change: ResourceChange): boolean =>
  actionOf(change) === 'adopt' && !adoptsAndWrites(change);

/** Whether a block stands for several objects that are adopted and not changed: one line says all of it. */
export const isOnlyRecorded = ({
  first,
  changes,
}: Pick<ChangeGroup, 'first' | 'changes'>): boolean =>
  changes.length > 1 && isUnchangedAdoption(first);

interface Addressed {
  readonly address: string;
}

/** Made once it is needed, which takes time. */
let collator: Intl.Collator | undefined;
/** As people read names: `c9` before `c10`. */
export const byAddress = ({ address: a }: Addressed, { address: b }: Addressed): number =>
  (collator ??= new Intl.Collator('en', { numeric: true })).compare(a, b) || compareText(a, b);

function groupOf(found: readonly Member[]): ChangeGroup {
  // A block is read, not carried out: its first and last address enclose the others.
  const members = found.toSorted((a, b) => byAddress(a.change, b.change));
  const [first] = members;
  const changes = members.map(({ change }) => change);
  const all = first!.differences.map((difference, index) => {
    const others = members.map((one) => one.differences[index]!);
    return others.every((one) => isEqual(one, difference)) ? difference : { ...difference, others };
  });
  return {
    first: first!.change,
    changes,
    differences: isUnchangedAdoption(first!.change) ? [] : all,
  };
}

const isEqual = (one: Difference, other: Difference): boolean =>
  equal(one.before, other.before) && equal(one.after, other.after);

/** Names that are shown of a long group: the first and the last. */
const MOST_NAMES = 6;

/** As in `main (30), guests (10)`; undefined for too many names. */
function countsByName(names: readonly (string | undefined)[]): string | undefined {
  const counts = tally(names);
  if (counts.size > MOST_NAMES || counts.has(undefined)) return undefined;
  return [...counts].map(([name, count]) => `${name} (${count})`).join(', ');
}

/** As in `alert_rules.health["a", "b"]` and `alert_rules.health["c00"…"c39"] (40)`. Objects that are deleted are all named. */
export const addressesOf = ({ first, changes }: ChangeGroup): string =>
  addressList(changes, destroys(first));

/** Whether a block shows the first and the last of several values. */
export const isAbridged = (group: ChangeGroup): boolean =>
  shownDifferences(group).some(({ others = [] }) => others.length > 2);

/** How all of a block is seen, where it names only some objects or values. */
export const waysToSeeAll = (isShortened: boolean): readonly string[] =>
  isShortened ? ['all: --verbose'] : [];

/** Whether a block of this number of objects names only some. */
export const namesOnlySome = (count: number): boolean => count > MOST_NAMES;

/** @param isComplete whether all are named, however many */
export function addressList(
  members: readonly Pick<ResourceChange, 'address' | 'kind'>[],
  isComplete: boolean,
): string {
  const [{ address: first, kind } = { address: '', kind: '' }] = members;
  if (members.length === 1) return first;
  const addresses = members.map(({ address }) => tryAddress(address));
  const [one] = addresses;
  const isOne = addresses.every(
    (other) => other?.key !== undefined && other.name === one?.name && other.kind === one.kind,
  );
  const names = isOne
    ? addresses.map((other) => JSON.stringify(other!.key))
    : members.map(({ address }) => address.slice(address.indexOf('.') + 1));
  const isShort = !namesOnlySome(names.length) || isComplete;
  const parts = countsByName(addresses.map((other) => other?.name));
  if (!isOne && !isShort && parts) return `${kind}: ${parts}`;
  const list = isShort ? names.join(', ') : `${names[0]}…${names.at(-1)}`;
  const count = isShort && !isComplete ? '' : ` (${members.length})`;
  return isOne ? `${one!.kind}.${one!.name}[${list}]${count}` : `${kind}: ${list}${count}`;
}

/** As in `PATCH /api/v2/alert_rules/{id}/`: what the paths have in common. Empty without requests. */
export function requestsOf({ first, changes }: ChangeGroup): string {
  return first.requests
    .map(({ method, path }, index) => {
      const paths = changes.map(({ requests }) => requests[index]?.path.split('/') ?? []);
      const parts = path
        .split('/')
        .map((part, at) => (paths.every((other) => other[at] === part) ? part : '{id}'));
      return `${method} ${parts.join('/')}`;
    })
    .join(', ');
}

/** Why the objects of a group change, and what becomes of the rest of a document that is replaced. */
export const reasonsOf = ({ first, changes }: ChangeGroup): readonly string[] => {
  const former = formerWhole(first);
  if (changes.length > 1 && former !== undefined)
    return [
      ...(isRename(first) ? [] : [first.reason]),
      `renamed from ${former}, each with its key`,
    ];
  if (isOnlyRecorded({ first, changes }))
    return ['as declared; apply only records their ids in the state'];
  if (changes.length > 1) return [first.reason];
  return [...circumstances(first), ...first.requests.flatMap((one) => baseSentence(one) ?? [])];
};

/** What a block shows. Values that live objects lose or get are shown of each, as in `["c00"].name`; of new and deleted ones, the first and the last. */
export const shownDifferences = ({
  first,
  changes,
  differences: all,
}: ChangeGroup): readonly Difference[] =>
  WHOLE.includes(actionOf(first))
    ? all
    : all.flatMap((one) =>
        one.others
          ? one.others.map((other, index) => ({ ...other, path: pathIn(changes[index]!, one) }))
          : [one],
      );

const pathIn = ({ address }: ResourceChange, { path }: Difference): string =>
  `[${JSON.stringify(tryAddress(address)?.key)}].${path}`;

/** The place of all, or none. The objects of one `for_each` share theirs. */
export const placesOf = ({ changes }: ChangeGroup): readonly string[] => commonPlaces(changes);

/** Objects that are gone, or in which the same values changed since the last apply. @param verbose each by itself */
export const outsideGroups = (
  drift: readonly ResourceDrift[],
  verbose: boolean | undefined,
): readonly (readonly ResourceDrift[])[] =>
  groupedBy(drift, ({ kind, actions, changes, replaced_by }) =>
    verbose
      ? undefined
      : canonical([
          kind,
          replaced_by !== undefined,
          ...actions,
          ...changes.map((one) => ({ ...one })),
        ]),
  );

/** What happened to objects that no longer exist. @param same at least one */
export function goneWords(same: readonly ResourceDrift[]): string {
  if (same[0]!.replaced_by === undefined) return same.length === 1 ? 'is gone' : 'are gone';
  return same.length === 1 ? 'was replaced by another object' : 'were replaced by other objects';
}
