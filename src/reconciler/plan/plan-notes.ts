// The notes of a plan beside its changes.
import {
  defined,
  firstNamed,
  REPLACED_OUTSIDE,
  compareText,
  walk,
  type Change,
  type Diagnostic,
} from '../../model/index.js';
import type { Draft } from './draft.js';

/** Objects in whose place somebody put others. */
export function replacedOutsideNotes(
  { input: { kinds } }: Draft,
  changes: readonly Change[],
): readonly Diagnostic[] {
  return changes.flatMap((change): Diagnostic | [] => {
    if (change.previous_id === undefined || !('id' in change)) return [];
    const secretive = [...walk(kinds.get(change.kind)?.attributes ?? {})].some(
      ([, { secret }]) => secret,
    );
    const summary = `${change.address} was replaced outside of trueup: ${change.previous_id} is gone, and ${change.id} matches the declaration now`;
    return {
      severity: 'warning',
      code: REPLACED_OUTSIDE,
      summary: `${summary}${secretive ? '; its secret may not be the declared one' : ''}.`,
      address: change.address,
      ...defined({ origin: change.origin }),
    };
  });
}

export function unseenNotes({ unseen, old }: Draft): readonly Diagnostic[] {
  const late = [
    [unseen, 'created just now, and no listing shows', 'yet', 'This is neither drift nor a change'],
    [
      old,
      'updated just now, and the service shows',
      'as before: the reading may be old',
      'Until it is certain, what was written counts as live',
    ],
  ] as const;
  return late.flatMap(([some, how, when, meaning]): Diagnostic | [] => {
    if (some.size === 0) return [];
    const [was, it] = some.size === 1 ? ['was', 'it'] : ['were', 'them'];
    return {
      severity: 'info',
      code: 'not-visible-yet',
      summary: `${firstNamed([...some].toSorted(compareText), 3)} ${was} ${how} ${it} ${when}.`,
      detail: `${meaning}. To see it, plan again in a minute: trueup plan`,
    };
  });
}

const AVAILABLE =
  'Make its value available (its environment variable, its file, or the command of its secret manager)';

export function unseenSecretNotes({ input, planned }: Draft): readonly Diagnostic[] {
  const unseen = [...input.secrets]
    .filter(([, verdict]) => verdict === 'unavailable')
    .map(([key]) => key.slice(0, key.indexOf(' ')));
  const addresses = [...new Set(unseen)].toSorted(compareText);
  const cases = [
    [true, 'so the plan does not compare it', ': then the plan shows whether it has to be sent.'],
    [false, 'and apply needs it for the create', ' where you apply.'],
  ] as const;
  return cases.flatMap(([isLive, effect, when]): Diagnostic | [] => {
    const meant = addresses.filter((address) => {
      const one = planned.get(address);
      return one && (one.live !== undefined) === isLive;
    });
    if (meant.length === 0) return [];
    const summary = `The secret of ${firstNamed(meant, 3, ', and ')} is not available here, ${effect}.`;
    return { severity: 'info', code: 'secret-unseen', summary, detail: `${AVAILABLE}${when}` };
  });
}
