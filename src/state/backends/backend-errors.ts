// The errors of a backend, in one place: unreachable, refused, and damaged.
import {
  exits,
  refuse,
  Refusal,
  shellWord,
  targetAdvice,
  type Diagnostic,
  type Exit,
} from '../../model/index.js';
import { described, type Access, type LockInfo } from '../store-port.js';

/** @param why continues "it cannot be reached: …", without anything secret */
export function refuseUnreachable(location: string, why: string): never {
  refuse('backend-unreachable', `the state at ${location} cannot be reached: ${why}`, {
    detail: 'Nothing was sent to the cloud. Check the address and the network: trueup doctor',
  });
}

/** @param what the user may not do, as in "read" @param rights a sentence about those that a user needs */
export function refuseDenied(location: string, what: string, why: string, rights?: string): never {
  const check = 'Check the credentials and their permissions: trueup doctor';
  refuse('backend-denied', `the state at ${location} refuses to let this user ${what} it: ${why}`, {
    detail: rights === undefined ? check : `${rights} ${check}`,
  });
}

export const isDenied = (error: unknown): boolean =>
  error instanceof Refusal && error.diagnostics[0]?.code === 'backend-denied';

/** @param tryOut does what a run that takes the lock does; false where this user may not remove values */
export async function accessBy(tryOut: () => Promise<boolean>): Promise<Access> {
  try {
    return (await tryOut()) ? 'may-write' : 'may-not-remove';
  } catch (error) {
    if (isDenied(error)) return 'read-only';
    throw error;
  }
}

export function refuseDamaged(place: string, problem: string, detail: string): never {
  refuse('damaged-state', `${place} is damaged: ${problem}`, { detail });
}

/** The error that stopped a run between two writes: only a later run can continue. @param kept where results are that the backend did not take */
export function duringRun(error: unknown, kept: string): unknown {
  if (!(error instanceof Refusal) || error.exit === exits.locked) return error;
  const detail = `Nothing more is sent. If requests were under way, their results are kept in ${kept}. Once the state can be used again, run the same command again on this machine.`;
  const exit: Exit = exits.undecided;
  return new Refusal(
    error.diagnostics.map((one) => ({ ...one, detail })),
    exit,
  );
}

/** @param problem continues "it cannot hold a state: …" @param instead what to use */
export function refuseUnfit(
  location: string,
  problem: string,
  instead = 'Use a backend with conditional writes: PostgreSQL, or S3 with If-Match and If-None-Match.',
): never {
  refuse('backend-cannot-lock', `${location} cannot hold a state: ${problem}`, {
    detail: `Two runs could write at the same time. ${instead}`,
  });
}

/** Refuses with the exit code of what another run holds or took. */
export function refuseLocked(code: string, summary: string, more: Partial<Diagnostic> = {}): never {
  refuse(code, summary, more, exits.locked);
}

export const refuseInterrupted = (): never =>
  refuse(
    'interrupted',
    'the run was interrupted while it waited for a lock',
    {},
    exits.interrupted,
  );

/** Refuses with the exit code of a lost lock. @param taker who holds the lock now, if anyone does */
export function refuseLost(location: string, taker: LockInfo | null | undefined): never {
  refuseLocked(
    'lock-lost',
    `this run no longer holds the lock of ${location}${taker ? `: it was taken by ${described(taker)}` : ''}`,
    { detail: 'The run sends nothing more. The journal holds what it did. Plan again.' },
  );
}

export function refuseHeld(location: string, holder: LockInfo): never {
  refuseLocked('locked', `the state at ${location} is locked by ${described(holder)}`, {
    detail: `Wait for it to end, or let the command wait: --lock-wait 5m. If you are sure that it is not running any more: trueup unlock ${shellWord(holder.id)}`,
  });
}

/** There is no lock to remove. */
export function refuseNotLocked(place: string): never {
  refuse('not-locked', `${place} is not locked`, {
    detail: 'There is nothing to remove. To go on: trueup plan',
  });
}

/** The id of `unlock` is not that of the lock. @param found the id of the lock, where it is known @param holder continues the sentence */
export function refuseWrongLock(id: string, found: string | undefined, holder = ''): never {
  const asked = `the ID of the lock is not ${JSON.stringify(id)}`;
  if (found === undefined) refuseLocked('wrong-lock', asked);
  refuseLocked('wrong-lock', `${asked}, but ${JSON.stringify(found)}${holder}`, {
    detail: `If that run is not running any more: trueup unlock ${shellWord(found)}`,
  });
}

export function refuseAlive(holder: LockInfo): never {
  refuseLocked('lock-alive', `the run that holds the lock is still active: ${described(holder)}`, {
    detail: 'Wait for it, or end it first.',
  });
}

/** For what another run makes good later. @throws what is no refusal */
export function unlessRefused(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
}

export function refuseTarget(location: string, known: string, target: string): never {
  refuse(
    'other-target',
    `${location} belongs to ${known}, but ${target === '' ? 'no target is set' : `the target is ${target}`}`,
    { detail: `Ids of one cloud mean nothing in another.\n${targetAdvice(known, target)}` },
  );
}
