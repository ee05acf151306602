// Why an object is adopted, updated or kept, in words: what changed in its declaration, outside of trueup, or in what it
// refers to.
import {
  REPLACED_OUTSIDE,
  cached,
  canonical,
  firstNamed,
  isKnown,
  isList,
  own,
  referencesIn,
  Secret,
  Template,
  type AttributeChange,
  type Declaration,
  type Entry,
  type Kind,
  type Project,
  type Reference,
  type State,
  type Value,
} from '../../model/index.js';
import { holdsOtherSecrets } from './document-diff.js';
import type { Draft } from './draft.js';
import { resolveReference } from './lookups.js';
import { adoptionWords, type Match } from './match.js';
import { declaredValueAt } from './resolve-references.js';
import { awaitedWords } from './undecided.js';

export function reasonOf(
  draft: Draft,
  declaration: Declaration,
  match: Match,
  changes: readonly AttributeChange[],
): string {
  if (match.gone && match.live) return REPLACED_OUTSIDE;
  if (match.how !== 'recorded') {
    const how =
      match.how === 'adopt'
        ? `${adoptionWords(declaration)} names it`
        : 'it is the only unmanaged object that matches';
    return `${how}; ${adoptionEffect(draft.input.kinds.get(declaration.kind), changes)}`;
  }
  if (changes.length > 0) return updateReason(draft, declaration, match.renamedFrom, changes);
  return match.renamedFrom === undefined
    ? 'it is as declared'
    : `renamed from ${match.renamedFrom}`;
}

/** What is sent to an object that is adopted. */
function adoptionEffect(kind: Kind | undefined, changes: readonly AttributeChange[]): string {
  const pathsOf = (some: typeof changes): string => some.map(({ path }) => path).join(', ');
  // A document shows a mask where it has a secret.
  const isUnread = ({ path, before, after }: AttributeChange): boolean =>
    after instanceof Secret &&
    (before !== undefined || kind?.attributes[path.split('.', 1)[0]!]?.wire !== 'merge');
  const secret = changes.filter(isUnread);
  const others = changes.filter((one) => !isUnread(one));
  const [values, ones] = secret.length === 1 ? ['value', 'one is'] : ['values', 'ones are'];
  const effects = [
    ...(others.length > 0 ? [`${pathsOf(others)} will be updated`] : []),
    ...(secret.length > 0
      ? [`the live ${values} of ${pathsOf(secret)} cannot be read, so the declared ${ones} sent`]
      : []),
  ];
  return effects.length > 0 ? effects.join('; ') : 'it is as declared';
}

function updateReason(
  draft: Draft,
  declaration: Declaration,
  renamedFrom: string | undefined,
  changes: readonly AttributeChange[],
): string {
  const { resources = {} } = draft.input.state ?? {};
  const entry = resources[renamedFrom ?? declaration.address];
  const { secrets = {}, depends_on: referred = [], applied = {} } = entry ?? {};
  // The entry of the target may have been removed. Then the recorded id does not tell where the reference led.
  const isForgotten = ({ target }: Reference): boolean =>
    referred.includes(target) && resources[target] === undefined;
  const waits = changes.filter(
    ({ drifted, edited, before, after = null }) =>
      !isKnown(after) &&
      (edited === false ||
        (drifted === false &&
          differsIn(before, after, (one) => referencesIn(one).some(isForgotten)))),
  );
  const unsent = changes.filter(
    ({ path, after, drifted }) =>
      drifted !== true && after instanceof Secret && own(secrets, path) === undefined,
  );
  const known = changes.filter((one) => !waits.includes(one) && !unsent.includes(one));
  const followed = known.map((change) => follows(draft, declaration, entry, change));
  const others = known.flatMap((change, index) => {
    if (followed[index]?.explains !== true) return change;
    return change.drifted ? { ...change, edited: false } : [];
  });
  const undeclared = others.filter(
    ({ drifted }) => drifted === undefined && Object.keys(applied).length > 0,
  );
  return [
    howChanged(
      others.filter((one) => !undeclared.includes(one)),
      whereEdited(draft.input.project),
    ),
    undeclared.length > 0 &&
      `${undeclared.map(({ path }) => path).join(', ')} ${undeclared.length === 1 ? 'was' : 'were'} not declared at the last apply`,
    ...followed.map((one) => one?.words),
    ...unsent.map(({ path }) => `${path} is not recorded as sent`),
    ...waits.map(({ path, after = null }) => `${path} refers to ${awaitedWords(draft, after)}`),
  ]
    .filter(Boolean)
    .join('; ');
}

/** References that a reason names. */
const FEW = 3;

interface Followed {
  readonly words: string;
  /** Whether nothing else has to be said of the declaration. */
  readonly explains: boolean;
}

/** What a changed value refers to, if that is another value than the applied one. Whether it referred to a lookup before is not recorded. */
function follows(
  draft: Draft,
  { values }: Declaration,
  entry: Entry | undefined,
  { path, after = null, drifted, edited }: AttributeChange,
): Followed | undefined {
  if (drifted === undefined || entry === undefined || after instanceof Secret) return undefined;
  const prior = declaredValueAt(entry.applied, path);
  const valueOf = (reference: Reference, planned = draft.planned): Value | undefined =>
    resolveReference(reference, planned, draft.lookups, draft.input);
  const written = declaredValueAt(values, path) ?? null;
  const referred = new Set(entry.depends_on);
  const before = textsOf(prior);
  // One that was written with references in it has their values as parts.
  const held = (text: string): boolean =>
    written instanceof Template
      ? typeof prior === 'string' && prior.includes(text)
      : before.has(text);
  const wasThere = ({ source, target }: Reference): boolean =>
    edited === false || source === 'lookup' || referred.has(target);
  const isBoundAnew = idsAreFormer(draft, before, textsOf(after));
  const mayHaveChanged = ({ source, target }: Reference): boolean =>
    source === 'lookup' || isLater(draft.input.state?.resources[target], entry);
  const led = referencesIn(written).flatMap((reference) => {
    const now = valueOf(reference);
    if (now === undefined || !wasThere(reference)) return [];
    const isSure = String(now) !== String(valueOf(reference, new Map()));
    if (!isSure && (held(String(now)) || !mayHaveChanged(reference))) return [];
    return { reference, isSure: isSure || isBoundAnew(reference) };
  });
  if (led.length === 0) return undefined;
  const texts = new Set(led.map(({ reference }) => String(valueOf(reference))));
  const names = firstNamed(
    [...new Set(led.map(({ reference }) => String(reference).slice(2, -1)))],
    FEW,
  );
  if (!led.every(({ isSure }) => isSure))
    return {
      words: `${path} changed ${whereEdited(draft.input.project)}, or in ${names}`,
      explains: true,
    };
  return {
    words: `${path} refers to ${names}, which changed`,
    explains:
      edited === false ||
      differsIn(prior, after, (one) => !(one instanceof Object) && texts.has(String(one))),
  };
}

/** A value, or the items of a list, as texts. Nothing refers to an object, whose members may have any name. */
const textsOf = (value: Value | undefined): ReadonlySet<string> =>
  new Set([value].flat().flatMap((one) => (one instanceof Object ? [] : String(one))));

const recordedIds = new WeakMap<State, ReadonlySet<string>>();

/** Whether what a value had before are ids that no object has any more: then the address of a reference got another one. */
function idsAreFormer(
  { input: { state, kinds, liveObjects } }: Draft,
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
): (reference: Reference) => boolean {
  const former = new Map<string, boolean>();
  return ({ target, attribute }) => {
    const entry = state?.resources[target];
    if (!state || !entry || attribute !== kinds.get(entry.kind)?.id) return false;
    return cached(former, entry.kind, () => {
      const ids = cached(
        recordedIds,
        state,
        () => new Set(Object.values(state.resources).map(({ kind, id }) => `${kind} ${id}`)),
      );
      const live = liveObjects.get(entry.kind)?.byId;
      const isThere = (id: string): boolean =>
        ids.has(`${entry.kind} ${id}`) || live?.has(id) === true;
      return [...before].every((id) => after.has(id) || !isThere(id));
    });
  };
}

const isLater = (one: Entry | undefined, other: Entry): boolean =>
  one !== undefined && one.applied_at > other.applied_at;

/** Whether a value, or the members of a list that are not the same, are of a sort. */
function differsIn(
  before: Value | undefined,
  after: Value,
  isOfSort: (one: Value) => boolean,
): boolean {
  if (!isList(before) || !isList(after)) return isOfSort(after);
  const same = new Set(before.map((one) => canonical(one)));
  const others = after.filter((one) => !isKnown(one) || !same.has(canonical(one)));
  return before.length === after.length && others.every(isOfSort);
}

/** What an edited value changed in, as far as is known. */
export const whereEdited = (...projects: readonly Pick<Project, 'uses_variables'>[]): string =>
  projects.some((one) => one.uses_variables)
    ? 'in the declaration or in a variable'
    : 'in the declaration';

/** The reason of each change: in the declaration or outside of trueup, derived from the last applied values. */
export function howChanged(
  changes: readonly AttributeChange[],
  edited = 'in the declaration',
): string {
  const of = (
    fits: (change: AttributeChange) => boolean,
    words: (count: number) => string,
  ): readonly string[] => {
    const paths = changes.filter(fits).map(({ path }) => path);
    return paths.length === 0 ? [] : [`${paths.join(', ')} ${words(paths.length)}`];
  };
  const isSecret = (one: AttributeChange): boolean =>
    one.after instanceof Secret || holdsOtherSecrets(one);
  return [
    ...of(
      ({ drifted, edited }) => drifted === true && !edited,
      () => 'changed outside of trueup',
    ),
    ...of(
      (one) => one.edited === true,
      () => `changed ${edited}, and outside of trueup`,
    ),
    ...of(
      ({ drifted }) => drifted === undefined,
      (count) => `${count === 1 ? 'is' : 'are'} not as declared`,
    ),
    ...of(
      (one) => one.drifted === false && !isSecret(one),
      () => `changed ${edited}`,
    ),
    ...of(
      (one) => one.drifted === false && isSecret(one),
      (count) =>
        count === 1
          ? 'is not the value that trueup sent last'
          : 'are not the values that trueup sent last',
    ),
  ].join('; ');
}
