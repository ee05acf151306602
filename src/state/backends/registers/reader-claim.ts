// One audit of a tenant at a time: two would share the rate limit of its credential. A claim protects no data, because
// writers are kept apart by the lock of the state. It is renewed and taken over like that lock, without comparing clocks.
import { Buffer } from 'node:buffer';
import { isObject, tryJson, type Diagnostic } from '../../../model/index.js';
import type { LockPort } from '../../../platform/index.js';
import { described } from '../../store-port.js';
import { refuseLocked, unlessRefused } from '../backend-errors.js';
import { holderShape, newHolder, type Holder } from './head.js';
import { takeoverTimer } from './register-lock.js';
import type { Version } from './port.js';
import { lostPuts, settledPut, type PutTools } from './settled-put.js';

export interface ClaimTools extends PutTools {
  readonly lock: Pick<LockPort, 'host' | 'pid' | 'every'>;
  readonly locking: {
    /** Milliseconds; a claim that is not renewed for twice of it is taken over. */
    readonly lease: number;
    /** Milliseconds to wait for another run. */
    readonly wait: number;
  };
  /** Ends a wait. */
  readonly signal: AbortSignal;
  /** Told once that it waits, and for whom. */
  readonly notify?: ((diagnostic: Diagnostic) => void) | undefined;
}

/** Whatever does not name a holder is free. */
function holderIn(body: Uint8Array): Holder | undefined {
  const value = tryJson(Buffer.from(body).toString('utf8'));
  const held = isObject(value) ? value['holder'] : undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its shape is checked
  return held !== undefined && !holderShape(held) ? (held as unknown as Holder) : undefined;
}

/**
 * Does work while no other run has the claim.
 * @param key of the claim @param operation for those who find it taken
 * @param work is aborted if another run takes the claim over
 * @throws Refusal (exit 4) where another run has it, or took it
 */
export async function underClaim<T>(
  tools: ClaimTools,
  { key, operation }: { readonly key: string; readonly operation: string },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, random, lock, locking, signal } = tools;
  const holder = newHolder({ clock, random, lock, locking }, operation);
  const put = (held: Holder | null, expect: Version | null) => {
    const body = Buffer.from(JSON.stringify({ holder: held, nonce: random.uuid() }));
    return settledPut(tools, key, body, expect);
  };
  let version = await taken(tools, key, (expect) => put(holder, expect));
  const lost = new AbortController();
  let renewing = Promise.resolve();
  /** Asked after a conflict: an earlier renewal that got no response may have taken effect. */
  const isOurs = async (): Promise<boolean> => {
    const found = await tools.registers.get(key);
    if (!found || holderIn(found.body)?.id !== holder.id) return false;
    ({ version } = found);
    return true;
  };
  const renew = async (): Promise<void> => {
    if (lost.signal.aborted) return;
    const renewed = await put(holder, version);
    if (renewed !== 'conflict') ({ version } = renewed);
    else if (!(await isOurs())) lost.abort();
  };
  const free = async (): Promise<void> => {
    const freed = await put(null, version);
    if (freed === 'conflict' && (await isOurs())) await put(null, version);
  };
  const stop = lock.every(locking.lease / 3, () => {
    // A place that cannot be reached for a while costs the claim at most.
    renewing = renewing.then(renew).catch(() => undefined);
  });
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } catch (error) {
    if (!lost.signal.aborted) throw error;
    return refuseLocked('claim-lost', `another run took ${operation} over`, {
      detail: 'This process stood still for too long. The other run has the result.',
    });
  } finally {
    stop();
    await renewing;
    // A claim that stays is taken over later.
    if (!lost.signal.aborted) await free().catch(unlessRefused);
  }
}

async function taken(
  tools: ClaimTools,
  key: string,
  take: (expect: Version | null) => Promise<{ readonly version: Version } | 'conflict'>,
): Promise<Version> {
  const { registers, locking } = tools;
  const lost = lostPuts(tools);
  const held = (holder: Holder): string => `an audit is in progress: ${described(holder)}`;
  const watching = {
    ...tools,
    locking: { wait: locking.wait, takeover: true },
    watch: { seen: undefined },
  };
  const mayTake = takeoverTimer(watching, {
    held,
    refuse: (holder) =>
      refuseLocked('audit-in-progress', held(holder), {
        detail: 'Wait for it to end, or let the command wait longer: --lock-wait 5m',
      }),
  });
  for (;;) {
    const found = await registers.get(key);
    const holder = found && holderIn(found.body);
    if (holder && !(await mayTake(found.version, holder))) continue;
    const put = await take(found?.version ?? null);
    if (put !== 'conflict') return put.version;
    await lost(found?.version);
  }
}
