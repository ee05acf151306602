// What is slow keeps its lane and is never begun twice; everything else is begun again in each pass.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { repeatedLanes } from '../../../src/fleet/repeated-lanes.js';

/** Work that ends when the test says so. */
function rig(lanes: number) {
  const ends = new Map<string, () => void>();
  const begun: string[] = [];
  let most = 0;
  let mayStart = true;
  const repeated = repeatedLanes<string>({
    lanes: () => lanes,
    mayStart: () => mayStart,
    work: async (name) => {
      begun.push(name);
      expect(ends.has(name)).toBe(false);
      await new Promise<void>((resolve) => {
        ends.set(name, resolve);
        most = Math.max(most, ends.size);
      });
    },
  });
  return {
    begun,
    most: () => most,
    settled: repeated.settled,
    stop: () => (mayStart = false),
    end: async (...names: readonly string[]) => {
      for (const name of names) {
        ends.get(name)?.();
        ends.delete(name);
        for (let tick = 0; tick < 5; tick += 1) await Promise.resolve();
      }
    },
    running: () => [...ends.keys()],
    pass: (names: readonly string[], until: Promise<unknown> = new Promise(() => undefined)) =>
      repeated.pass(new Map(names.map((name) => [name, name])), until),
  };
}
const now = Promise.resolve();

test('a pass ends when everything in it has ended', async () => {
  const { pass, end, begun } = rig(2);
  const over = pass(['a', 'b', 'c']);
  expect(begun).toEqual(['a', 'b']);
  await end('a', 'b', 'c');
  expect(await over).toEqual([]);
  const again = pass(['a']);
  expect(begun).toEqual(['a', 'b', 'c', 'a']);
  await end('a');
  expect(await again).toEqual([]);
  expect(await pass([])).toEqual([]);
});

test('what is slow goes on; the others begin again without it', async () => {
  const { pass, end, begun } = rig(2);
  const first = pass(['slow', 'a', 'b'], new Promise((resolve) => setTimeout(resolve, 20)));
  await end('a', 'b');
  expect(await first).toEqual(['slow']);
  const second = pass(['slow', 'a', 'b'], new Promise((resolve) => setTimeout(resolve, 20)));
  await end('a', 'b', 'slow');
  expect(await second).toEqual([]);
  expect(begun).toEqual(['slow', 'a', 'b', 'a', 'b']);
});

test('what waits for a lane comes first in the next pass, once', async () => {
  const { pass, end, begun } = rig(1);
  expect(await pass(['a', 'b', 'c'], now)).toEqual(['a', 'b', 'c']);
  const second = pass(['a', 'b', 'c']);
  await end('a', 'b', 'c');
  expect(await second).toEqual([]);
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('what is no more there, or may not start, is not begun', async () => {
  const { pass, end, begun, stop, settled } = rig(1);
  await pass(['a', 'gone', 'c'], now);
  const second = pass(['a', 'c'], new Promise((resolve) => setTimeout(resolve, 20)));
  await end('a');
  expect(await second).toEqual(['c']);
  stop();
  await pass(['a', 'b', 'c'], now);
  await end('c');
  await settled();
  expect(begun).toEqual(['a', 'c']);
});

test('what throws ends its pass, and no later one', async () => {
  const begun: string[] = [];
  let fails = true;
  const { pass } = repeatedLanes<string>({
    lanes: () => 1,
    mayStart: () => true,
    work: async (name) => {
      begun.push(name);
      if (fails) throw new Error(`no ${name}`);
    },
  });
  const all = new Map([
    ['a', 'a'],
    ['b', 'b'],
  ]);
  await expect(pass(all)).rejects.toThrow('no a');
  expect(begun).toEqual(['a']);
  fails = false;
  expect(await pass(all)).toEqual([]);
  expect(begun).toEqual(['a', 'b', 'a']);
});

test('what throws after its pass is thrown by the next one, which does its work', async () => {
  let fail = (): void => undefined;
  const begun: string[] = [];
  const { pass } = repeatedLanes<string>({
    lanes: () => 2,
    mayStart: () => true,
    work: async (name) => {
      begun.push(name);
      if (name === 'slow') await new Promise<void>((_, no) => (fail = () => no(new Error('late'))));
    },
  });
  const all = new Map([
    ['slow', 'slow'],
    ['a', 'a'],
  ]);
  expect(await pass(all, now)).toEqual(['slow']);
  fail();
  await new Promise((resolve) => setTimeout(resolve, 1));
  await expect(pass(new Map([['a', 'a']]))).rejects.toThrow('late');
  expect(begun).toEqual(['slow', 'a', 'a']);
  expect(await pass(new Map([['a', 'a']]))).toEqual([]);
});

test('never two at once of one name, never more than the lanes, and all are begun in the end', () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.array(fc.nat(7), { maxLength: 6 }), { minLength: 1, maxLength: 6 }),
      async (lanes, passes) => {
        const { pass, end, begun, running, most } = rig(lanes);
        const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
        for (const ends of passes) {
          await pass(names, now);
          await end(...ends.map((at) => names[at]!));
        }
        for (let rounds = 0; rounds < 20 && running().length > 0; rounds += 1)
          await end(...running());
        expect(most()).toBeLessThanOrEqual(lanes);
        expect(new Set(begun).size).toBe(names.length);
        expect(begun.length).toBeLessThanOrEqual(names.length * passes.length);
      },
    ),
  ));
