// Who may take a lock from whom: the table of proofs, and what happens when two take it at once.
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../src/model/index.js';
import type { Files, LockPort } from '../../src/ports/index.js';
import { fileStore, type Store } from '../../src/state/index.js';
import { simulatedFiles } from '../support/simulated-files.js';
import { simulatedMachine } from '../support/simulated-machine.js';
import { seededRandom, simulatedClock } from '../support/simulated.js';
import { refusal } from './conformance.js';
import { intent, TARGET } from './samples.js';

const PATH = '/sim/state.json';
const LOCK = `${PATH}.lock`;

function storeOn(files: Files, lock: LockPort, seed = 1): Store {
  return fileStore({ path: PATH, files, clock: simulatedClock(), random: seededRandom(seed), lock, version: '0.1.0' });
}

const me: LockPort = {
  host: 'box',
  bootId: 'boot-1',
  pid: 100,
  find: async (pid) => ({ 7: { startTime: '70' }, 8: { startTime: null }, 100: { startTime: '1000' } })[pid],
  hold: async () => ({ release: async () => undefined }),
};

const record = (more: object): string =>
  `${JSON.stringify({ boot_id: 'boot-1', created_at: '2026-01-01T00:00:00.000Z', host: 'box', id: 'the-lock', operation: 'apply', pid: 7, start_time: '70', ...more })}\n`;

/** What a promise comes to: something made of its value, or the code of the Refusal. */
async function ending<T>(promise: Promise<T>, good: (value: T) => unknown): Promise<unknown> {
  try {
    return good(await promise);
  } catch (error) {
    if (error instanceof Refusal) return error.diagnostics[0]?.code;
    throw error;
  }
}

describe('a lock file', () => {
  it.each<readonly [string, string, 'held' | 'taken' | 'locked', string]>([
    ['of a living process', record({}), 'held', 'lock-alive'],
    ['of a process that is gone', record({ pid: 9 }), 'taken', 'unlocked'],
    ['of a process whose number was given to another', record({ start_time: '69' }), 'taken', 'unlocked'],
    ['of an earlier start of the machine', record({ boot_id: 'boot-0' }), 'taken', 'unlocked'],
    ['of another machine', record({ host: 'elsewhere', pid: 9 }), 'held', 'unlocked'],
    ['of another machine and boot', record({ host: 'elsewhere', boot_id: 'boot-0' }), 'held', 'unlocked'],
    ['of a process whose start nobody knows', record({ pid: 8 }), 'held', 'unlocked'],
    ['that does not tell its start', record({ start_time: null }), 'held', 'unlocked'],
    ['that tells neither boot nor start, of a process that is gone', record({ boot_id: null, start_time: null, pid: 9 }), 'taken', 'unlocked'],
    ['that does not tell its boot, of a process that may be it', record({ boot_id: null }), 'held', 'unlocked'],
    ['that is cut', record({}).slice(0, 40), 'locked', 'locked'],
    ['that is empty', '', 'locked', 'locked'],
    ['with a member too many', record({ extra: 1 }), 'locked', 'locked'],
    ['with an id that is no plain word', record({ id: 'x\u001b[31m; rm -rf /' }), 'locked', 'locked'],
    ['of no process', record({ pid: 0 }), 'locked', 'locked'],
  ])('%s', async (_, text, opening, unlocking) => {
    const files = simulatedFiles();
    const fresh = (): Store => {
      for (const path of files.contents.keys()) void files.remove(path);
      files.put(LOCK, text);
      return storeOn(files, me);
    };
    expect(await ending(fresh().holder(), (holder) => holder?.id)).toBe({ held: 'the-lock', taken: undefined, locked: 'locked' }[opening]);
    expect(files.contents.get(LOCK)).toBe(text);

    const opened = await ending(fresh().open('apply', TARGET), (session) => session.release());
    expect(opened).toBe(opening === 'taken' ? undefined : 'locked');
    expect([...files.contents]).toEqual(opening === 'taken' ? [] : [[LOCK, text]]);

    expect(await ending(fresh().unlock('the-lock'), () => 'unlocked')).toBe(unlocking);
    expect([...files.contents]).toEqual(unlocking === 'unlocked' ? [] : [[LOCK, text]]);
  });

  it.each([
    ['that names its holder', record({ host: 'elsewhere' }), 'trueup unlock the-lock'],
    ['that is damaged', record({ id: 'x\u001b[31m' }), `rm ${LOCK}`],
  ])('%s says what to type, and repeats nothing that acts on a terminal', async (_, text, command) => {
    const files = simulatedFiles();
    files.put(LOCK, text);
    const { words } = await refusal(storeOn(files, me).open('apply', TARGET));
    expect(words).toContain(command);
    expect(words).not.toContain('\u001b');
  });

  it('of a dead run is taken over by exactly one of many, with no kernel to help', async () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const [files, machine, random] = [simulatedFiles(seed), simulatedMachine('box', false), seededRandom(seed)];
      const late: Files = {
        ...files,
        read: (path) => dawdle(() => files.read(path)),
        create: (path, text, mode) => dawdle(() => files.create(path, text, mode)),
        rename: (from, to) => dawdle(() => files.rename(from, to)),
      };
      async function dawdle<T>(work: () => Promise<T>): Promise<T> {
        for (let turn = Math.floor(random.fraction() * 6); turn > 0; turn -= 1) await Promise.resolve();
        return work();
      }
      files.put(LOCK, record({ pid: 9 }));
      const sessions = await Promise.allSettled([1, 2, 3, 4].map(async (one) => storeOn(late, machine.start(), seed * 10 + one).open('apply', TARGET)));
      const held = await Promise.allSettled(sessions.flatMap((one) => (one.status === 'fulfilled' ? [one.value.assertHeld()] : [])));
      expect(held.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    }
  });

  it('that was caught instead of the one that was judged is put back', async () => {
    const files = simulatedFiles();
    const young = record({ id: 'younger', pid: 7 });
    files.put(LOCK, record({ pid: 9 }));
    const late: Files = {
      ...files,
      async rename(from, to) {
        files.put(LOCK, young);
        await files.rename(from, to);
      },
    };
    const refused = await refusal(storeOn(late, me).open('apply', TARGET));
    expect(refused.words).toContain('trueup unlock younger');
    expect([...files.contents]).toEqual([[LOCK, young]]);
  });
});

describe('a temporary file beside the lock', () => {
  const at = `${LOCK}.01234567-89ab-4cde-8f01-23456789abcd.tmp`;

  it.each([
    ['of a process that is gone', record({ pid: 9 }), 'goes'],
    ['of an earlier start of the machine', record({ boot_id: 'boot-0' }), 'goes'],
    ['of a living process', record({}), 'stays'],
    ['of another machine', record({ host: 'elsewhere', pid: 9 }), 'stays'],
    ['that is torn', record({ pid: 9 }).slice(0, 60), 'stays'],
    ['that is empty', '', 'stays'],
  ])('%s', async (_, text, fate) => {
    const files = simulatedFiles();
    const mine = `${LOCK}.mine.tmp`;
    files.put(at, text);
    files.put(mine, record({ pid: 9 }));
    await (await storeOn(files, me).open('apply', TARGET)).release();
    expect(files.contents.get(at)).toBe(fate === 'stays' ? text : undefined);
    expect(files.contents.has(mine)).toBe(true);
  });

  it('that cannot be read stays, and stops nobody', async () => {
    const files = simulatedFiles();
    files.put(at, record({ pid: 9 }));
    const odd: Files = { ...files, read: (path) => (path === at ? Promise.reject(Object.assign(new Error(), { code: 'EFTYPE', path })) : files.read(path)) };
    await (await storeOn(odd, me).open('apply', TARGET)).release();
    expect(files.contents.has(at)).toBe(true);
  });

  it('swept under the hands of a run that takes a dead lock away does it no harm', async () => {
    for (const when of ['before it looks', 'after it looked']) {
      const files = simulatedFiles();
      files.put(LOCK, record({ pid: 9 }));
      const swept: Files = {
        ...files,
        async read(path) {
          const early = when === 'before it looks' && path.endsWith('.tmp');
          if (early) await files.remove(path);
          return files.read(path);
        },
        async remove(path) {
          if (path.endsWith('.tmp') && files.contents.has(path)) await files.remove(path);
          return files.remove(path);
        },
      };
      const session = await storeOn(swept, me).open('apply', TARGET);
      await session.assertHeld();
      await session.release();
      expect([...files.contents.keys()]).toEqual([]);
    }
  });
});

describe('a killed run', () => {
  it.each([true, false])('frees its lock by dying (kernel lock: %s), and its journal is found', async (kernel) => {
    const [files, machine] = [simulatedFiles(), simulatedMachine('box', kernel)];
    const victim = machine.start();
    const session = await storeOn(files, victim).open('apply', TARGET);
    await session.record(intent('1'));
    expect((await refusal(storeOn(files, machine.start(), 2).open('apply', TARGET))).exit).toBe(4);
    machine.kill(victim.pid);
    const next = await storeOn(files, machine.start(), 3).open('apply', TARGET);
    expect(next.snapshot).toMatchObject({ pending: [intent('1')], unfinished: true });
    expect((await refusal(session.record(intent('2')))).code).toBe('lock-lost');
  });
});

describe('the kernel', () => {
  it('keeps a second run out even where the lock file was removed by hand, and forgets nobody on failure', async () => {
    const [files, machine] = [simulatedFiles(), simulatedMachine()];
    const first = await storeOn(files, machine.start()).open('apply', TARGET);
    await files.remove(LOCK);
    expect(await refusal(storeOn(files, machine.start(), 2).open('apply', TARGET))).toMatchObject({ code: 'locked', exit: 4 });
    await first.release();
    files.put(PATH, 'damaged');
    const third = machine.start();
    expect((await refusal(storeOn(files, third, 3).open('apply', TARGET))).code).toBe('damaged-file');
    files.put(LOCK, record({ host: 'elsewhere' }));
    expect((await refusal(storeOn(files, third, 4).open('apply', TARGET))).words).toContain('elsewhere');
    await files.remove(LOCK);
    await files.remove(PATH);
    await (await storeOn(files, machine.start(), 5).open('apply', TARGET)).release();
  });
});
