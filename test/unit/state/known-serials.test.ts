// What this machine knows of the places of a state: a place that was named without a migration is refused.
import { expect, it } from 'vitest';
import { registerKeys } from '../../../src/state/backends/registers/keys.js';
import { registerStore } from '../../../src/state/backends/registers/register-store.js';
import { rescueIn } from '../../../src/state/backends/registers/rescue.js';
import { fileStore, type Store } from '../../../src/state/index.js';
import { migratedStore, rememberingStore } from '../../../src/state/known-serials.js';
import { memoryRegisters } from '../../support/memory-registers.js';
import { simulatedFiles } from '../../support/simulated-files.js';
import { simulatedMachine } from '../../support/simulated-machine.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import { refusal } from './conformance.js';
import { intent, result, TARGET } from './samples.js';

/** One machine, and any number of places. */
function machine() {
  const [clock, random, files] = [simulatedClock(), seededRandom(1), simulatedFiles()];
  const shared = { clock, random, files, lock: simulatedMachine().start(), version: '0.1.0' };
  const left = fileStore({ ...shared, path: '/sim/state.json' });
  const known = (project: string, byEnvironment = false) => ({
    files,
    path: '/sim/own/serials.json',
    project,
    byEnvironment,
    left,
  });
  return {
    files,
    left,
    local: (project = 'default') => migratedStore(left, known(project)),
    place(location: string, project = 'default', byEnvironment = false): Store {
      const registers = { ...memoryRegisters(clock.service, random).connect(), location };
      const store = registerStore({
        ...shared,
        registers,
        keys: registerKeys(project),
        locking: { lease: 30_000, wait: 0, takeover: true },
        history: { keep: 30, milliseconds: 1_000_000 },
        rescue: rescueIn('/sim/rescue', location, { files, random }),
      });
      return rememberingStore(store, known(project, byEnvironment));
    },
  };
}

async function applied(store: Store): Promise<void> {
  const session = await store.open('apply', TARGET);
  await session.record(intent('1'), result('1'));
  await session.compact();
  await session.release();
}

const [ONE, OTHER] = ['postgres://one.example.com/x', 's3://other/x'] as const;

it('a place that is named without a migration is refused to runs and plans, a file as well', async () => {
  const { place, local, files } = machine();
  await applied(place(ONE));
  for (const [store, advice] of [
    [place(OTHER), 'trueup state migrate --to'],
    [local(), 'trueup state pull > /sim/state.json'],
  ] as const)
    for (const asked of [store.open('apply', TARGET), store.assertMigrated!(TARGET)]) {
      const refused = await refusal(asked);
      expect(refused).toMatchObject({ code: 'state-not-moved', exit: 1 });
      for (const word of [`and ${ONE} held one`, advice, 'rm /sim/own/serials.json'])
        expect(refused.words).toContain(word);
    }
  const next = place(OTHER);
  await refusal(next.open('apply', TARGET));
  expect(await next.holder()).toBeUndefined();
  // Another project, another cloud, and a machine that knows nothing.
  await applied(place(OTHER, 'north'));
  await place(OTHER).assertMigrated!('https://another.example.com');
  await files.remove('/sim/own/serials.json');
  await applied(place(OTHER));
});

it('the environment may name a place for each customer', async () => {
  const { place } = machine();
  await applied(place(ONE));
  await applied(place(OTHER, 'default', true));
});

it('a place that the state left keeps no run away from the new one', async () => {
  const { place } = machine();
  const one = place(ONE);
  await applied(one);
  const session = await one.open('state migrate', TARGET);
  await session.mark({ to: OTHER });
  await session.release();
  await applied(place(OTHER));
});

it('a place is refused while the state file that is used without settings holds objects', async () => {
  const { place, left } = machine();
  await applied(left);
  const refused = await refusal(place(ONE).assertMigrated!(TARGET));
  expect(refused).toMatchObject({ code: 'state-not-moved' });
  expect(refused.words).toContain('mv /sim/state.json /sim/state.json.old');
  await (await place(ONE).open('state migrate', TARGET)).release();
});
