// The creation time of an object, in the private part of Terraform's state. A service may show a new object late: until
// the settle time is over, its absence proves nothing, and a reading that needs the object waits.
import { ageOf, isObject, type Kind, type Live, type Moment } from '../model/index.js';
import { momentNow, nowOf, waitFor } from '../reconciler/recent-writes.js';
import { look } from './listing-cache.js';
import { wordsFor } from './wire-diagnostics.js';
import type { WriteContext } from './write-session.js';

const FIRST_PAUSE = 1000;

/** The private data of an object that was created just now. */
export function createdNow({ clock, cloud }: Pick<WriteContext, 'clock' | 'cloud'>): Uint8Array {
  return Buffer.from(JSON.stringify({ created: momentNow(clock, cloud.skew()) }));
}

/** The private data once a reading has shown the object: from then on its absence means that it is gone. */
export const seenMark: Uint8Array = new Uint8Array();

/** When an object was created, by the private part of the state; undefined where nothing is kept, or something that this version does not know. */
export function createdIn(kept: Uint8Array): Moment | undefined {
  try {
    const { created }: { readonly created?: Moment } = JSON.parse(
      Buffer.from(kept).toString('utf8'),
    );
    return isObject(created) ? created : undefined;
  } catch {
    return undefined;
  }
}

/**
 * An object that a first reading did not show: read again, with growing pauses, as long as it was created less than the settle time ago.
 * @param created absent where a reading has shown it since
 */
export async function readUntilVisible(
  context: WriteContext,
  kind: Kind,
  id: string,
  created: Moment | undefined,
): Promise<Live | undefined> {
  if (!created) return undefined;
  const { cloud, clock, settleMilliseconds } = context;
  const began = clock.monotonic();
  for (let pause = FIRST_PAUSE; ; pause *= 2) {
    const left =
      settleMilliseconds - ageOf(created, nowOf(clock, cloud.skew(), clock.monotonic() - began));
    if (left <= 0) return undefined;
    const why = `until the service shows ${wordsFor(kind)} ${id}`;
    await waitFor(context, why, Math.min(pause, left));
    const live = await look(cloud, kind, id);
    if (live) return live;
  }
}
