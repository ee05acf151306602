// The first of the scenarios that `npm run simulate` plays, and that they hold what they are to hold: a simulator in which
// nothing happens finds nothing.
import { expect, it } from 'vitest';
import { noCounts, simulate, type Counts } from './simulate.js';

const SEEDS = 200;

it('holds every law in scenarios drawn from seeds', async () => {
  const counts = noCounts();
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const played = await simulate(seed);
    expect({ seed, failures: played.failures }).toEqual({ seed, failures: [] });
    for (const name of Object.keys(counts) as (keyof Counts)[]) counts[name] += played.counts[name];
  }
  for (const [name, count] of Object.entries(counts))
    expect([name, count > 0]).toEqual([name, true]);
}, 120_000);

it('repeats a scenario to the letter', async () => {
  expect((await simulate(7)).trace).toEqual((await simulate(7)).trace);
});
