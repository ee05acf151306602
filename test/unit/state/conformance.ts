// What every store promises, whatever it is made of. A store joins with a bench: a few lines that make one.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Refusal, type Exit, type RunAuthor, type State } from '../../../src/model/index.js';
import type { Clock } from '../../../src/platform/index.js';
import type { Session, Store } from '../../../src/state/index.js';
import { entry, failed, intent, memory, result, TARGET } from './samples.js';

export interface Bench {
  readonly clock: Clock;
  /** The store as another process sees it. */
  store(more?: { readonly author?: RunAuthor }): Store;
  /** Everything the store keeps, in comparable form. */
  bytes(): Promise<unknown>;
  /** Takes the lock away from whoever holds it. */
  steal(): Promise<void>;
  close?(): Promise<void>;
}

/** The Refusal a promise ends in. */
export async function refusal(
  promise: Promise<unknown>,
): Promise<{ readonly code: string; readonly exit: Exit; readonly words: string }> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Refusal)) throw new Error(`expected a Refusal, got ${String(error)}`);
  return {
    code: error.diagnostics.map((one) => one.code).join(),
    exit: error.exit,
    words: error.diagnostics.map((one) => `${one.summary}\n${one.detail ?? ''}`).join('\n'),
  };
}

export function conformance(name: string, makeBench: () => Promise<Bench>): void {
  describe(`${name} keeps what every store promises`, () => {
    let bench: Bench;
    let store: Store;
    const opened: Session[] = [];
    const open = async (operation = 'apply'): Promise<Session> => {
      const session = await bench.store().open(operation, TARGET);
      opened.push(session);
      return session;
    };

    const now = (): string => new Date(bench.clock.now()).toISOString();

    beforeEach(async () => {
      bench = await makeBench();
      store = bench.store();
    });
    afterEach(async () => {
      await Promise.allSettled(opened.splice(0).map((session) => session.release()));
      await bench.close?.();
    });

    it('has one salt from the first record on, whether or not a run came to its end', async () => {
      const first = await open();
      const { secrets_salt: salt } = first.snapshot.state;
      expect(Buffer.from(salt ?? '', 'base64')).toHaveLength(16);
      await first.record(intent('a'), result('a'));
      await first.release();
      expect((await store.read())?.state.secrets_salt).toBe(salt);
      const second = await open();
      expect(second.snapshot.state.secrets_salt).toBe(salt);
      expect((await second.compact()).state.secrets_salt).toBe(salt);
      await second.release();
      expect((await store.read())?.state.secrets_salt).toBe(salt);
    });

    it('writes what its caller makes of the new state, and asks for it only where there is one', async () => {
      const session = await open();
      const finish = async (state: State): Promise<State> => ({
        ...state,
        secrets_together: [{ of: 'all', hash: 'aGFzaA==', cost: 14 }],
      });
      await session.record(intent('a'), result('a'));
      await session.compact({ finish });
      await session.compact({
        finish: () => Promise.reject(new Error('there is nothing to write')),
      });
      await session.release();
      expect((await store.read())?.state.secrets_together).toEqual([
        { of: 'all', hash: 'aGFzaA==', cost: 14 },
      ]);
    });

    it('records who wrote each state and what took effect, the newest first', async () => {
      const author = { user: 'dana', host: 'laptop', url: 'https://ci.example.com/runs/1' };
      const writer = async (operation: string): Promise<Session> => {
        const session = await bench.store({ author }).open(operation, TARGET);
        opened.push(session);
        return session;
      };
      const change = (op: string, action: 'update' | 'delete') => ({ ...intent(op), action });
      const first = await writer('apply');
      await first.record(intent('1'), intent('2'), change('3', 'update'), change('4', 'delete'));
      // An intent that is renewed is still one write.
      await first.record({ ...intent('1'), at: '2026-01-01T00:00:01.000Z' });
      await first.record(result('1'), failed('2', 'rejected'));
      await first.record(
        result('3'),
        result('4', { entry: null }),
        memory('accounts.b', entry('b')),
      );
      await first.compact({ applied: { digest: () => 'd1' } });
      await first.compact({ applied: { digest: () => 'd2' } });
      await first.record(intent('5'), result('5'));
      await first.release();
      const second = await writer('destroy');
      await second.record(change('6', 'delete'), result('6', { entry: null }));
      await second.compact();
      await second.record(memory('accounts.b', null));
      await second.compact();
      const rest = { ...author, at: now() };
      const bound = { adopted: 0, renamed: 0, forgotten: 0 };
      const counts = { created: 0, updated: 0, deleted: 0, ...bound };
      const left = { ...rest, operation: 'destroy' };
      // What became of them, the next runs find out.
      await second.record(intent('7'));
      await second.release();
      const third = await writer('apply');
      await third.record(result('7', { entry: entry('7') }));
      await third.compact();
      await third.record(intent('8'));
      await third.release();
      const fourth = await writer('apply');
      await fourth.record(failed('8', 'not_sent'), intent('9'), result('9'));
      await fourth.compact();
      await fourth.release();
      const runs = (await store.read())?.state.runs ?? [];
      const next = { ...rest, operation: 'apply', ...counts, created: 1 };
      expect(runs.map(({ serial: _, ...one }) => one)).toEqual([
        { ...next, objects: 5 },
        { ...next, objects: 4, resumed: true },
        { ...left, ...counts, forgotten: 1, objects: 3 },
        { ...left, ...counts, created: 1, deleted: 1, objects: 4, resumed: true },
        {
          ...rest,
          operation: 'apply',
          digest: 'd1',
          created: 1,
          updated: 1,
          deleted: 1,
          adopted: 1,
          renamed: 0,
          forgotten: 0,
          objects: 3,
        },
      ]);
      const serials = runs.map(({ serial }) => serial);
      expect(serials).toEqual(serials.toSorted((a, b) => b - a));
      expect(serials[0]).toBe((await store.read())?.state.serial);
    });

    it('records the last hundred runs, and none where nobody is named', async () => {
      const nameless = await open();
      await nameless.record(memory('accounts.a', entry('a')));
      expect((await nameless.compact()).state.runs).toBeUndefined();
      await nameless.release();
      const author = { user: 'dana', host: 'laptop' };
      const session = await bench.store({ author }).open('state push', TARGET);
      opened.push(session);
      for (let turn = 0; turn < 100; turn += 1) await session.compact({ always: true });
      const { runs = [] } = (await session.compact({ always: true })).state;
      expect(runs).toHaveLength(100);
      expect(runs[0]!.serial - runs.at(-1)!.serial).toBeGreaterThanOrEqual(99);
      await session.release();
    });

    it('knows nothing at first, and writes nothing while reading', async () => {
      expect(await store.read()).toBeUndefined();
      expect(await store.holder()).toBeUndefined();
      const session = await open();
      expect(session.snapshot).toMatchObject({
        state: { serial: 0, target: TARGET, resources: {}, spent: [] },
        pending: [],
        unfinished: false,
      });
      await session.compact();
      await session.release();
      expect(await store.read()).toBeUndefined();
    });

    it('shows a run in progress to readers, and changes nothing by reading', async () => {
      const session = await open();
      await session.record(intent('1'), intent('2'));
      await session.record(result('1'));
      const before = await bench.bytes();
      const seen = await store.read();
      expect(seen).toMatchObject({
        state: { serial: 0, resources: { 'accounts.a1': entry('1') } },
        unfinished: true,
      });
      expect(seen?.pending.map(({ op }) => op)).toEqual(['2']);
      expect(await bench.bytes()).toEqual(before);
    });

    it('raises the serial with each compaction that changes something, and only then', async () => {
      const session = await open();
      await session.record(intent('1'), result('1'));
      expect((await session.compact()).state.serial).toBe(1);
      const before = await bench.bytes();
      expect((await session.compact()).state.serial).toBe(1);
      expect(await bench.bytes()).toEqual(before);
      await session.record(intent('2'), failed('2', 'rejected'), memory('accounts.a1', entry('1')));
      expect(await session.compact()).toMatchObject({ state: { serial: 1 }, unfinished: false });
      expect(await bench.bytes()).toEqual(before);
      await session.record(memory('accounts.a1', null));
      expect(await session.compact()).toMatchObject({
        state: { serial: 2, resources: {} },
        unfinished: false,
      });
      expect((await store.read())?.state.lineage).toBe(session.snapshot.state.lineage);
    });

    it('carries an intent without a known outcome through every compaction until it is settled', async () => {
      const first = await open();
      await first.record(
        intent('1'),
        intent('2'),
        intent('3'),
        result('2'),
        failed('3', 'unknown', { spent: { at: now(), action: 'update' } }),
      );
      expect((await first.compact()).pending.map(({ op }) => op)).toEqual(['1', '3']);
      await first.record(intent('4'), result('4'));
      await first.release();

      const second = await open();
      expect(second.snapshot).toMatchObject({ state: { serial: 1 }, unfinished: true });
      expect(second.snapshot.pending).toEqual([intent('1'), intent('3')]);
      expect(Object.keys(second.snapshot.state.resources)).toEqual(['accounts.a2', 'accounts.a4']);
      await second.record(result('1'), failed('3', 'not_sent'));
      const settled = await second.compact();
      expect(settled).toMatchObject({ pending: [], unfinished: false, state: { serial: 2 } });
      expect(settled.state.spent).toHaveLength(1);
      expect(Object.keys((await store.read())?.state.resources ?? {})).toEqual([
        'accounts.a1',
        'accounts.a2',
        'accounts.a4',
      ]);
    });

    it('loses no record that is made while a compaction goes on', async () => {
      const session = await open();
      await session.record(intent('1'), result('1'));
      await Promise.all([
        session.compact(),
        session.record(intent('2'), result('2')),
        session.compact(),
        session.record(intent('3')),
      ]);
      await session.release();
      expect(await store.read()).toMatchObject({
        state: { resources: { 'accounts.a1': entry('1'), 'accounts.a2': entry('2') } },
        pending: [intent('3')],
      });
    });

    it('forgets what was spent more than 24 hours ago, when something else changes', async () => {
      const session = await open();
      const spend = (address: string): Promise<void> =>
        session.record(memory(address, null, { spent: { at: now(), action: 'delete' } }));
      await spend('accounts.old');
      await session.compact();
      await bench.clock.sleep(24 * 60 * 60 * 1000 + 1);
      const before = await bench.bytes();
      expect((await session.compact()).state.spent).toHaveLength(1);
      expect(await bench.bytes()).toEqual(before);
      await spend('accounts.new');
      expect((await session.compact()).state.spent).toEqual([{ at: now(), action: 'delete' }]);
    });

    it('refuses an intent of a name that the journal already holds', async () => {
      const session = await open();
      await session.record(intent('1'));
      await expect(session.record(intent('1'))).rejects.toThrow(TypeError);
      await session.release();
      await expect((await open()).record(intent('1'))).rejects.toThrow(TypeError);
    });

    it('takes an intent again when it is renewed, and counts it once, as of then', async () => {
      const session = await open();
      await session.record(intent('1'));
      const later = {
        ...intent('1'),
        at: new Date(Date.parse(intent('1').at) + 60_000).toISOString(),
      };
      await session.record(later);
      await session.release();
      expect((await open()).snapshot.pending).toEqual([later]);
    });

    it('refuses to use a state against another cloud', async () => {
      const session = await open();
      await session.record(intent('1'), result('1'));
      await session.compact();
      await session.release();
      const before = await bench.bytes();
      expect(await refusal(bench.store().open('apply', 'https://other.example.com'))).toMatchObject(
        { code: 'other-target', exit: 1 },
      );
      expect(await bench.bytes()).toEqual(before);
      await open();
    });

    it('lets one run in at a time, and says who is in', async () => {
      const session = await open('apply estate');
      const holder = await store.holder();
      expect(holder).toMatchObject({ operation: 'apply estate', created_at: now() });
      const refused = await refusal(bench.store().open('destroy', TARGET));
      expect(refused).toMatchObject({ code: 'locked', exit: 4 });
      expect(refused.words).toContain(`trueup unlock ${holder?.id}`);
      await session.release();
      await session.release();
      expect(await store.holder()).toBeUndefined();
      await open();
    });

    it('unlocks neither with the wrong id nor under a living run', async () => {
      expect(await refusal(store.unlock('nothing'))).toMatchObject({ code: 'not-locked', exit: 1 });
      await open();
      const id = (await store.holder())?.id ?? '';
      const wrong = await refusal(store.unlock('another'));
      expect(wrong).toMatchObject({ code: 'wrong-lock', exit: 4 });
      expect(wrong.words).toMatch(/If that run is not running any more: trueup unlock \S+$/);
      expect(await refusal(store.unlock(id))).toMatchObject({ code: 'lock-alive', exit: 4 });
      expect((await store.holder())?.id).toBe(id);
    });

    it('stops a run whose lock was taken away, before it writes', async () => {
      const session = await open();
      await session.record(intent('1'));
      await session.assertHeld();
      await bench.steal();
      const before = await bench.bytes();
      for (const attempt of [
        () => session.assertHeld(),
        () => session.record(result('1')),
        () => session.compact(),
      ]) {
        expect(await refusal(attempt())).toMatchObject({ code: 'lock-lost', exit: 4 });
      }
      await session.release();
      expect(await bench.bytes()).toEqual(before);
    });
  });
}
