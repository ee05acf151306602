// The store on a remote backend: what every store promises, and what only a network and other machines can do wrong.
import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { defined, MOST_SETTLE, type Diagnostic } from '../../../src/model/index.js';
import { refuseDenied, refuseUnreachable } from '../../../src/state/backends/backend-errors.js';
import { encodeHead, readHead } from '../../../src/state/backends/registers/head.js';
import { keysBelow, type Put, type Registers } from '../../../src/state/backends/registers/port.js';
import { registerKeys } from '../../../src/state/backends/registers/keys.js';
import type { RegisterStoreOptions } from '../../../src/state/backends/registers/register-lock.js';
import { registerStore } from '../../../src/state/backends/registers/register-store.js';
import { settledPut } from '../../../src/state/backends/registers/settled-put.js';
import { rescueIn } from '../../../src/state/backends/registers/rescue.js';
import type { Session, Store } from '../../../src/state/index.js';
import { memoryRegisters, type MemoryRegisters } from '../../support/memory-registers.js';
import { simulatedFiles } from '../../support/simulated-files.js';
import { simulatedMachine } from '../../support/simulated-machine.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import { conformance, refusal } from './conformance.js';
import { stealHead, withoutSignsOfLife } from './register-bench.js';
import { entry, intent, result, TARGET } from './samples.js';

const LEASE = 30_000;

interface Place {
  readonly clock: ReturnType<typeof simulatedClock>;
  readonly machine: ReturnType<typeof simulatedMachine>;
  readonly files: ReturnType<typeof simulatedFiles>;
  readonly memory: MemoryRegisters;
  store(more?: Partial<RegisterStoreOptions>): Store;
}

function place(seed = 1): Place {
  const [clock, machine, files, random] = [
    simulatedClock(),
    simulatedMachine(),
    simulatedFiles(),
    seededRandom(seed),
  ];
  const memory = memoryRegisters(clock.service, random);
  files.now = clock.now;
  return {
    clock,
    machine,
    files,
    memory,
    store: (more = {}) => {
      const registers = more.registers ?? memory.connect();
      return registerStore({
        registers,
        keys: registerKeys('default'),
        clock,
        random,
        lock: machine.start(),
        version: '0.1.0',
        locking: { lease: LEASE, wait: 0, takeover: true },
        history: { keep: 30, milliseconds: 90 * 24 * 60 * 60 * 1000 },
        rescue: rescueIn('/sim/rescue', registers.location, { files, random, clock }),
        ...more,
      });
    },
  };
}

conformance('the store on registers in memory', async () => {
  const { clock, machine, memory, store } = place();
  let beating = true;
  void (async () => {
    while (beating) {
      await clock.sleep(LEASE / 3);
      machine.beat();
    }
  })();
  return {
    clock,
    store,
    bytes: async () => withoutSignsOfLife(memory.values),
    steal: () => stealHead(memory.connect(), registerKeys('default')),
    close: async () => void (beating = false),
  };
});

const MINUTE = 60_000;
const waiting = { lease: LEASE, wait: 5 * MINUTE, takeover: true };
const written = ({ written: keys }: MemoryRegisters, part: string): readonly string[] =>
  keys.filter((key) => key.includes(part));

/** Registers whose reads of the head can be held back. */
function gated(registers: Registers) {
  const held: (() => void)[] = [];
  let reads = 0;
  let closed = false;
  const gate: Registers = {
    ...registers,
    async get(key) {
      if (key.endsWith('/head')) reads += 1;
      const found = await registers.get(key);
      if (closed && key.endsWith('/head')) await new Promise<void>((go) => void held.push(go));
      return found;
    },
  };
  return {
    registers: gate,
    reads: () => reads,
    close: () => void (closed = true),
    open: () => {
      closed = false;
      held.splice(0).forEach((go) => go());
    },
  };
}

/** Registers that count how often their user waits: calls at the same time count once. */
function counted(registers: Registers) {
  let [waits, running] = [0, 0];
  const during = async <T>(work: Promise<T>): Promise<T> => {
    if (running === 0) waits += 1;
    running += 1;
    try {
      return await work;
    } finally {
      running -= 1;
    }
  };
  const counting: Registers = {
    ...registers,
    get: (key) => during(registers.get(key)),
    put: (...asked) => during(registers.put(...asked)),
    remove: (keys) => during(registers.remove(keys)),
    async *list(prefix) {
      yield* await during(keysBelow(registers, prefix));
    },
  };
  return {
    registers: counting,
    async waitsOf(work: () => Promise<unknown>): Promise<number> {
      const before = waits;
      await work();
      return waits - before;
    },
  };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
};

describe('the lock of a remote state', () => {
  it('is taken over after two silent leases, by the clock of who waits, and the former holder sends nothing more', async () => {
    const { clock, memory, store } = place();
    const first = await store().open('apply', TARGET);
    await first.record(intent('1'));
    await first.assertHeld();
    const begun = clock.elapsed();
    const second = await store({ locking: waiting }).open('apply', TARGET);
    expect(clock.elapsed() - begun).toBeGreaterThanOrEqual(2 * LEASE);
    expect(clock.elapsed() - begun).toBeLessThan(2 * LEASE + 10_000);
    expect(second.snapshot.pending).toEqual([intent('1')]);
    const refused = await refusal(first.assertHeld());
    expect(refused).toMatchObject({ code: 'lock-lost', exit: 4 });
    expect(refused.words).toContain('it was taken by "apply", process 102 on "box"');
    const before = memory.written.length;
    expect(await refusal(first.record(result('1')))).toMatchObject({ code: 'lock-lost' });
    expect(await refusal(first.compact())).toMatchObject({ code: 'lock-lost' });
    await first.release();
    expect(memory.written).toHaveLength(before);
    await second.assertHeld();
  });

  it('is not taken while its holder gives signs of life, and not without leave', async () => {
    const { clock, machine, store } = place();
    const session = await store().open('apply', TARGET);
    const silent = store({ locking: { ...waiting, takeover: false } });
    expect(await refusal(silent.open('apply', TARGET))).toMatchObject({ code: 'locked', exit: 4 });
    expect(clock.elapsed()).toBeGreaterThanOrEqual(5 * MINUTE);
    let beating = true;
    void (async () => {
      while (beating) {
        await clock.sleep(LEASE / 3);
        machine.beat();
      }
    })();
    const refused = await refusal(store({ locking: waiting }).open('apply', TARGET));
    beating = false;
    expect(refused).toMatchObject({ code: 'locked', exit: 4 });
    await session.assertHeld();
  });

  it('is taken over by one who asks again and again in place of waiting', async () => {
    const { clock, store } = place();
    await (await store().open('apply', TARGET)).record(intent('1'));
    const asking = store();
    while (clock.elapsed() < 2 * LEASE) {
      expect(await refusal(asking.open('apply', TARGET))).toMatchObject({ code: 'locked' });
      await clock.sleep(1_000);
    }
    // Who asks for the first time has seen nothing stand still.
    expect(await refusal(store().open('apply', TARGET))).toMatchObject({ code: 'locked' });
    expect((await asking.open('apply', TARGET)).snapshot.pending).toEqual([intent('1')]);
  });

  it('is taken as soon as its holder ends, and the reason for the wait is said once', async () => {
    const { clock, store } = place();
    const session = await store({ url: 'https://ci.example.com/run/7' }).open('apply', TARGET);
    const said: string[] = [];
    const second = store({
      locking: waiting,
      notify: ({ summary }) => void said.push(summary),
    }).open('apply', TARGET);
    await clock.sleep(7_000);
    await session.release();
    await (await second).assertHeld();
    expect(clock.elapsed()).toBeLessThan(10_000);
    expect(said).toEqual([
      'The state is locked by "apply", process 101 on "box", since 2026-01-01T00:00:00.000Z (https://ci.example.com/run/7). Waiting up to 300 s.',
    ]);
  });

  it('is renewed before a run sends that was silent for a whole lease, or is lost', async () => {
    const { clock, memory, store } = place();
    const session = await store().open('apply', TARGET);
    await session.assertHeld();
    const heads = written(memory, '/head').length;
    await clock.freeze(LEASE + 1);
    await session.assertHeld();
    expect(written(memory, '/head')).toHaveLength(heads + 1);
    await session.assertHeld();
    expect(written(memory, '/head')).toHaveLength(heads + 1);
    await clock.freeze(LEASE + 1);
    memory.faults.dropped = 1;
    expect(await refusal(session.assertHeld())).toMatchObject({
      code: 'backend-unreachable',
      exit: 5,
    });
  });

  it('is unlocked on a word for a run that is silent for a lease, which then has lost it', async () => {
    const { clock, store } = place();
    const session = await store().open('apply', TARGET);
    await session.record(intent('1'));
    const id = (await store().holder())!.id;
    await store().unlock(id);
    expect(clock.elapsed()).toBeGreaterThanOrEqual(LEASE);
    expect(await store().holder()).toBeUndefined();
    expect(await refusal(session.assertHeld())).toMatchObject({ code: 'lock-lost', exit: 4 });
    expect((await store().open('apply', TARGET)).snapshot.pending).toEqual([intent('1')]);
  });

  it('asks again for those who come while a question is under way, once for all of them', async () => {
    const { memory, store } = place();
    const gate = gated(memory.connect());
    const session = await store({ registers: gate.registers }).open('apply', TARGET);
    gate.close();
    const before = gate.reads();
    const first = session.assertHeld();
    await turns();
    expect(gate.reads() - before).toBe(1);
    await session.record(intent('1'));
    const later = [session.assertHeld(), session.assertHeld(), session.assertHeld()];
    await turns();
    expect(gate.reads() - before).toBe(1);
    gate.open();
    await Promise.all([first, ...later]);
    expect(gate.reads() - before).toBe(2);
  });

  it('answers those who come while a question is under way if nothing was recorded since it began', async () => {
    const { memory, store } = place();
    const gate = gated(memory.connect());
    const session = await store({ registers: gate.registers }).open('apply', TARGET);
    await session.record(intent('1'));
    await turns();
    gate.close();
    const before = gate.reads();
    const asked = [session.assertHeld(), session.assertHeld()];
    await turns();
    asked.push(session.assertHeld(), session.assertHeld());
    await turns();
    gate.open();
    await Promise.all(asked);
    expect(gate.reads() - before).toBe(1);
    await session.assertHeld();
    expect(gate.reads() - before).toBe(2);
  });

  it('takes a check that began after the intent of a request was recorded, for a moment', async () => {
    const { clock, memory, store } = place();
    const gate = gated(memory.connect());
    const session = await store({ registers: gate.registers }).open('apply', TARGET);
    const before = gate.reads();
    const reads = async (op: string): Promise<number> => {
      await session.assertHeld(op);
      return gate.reads() - before;
    };
    await session.record(intent('1'), intent('2'));
    await turns();
    expect(gate.reads() - before).toBe(1);
    expect([await reads('1'), await reads('2')]).toEqual([1, 1]);
    await clock.sleep(100);
    expect(await reads('1')).toBe(1);
    await clock.sleep(1);
    expect(await reads('1')).toBe(2);
    await session.record(result('1'));
    expect(await reads('2')).toBe(2);
  });

  it('shares a check that is under way with requests whose intents were recorded before it began', async () => {
    const { memory, store } = place();
    const gate = gated(memory.connect());
    const session = await store({ registers: gate.registers }).open('apply', TARGET);
    const before = gate.reads();
    gate.close();
    await session.record(intent('1'));
    await session.record(intent('2'));
    const asked = [session.assertHeld('1'), session.assertHeld('1')];
    await turns();
    expect(gate.reads() - before).toBe(1);
    gate.open();
    await Promise.all(asked);
    await session.assertHeld('2');
    expect(gate.reads() - before).toBe(2);
  });

  it('refuses a request after a check that failed, whatever an earlier one said', async () => {
    const { memory, store } = place();
    const session = await store().open('apply', TARGET);
    await session.record(intent('1'), intent('2'));
    await session.assertHeld('1');
    await stealHead(memory.connect(), registerKeys('default'));
    expect(await refusal(session.assertHeld())).toMatchObject({ code: 'lock-lost' });
    expect(await refusal(session.assertHeld('2'))).toMatchObject({ code: 'lock-lost' });
  });

  it.each<[string, (session: Session) => Promise<unknown>]>([
    ['asks', (session) => session.assertHeld()],
    ['writes', (session) => session.compact()],
  ])('is lost to a run of a newer trueup, whose head is no damage, once it %s', async (_, use) => {
    const { memory, store } = place();
    const registers = memory.connect();
    const keys = registerKeys('default');
    const session = await store().open('apply', TARGET);
    await session.record(intent('1'), result('1'));
    await turns();
    const { head, version } = (await readHead(registers, keys))!;
    const newer = { ...head, format: 3, epoch: head.epoch + 1, holder: null };
    await registers.put(keys.head, encodeHead(newer as never, 'newer'), version);
    expect(await refusal(use(session))).toMatchObject({ code: 'lock-lost', exit: 4 });
    for (const refused of [store().read(), store().open('apply', TARGET)]) {
      const { code, exit, words } = await refusal(refused);
      expect({ code, exit }).toEqual({ code: 'newer-format', exit: 1 });
      expect(words).toContain('its format is 3, and this one reads formats up to 2');
      expect(words).not.toContain('damaged');
    }
  });

  it('lets no request leave whose intent the next holder does not see, whoever shares a check', async () => {
    let [passed, stopped] = [0, 0];
    for (let seed = 1; seed <= 60; seed += 1) {
      const { clock, memory, store } = place(seed);
      const random = seededRandom(seed + 1000);
      const session = await store().open('apply', TARGET);
      memory.faults.delay = 40;
      const some = (most: number): Promise<void> => clock.sleep(random.fraction() * most);
      const ops = Array.from({ length: 30 }, (_, at) => `${seed}x${at}`);
      const sent: string[] = [];
      const requests = ops.map(async (op) => {
        await some(200);
        await session.record(intent(op));
        await some(160);
        await session.assertHeld(op);
        sent.push(op);
      });
      await some(300);
      await stealHead(memory.connect(), registerKeys('default'));
      const head = memory.written.lastIndexOf('default/head');
      await Promise.allSettled(requests);
      const seen = memory.written
        .slice(0, head)
        .filter((key) => key.includes('/log/'))
        .map((key) => Buffer.from(memory.values.get(key)!.body).toString('utf8'))
        .join('');
      expect(sent.filter((op) => !seen.includes(`"op":"${op}"`))).toEqual([]);
      passed += sent.length;
      stopped += ops.length - sent.length;
    }
    expect(Math.min(passed, stopped)).toBeGreaterThan(300);
  });

  it('counts no wave that its former holder wrote after the takeover', async () => {
    const { memory, store } = place();
    const first = await store().open('apply', TARGET);
    await first.record(intent('1'));
    const second = await store({ locking: waiting }).open('apply', TARGET);
    // The first run does not know yet that it lost the lock.
    await first.record(intent('2'));
    expect(written(memory, '/log/')).toHaveLength(2);
    await second.record(intent('3'));
    const seen = await store().read();
    expect(seen?.pending.map(({ op }) => op)).toEqual(['1', '3']);
    expect(await refusal(first.assertHeld())).toMatchObject({ code: 'lock-lost' });
    await second.record(result('1'), result('3'));
    await second.compact();
    await second.release();
    const third = await store().open('apply', TARGET);
    expect(third.snapshot).toMatchObject({ pending: [], unfinished: false });
    expect(Object.keys(third.snapshot.state.resources)).toEqual(['accounts.a1', 'accounts.a3']);
  });

  it('lists the log of former holders after it replaced the head', async () => {
    const { memory, store } = place();
    const first = await store().open('apply', TARGET);
    await first.record(intent('1'));
    const plain = memory.connect();
    let late: Promise<void> | undefined;
    const registers: Registers = {
      ...plain,
      async put(key, body, expect) {
        // Until the head is replaced, the first run may record and send.
        if (key.endsWith('/head'))
          late ??= first.record(intent('2')).then(() => first.assertHeld());
        await late;
        return plain.put(key, body, expect);
      },
    };
    const second = await store({ registers, locking: waiting }).open('apply', TARGET);
    await late;
    expect(second.snapshot.pending.map(({ op }) => op)).toEqual(['1', '2']);
  });

  it('belongs to no cloud until something was recorded', async () => {
    const { store } = place();
    await (await store().open('apply', 'https://wrong.example.com')).release();
    const session = await store().open('apply', TARGET);
    await session.record(intent('1'));
    await session.release();
    expect(await refusal(store().open('apply', 'https://wrong.example.com'))).toMatchObject({
      code: 'other-target',
    });
  });
});

describe('an interrupted run', () => {
  /** Registers of which a request hangs, once it is time. */
  const hanging = (
    plain: Registers,
    hangs: (what: 'get' | 'put' | 'list', key: string) => boolean,
  ) => {
    const held: (() => void)[] = [];
    let isOver = false;
    const wait = async (what: 'get' | 'put' | 'list', key: string): Promise<void> => {
      if (!isOver && hangs(what, key)) await new Promise<void>((go) => void held.push(go));
    };
    const registers: Registers = {
      ...plain,
      get: async (key) => wait('get', key).then(() => plain.get(key)),
      put: async (key, ...asked) => wait('put', key).then(() => plain.put(key, ...asked)),
      async *list(prefix) {
        await wait('list', prefix);
        yield* plain.list(prefix);
      },
    };
    const answer = (): void => {
      isOver = true;
      held.forEach((go) => go());
    };
    return { registers, answer };
  };
  const interrupted = { code: 'interrupted', exit: 130 };

  it.each<[waits: string, hangs: Parameters<typeof hanging>[1], most: number]>([
    ['the head', (what, key) => what === 'get' && key.endsWith('/head'), 100],
    ['a list', (what) => what === 'list', 100],
    ['the test of the place', (what, key) => what === 'get' && key.includes('/probe/'), 100],
    ['a write of that test', (what, key) => what === 'put' && key.includes('/probe/'), 1_100],
    ['the write that takes the lock', (what, key) => what === 'put' && key.endsWith('head'), 1_100],
  ])('ends soon while it waits for %s, and leaves no lock', async (_, hangs, most) => {
    const { clock, memory, store } = place();
    const stop = new AbortController();
    const { registers, answer } = hanging(memory.connect(), hangs);
    const opened = refusal(store({ registers, signal: stop.signal }).open('apply', TARGET));
    await clock.sleep(5_000);
    stop.abort(new Error('SIGINT'));
    const refused = await opened;
    expect(refused).toMatchObject(interrupted);
    expect(refused.words).toContain('waited for a response of the state at memory://place');
    expect(clock.elapsed()).toBeLessThan(5_000 + most);
    answer();
    await turns();
    expect(await store().holder()).toBeUndefined();
  });

  it('ends soon while it reads without the lock', async () => {
    const { clock, memory, store } = place();
    await (await store().open('apply', TARGET)).release();
    const stop = new AbortController();
    const { registers } = hanging(memory.connect(), (what) => what === 'get');
    const asked = store({ registers, signal: stop.signal });
    const all = [asked.read(), asked.holder(), asked.history()].map(refusal);
    await clock.sleep(5_000);
    stop.abort(new Error('SIGINT'));
    for (const one of all) expect(await one).toMatchObject(interrupted);
    expect(clock.elapsed()).toBeLessThan(5_100);
  });

  it('may read any number of keys at once: Node.js warns of none', async () => {
    const { clock, memory, store } = place();
    await (await store().open('apply', TARGET)).release();
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', onWarning);
    const { registers, answer } = hanging(memory.connect(), (what) => what === 'get');
    const asked = store({ registers, signal: new AbortController().signal });
    const all = Array.from({ length: 20 }, () => asked.read());
    await clock.sleep(100);
    await new Promise((resolve) => void setTimeout(resolve, 10));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
    answer();
    await Promise.all(all);
  });

  it('waits a short time if the place became silent once it gave the lock', async () => {
    const { clock, memory, store } = place();
    await (await store().open('apply', TARGET)).release();
    const stop = new AbortController();
    let isSilent = false;
    const { registers: plain } = hanging(memory.connect(), () => isSilent);
    const registers: Registers = {
      ...plain,
      put: async (...asked) => plain.put(...asked).finally(() => (isSilent = true)),
    };
    const opened = refusal(store({ registers, signal: stop.signal }).open('apply', TARGET));
    await clock.sleep(5_000);
    stop.abort(new Error('SIGINT'));
    expect(await opened).toMatchObject(interrupted);
    expect(clock.elapsed()).toBeLessThan(15_100);
  });

  it('lets the lock go if it took it, and reads the state no more', async () => {
    const { clock, memory, store } = place();
    const stop = new AbortController();
    const { registers } = hanging(
      memory.connect(),
      (what, key) => what === 'list' && key.includes('/log/') && memory.values.has('default/head'),
    );
    const opened = refusal(store({ registers, signal: stop.signal }).open('apply', TARGET));
    await clock.sleep(5_000);
    expect(await store().holder()).toBeDefined();
    stop.abort(new Error('SIGINT'));
    expect(await opened).toMatchObject(interrupted);
    expect(await store().holder()).toBeUndefined();
  });

  it.each([
    ['late', (put: Put): Put => put],
    ['late, and is lost', (): Put => 'unknown'],
  ])('lets a lock go before it ends if the answer of that write comes %s', async (_, answer) => {
    const { clock, memory, store } = place();
    const stop = new AbortController();
    const plain = memory.connect();
    const registers: Registers = {
      ...plain,
      async put(key, ...asked) {
        const put = await plain.put(key, ...asked);
        if (!key.endsWith('head') || stop.signal.aborted) return put;
        stop.abort(new Error('SIGINT'));
        memory.faults.delay = 20;
        await clock.sleep(500);
        return answer(put);
      },
    };
    const opened = refusal(store({ registers, signal: stop.signal }).open('apply', TARGET));
    expect(await opened).toMatchObject(interrupted);
    const head = Buffer.from(memory.values.get('default/head')!.body).toString('utf8');
    expect(head).toContain('"holder":null');
  });

  it('waits a short time for a place that became silent to let its lock go', async () => {
    const { clock, memory, store } = place();
    const stop = new AbortController();
    let isSilent = false;
    const { registers } = hanging(memory.connect(), () => isSilent);
    const session = await store({ registers, signal: stop.signal }).open('apply', TARGET);
    isSilent = true;
    stop.abort(new Error('SIGINT'));
    const begun = clock.elapsed();
    await session.release();
    expect(clock.elapsed() - begun).toBeLessThan(10_100);
  });

  describe('at a place that writes slowly', () => {
    /** A session for which five signs of life were due while the first of them was written. */
    async function late(stop?: AbortController) {
      const { clock, machine, memory, store } = place();
      let isSlow = false;
      const plain = memory.connect();
      const registers: Registers = {
        ...plain,
        async put(key, ...asked) {
          if (isSlow) await clock.sleep(30_000);
          return plain.put(key, ...asked);
        },
      };
      const options = { registers, ...defined({ signal: stop?.signal }) };
      const session = await store(options).open('apply', TARGET);
      isSlow = true;
      for (let due = 0; due < 5; due += 1) {
        machine.beat();
        await clock.sleep(1_000);
      }
      stop?.abort(new Error('SIGINT'));
      const taken = async (work: () => Promise<unknown>): Promise<number> => {
        const begun = clock.elapsed();
        await work();
        return clock.elapsed() - begun;
      };
      return { session, taken };
    }

    it('records wait for one sign of life beside that which is written', async () => {
      const { session, taken } = await late();
      expect(await taken(() => session.record(intent('1')))).toBeLessThan(90_100);
    });

    it('the release of the lock waits for none but that which is written', async () => {
      const { session, taken } = await late();
      expect(await taken(() => session.release())).toBeLessThan(60_100);
    });

    it('the release of the lock after a signal is given up soon', async () => {
      const { session, taken } = await late(new AbortController());
      expect(await taken(() => session.release())).toBeLessThan(10_100);
    });
  });

  it('writes under the lock as if nothing was', async () => {
    const { clock, memory, store } = place();
    const stop = new AbortController();
    let isSlow = false;
    const slow = async (): Promise<void> => (isSlow ? clock.sleep(8_000) : undefined);
    const plain = memory.connect();
    const registers: Registers = {
      ...plain,
      get: async (key) => slow().then(() => plain.get(key)),
      put: async (...asked) => slow().then(() => plain.put(...asked)),
    };
    const session = await store({ registers, signal: stop.signal }).open('apply', TARGET);
    await session.record(intent('1'));
    isSlow = true;
    stop.abort(new Error('SIGINT'));
    await session.record(result('1'));
    await session.assertHeld();
    await session.compact();
    await session.release();
    expect(Object.keys((await store().read())!.state.resources)).toEqual(['accounts.a1']);
    expect(await store().holder()).toBeUndefined();
  });
});

describe('a place that lost its head', () => {
  const HEAD = 'default/head';

  it('goes on with the state and the log that are left, for plans and runs, and says so', async () => {
    for (const [compacted, kept] of [
      [false, false],
      [true, true],
      [true, false],
    ]) {
      const { memory, store } = place();
      const first = await store().open('apply', TARGET);
      await first.record(intent('0'), result('0'));
      if (compacted) await first.compact();
      await first.record(intent('1'), result('1'), intent('2'));
      await first.release();
      const before = await store().read();
      for (const key of memory.values.keys())
        if (key === HEAD || (!kept && key.includes('/state/'))) memory.values.delete(key);
      expect(await store().read()).toEqual(kept ? before : undefined);
      expect((await store().history()).map(({ serial }) => serial)).toEqual(kept ? [1] : []);
      const said: Diagnostic[] = [];
      const next = await store({ notify: (one) => void said.push(one) }).open('apply', TARGET);
      expect(said.map(({ code }) => code)).toEqual(['head-lost']);
      expect(next.snapshot.pending.map(({ op }) => op)).toEqual(['2']);
      await next.record(result('2'), intent('3'), result('3'));
      const { state } = await next.compact();
      await next.release();
      const left = compacted && !kept ? [] : ['accounts.a0'];
      const all = [...left, 'accounts.a1', 'accounts.a2', 'accounts.a3'];
      expect(Object.keys(state.resources)).toEqual(all);
      expect(state.lineage === before?.state.lineage).toBe(kept);
      expect(await store().read()).toMatchObject({ state, pending: [] });
    }
  });

  it('is not mixed up with what a run still writes under the lost one', async () => {
    const { memory, store } = place();
    const first = await store().open('apply', TARGET);
    await first.record(intent('0'), result('0'));
    await first.compact();
    await first.release();
    for (let run = 0; run < 3; run += 1) await (await store().open('apply', TARGET)).release();
    const writer = await store().open('apply', TARGET);
    memory.values.delete(HEAD);
    const next = await store().open('apply', TARGET);
    await next.record(intent('1'), result('1'));
    await writer.record(intent('9'), result('9'));
    expect(await refusal(writer.assertHeld())).toMatchObject({ code: 'lock-lost' });
    await next.release();
    const seen = ['accounts.a0', 'accounts.a1'];
    for (let run = 0; run < 6; run += 1) {
      const session = await store().open('apply', TARGET);
      expect(Object.keys(session.snapshot.state.resources)).toEqual(seen);
      await session.record(intent(`x${run}`), result(`x${run}`));
      seen.push(`accounts.ax${run}`);
      if (run > 2) await session.compact();
      await session.release();
    }
  });

  it('is refused for another cloud, and where nobody can tell which state counts', async () => {
    const { memory, store } = place();
    const first = await store().open('apply', TARGET);
    await first.record(intent('0'), result('0'));
    await first.compact();
    await first.release();
    memory.values.delete(HEAD);
    const asked = store().open('apply', 'https://other.example.com');
    expect(await refusal(asked)).toMatchObject({ code: 'other-target' });
    const [key] = [...memory.values.keys()].filter((one) => one.includes('/state/'));
    memory.values.set(`${key!}-2`, memory.values.get(key!)!);
    for (const refused of [store().read(), store().open('apply', TARGET)])
      expect(await refusal(refused)).toMatchObject({ code: 'damaged-state' });
  });
});

describe('a backend that fails', () => {
  it('is believed about a conflict only if no earlier answer to the same write was lost', async () => {
    const { clock, memory } = place();
    const plain = memory.connect();
    const random = seededRandom(3);
    let puts = 0;
    const registers: Registers = {
      ...plain,
      async put(key, body, expect) {
        puts += 1;
        if (puts === 1) return 'unknown';
        // The first one takes effect after all.
        if (puts === 2) await plain.put(key, body, expect);
        return plain.put(key, body, expect);
      },
    };
    const tools = { registers, clock, random };
    const body = Buffer.from('mine');
    expect(await settledPut(tools, 'key', body, null)).toEqual({ version: '1' });
    expect(puts).toBe(2);
    expect(await settledPut(tools, 'key', Buffer.from('other'), null)).toBe('conflict');
  });

  it('knows its own writes where something on the way repeats them', async () => {
    const { memory, store } = place();
    const plain = memory.connect();
    const registers: Registers = {
      ...plain,
      async put(key, body, expect) {
        await plain.put(key, body, expect);
        return plain.put(key, body, expect);
      },
    };
    const session = await store({ registers }).open('apply', TARGET);
    await session.record(intent('1'), result('1'));
    await session.assertHeld('1');
    await session.compact();
    await session.release();
    expect(await store().holder()).toBeUndefined();
    expect(Object.keys((await store().read())!.state.resources)).toEqual(['accounts.a1']);
  });

  it('loses no record and repeats none, whichever answers get lost', async () => {
    const { clock, memory, store } = place(7);
    Object.assign(memory.faults, { delay: 400, lost: 0.3, dropped: 0.3 });
    const known: string[] = [];
    for (let run = 0; run < 40; run += 1) {
      const session = await store({ locking: waiting })
        .open('apply', TARGET)
        .catch(() => undefined);
      if (!session) continue;
      for (let op = 0; op < 5; op += 1) {
        const name = `${run}x${op}`;
        const isRecorded = await session
          .record(intent(name), result(name))
          .then(() => session.assertHeld())
          .then(
            () => true,
            () => false,
          );
        if (!isRecorded) break;
        known.push(`accounts.a${name}`);
      }
      if (run % 3 === 0) await session.compact().catch(() => undefined);
      if (run % 2 === 0) await session.release();
      await clock.sleep(3 * LEASE);
    }
    Object.assign(memory.faults, { lost: 0, dropped: 0 });
    const resources = (await store().read())?.state.resources ?? {};
    expect(known.length).toBeGreaterThan(60);
    expect(known.filter((address) => !Object.hasOwn(resources, address))).toEqual([]);
    const waves = written(memory, '/log/');
    expect(new Set(waves).size).toBe(waves.length);
  });

  it('ends a run with exit 5 where it cannot be reached, and its results reach the state by the next run', async () => {
    const { files, memory, store } = place();
    const session = await store().open('apply', TARGET);
    await session.record(intent('1'), intent('2'));
    memory.faults.down = true;
    const refused = await refusal(session.record(result('1')));
    expect(refused).toMatchObject({ code: 'backend-unreachable', exit: 5 });
    const [path] = [...files.contents.keys()];
    expect(path).toMatch(/^\/sim\/rescue\/.*\.jsonl$/);
    expect(refused.words).toContain(path);
    expect(await refusal(session.assertHeld())).toMatchObject({ exit: 5 });
    expect(await refusal(session.record(result('2')))).toMatchObject({ exit: 5 });
    await session.release();
    expect(await refusal(store().open('apply', TARGET))).toMatchObject({
      code: 'backend-unreachable',
      exit: 1,
    });
    memory.faults.down = false;
    const next = await store({ locking: waiting }).open('apply', TARGET);
    expect(next.snapshot.pending).toEqual([]);
    expect(Object.keys(next.snapshot.state.resources)).toEqual(['accounts.a1', 'accounts.a2']);
    expect([...files.contents.keys()]).toEqual([]);
  });

  it('keeps results for two days that answer nothing in the state of a run, on another server of the same name', async () => {
    const { clock, files, memory, store } = place();
    const session = await store().open('apply', TARGET);
    await session.record(intent('1'));
    memory.faults.down = true;
    await refusal(session.record(result('1')));
    memory.faults.down = false;
    const other = store({ registers: memoryRegisters(clock.service, seededRandom(5)).connect() });
    const kept = async (): Promise<number> => {
      await (await other.open('apply', TARGET)).release();
      return files.contents.size;
    };
    expect(await kept()).toBe(1);
    await clock.sleep(2 * MOST_SETTLE - 2 * MINUTE);
    expect(await kept()).toBe(1);
    const next = await store({ locking: waiting }).open('apply', TARGET);
    expect(next.snapshot.state.resources['accounts.a1']?.id).toBe('1');
    expect(files.contents.size).toBe(0);
    await next.record(intent('2'));
    memory.faults.down = true;
    await refusal(next.record(result('2')));
    await clock.sleep(2 * MOST_SETTLE + 1);
    expect(await kept()).toBe(0);
  });

  it('reads results that an earlier build kept, and those of another server not', async () => {
    const { clock, files } = place();
    const tools = { files, clock, random: seededRandom(2) };
    const before = 's3://b default';
    const one = rescueIn('/sim/rescue', 's3://b one default', { ...tools, before });
    const found = async (): Promise<readonly string[]> =>
      (await one.find()).map(({ path }) => path);
    const earlier = rescueIn('/sim/rescue', before, tools);
    await earlier.keep('');
    expect(await found()).toEqual([earlier.path]);
    const over = async (): Promise<readonly boolean[]> =>
      (await one.find()).map(({ isOver }) => isOver);
    await clock.sleep(2 * MOST_SETTLE);
    expect(await over()).toEqual([false]);
    await clock.sleep(1);
    expect(await over()).toEqual([true]);
    await rescueIn('/sim/rescue', 's3://b other default', tools).keep('');
    expect(await found()).toEqual([earlier.path]);
  });

  it('keeps results that another run found by itself out of the state', async () => {
    const { clock, memory, store } = place();
    const session = await store().open('apply', TARGET);
    await session.record(intent('1'));
    memory.faults.down = true;
    await refusal(session.record(result('1')));
    memory.faults.down = false;
    const elsewhere = rescueIn('/other/rescue', 'x', {
      files: simulatedFiles(),
      random: seededRandom(9),
      clock,
    });
    const other = await store({ rescue: elsewhere, locking: waiting }).open('apply', TARGET);
    await other.record(result('1', { entry: entry('found') }));
    await other.compact();
    await other.release();
    const next = await store().open('apply', TARGET);
    expect(next.snapshot.state.resources['accounts.a1']?.id).toBe('found');
    expect(next.snapshot.unfinished).toBe(false);
  });

  it('is refused before anything is sent if it ignores conditions, or may only be read', async () => {
    const { memory, store } = place();
    memory.faults.lying = true;
    expect(await refusal(store().open('apply', TARGET))).toMatchObject({
      code: 'backend-cannot-lock',
      exit: 1,
    });
    expect([...memory.values.keys()]).toEqual([]);
    Object.assign(memory.faults, { lying: false, readOnly: true });
    expect(await refusal(store().open('apply', TARGET))).toMatchObject({
      code: 'backend-denied',
      exit: 1,
    });
    expect(await store().read()).toBeUndefined();
    memory.faults.readOnly = false;
    await (await store().open('apply', TARGET)).release();
    memory.faults.readOnly = true;
    expect(await refusal(store().open('apply', TARGET))).toMatchObject({ code: 'backend-denied' });
  });

  it.each<[string, (registers: Registers) => Partial<Registers>]>([
    [
      'refuses to create a new key',
      ({ put }) => ({
        put: async (key, body, expect) => (expect === null ? 'conflict' : put(key, body, expect)),
      }),
    ],
    [
      'overwrites a key that must not exist',
      ({ get, put }) => ({
        put: async (key, body, expect) =>
          put(key, body, expect ?? (await get(key))?.version ?? null),
      }),
    ],
    [
      'rejects an update of the current version of a key',
      ({ put }) => ({
        put: async (key, body, expect) => (expect === null ? put(key, body, expect) : 'conflict'),
      }),
    ],
    [
      'overwrites a key that has another version',
      ({ get, put }) => ({
        put: async (key, body, expect) =>
          put(key, body, expect === null ? null : ((await get(key))?.version ?? null)),
      }),
    ],
    [
      'does not show what was written last',
      ({ get }) => {
        const first = new Map<string, Awaited<ReturnType<typeof get>>>();
        return {
          async get(key) {
            const found = first.get(key) ?? (await get(key));
            if (found) first.set(key, found);
            return found && { ...found, body: Buffer.from('stale') };
          },
        };
      },
    ],
    [
      'does not show what was written last',
      ({ get, put }) => ({
        // It replaces the value, and gives no clear answer.
        put: async (key, body, expect) => {
          const found = await get(key);
          const isRight = (found?.version ?? null) === expect;
          const answer = await put(key, body, found?.version ?? null);
          return isRight ? answer : 'unknown';
        },
      }),
    ],
    ...(
      ['overwrites a key that must not exist', 'overwrites a key that has another version'] as const
    ).map((problem): [string, (registers: Registers) => Partial<Registers>] => [
      problem,
      ({ get, put }) => {
        // It ignores one condition, and calls a write too many while another one is under way.
        let running = 0;
        return {
          async put(key, body, expect) {
            if (running > 0) return 'unknown';
            running += 1;
            try {
              const version = (await get(key))?.version ?? null;
              const isIgnored = (expect === null) === problem.endsWith('not exist');
              return await put(key, body, isIgnored ? version : expect);
            } finally {
              running -= 1;
            }
          },
        };
      },
    ]),
    [
      'does not clearly reject a write whose condition is not met',
      ({ get, put }) => ({
        put: async (key, body, expect) =>
          ((await get(key))?.version ?? null) === expect ? put(key, body, expect) : 'unknown',
      }),
    ],
    [
      'does not list a key that exists',
      // oxlint-disable-next-line require-yield -- it lists nothing
      () => ({ async *list() {} }),
    ],
  ])('is refused if it %s', async (problem, altered) => {
    const { memory, store } = place();
    const plain = memory.connect();
    const registers = { ...plain, ...altered(plain) };
    const { code, words } = await refusal(store({ registers }).open('apply', TARGET));
    expect(code).toBe('backend-cannot-lock');
    expect(words).toContain(problem);
    expect([...memory.values.keys()]).toEqual([]);
  });

  it('keeps no values of probes that were killed more than a week ago', async () => {
    const WEEK = 7 * 24 * 60 * MINUTE;
    const { clock, memory, store } = place();
    const plain = memory.connect();
    const probes = (): readonly string[] =>
      [...memory.values.keys()].filter((key) => key.startsWith('default/probe/'));
    const kill = async (): Promise<void> => {
      const killed: Registers = { ...plain, remove: () => new Promise(() => undefined) };
      void store({ registers: killed }).open('apply', TARGET);
      await clock.sleep(1_000);
    };
    await kill();
    await clock.sleep(WEEK - MINUTE);
    await kill();
    expect(probes()).toHaveLength(2);
    await clock.sleep(2 * MINUTE);
    await (await store().open('apply', TARGET)).release();
    expect(probes()).toHaveLength(1);
    await clock.sleep(WEEK);
    expect(await store().access!()).toBe('may-write');
    expect(probes()).toEqual([]);
  });

  it('tells one who may write it and remove nothing', async () => {
    const { memory, store } = place();
    await (await store().open('apply', TARGET)).release();
    const remove = async (): Promise<never> => refuseDenied('place', 'write', 'no right');
    const access = store({ registers: { ...memory.connect(), remove } }).access!;
    expect(await access()).toBe('may-not-remove');
    const away = async (): Promise<never> => refuseUnreachable('place', 'no answer');
    const unlucky = store({ registers: { ...memory.connect(), remove: away } }).access!;
    expect(await unlucky()).toBe('may-write');
    memory.faults.readOnly = true;
    expect(await access()).toBe('read-only');
  });

  it.each([
    ['no head', 'rejects every write of a value that it does not return', false],
    ['an old head', 'rejects every update of the version that it returns', true],
  ])('is refused after some attempts if a cache shows %s', async (_, problem, isThere) => {
    const { clock, memory, store } = place();
    const plain = memory.connect();
    const first = await store().open('apply', TARGET);
    await first.record(intent('1'), result('1'));
    await first.release();
    const old = isThere ? await plain.get('default/head') : undefined;
    await (await store().open('apply', TARGET)).release();
    const said: string[] = [];
    let reads = 0;
    const registers: Registers = {
      ...plain,
      get: async (key) => {
        if (key === 'default/head') reads += 1;
        return key === 'default/head' ? old : plain.get(key);
      },
    };
    const notify = ({ code }: Diagnostic): void => void said.push(code);
    const before = memory.written.length;
    const refused = await refusal(store({ registers, notify }).open('apply', TARGET));
    expect(refused).toMatchObject({ code: 'backend-cannot-lock', exit: 1 });
    expect(refused.words).toContain(problem);
    expect(reads).toBeLessThanOrEqual(10);
    expect(said).toEqual(isThere ? [] : ['head-lost']);
    // One probe at most.
    expect(memory.written.length - before).toBe(isThere ? 0 : 2);
    const stop = new AbortController();
    const begun = clock.elapsed();
    const asked = refusal(store({ registers, signal: stop.signal }).open('apply', TARGET));
    await clock.sleep(500);
    stop.abort();
    expect(await asked).toMatchObject({ code: 'interrupted' });
    expect(clock.elapsed() - begun).toBeLessThan(1_000);
  });

  it('is refused after some attempts if two caches show two old heads in turn', async () => {
    const { memory, store } = place();
    const plain = memory.connect();
    const old: Awaited<ReturnType<Registers['get']>>[] = [];
    for (let run = 0; run < 3; run += 1) {
      await (await store().open('apply', TARGET)).release();
      old.push(await plain.get('default/head'));
    }
    let reads = 0;
    const registers: Registers = {
      ...plain,
      async get(key) {
        if (key !== 'default/head') return plain.get(key);
        // Each lost put is followed by a look at what became of it.
        if ((reads += 1) > 50) throw new Error('there is no end');
        return old[Math.floor(reads / 2) % 2];
      },
    };
    const refused = await refusal(store({ registers }).open('apply', TARGET));
    expect(refused).toMatchObject({ code: 'backend-cannot-lock', exit: 1 });
  });

  it('is not refused because other runs were faster, however often', async () => {
    const { memory, store } = place();
    const plain = memory.connect();
    await (await store().open('apply', TARGET)).release();
    let others = 0;
    const registers: Registers = {
      ...plain,
      async put(key, ...asked) {
        if (key === 'default/head' && (others += 1) <= 12)
          await stealHead(plain, registerKeys('default'));
        return plain.put(key, ...asked);
      },
    };
    const session = await store({ registers }).open('apply', TARGET);
    await session.assertHeld();
    expect(others).toBe(13);
  });

  it('is given up by a run, after pauses, if it shows another version of the head each time', async () => {
    const { clock, memory, store } = place();
    const plain = memory.connect();
    let [versions, changing] = [0, false];
    const registers: Registers = {
      ...plain,
      async get(key) {
        const found = await plain.get(key);
        return changing && found ? { ...found, version: `other ${(versions += 1)}` } : found;
      },
      put: async (key, ...asked) =>
        changing && key === 'default/head' ? 'conflict' : plain.put(key, ...asked),
    };
    const session = await store({ registers }).open('apply', TARGET);
    await session.record(intent('1'), result('1'));
    changing = true;
    const begun = clock.elapsed();
    const refused = await refusal(session.compact());
    expect(refused).toMatchObject({ code: 'backend-cannot-lock', exit: 5 });
    expect(refused.words).toContain('rejects every update of the version that it returns');
    expect(versions).toBeLessThan(20);
    expect(clock.elapsed() - begun).toBeGreaterThan(800);
  });

  it('is tried out again if the head is a copy of another place, or does not name its place', async () => {
    const { memory, store } = place();
    await (await store().open('apply', TARGET)).release();
    const probes = async (endpoint?: string): Promise<number> => {
      const before = memory.written.length;
      const registers = { ...memory.connect(), ...defined({ endpoint }) };
      await (await store({ registers }).open('apply', TARGET)).release();
      return memory.written.slice(before).filter((key) => key.includes('/probe/')).length / 2;
    };
    expect(await probes()).toBe(0);
    memory.faults.lying = true;
    const registers = { ...memory.connect(), endpoint: 'https://other.example.com' };
    const heads = written(memory, '/head').length;
    expect(await refusal(store({ registers }).open('apply', TARGET))).toMatchObject({
      code: 'backend-cannot-lock',
    });
    expect(written(memory, '/head')).toHaveLength(heads);
    memory.faults.lying = false;
    expect([await probes(registers.endpoint), await probes(registers.endpoint)]).toEqual([1, 0]);
    const keys = registerKeys('default');
    const { head, version } = (await readHead(registers, keys))!;
    const { probed_in, ...older } = head;
    expect(probed_in).toMatch(/^[\da-f]{64}$/);
    expect(head.format).toBe(2);
    await registers.put(keys.head, encodeHead({ ...older, format: 1 }, 'older'), version);
    expect(await store().read()).toBeUndefined();
    expect([await probes(), await probes()]).toEqual([1, 0]);
    // Builds that read only format 1 refuse it: they would drop where it was proven.
    expect((await readHead(registers, keys))?.head).toMatchObject({ format: 2 });
  });

  it('is used if it calls some of the writes too many that must fail', async () => {
    const { memory, store } = place();
    const { get, put, ...plain } = memory.connect();
    let busy = 3;
    const registers: Registers = {
      ...plain,
      get,
      async put(key, body, expect) {
        const isRight = ((await get(key))?.version ?? null) === expect;
        if (!isRight && (busy -= 1) >= 0) return 'unknown';
        return put(key, body, expect);
      },
    };
    await (await store({ registers }).open('apply', TARGET)).release();
    expect(busy).toBeLessThan(0);
  });

  it('is asked for several things at once', async () => {
    const { memory, store } = place();
    const { registers, waitsOf } = counted(memory.connect());
    const remote = store({ registers });
    // The head; states and log.
    expect(await waitsOf(() => remote.read())).toBe(2);
    // As before; a probe that creates, replaces, tries what must fail, reads, and removes; the head; the log.
    let session: Session | undefined;
    expect(await waitsOf(async () => (session = await remote.open('apply', TARGET)))).toBe(9);
    await session!.record(intent('1'), result('1'));
    await session!.assertHeld('1');
    // The state; the head; states and log; the removal.
    expect(await waitsOf(() => session!.compact())).toBe(4);
    await session!.release();
  });

  it('is named with the value that was cut, edited or removed', async () => {
    const { memory, store } = place();
    const session = await store().open('apply', TARGET);
    await session.record(intent('1'), result('1'));
    await session.compact();
    await session.record(intent('2'));
    await session.record(intent('3'));
    await session.release();
    const whole = new Map(memory.values);
    const keys = [...whole.keys()];
    expect(keys).toHaveLength(4);
    for (const key of keys) {
      const { body, version } = whole.get(key)!;
      const text = Buffer.from(body).toString('utf8');
      const changes = [text.slice(0, -9), text.replace('accounts', 'acounts'), '', '{}'];
      for (const change of changes.filter((one) => one !== text)) {
        memory.values.set(key, { body: Buffer.from(change), version });
        const refused = await refusal(store().read());
        expect(refused, `${key} ${change}`).toMatchObject({ exit: 1 });
        expect(refused.code).toMatch(/^damaged-(?:state|file)$/);
        expect(refused.words).toContain(key);
        expect(await refusal(store().open('apply', TARGET))).toMatchObject({ exit: 1 });
      }
      memory.values.set(key, { body, version });
    }
    const [wave] = keys.filter((key) => key.includes('/log/'));
    memory.values.delete(wave!);
    expect((await refusal(store().read())).words).toContain('does not continue');
  });

  it('removes everything that a new state replaces with one call, and asks for nothing where there is nothing', async () => {
    const { memory, store } = place();
    const plain = memory.connect();
    const removed: (readonly string[])[] = [];
    const registers: Registers = {
      ...plain,
      async remove(some) {
        removed.push(some);
        await plain.remove(some);
      },
    };
    const history = { keep: 1, milliseconds: MINUTE };
    const session = await store({ registers, history }).open('apply', TARGET);
    removed.splice(0);
    for (let op = 1; op <= 3; op += 1) await session.record(intent(String(op)), result(String(op)));
    await session.compact();
    await session.compact({ always: true });
    await session.compact();
    expect(removed.map((some) => some.map((key) => key.split('/')[1]))).toEqual([
      ['log', 'log', 'log'],
      ['state'],
    ]);
  });

  it('keeps as many states as the history says, and no log that is in a state', async () => {
    const { clock, memory, store } = place();
    const history = { keep: 3, milliseconds: 10 * MINUTE };
    const session = await store({ history }).open('apply', TARGET);
    const states = (): number =>
      [...memory.values.keys()].filter((key) => key.includes('/state/')).length;
    for (let op = 1; op <= 5; op += 1) {
      await session.record(intent(String(op)), result(String(op)));
      await session.compact();
      expect([...memory.values.keys()].filter((key) => key.includes('/log/'))).toEqual([]);
    }
    expect(states()).toBe(3);
    await clock.sleep(11 * MINUTE);
    await session.record(intent('6'), result('6'));
    await session.compact();
    expect(states()).toBe(1);
    expect((await store().read())?.state.serial).toBe(6);
  });
});
