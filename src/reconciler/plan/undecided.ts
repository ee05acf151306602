// What refers to an object of which the live one is not decided: several could be it, or it is bound to another one than
// is declared. Nothing new is planned with such a reference; a recorded one that is still live stays.
import {
  changesOf,
  compareText,
  equalUnescaped,
  firstNamed,
  isKnown,
  isList,
  isTree,
  mapMembers,
  normal,
  own,
  Reference,
  referencesIn,
  type Change,
  type Diagnostic,
  type Kind,
  type Live,
  type Value,
  type Values,
} from '../../model/index.js';
import { isApplied, type Comparison } from './diff.js';
import { spread } from './document-diff.js';
import type { Draft, FilledDeclaration } from './draft.js';
import { resolveReference } from './lookups.js';
import { formerAddressInState } from './match.js';
import { declarationError } from './plan-errors.js';
import { declaredValueAt, fill, type Resolver } from './resolve-references.js';

/** The undecided address that a value refers to, if there is one. */
export const undecidedIn = ({ undecided }: Draft, value: Value): string | undefined =>
  undecided.size === 0
    ? undefined
    : referencesIn(value).flatMap(({ target }) => undecided.get(target) ?? [])[0];

/** Where the object of a reference is gone or replaced, only the state tells where the reference led. @param written the declared values, with their references */
export const recordedValue =
  (
    { lookups, input, declared }: Draft,
    written: Values = {},
  ): NonNullable<Comparison['asRecorded']> =>
  (attribute, value, path) => {
    const recorded: Resolver = (reference) => {
      const { source, target, attribute: name } = reference;
      const former =
        declared.has(target) && formerAddressInState(declared.get(target)!, input.state);
      const one = former ? new Reference(source, former, name) : reference;
      return resolveReference(one, new Map(), lookups, input);
    };
    const asWritten = isKnown(value) ? (declaredValueAt(written, path) ?? value) : value;
    if (isKnown(asWritten)) return value;
    const before = normal(attribute, fill(asWritten, recorded));
    return isKnown(value) && !isKnown(before) ? value : before;
  };

/** Declared values, with recorded ids in place of references to undecided objects where these ids are live. */
export function keepingRecorded(draft: Draft, kind: Kind, declared: Values, live: Live): Values {
  const recorded = Object.entries(declared).flatMap(([name, value]): [string, Value][] => {
    if (undecidedIn(draft, value) === undefined) return [];
    const before = recordedValue(draft)(kind.attributes[name]!, value, name);
    const isWhole = isKnown(before) && isApplied(kind, { [name]: before }, live);
    return [[name, isWhole ? before : keptMembersOf(draft, value, before, live.values[name])]];
  });
  return recorded.length === 0 ? declared : { ...declared, ...Object.fromEntries(recorded) };
}

/** The same for the members of a value. @param before the value with recorded ids */
function keptMembersOf(
  draft: Draft,
  value: Value,
  before: Value | undefined,
  live: Value | undefined,
): Value {
  if (undecidedIn(draft, value) === undefined || before === undefined) return value;
  if (isTree(value) && isTree(before) && isTree(live))
    return mapMembers(value, (member, name) =>
      keptMembersOf(draft, member, own<Value>(before, name), own<Value>(live, name)),
    );
  // A document is a list of an object and a list. Other lists may have another order.
  if (isList(value) && isList(before) && isList(live) && value.some(isTree))
    return value.map((member, index) => keptMembersOf(draft, member, before[index], live[index]));
  return isKnown(before) && equalUnescaped(before, live) ? before : value;
}

/** Errors of changes that would send the id of an object that is gone, because the plan does not cover what declares it. */
export function goneErrors(
  { input: { request, state, liveObjects, visibility }, selection }: Draft,
  { kind, declaration }: Pick<FilledDeclaration, 'kind' | 'declaration'>,
  changes: readonly Change[],
): readonly Diagnostic[] {
  if (request.audit) return [];
  const declared = spread(kind, declaration.values);
  const sent = changes.flatMap((change): readonly (Value | undefined)[] =>
    change.action === 'create'
      ? Object.values(declared)
      : changesOf(change).map(({ path }) => declaredValueAt(declared, path)),
  );
  const targets = new Set(
    sent.flatMap((value) => referencesIn(value ?? null).map(({ target }) => target)),
  );
  return [...targets].flatMap((target): Diagnostic | [] => {
    const entry = selection.declarations.has(target) ? undefined : state?.resources[target];
    if (!entry || !liveObjects.get(entry.kind)?.missing?.has(entry.id)) return [];
    if (visibility.created(entry.kind, entry.id) === 'unseen') return [];
    return declarationError(declaration, {
      code: 'reference-gone',
      summary: `${declaration.address} refers to ${target}, whose live object ${entry.id} no longer exists.`,
      detail: 'Plan the whole project, without PATH, --target and --exclude.',
    });
  });
}

/** What a reference waits for, for one target and for several. */
const AWAITED = {
  undecided: ['whose live object is not decided', 'whose live objects are not decided'],
  created: ['which is created', 'which are created'],
  updated: ['which is updated', 'which are updated'],
} as const;

/** What the references of a value wait for. */
export function awaitedWords({ planned, undecided }: Draft, value: Value): string {
  const targets = [...new Set(referencesIn(value).map(({ target }) => target))];
  const awaitedOf = (target: string): keyof typeof AWAITED => {
    if (undecided.has(target)) return 'undecided';
    return planned.get(target)?.live ? 'updated' : 'created';
  };
  return Object.entries(AWAITED)
    .flatMap(([awaited, [one, several]]) => {
      const some = targets.filter((target) => awaitedOf(target) === awaited);
      return some.length === 0 ? [] : `${some.join(', ')}, ${some.length === 1 ? one : several}`;
    })
    .join(', and to ');
}

/** Names that a note lists. */
const FEW = 3;

/** What refers to an object of which an error says that it is not decided. */
export function undecidedNotes({ undecided }: Draft): readonly Diagnostic[] {
  const waiting = [...undecided].filter(([address, root]) => address !== root);
  if (waiting.length === 0) return [];
  const [were, they] = waiting.length === 1 ? ['was', 'it refers'] : ['were', 'they refer'];
  const names = firstNamed(waiting.map(([address]) => address).toSorted(compareText), FEW);
  const roots = firstNamed(
    [...new Set(waiting.map(([, root]) => root))].toSorted(compareText),
    FEW,
  );
  return [
    {
      severity: 'info',
      code: 'not-planned',
      summary: `${names} ${were} not planned: ${they} to ${roots}, whose live object is not decided.`,
    },
  ];
}
