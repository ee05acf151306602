// What every remote backend has to show on its real server: the promises of a store, and those of its registers.
import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { registerKeys } from '../../src/state/backends/registers/keys.js';
import type { Registers } from '../../src/state/backends/registers/port.js';
import { probe } from '../../src/state/backends/registers/probe.js';
import { registerStore } from '../../src/state/backends/registers/register-store.js';
import { rescueIn } from '../../src/state/backends/registers/rescue.js';
import { settledPut } from '../../src/state/backends/registers/settled-put.js';
import { simulatedFiles } from '../support/simulated-files.js';
import { simulatedMachine } from '../support/simulated-machine.js';
import { conformance } from '../unit/state/conformance.js';
import { stealHead, withoutSignsOfLife } from '../unit/state/register-bench.js';

/** A place of its own for one test. */
export interface Place {
  /** The place as one more process sees it. */
  connect(): Registers;
  values(): Promise<ReadonlyMap<string, { readonly body: Uint8Array }>>;
}

const [clock, random] = [systemClock(), systemRandom()];
const keys = registerKeys('default');
const text = (value: string): Uint8Array => Buffer.from(value);

const listed = async (registers: Registers, prefix: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for await (const key of registers.list(prefix)) found.push(key);
  return found;
};

export function backendSuite(name: string, makePlace: () => Place): void {
  conformance(`the store on ${name}`, async () => {
    const { connect, values } = makePlace();
    const machine = simulatedMachine();
    // The wall clock stands still, but for long sleeps, which end at once. The holder lives as long as others wait.
    let wall = Date.now();
    const clockOfStore = {
      ...clock,
      now: () => wall,
      sleep: async (milliseconds: number): Promise<void> => {
        if (milliseconds > 60_000) wall += milliseconds;
        else await clock.sleep(milliseconds / 10);
        machine.beat();
      },
    };
    return {
      clock: clockOfStore,
      store: (more) => {
        const registers = connect();
        return registerStore({
          registers,
          keys,
          clock: clockOfStore,
          random,
          lock: machine.start(),
          version: '0.1.0',
          locking: { lease: 3_000, wait: 0, takeover: true },
          history: { keep: 30, milliseconds: 90 * 24 * 60 * 60 * 1000 },
          rescue: rescueIn('/rescue', registers.location, {
            files: simulatedFiles(),
            random,
            clock,
          }),
          ...more,
        });
      },
      bytes: async () => withoutSignsOfLife(await values()),
      steal: () => stealHead(connect(), keys),
    };
  });

  describe(`registers on ${name}`, () => {
    const prepared = async (): Promise<Place & { readonly registers: Registers }> => {
      const place = makePlace();
      const registers = place.connect();
      await registers.prepare?.();
      return { ...place, registers };
    };

    it('are empty where the place does not exist, and make nothing by reading', async () => {
      const registers = makePlace().connect();
      expect(await registers.get(keys.head)).toBeUndefined();
      expect(await listed(registers, '')).toEqual([]);
      expect(await registers.get(keys.head)).toBeUndefined();
    });

    it('prove that they can lock', async () => {
      const { registers } = await prepared();
      await probe({ registers, keys, clock, random });
      expect(await listed(registers, '')).toEqual([]);
    });

    it('let one of 20 takers create a key, a hundred times', async () => {
      const { connect } = await prepared();
      const takers = Array.from({ length: 20 }, connect);
      for (let race = 0; race < 100; race += 1) {
        const won = await Promise.all(
          takers.map((registers, taker) =>
            settledPut({ registers, clock, random }, `race/${race}`, text(`taker ${taker}`), null),
          ),
        );
        expect(won.filter((put) => put !== 'conflict')).toHaveLength(1);
      }
    });

    it('never replace a stale version, in a thousand attempts', async () => {
      const { registers } = await prepared();
      const tools = { registers, clock, random };
      const first = await settledPut(tools, 'one', text('first'), null);
      if (first === 'conflict') throw new Error('the key is new');
      await settledPut(tools, 'one', text('second'), first.version);
      let replaced = 0;
      for (let batch = 0; batch < 50; batch += 1) {
        const puts = Array.from({ length: 20 }, (_, index) =>
          settledPut(tools, 'one', text(`stale ${batch} ${index}`), first.version),
        );
        replaced += (await Promise.all(puts)).filter((put) => put !== 'conflict').length;
      }
      expect(replaced).toBe(0);
      expect(Buffer.from((await registers.get('one'))!.body).toString()).toBe('second');
    });

    it('do not replace a value that is gone, nor one that was made since: a run whose head was lost ends', async () => {
      const { registers } = await prepared();
      const tools = { registers, clock, random };
      const first = await settledPut(tools, keys.head, text('first'), null);
      if (first === 'conflict') throw new Error('the key is new');
      await registers.remove([keys.head]);
      expect(await settledPut(tools, keys.head, text('late'), first.version)).toBe('conflict');
      expect(await registers.get(keys.head)).toBeUndefined();
      await settledPut(tools, keys.head, text('second'), null);
      expect(await settledPut(tools, keys.head, text('late'), first.version)).toBe('conflict');
    });

    it('keep bodies of no byte, of 1 MiB and of 32 MiB', async () => {
      const { registers, connect } = await prepared();
      for (const size of [0, 2 ** 20, 2 ** 25]) {
        const body = Buffer.alloc(size, 'ab');
        const put = await settledPut({ registers, clock, random }, `size/${size}`, body, null);
        expect(put).not.toBe('conflict');
        expect(body.equals((await connect().get(`size/${size}`))!.body)).toBe(true);
      }
    });

    it('list what they and others wrote, in the order of bytes, whatever the number', async () => {
      const { registers, connect } = await prepared();
      const numbers = Array.from({ length: 10_000 }, (_, index) => index);
      const others = [registers, connect(), connect()];
      const names = numbers.map((number) => `many/${String(number).padStart(12, '0')}`);
      for (let at = 0; at < names.length; at += 50)
        await Promise.all(
          names
            .slice(at, at + 50)
            .map((key, index) =>
              settledPut({ registers: others[index % 3]!, clock, random }, key, text(key), null),
            ),
        );
      await settledPut({ registers, clock, random }, 'many', text('not below it'), null);
      await settledPut({ registers, clock, random }, 'manyfold/1', text('nor this'), null);
      expect(await listed(registers, 'many/')).toEqual(names);
      await registers.remove([names[7]!]);
      expect(await listed(connect(), 'many/00000000000')).toHaveLength(9);
      await registers.remove(names.slice(0, 40));
      expect(await listed(connect(), 'many/')).toEqual(names.slice(40));
    });
  });
}
