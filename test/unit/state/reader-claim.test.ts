// The claim of an audit: one at a time, whoever dies, stands still or loses an answer.
import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { LockPort } from '../../../src/platform/index.js';
import { refuseUnreachable } from '../../../src/state/backends/backend-errors.js';
import { underClaim, type ClaimTools } from '../../../src/state/backends/registers/reader-claim.js';
import { memoryRegisters, type MemoryFaults } from '../../support/memory-registers.js';
import { simulatedMachine } from '../../support/simulated-machine.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import { refusal } from './conformance.js';

const LEASE = 30_000;
const claim = { key: 'fleet/@claims/acme', operation: 'fleet drift, run r' };

function place(faults: MemoryFaults = {}) {
  const [clock, machine, random] = [simulatedClock(), simulatedMachine(), seededRandom()];
  const memory = memoryRegisters(clock.service, random);
  Object.assign(memory.faults, faults);
  const beatingEvery = (lock: LockPort): LockPort => ({
    ...lock,
    every(milliseconds, work) {
      let isOn = true;
      void (async () => {
        for (;;) {
          await clock.sleep(milliseconds);
          if (!isOn) return;
          work();
        }
      })();
      return () => void (isOn = false);
    },
  });
  const tools = (wait: number, lock: LockPort = beatingEvery(machine.start())): ClaimTools => ({
    registers: memory.connect(),
    clock,
    random,
    lock,
    locking: { lease: LEASE, wait },
    signal: new AbortController().signal,
  });
  return { clock, machine, memory, tools };
}

const audit =
  (clock: { sleep(milliseconds: number): Promise<void> }, milliseconds: number) =>
  async (): Promise<string> => {
    await clock.sleep(milliseconds);
    return 'audited';
  };

describe('an audit', () => {
  /** The second put, which is the first renewal, takes effect; the place is away until the next one. */
  function losingRenewal({ registers: plain }: ClaimTools) {
    const puts = { count: 0 };
    let isAway = false;
    const registers: ClaimTools['registers'] = {
      ...plain,
      async put(...asked) {
        const put = await plain.put(...asked);
        isAway = (puts.count += 1) === 2;
        return isAway ? 'unknown' : put;
      },
      async get(key) {
        if (isAway) refuseUnreachable('place', 'it is away');
        return plain.get(key);
      },
    };
    return { registers, puts };
  }

  it('keeps a claim whose renewal took effect without an answer', async () => {
    const { clock, tools } = place();
    const { registers, puts } = losingRenewal(tools(0));
    const audited = underClaim({ ...tools(0), registers }, claim, audit(clock, 5 * LEASE));
    await expect(audited).resolves.toBe('audited');
    expect(puts.count).toBeGreaterThan(3);
  });

  it('frees a claim whose last renewal took effect without an answer', async () => {
    const { clock, tools } = place();
    const { registers, puts } = losingRenewal(tools(0));
    await underClaim({ ...tools(0), registers }, claim, audit(clock, LEASE / 2));
    expect(puts.count).toBe(4);
    expect(await underClaim(tools(0), claim, audit(clock, 1))).toBe('audited');
  });

  it('waits for another one of the same tenant, however long it takes', async () => {
    const { clock, tools } = place();
    let running = 0;
    let atOnce = 0;
    const one = async (): Promise<void> => {
      atOnce = Math.max(atOnce, (running += 1));
      await clock.sleep(5 * LEASE);
      running -= 1;
    };
    const all = [1, 2, 3].map(() => underClaim(tools(100 * LEASE), claim, one));
    await Promise.all(all);
    expect(atOnce).toBe(1);
    expect(clock.elapsed()).toBeGreaterThanOrEqual(15 * LEASE);
  });

  it('is refused where the place does not show the claim that is there', async () => {
    const { clock, memory, tools } = place();
    await underClaim(tools(0), claim, audit(clock, 1));
    const registers = { ...memory.connect(), get: async () => undefined };
    const refused = underClaim({ ...tools(0), registers }, claim, audit(clock, 1));
    expect(await refusal(refused)).toMatchObject({ code: 'backend-cannot-lock', exit: 1 });
  });

  it('does not wait longer than it is told, and names the other run', async () => {
    const { clock, tools } = place();
    const first = underClaim(tools(0), claim, audit(clock, 10 * LEASE));
    await clock.sleep(1_000);
    const refused = await refusal(underClaim(tools(10_000), claim, audit(clock, 1)));
    expect(refused).toMatchObject({ code: 'audit-in-progress', exit: 4 });
    expect(refused.words).toContain('"fleet drift, run r", process 101 on "box"');
    expect(clock.elapsed()).toBeLessThan(LEASE);
    expect(await first).toBe('audited');
  });

  it('says once for whom it waits, and nothing where it does not', async () => {
    const { clock, tools } = place();
    const told: string[] = [];
    const telling = (wait: number): ClaimTools => ({
      ...tools(wait),
      notify: ({ code, summary }) => void told.push(`${code}: ${summary}`),
    });
    const first = underClaim(telling(90_000), claim, audit(clock, LEASE));
    await clock.sleep(1_000);
    expect(await refusal(underClaim(telling(0), claim, audit(clock, 1)))).toMatchObject({
      code: 'audit-in-progress',
    });
    expect(told).toEqual([]);
    await Promise.all([first, underClaim(telling(90_000), claim, audit(clock, 1))]);
    expect(told).toEqual([
      expect.stringMatching(
        /^lock-waited: An audit is in progress: "fleet drift, run r", process .*Waiting up to 90 s\.$/,
      ),
    ]);
  });

  it('takes the claim of a process that is gone', async () => {
    const { clock, machine, tools } = place();
    // Its heartbeats never come.
    void underClaim(tools(0, machine.start()), claim, () => new Promise(() => undefined));
    await clock.sleep(1_000);
    const begun = clock.elapsed();
    expect(await underClaim(tools(90_000), claim, audit(clock, 1))).toBe('audited');
    expect(clock.elapsed() - begun).toBeGreaterThanOrEqual(2 * LEASE);
    expect(clock.elapsed() - begun).toBeLessThan(2 * LEASE + 10_000);
  });

  it('ends when another run took its claim, and leaves the claim alone', async () => {
    const { clock, machine, memory, tools } = place();
    const stopped = machine.start();
    const frozen = underClaim(
      tools(0, stopped),
      claim,
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        }),
    );
    const lost = refusal(frozen);
    await clock.sleep(1_000);
    const second = underClaim(tools(90_000), claim, audit(clock, 2 * LEASE));
    await clock.sleep(2 * LEASE + 10_000);
    const body = memory.values.get(claim.key)!.body;
    machine.beat();
    expect(await lost).toMatchObject({ code: 'claim-lost', exit: 4 });
    expect(memory.values.get(claim.key)!.body).toBe(body);
    expect(await second).toBe('audited');
  });

  it('is refused by nothing that an earlier one left', async () => {
    const { clock, memory, tools } = place();
    for (const body of ['', 'null', '{"holder":{"id":7}}', '{"holder":null}', 'no JSON']) {
      memory.values.set(claim.key, { body: Buffer.from(body), version: `v${body}` });
      expect(await underClaim(tools(0), claim, audit(clock, 1))).toBe('audited');
    }
    expect(clock.elapsed()).toBeLessThan(1_000);
  });

  it('throws what its work throws, and frees the claim', async () => {
    const { clock, tools } = place();
    await expect(
      underClaim(tools(0), claim, () => Promise.reject(new Error('no network'))),
    ).rejects.toThrow('no network');
    expect(await underClaim(tools(0), claim, audit(clock, 1))).toBe('audited');
  });

  it('is alone where answers get lost', async () => {
    const { clock, tools } = place({ lost: 0.3, dropped: 0.2 });
    let running = 0;
    const one = async (): Promise<void> => {
      expect((running += 1)).toBe(1);
      await clock.sleep(LEASE);
      running -= 1;
    };
    await Promise.all([1, 2, 3, 4].map(() => underClaim(tools(100 * LEASE), claim, one)));
  });
});
