// Who may take a lock from whom: the table of proofs, and what happens when two take it at once.
import { describe, expect, it } from 'vitest';
import { canonical, Refusal } from '../../../src/model/index.js';
import type { Files, LockPort } from '../../../src/platform/index.js';
import { fileStore, type Store } from '../../../src/state/index.js';
import { simulatedFiles } from '../../support/simulated-files.js';
import { simulatedMachine } from '../../support/simulated-machine.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import { refusal } from './conformance.js';
import { intent, TARGET } from './samples.js';

const PATH = '/sim/state.json';
const LOCK = `${PATH}.lock`;

function storeOn(files: Files, lock: LockPort, seed = 1): Store {
  return fileStore({
    path: PATH,
    files,
    clock: simulatedClock(),
    random: seededRandom(seed),
    lock,
    version: '0.1.0',
  });
}

const me: LockPort = {
  host: 'box',
  bootId: 'boot-1',
  pid: 100,
  pidNamespace: 'pid:[1]',
  every: () => () => undefined,
  find: async (pid) =>
    ({ 7: { startTime: '70' }, 8: { startTime: null }, 100: { startTime: '1000' } })[pid],
  hold: async () => ({ release: async () => undefined }),
};

const record = (more: object): string =>
  `${canonical({ boot_id: 'boot-1', created_at: '2026-01-01T00:00:00.000Z', host: 'box', id: 'the-lock', operation: 'apply', pid: 7, start_time: '70', ...more })}\n`;

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
    [
      'of a process whose number was given to another',
      record({ start_time: '69' }),
      'taken',
      'unlocked',
    ],
    ['of an earlier start of the machine', record({ boot_id: 'boot-0' }), 'taken', 'unlocked'],
    ['of another machine', record({ host: 'elsewhere', pid: 9 }), 'held', 'unlocked'],
    [
      'of another machine and boot',
      record({ host: 'elsewhere', boot_id: 'boot-0' }),
      'held',
      'unlocked',
    ],
    ['of a process whose start nobody knows', record({ pid: 8 }), 'held', 'unlocked'],
    ['that does not tell its start', record({ start_time: null }), 'held', 'unlocked'],
    [
      'that tells neither boot nor start, of a process that is gone',
      record({ boot_id: null, start_time: null, pid: 9 }),
      'taken',
      'unlocked',
    ],
    [
      'that does not tell its boot, of a process that may be it',
      record({ boot_id: null }),
      'held',
      'unlocked',
    ],
    ['that is cut', record({}).slice(0, 40), 'locked', 'locked'],
    ['that is empty', '', 'locked', 'locked'],
    ['with a member too many', record({ extra: 1 }), 'locked', 'locked'],
    [
      'with an id that is no plain word',
      record({ id: 'x\u001b[31m; rm -rf /' }),
      'locked',
      'locked',
    ],
    ['of no process', record({ pid: 0 }), 'locked', 'locked'],
    [
      'of a living process of the same container',
      record({ pid_namespace: 'pid:[1]' }),
      'held',
      'lock-alive',
    ],
    [
      'of a process of the same container that is gone',
      record({ pid_namespace: 'pid:[1]', pid: 9 }),
      'taken',
      'unlocked',
    ],
    [
      'of a container on another machine',
      record({ pid_namespace: 'pid:[2]', host: 'elsewhere', boot_id: 'boot-0', pid: 9 }),
      'held',
      'unlocked',
    ],
    ['with a namespace that is none', record({ pid_namespace: '' }), 'locked', 'locked'],
  ])('%s', async (_, text, opening, unlocking) => {
    const files = simulatedFiles();
    const fresh = (): Store => {
      for (const path of files.contents.keys()) void files.remove(path);
      files.put(LOCK, text);
      return storeOn(files, me);
    };
    expect(await ending(fresh().holder(), (holder) => holder?.id)).toBe(
      { held: 'the-lock', taken: undefined, locked: 'locked' }[opening],
    );
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
  ])(
    '%s says what to type, and repeats nothing that acts on a terminal',
    async (_, text, command) => {
      const files = simulatedFiles();
      files.put(LOCK, text);
      const { words } = await refusal(storeOn(files, me).open('apply', TARGET));
      expect(words).toContain(command);
      expect(words).not.toContain('\u001b');
    },
  );

  it('of a dead run is taken over by exactly one of many, with no kernel to help', async () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const [files, machine, random] = [
        simulatedFiles(seed),
        simulatedMachine('box', false),
        seededRandom(seed),
      ];
      const late: Files = {
        ...files,
        read: (path) => dawdle(() => files.read(path)),
        create: (path, text, mode) => dawdle(() => files.create(path, text, mode)),
        rename: (from, to) => dawdle(() => files.rename(from, to)),
      };
      async function dawdle<T>(work: () => Promise<T>): Promise<T> {
        for (let turn = Math.floor(random.fraction() * 6); turn > 0; turn -= 1)
          await Promise.resolve();
        return work();
      }
      files.put(LOCK, record({ pid: 9 }));
      const sessions = await Promise.allSettled(
        [1, 2, 3, 4].map(async (one) =>
          storeOn(late, machine.start(), seed * 10 + one).open('apply', TARGET),
        ),
      );
      const held = await Promise.allSettled(
        sessions.flatMap((one) => (one.status === 'fulfilled' ? [one.value.assertHeld()] : [])),
      );
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

describe('a lock of another container of this machine', () => {
  const theirs = record({ pid_namespace: 'pid:[2]' });

  /** A run that wants the lock; `during` is called at each look. */
  async function wanting(
    text: string,
    during: (look: number, files: ReturnType<typeof simulatedFiles>) => unknown = () => undefined,
  ) {
    const files = simulatedFiles();
    files.put(LOCK, text);
    const notes: string[] = [];
    const clock = simulatedClock();
    let looks = 0;
    const watching = {
      ...clock,
      async sleep(milliseconds: number, signal?: AbortSignal) {
        await clock.sleep(milliseconds, signal);
        await during((looks += 1), files);
      },
    };
    const store = fileStore({
      path: PATH,
      files,
      clock: watching,
      random: seededRandom(),
      lock: me,
      version: '0.1.0',
      notify: ({ code, summary }) => notes.push(`${code}: ${summary}`),
    });
    expect(await store.holder()).toMatchObject({ id: 'the-lock' });
    const ended = await ending(store.open('apply', TARGET), (session) =>
      session.release().then(() => 'taken'),
    );
    return { ended, files, notes, waited: clock.elapsed(), looks };
  }

  it.each([
    ['whose processes are counted apart', theirs],
    ['under another name', record({ pid_namespace: 'pid:[2]', host: 'container' })],
    [
      'under the same name, after a restart',
      record({ pid_namespace: 'pid:[2]', boot_id: 'boot-0' }),
    ],
    [
      'although a process here has its number and start',
      record({ pid_namespace: 'pid:[2]', pid: 7, start_time: '70' }),
    ],
    ['although no process here has its number', record({ pid_namespace: 'pid:[2]', pid: 9 })],
    ['that tells no namespace of its own', record({ pid_namespace: null })],
  ])('%s is taken over once it was not touched for a minute, and not before', async (_, text) => {
    const { ended, files, notes, waited } = await wanting(text);
    expect([ended, waited, [...files.contents]]).toEqual(['taken', 60_000, []]);
    expect(notes).toEqual([
      expect.stringMatching(
        /^lock-watched: The state is locked by "apply", process \d+ of another container on this machine\. Waiting up to 60 s/,
      ),
    ]);
  });

  it('stays at the first touch', async () => {
    const { ended, files, looks } = await wanting(theirs, (look, disk) =>
      look === 3 ? disk.touch(LOCK) : undefined,
    );
    expect([ended, looks, [...files.contents]]).toEqual(['locked', 3, [[LOCK, theirs]]]);
  });

  it('that another run replaces is judged anew', async () => {
    const dead = record({ id: 'younger', pid: 9 });
    expect(
      (await wanting(theirs, (look, disk) => (look === 1 ? disk.put(LOCK, dead) : undefined)))
        .ended,
    ).toBe('taken');
    const alive = await wanting(theirs, (look, disk) =>
      look === 1 ? disk.put(LOCK, record({ id: 'younger' })) : undefined,
    );
    expect([alive.ended, alive.files.contents.get(LOCK)]).toEqual([
      'locked',
      record({ id: 'younger' }),
    ]);
  });

  it('is waited for no longer than the run goes on', async () => {
    const files = simulatedFiles();
    files.put(LOCK, theirs);
    const stop = new AbortController();
    const clock = simulatedClock();
    const store = fileStore({
      path: PATH,
      files,
      clock,
      random: seededRandom(),
      lock: me,
      version: '0.1.0',
      signal: stop.signal,
      notify: () => stop.abort(new Error('SIGINT')),
    });
    expect(await refusal(store.open('apply', TARGET))).toMatchObject({
      code: 'interrupted',
      exit: 130,
    });
    expect(files.contents.get(LOCK)).toBe(theirs);
  });

  it('is touched by its holder, as long as it is its own', async () => {
    const [files, machine] = [simulatedFiles(), simulatedMachine('box', false)];
    const session = await storeOn(
      files,
      machine.start({ pidNamespace: 'pid:[2]', host: 'a' }),
    ).open('apply', TARGET);
    const stamps = [await files.stamp(LOCK)];
    const beat = async (): Promise<unknown> => {
      machine.beat();
      await new Promise((resolve) => setImmediate(resolve));
      return stamps.push(await files.stamp(LOCK));
    };
    await beat();
    expect(new Set(stamps).size).toBe(2);
    await session.assertHeld();
    files.put(LOCK, theirs);
    stamps.splice(0, 2, await files.stamp(LOCK));
    await beat();
    expect(new Set(stamps).size).toBe(1);
    expect((await refusal(session.assertHeld())).code).toBe('lock-lost');
    await session.release();
    await beat();
    expect(files.contents.get(LOCK)).toBe(theirs);
  });

  it('is never lost to another container while its holder lives, and to one of many once it is dead', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const [files, machine] = [simulatedFiles(seed), simulatedMachine('box', false)];
      const holder = machine.start({ pidNamespace: 'pid:[0]', host: 'a' });
      const first = await storeOn(files, holder, seed).open('apply', TARGET);
      const others = () =>
        Promise.allSettled(
          [1, 2, 3].map((one) => {
            const clock = simulatedClock();
            const looking = {
              ...clock,
              sleep: (milliseconds: number) => (machine.beat(), clock.sleep(milliseconds)),
            };
            return fileStore({
              path: PATH,
              files,
              clock: looking,
              random: seededRandom(seed * 10 + one),
              lock: machine.start({ pidNamespace: `pid:[${one}]`, host: `c${one}` }),
              version: '0.1.0',
            }).open('apply', TARGET);
          }),
        );
      expect((await others()).map(({ status }) => status)).toEqual([
        'rejected',
        'rejected',
        'rejected',
      ]);
      await first.assertHeld();
      machine.kill(holder.pid);
      const held = await Promise.allSettled(
        (await others()).flatMap((one) =>
          one.status === 'fulfilled' ? [one.value.assertHeld()] : [],
        ),
      );
      expect(held.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
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
    const odd: Files = {
      ...files,
      read: (path) =>
        path === at
          ? Promise.reject(Object.assign(new Error(), { code: 'EFTYPE', path }))
          : files.read(path),
    };
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
  it.each([true, false])(
    'frees its lock by dying (kernel lock: %s), and its journal is found',
    async (kernel) => {
      const [files, machine] = [simulatedFiles(), simulatedMachine('box', kernel)];
      const victim = machine.start();
      const session = await storeOn(files, victim).open('apply', TARGET);
      await session.record(intent('1'));
      expect((await refusal(storeOn(files, machine.start(), 2).open('apply', TARGET))).exit).toBe(
        4,
      );
      machine.kill(victim.pid);
      const next = await storeOn(files, machine.start(), 3).open('apply', TARGET);
      expect(next.snapshot).toMatchObject({ pending: [intent('1')], unfinished: true });
      expect((await refusal(session.record(intent('2')))).code).toBe('lock-lost');
    },
  );
});

describe('the kernel', () => {
  it('keeps a second run out even where the lock file was removed by hand, and forgets nobody on failure', async () => {
    const [files, machine] = [simulatedFiles(), simulatedMachine()];
    const first = await storeOn(files, machine.start()).open('apply', TARGET);
    await files.remove(LOCK);
    expect(await refusal(storeOn(files, machine.start(), 2).open('apply', TARGET))).toMatchObject({
      code: 'locked',
      exit: 4,
    });
    await first.release();
    files.put(PATH, 'damaged');
    const third = machine.start();
    expect((await refusal(storeOn(files, third, 3).open('apply', TARGET))).code).toBe(
      'damaged-file',
    );
    files.put(LOCK, record({ host: 'elsewhere' }));
    expect((await refusal(storeOn(files, third, 4).open('apply', TARGET))).words).toContain(
      'elsewhere',
    );
    await files.remove(LOCK);
    await files.remove(PATH);
    await (await storeOn(files, machine.start(), 5).open('apply', TARGET)).release();
  });
});
