// The document under the lock. The server takes a document only with the id of its lock: so each accepted write proves
// that the lock was held, and that the next holder, who reads after it locks, sees what was written.
import { refuseLocked, refuseLost, refuseUnreachable } from '../backend-errors.js';
import { ATTEMPTS, pauseAfter, type Pauses } from '../retried.js';
import {
  decodeDocument,
  encodeDocument,
  type DocumentHolder,
  type StateDocument,
} from './document.js';
import { refuseError, type StateServer } from './state-server.js';

export interface DocumentTools extends Pauses {
  readonly server: StateServer;
}

/** The members that a run sets; each write adds its own serial and nonce. */
export type UnnumberedDocument = Omit<StateDocument, 'serial' | 'nonce'>;

export type HeldDocument = ReturnType<typeof heldDocument>;

export async function readDocument(server: StateServer): Promise<StateDocument | undefined> {
  const text = await server.get();
  return text === undefined ? undefined : decodeDocument(text, server.location);
}

/** @param found what was read under the lock @param holder this run */
export function heldDocument(
  tools: DocumentTools,
  found: StateDocument | undefined,
  holder: DocumentHolder,
) {
  const { server, clock, random } = tools;
  let last = found;
  let since = clock.monotonic();
  let isLost = false;

  const lose = async (): Promise<never> => {
    isLost = true;
    const now = await readDocument(server).catch(() => undefined);
    if (now && last && now.serial < last.serial)
      refuseLocked(
        'state-moved',
        `${server.location} was set back to serial ${now.serial} during this run`,
        { detail: 'Nothing more is sent. Plan again.' },
      );
    return refuseLost(server.location, now?.holder?.id === holder.id ? undefined : now?.holder);
  };

  /** Tells if a write without a clear response took effect. A document other than this and the previous one was written by another run. */
  const tookEffect = async (document: StateDocument): Promise<boolean> => {
    const now = await readDocument(server);
    if (now?.nonce === document.nonce) return true;
    return now?.nonce === last?.nonce ? false : lose();
  };

  /** Writes until the outcome is known. */
  const settle = async (document: StateDocument): Promise<void> => {
    const body = encodeDocument(document);
    for (let attempt = 1; ; attempt += 1) {
      const posted = await server.post(holder.id, body);
      if (posted === 'done') return;
      // A response that got lost can be that of a write that took effect.
      if (posted === 'refused' && attempt === 1) return lose();
      if (await tookEffect(document)) return;
      if (posted === 'refused') return lose();
      if ('rejected' in posted) refuseError(server.location, posted.rejected);
      if (attempt === ATTEMPTS) {
        // GitLab responds with status 500 to a document with the id of another lock.
        if (!(await server.holds(holder))) return lose();
        refuseUnreachable(server.location, posted.unclear);
      }
      await pauseAfter(tools, attempt);
    }
  };

  return {
    isLost: () => isLost,
    /** Monotonic milliseconds before the last write that was accepted. */
    since: () => since,
    lose,
    /** @param least the lowest serial that it may get @throws Refusal, exit 4 where the lock is not ours any more */
    async write(draft: UnnumberedDocument, least = 0): Promise<void> {
      const serial = Math.max((last?.serial ?? 0) + 1, least);
      const document = { ...draft, serial, nonce: random.uuid() };
      const begun = clock.monotonic();
      await settle(document);
      [last, since] = [document, begun];
    },
  };
}
