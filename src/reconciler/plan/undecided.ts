// What refers to an object of which the live one is not decided: several could be it, or it is bound to another one than
// is declared. Nothing new is planned with such a reference; a recorded one that is still live stays.
import {
  changesOf,
  compareText,
  firstNamed,
  isKnown,
  normal,
  Reference,
  referencesIn,
  type Change,
  type Declaration,
  type Diagnostic,
  type Kind,
  type Live,
  type Value,
  type Values,
} from '../../model/index.js';
import { isApplied, type Comparison } from './diff.js';
import type { Draft } from './draft.js';
import { resolveReference } from './lookups.js';
import { formerAddressInState } from './match.js';
import { declarationError } from './plan-errors.js';
import { fill, type Resolver } from './resolve-references.js';

/** The undecided address that a value refers to, if there is one. */
export const undecidedIn = ({ undecided }: Draft, value: Value): string | undefined =>
  undecided.size === 0
    ? undefined
    : referencesIn(value).flatMap(({ target }) => undecided.get(target) ?? [])[0];

/** Where the object of a reference is gone, only the state tells where the reference led. */
export const recordedValue =
  ({ lookups, input, declared }: Draft): NonNullable<Comparison['asRecorded']> =>
  (attribute, value) => {
    const recorded: Resolver = (reference) => {
      const { source, target, attribute: name } = reference;
      const former =
        declared.has(target) && formerAddressInState(declared.get(target)!, input.state);
      const one = former ? new Reference(source, former, name) : reference;
      return resolveReference(one, new Map(), lookups, input);
    };
    return isKnown(value) ? value : normal(attribute, fill(value, recorded));
  };

/** Declared values, with recorded ids in place of references to undecided objects where these ids are live. */
export function keepingRecorded(draft: Draft, kind: Kind, declared: Values, live: Live): Values {
  const recorded = Object.entries(declared).flatMap(([name, value]): [string, Value][] => {
    if (undecidedIn(draft, value) === undefined) return [];
    const before = recordedValue(draft)(kind.attributes[name]!, value);
    return isKnown(before) && isApplied(kind, { [name]: before }, live) ? [[name, before]] : [];
  });
  return recorded.length === 0 ? declared : { ...declared, ...Object.fromEntries(recorded) };
}

/** Errors of changes that would send the id of an object that is gone, because the plan does not cover what declares it. */
export function goneErrors(
  { input: { state, liveObjects, visibility }, selection }: Draft,
  declaration: Declaration,
  changes: readonly Change[],
): readonly Diagnostic[] {
  const sent = new Set(
    changes.flatMap((change) =>
      change.action === 'create'
        ? Object.keys(change.write.fields)
        : changesOf(change).map(({ path }) => path.split('.', 1)[0]!),
    ),
  );
  const targets = new Set(
    Object.entries(declaration.values).flatMap(([name, value]) =>
      sent.has(name) ? referencesIn(value).map(({ target }) => target) : [],
    ),
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

const FATES = {
  undecided: ['whose live object is not decided', 'whose live objects are not decided'],
  created: ['which is created', 'which are created'],
  updated: ['which is updated', 'which are updated'],
} as const;

/** What the references of a value wait for. */
export function awaitedWords({ planned, undecided }: Draft, value: Value): string {
  const targets = [...new Set(referencesIn(value).map(({ target }) => target))];
  const fateOf = (target: string): keyof typeof FATES => {
    if (undecided.has(target)) return 'undecided';
    return planned.get(target)?.live ? 'updated' : 'created';
  };
  return Object.entries(FATES)
    .flatMap(([fate, [one, several]]) => {
      const some = targets.filter((target) => fateOf(target) === fate);
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
