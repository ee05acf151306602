// The notes of a plan beside its changes.
import {
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
  return changes.flatMap((change): Diagnostic[] => {
    if (change.previous_id === undefined || !('id' in change)) return [];
    const secretive = [...walk(kinds.get(change.kind)?.attributes ?? {})].some(
      ([, { secret }]) => secret,
    );
    const summary = `${change.address} was replaced outside of trueup: ${change.previous_id} is gone, and ${change.id} matches the declaration now`;
    return [
      {
        severity: 'warning',
        code: REPLACED_OUTSIDE,
        summary: `${summary}${secretive ? '; its secret may not be the declared one' : ''}.`,
        address: change.address,
        ...(change.origin ? { origin: change.origin } : {}),
      },
    ];
  });
}

export function unseenNotes({ unseen }: Draft): readonly Diagnostic[] {
  if (unseen.size === 0) return [];
  const addresses = [...unseen].toSorted(compareText);
  return [
    {
      severity: 'info',
      code: 'not-visible-yet',
      summary: `${firstNamed(addresses, 3)} ${addresses.length === 1 ? 'was' : 'were'} created just now, and no listing shows ${addresses.length === 1 ? 'it' : 'them'} yet.`,
      detail: 'This is neither drift nor a change. To see it, plan again in a minute: trueup plan',
    },
  ];
}

export function unseenSecretNotes(draft: Draft): Diagnostic[] {
  const unseen = [...draft.input.secrets]
    .filter(([, verdict]) => verdict === 'unavailable')
    .map(([key]) => key.slice(0, key.indexOf(' ')));
  const addresses = [...new Set(unseen)]
    .filter((address) => draft.planned.get(address)?.live)
    .toSorted(compareText);
  if (addresses.length === 0) return [];
  const shown = firstNamed(addresses, 3, ', and ');
  return [
    {
      severity: 'info',
      code: 'secret-unseen',
      summary: `The secret of ${shown} is not available here, so the plan treats it as unchanged.`,
      detail:
        'Set its environment variable, or provide its file: then the plan shows a changed secret.',
    },
  ];
}
