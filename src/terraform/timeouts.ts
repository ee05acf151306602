// The `timeouts` of a resource: how long each operation may take. When the time is over, waits end, and a running
// request counts as one without a response: the journal keeps its intent, and the next run reads.
import {
  durationWords,
  equal,
  Refusal,
  tryDuration,
  type Diagnostic,
  type Kind,
  type Outcome,
} from '../model/index.js';
import type { Clock } from '../platform/index.js';
import { isRecord } from './convert.js';
import type { CtyObject } from './protocol/cty.js';
import { wireError, wordsFor } from './wire-diagnostics.js';
import type { WireDiagnostic } from './protocol/provider-replies.js';

const TIMEOUTS = 'timeouts';

export type Operation = 'create' | 'read' | 'update' | 'delete';

/** The timeouts of a block, to add to the values that are read from an object. */
export const timeoutsOf = (block: CtyObject): CtyObject => ({
  [TIMEOUTS]: block[TIMEOUTS] ?? null,
});

/** True if nothing but the timeouts differs, which are not part of the object. */
export const sameObject = (planned: CtyObject, prior: CtyObject): boolean =>
  equal({ ...planned, ...timeoutsOf(prior) }, prior);

/** Errors for known timeouts that are not durations. */
export function timeoutError(block: CtyObject): readonly WireDiagnostic[] {
  const held = block[TIMEOUTS];
  return Object.entries(isRecord(held) ? held : {}).flatMap(([name, text]) => {
    if (typeof text !== 'string' || tryDuration(text) !== undefined) return [];
    const detail = `It has to be ${durationWords}. Leave it out, and the operation takes as long as it takes.`;
    const summary = `\`${TIMEOUTS}.${name}\` is not a duration`;
    return [wireError([TIMEOUTS, name], summary, detail)];
  });
}

/** The time of one operation. */
export interface Limit {
  /** Waits for what is shared with others, and goes on without it, as long as there is time. @throws Refusal, unless somebody says what is `instead` */
  until<T>(shared: Promise<T>, instead?: () => T | Promise<T>): Promise<T>;
  /** Does work when its turn comes in a queue; it does not begin once the time is over. @throws Refusal */
  inTurn<T>(queue: (work: () => Promise<T>) => Promise<T>, work: () => Promise<T>): Promise<T>;
  /** Why a change is not done, where that is because its time was over. */
  failure(outcome: Outcome): Diagnostic | undefined;
}

export const unlimited: Limit = {
  until: (shared) => shared,
  inTurn: (queue, work) => queue(work),
  failure: () => undefined,
};

export interface Timed {
  readonly kind: Kind;
  readonly operation: Operation;
  /** The resource: as it is planned, or, where it is read or deleted, as the state has it. */
  readonly block: CtyObject;
}

/** Works under the limit that is set for an operation; `signal` is absent where none is. @throws Refusal */
export async function timed<T>(
  clock: Clock,
  what: Timed,
  work: (limit: Limit, signal?: AbortSignal) => Promise<T>,
): Promise<T> {
  const { operation, block } = what;
  const held = block[TIMEOUTS];
  const text = isRecord(held) ? held[operation] : null;
  const milliseconds = typeof text === 'string' ? tryDuration(text) : undefined;
  if (milliseconds === undefined) return work(unlimited);
  const [time, done] = [new AbortController(), new AbortController()];
  const unsent = tooLong(what, String(text), false);
  clock.sleep(milliseconds, done.signal).then(
    () => time.abort(),
    () => undefined,
  );
  try {
    return await work(limitOf(time.signal, unsent, tooLong(what, String(text), true)), time.signal);
  } catch (error) {
    const ended =
      time.signal.aborted &&
      error instanceof Refusal &&
      error.diagnostics.every(({ code }) => code === 'interrupted');
    throw ended ? new Refusal([unsent]) : error;
  } finally {
    done.abort();
  }
}

const PASSED = Symbol('passed');

function limitOf(time: AbortSignal, unsent: Diagnostic, unknown: Diagnostic): Limit {
  const passed = new Promise<typeof PASSED>((over) =>
    time.addEventListener('abort', () => over(PASSED), { once: true }),
  );
  const refused = (): never => {
    throw new Refusal([unsent]);
  };
  const limit: Limit = {
    async until(shared, instead = refused) {
      const first = await Promise.race([shared, passed]);
      return first === PASSED ? instead() : first;
    },
    inTurn(queue, work) {
      let begun = false;
      const done = queue(() => {
        if (time.aborted) return refused();
        begun = true;
        return work();
      });
      return limit.until(done, () => (begun ? done : refused()));
    },
    failure({ outcome }) {
      if (!time.aborted) return undefined;
      if (outcome === 'unknown') return unknown;
      return outcome === 'skipped' ? unsent : undefined;
    },
  };
  return limit;
}

const doing: Readonly<Record<Operation, string>> = {
  create: 'Creating',
  read: 'Reading',
  update: 'Changing',
  delete: 'Deleting',
};

/** @param left whether the request may have been carried out */
function tooLong({ kind, operation, block }: Timed, text: string, left: boolean): Diagnostic {
  const id = block[kind.id];
  const name = `${TIMEOUTS}.${operation}`;
  const nothing =
    operation === 'read'
      ? 'Nothing follows from it: the state stands. The limit is the one in the state; apply with -refresh=false to put another one there.'
      : 'Nothing was sent. Apply again.';
  const happened = left
    ? 'The request had left: whether the service carried it out is not known. Apply again: that looks first, and sends nothing twice.'
    : nothing;
  return {
    severity: 'error',
    code: 'timed-out',
    summary: `${doing[operation]} ${wordsFor(kind)}${typeof id === 'string' ? ` ${id}` : ''} took longer than ${name} allows: ${text}`,
    detail:
      operation === 'read' ? happened : `${happened} Where it may take longer, raise ${name}.`,
    // A state has no lines to point at.
    ...(operation !== 'read' && { attribute: name }),
  };
}
