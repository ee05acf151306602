// Fingerprints prove a secret unchanged, give nothing away, and are not computed twice.
import { createHook } from 'node:async_hooks';
import { createHmac, scryptSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  emptyState,
  type Entry,
  type Fingerprint,
  type SaltedFingerprint,
  type State,
} from '../../../src/model/index.js';
import type { Known } from '../../../src/platform/index.js';
import { scryptFingerprints } from '../../../src/state/index.js';
import { entry } from './samples.js';
import { drawn } from '../../support/drawn.js';

const SALT = Buffer.from('0123456789abcdef').toString('base64');
const quick = (key?: string) => scryptFingerprints({ cost: 4, ...(key !== undefined && { key }) });
const known = (
  value: string,
  fingerprint: Fingerprint | SaltedFingerprint,
  asked = true,
): Known => ({ value, fingerprint, asked });
const silent = (): void => undefined;
const ask = (
  fingerprints: ReturnType<typeof quick>,
  all: readonly Known[],
  state: Partial<State> = {},
) => fingerprints.compare({ secrets_salt: SALT, ...state }, all, silent);
/** As format 1 made it. */
const salted = (value: string, key?: string): SaltedFingerprint => ({
  algorithm: 'scrypt',
  cost: 4,
  block: 8,
  parallel: 1,
  salt: 'b2xk',
  keyed: key !== undefined,
  hash: scryptSync(
    key === undefined ? value : createHmac('sha256', key).update(value).digest(),
    Buffer.from('b2xk', 'base64'),
    32,
    { N: 16, r: 8, p: 1 },
  ).toString('base64'),
});

/** A state whose entries hold the fingerprints: `accounts.<name>` at the path `p`. */
const stateOf = (
  secrets: Readonly<Record<string, Fingerprint | SaltedFingerprint>>,
  more: Partial<State> = {},
): State => ({
  ...emptyState('line', 'target'),
  secrets_salt: SALT,
  resources: Object.fromEntries(
    Object.entries(secrets).map(([name, one]): [string, Entry] => [
      `accounts.${name}`,
      entry(name, { secrets: { p: one } }),
    ]),
  ),
  ...more,
});
const fingerprintIn = (state: State, name: string) =>
  state.resources[`accounts.${name}`]?.secrets?.['p'] as Fingerprint;
const valuesOf = (values: Readonly<Record<string, string>>) =>
  new Map(Object.entries(values).map(([name, value]) => [`accounts.${name} p`, value]));

/** How many scrypts `work` takes, and how many of them at once. */
async function scrypts(work: () => Promise<unknown>): Promise<{ computed: number; most: number }> {
  const running = new Set<number>();
  let [computed, most] = [0, 0];
  const hook = createHook({
    init(id, type) {
      if (type !== 'SCRYPTREQUEST') return;
      computed += 1;
      most = Math.max(most, running.add(id).size);
    },
    before: (id) => void running.delete(id),
  }).enable();
  await work();
  hook.disable();
  return { computed, most };
}

describe('a fingerprint', () => {
  it('matches the value it was made of and no other, in this process and the next', async () => {
    const made = await quick().make(SALT, 'a.b c', 'hunter2');
    for (const fingerprints of [quick(), scryptFingerprints()]) {
      expect(
        await ask(fingerprints, [
          known('hunter2', made),
          known('hunter3', made),
          known('hunter2', { ...made, hash: '' }),
        ]),
      ).toEqual([true, false, false]);
    }
    expect(await ask(quick(), [known('hunter2', made)], { secrets_salt: 'b3RoZXI=' })).toEqual([
      false,
    ]);
  });

  it('is HMAC-SHA256 over its place, keyed by scrypt at cost 2^14 of the salt of the state, which anyone can check', async () => {
    const made = await scryptFingerprints().make(SALT, 'a.b c', 'hunter2');
    const inner = scryptSync('hunter2', Buffer.from(SALT, 'base64'), 32, {
      N: 2 ** 14,
      r: 8,
      p: 1,
      maxmem: 2 ** 26,
    });
    expect(made).toEqual({
      of: 'a.b c',
      cost: 14,
      hash: createHmac('sha256', inner).update('a.b c').digest('base64'),
    });
  });

  it('differs from that of an equal value at another place, and holds nothing of it', async () => {
    const fingerprints = quick();
    const [one, other] = await Promise.all([
      fingerprints.make(SALT, 'a.b c', 'hunter2'),
      fingerprints.make(SALT, 'a.d c', 'hunter2'),
    ]);
    expect(one.hash).not.toBe(other.hash);
    expect(JSON.stringify([one, other])).not.toContain('hunter2');
  });

  it('made with a key takes no scrypt, matches with that key alone, and cannot be judged without it', async () => {
    const made: Fingerprint[] = [];
    expect(
      await scrypts(async () => made.push(await quick('key').make(SALT, 'a.b c', 'hunter2'))),
    ).toMatchObject({ computed: 0 });
    const [keyed, plain] = [made[0] as Fingerprint, await quick().make(SALT, 'a.b c', 'hunter2')];
    expect(keyed).not.toHaveProperty('cost');
    expect(
      await ask(quick('key'), [
        known('hunter2', keyed),
        known('hunter3', keyed),
        known('hunter2', plain),
      ]),
    ).toEqual([true, false, true]);
    expect(await ask(quick('other'), [known('hunter2', keyed)])).toEqual([false]);
    expect(await ask(quick(), [known('hunter2', keyed), known('hunter2', plain)])).toEqual([
      undefined,
      true,
    ]);
  });

  it('of a state of format 1 keeps its meaning, with a key and without', async () => {
    expect(
      await ask(quick(), [
        known('a', salted('a')),
        known('b', salted('a')),
        known('a', salted('a', 'key')),
      ]),
    ).toEqual([true, false, undefined]);
    expect(
      await ask(quick('key'), [
        known('a', salted('a')),
        known('a', salted('a', 'key')),
        known('b', salted('a', 'key')),
      ]),
    ).toEqual([true, true, false]);
  });
});

describe('many secrets', () => {
  const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
  const values = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
  /** A state in which all of them are known, together too. */
  async function settled(key?: string): Promise<State> {
    const fingerprints = quick(key);
    const made = await Promise.all(
      names.map(
        async (name) =>
          [
            name,
            await fingerprints.make(SALT, `accounts.${name} p`, values[name] as string),
          ] as const,
      ),
    );
    return fingerprints.renew(stateOf(Object.fromEntries(made)), valuesOf(values));
  }
  const all = (
    state: State,
    now: Readonly<Record<string, string>> = values,
    asked: readonly string[] = names,
  ): readonly Known[] =>
    Object.entries(now).map(([name, value]) =>
      known(value, fingerprintIn(state, name), asked.includes(name)),
    );

  it('are proven unchanged by one scrypt, and one by one where one of them changed: each distinct value once, as many at once as told', async () => {
    const state = await settled();
    let verdicts: unknown;
    expect(
      (await scrypts(async () => (verdicts = await ask(quick(), all(state), state)))).computed,
    ).toBe(1);
    expect(verdicts).toEqual(names.map(() => true));
    const changed = { ...values, n3: 'another', n4: 'another' };
    const told: [number, number][] = [];
    const counted = await scrypts(async () => {
      verdicts = await scryptFingerprints({ cost: 4, atOnce: 3 }).compare(
        state,
        all(state, changed),
        (done, total) => told.push([done, total]),
      );
    });
    expect(counted).toEqual({ computed: 1 + 11, most: 3 });
    expect(verdicts).toEqual(names.map((name) => !['n3', 'n4'].includes(name)));
    expect(told).toEqual(Array.from({ length: 11 }, (_, index) => [index + 1, 11]));
  });

  it('of which only some are asked for, or at hand, are proven together as far as they are the same ones as before', async () => {
    const state = await settled();
    const some = names.slice(0, 5);
    expect(
      (
        await scrypts(async () =>
          expect(await ask(quick(), all(state, values, some), state)).toEqual(
            names.map((name) => (some.includes(name) ? true : undefined)),
          ),
        )
      ).computed,
    ).toBe(1);
    const less = Object.fromEntries(Object.entries(values).slice(2));
    expect((await scrypts(() => ask(quick(), all(state, less), state))).computed).toBe(10);
    // A run that writes leaves one for what was at hand there, and keeps the other.
    const here = quick();
    await ask(here, all(state, less), state);
    const both = await here.renew(state, valuesOf(less));
    expect(both.secrets_together).toHaveLength(2);
    for (const now of [values, less])
      expect((await scrypts(() => ask(quick(), all(both, now), both))).computed).toBe(1);
  });

  it('are not asked together where one scrypt answers for all that is asked, and not proven by what is of other fingerprints', async () => {
    const state = await settled();
    expect((await scrypts(() => ask(quick(), all(state, values, ['n1']), state))).computed).toBe(1);
    const swapped = stateOf(
      {
        ...Object.fromEntries(names.map((name) => [name, fingerprintIn(state, name)])),
        n1: fingerprintIn(state, 'n2'),
      },
      { secrets_together: state.secrets_together ?? [] },
    );
    expect(await ask(quick(), all(swapped), swapped)).toEqual(names.map((name) => name !== 'n1'));
  });

  it('take no scrypt with a key, and are proven together, too', async () => {
    const state = await settled('key');
    expect(state.secrets_together).toEqual([
      { of: expect.any(String) as string, hash: expect.any(String) as string },
    ]);
    const told: number[] = [];
    const asked = (now: Readonly<Record<string, string>>) =>
      scryptFingerprints({ key: 'key' }).compare(state, all(state, now), (done) => told.push(done));
    expect(
      (await scrypts(async () => expect(await asked(values)).toEqual(names.map(() => true))))
        .computed,
    ).toBe(0);
    expect(told).toEqual([]);
    expect(
      (
        await scrypts(async () =>
          expect(await asked({ ...values, n5: 'another' })).toEqual(
            names.map((name) => name !== 'n5'),
          ),
        )
      ).computed,
    ).toBe(0);
    expect(await ask(quick(), all(state), state)).toEqual(names.map(() => undefined));
  });

  it('are made anew once they were compared: those of format 1, and those without the key that is there now', async () => {
    const old = stateOf(
      Object.fromEntries(names.map((name) => [name, salted(values[name] as string)])),
    );
    const here = quick();
    await ask(here, all(old, { ...values, n0: 'changed meanwhile' }), old);
    const renewed = await here.renew(old, valuesOf({ ...values, n0: 'changed meanwhile' }));
    expect(names.map((name) => 'algorithm' in fingerprintIn(renewed, name))).toEqual(
      names.map((name) => name === 'n0'),
    );
    expect(await ask(quick(), all(renewed), renewed)).toEqual(names.map(() => true));
    const keyed = quick('key');
    await ask(keyed, all(renewed), renewed);
    const after = await keyed.renew(renewed, valuesOf(values));
    expect(
      (
        await scrypts(async () =>
          expect(await ask(quick('key'), all(after), after)).toEqual(names.map(() => true)),
        )
      ).computed,
    ).toBe(0);
  });

  it('that nobody compared stay as they are, whatever value is given for them', async () => {
    const state = await settled();
    const { secrets_together: _, ...bare } = state;
    expect(await quick().renew(bare, valuesOf({ n1: 'something else' }))).toEqual(bare);
    expect(await quick('key').renew(bare, valuesOf(values))).toEqual(bare);
  });

  it('are judged as they would be one by one, whatever is kept together', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom(...names), fc.constantFrom('a', 'b', 'c')),
        fc.dictionary(fc.constantFrom(...names), fc.constantFrom('a', 'b', 'c')),
        async (before, now) => {
          const fingerprints = quick();
          const made = await Promise.all(
            Object.entries(before).map(
              async ([name, value]) =>
                [name, await fingerprints.make(SALT, `accounts.${name} p`, value)] as const,
            ),
          );
          const state = await fingerprints.renew(
            stateOf(Object.fromEntries(made)),
            valuesOf(before),
          );
          const shared = Object.fromEntries(
            Object.entries(now).filter(([name]) => Object.hasOwn(before, name)),
          );
          expect(await ask(quick(), all(state, shared), state)).toEqual(
            Object.entries(shared).map(([name, value]) => before[name] === value),
          );
        },
      ),
      { numRuns: drawn(100) },
    );
  });
});
