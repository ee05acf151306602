// The notes of a plan beside its changes.
import {
  defined,
  firstNamed,
  REPLACED_OUTSIDE,
  compareText,
  changesOf,
  secretsIn,
  own,
  walk,
  type Change,
  type Diagnostic,
} from '../../model/index.js';
import type { Draft } from './draft.js';
import { formerAddressInState } from './match.js';

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

/** Names that a note lists, and ways to a secret. */
const FEW = 3;

/** What the plan does not do without the value of a secret, and what it does with it. */
const WITHOUT = {
  compare: ['so the plan does not compare it', ['Then the plan shows whether it has to be sent.']],
  send: ['and trueup has not sent it yet', ['Then the plan sends it.']],
  apply: ['and apply needs it', []],
} as const;

export function unseenSecretNotes(draft: Draft, changes: readonly Change[]): readonly Diagnostic[] {
  const { input, planned } = draft;
  if (![...input.secrets.values()].includes('unavailable')) return [];
  const sent = new Set(
    changes.flatMap((change) =>
      changesOf(change).flatMap(({ path, after = null }) =>
        [...secretsIn(after, path).keys()].map((one) => `${change.address} ${one}`),
      ),
    ),
  );
  const unseen = [...planned].flatMap(([address, { declared, live }]) =>
    [...secretsIn(declared)]
      .filter(([path]) => input.secrets.get(`${address} ${path}`) === 'unavailable')
      .map(([path, { advice }]) => ({
        address,
        advice,
        lacks: live && !sent.has(`${address} ${path}`) ? ifLive(draft, address, path) : 'apply',
      })),
  );
  return Object.entries(WITHOUT).flatMap(([what, [effect, then]]): Diagnostic | [] => {
    const meant = unseen.filter(({ lacks }) => lacks === what);
    if (meant.length === 0) return [];
    const addresses = [...new Set(meant.map(({ address }) => address))].toSorted(compareText);
    const summary = `The secret of ${firstNamed(addresses, FEW, ', and ')} is not available here, ${effect}.`;
    const ways = [...new Set(meant.map(({ advice }) => advice))].toSorted(compareText);
    const detail = [firstNamed(ways, FEW, '\nand ', '\n'), ...then].join('\n');
    return { severity: 'info', code: 'secret-unseen', summary, detail };
  });
}

function ifLive(
  { input: { state }, declared }: Draft,
  address: string,
  path: string,
): 'compare' | 'send' {
  const former = formerAddressInState(declared.get(address)!, state);
  const { secrets = {} } = state?.resources[former ?? address] ?? {};
  return own(secrets, path) === undefined ? 'send' : 'compare';
}
