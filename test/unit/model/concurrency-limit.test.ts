import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forEachLimited } from '../../../src/model/index.js';

test('does everything once, and never more at once than allowed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(3), { maxLength: 40 }),
      fc.integer({ min: 1, max: 8 }),
      async (waits, most) => {
        const done: number[] = [];
        let [running, peak] = [0, 0];
        await forEachLimited(waits.entries(), most, async ([index, wait]) => {
          peak = Math.max(peak, (running += 1));
          for (let tick = 0; tick < wait; tick += 1) await setImmediate();
          running -= 1;
          done.push(index);
        });
        expect(done.toSorted((a, b) => a - b)).toEqual([...waits.keys()]);
        expect(peak).toBeLessThanOrEqual(most);
      },
    ),
  );
});

test('begins nothing after a failure, and waits for what runs', async () => {
  const [begun, ended]: [number[], number[]] = [[], []];
  const work = async (one: number): Promise<void> => {
    begun.push(one);
    if (one === 2) throw new Error('refused');
    await setImmediate();
    ended.push(one);
  };
  await expect(forEachLimited([1, 2, 3, 4, 5, 6], 3, work)).rejects.toThrow('refused');
  expect([begun, ended]).toEqual([
    [1, 2, 3],
    [1, 3],
  ]);
});
