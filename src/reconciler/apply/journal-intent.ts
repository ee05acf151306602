// Writes the intent of a request to the journal before the request is sent, so that a later run can find out what it did.
import { Refusal, type Intent, type Request, type Sent } from '../../model/index.js';
import { momentNow } from '../recent-writes.js';
import type { ExecutionContext, WriteOperation } from './execution-context.js';

/** A request leaves at most this long (milliseconds) after its intent was written, or written again. */
export const RENEWAL = 30_000;

/** Code of a request that is not sent because the run is to end. */
export const WITHHELD = 'withheld';
/** Why nothing more is sent once the run is to end. */
export const INTERRUPTED = 'the run was interrupted';

/**
 * Sends under an intent that is on disk before the first byte leaves. A request may wait long behind it (for its turn,
 * for the rate limit, for a service that asks to wait): right before it leaves the lock must still be ours and
 * the run still on, and an intent that has grown old is renewed, so that recovery knows when the request can have left.
 * @param read what is sent instead, read at that moment
 */
export async function senderWithIntent(
  { cloud, session, clock }: ExecutionContext,
  { kind, write, runContext, recheck }: WriteOperation,
  intent: Intent,
  read: () => Promise<Request | undefined> = () => Promise.resolve(undefined),
): Promise<(request: Request) => Promise<Sent>> {
  await session.record(intent);
  // A machine that slept has let time pass as well.
  const passed = (): number => clock.boot().milliseconds;
  let [recorded, at] = [passed(), Date.parse(intent.at)];
  const refuseHalted = (): void => {
    const why = runContext.halt();
    if (why !== undefined)
      throw new Refusal([{ severity: 'warning', code: WITHHELD, summary: why }]);
  };
  const mayLeave = async (): Promise<Request | undefined> => {
    for (;;) {
      refuseHalted();
      await session.assertHeld(intent.op);
      // The response of a remote state takes time: what the write rests on is read afterwards.
      const instead = await read();
      await recheck?.before();
      if (passed() - recorded <= RENEWAL) {
        runContext.onSending();
        return instead;
      }
      refuseHalted();
      // The wall clock may have been set back; the journal goes forward.
      at = Math.max(clock.now(), at + 1);
      recorded = passed();
      await session.record({
        ...intent,
        ...momentNow(clock, cloud.skew()),
        at: new Date(at).toISOString(),
      });
    }
  };
  return async (request) => {
    const sent = await cloud.send(kind, request, write, mayLeave);
    runContext.onResponse(sent.class);
    return sent;
  };
}
