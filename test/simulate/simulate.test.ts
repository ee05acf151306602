// The first of the scenarios that `npm run simulate` plays, and that they hold what they are to hold: a simulator in which
// nothing happens finds nothing.
import { expect, it } from 'vitest';
import { noCounts, simulate, type Counts } from './simulate.js';

it.each([
  ['a state file', false, 200],
  ['a remote state', true, 150],
] as const)(
  'holds every law in scenarios drawn from seeds, with %s',
  async (_, remote, seeds) => {
    const counts = noCounts();
    for (let seed = 1; seed <= seeds; seed += 1) {
      const played = await simulate(seed, remote);
      expect({ seed, failures: played.failures }).toEqual({ seed, failures: [] });
      for (const name of Object.keys(counts) as (keyof Counts)[])
        counts[name] += played.counts[name];
    }
    for (const [name, count] of Object.entries(counts))
      expect([name, count > 0]).toEqual([name, true]);
  },
  120_000,
);

it('repeats a scenario to the letter', async () => {
  for (const remote of [false, true])
    expect((await simulate(7, remote)).trace).toEqual((await simulate(7, remote)).trace);
});

it.each([
  ['an object is in none of two listings, while others delete and replicas are late', 1096922],
  ['others delete an object while it is counted', 1073617],
  ['others make an object and have no response yet', 2058792],
])('holds every law where %s', async (_, seed) => {
  expect((await simulate(seed, true)).failures).toEqual([]);
});
