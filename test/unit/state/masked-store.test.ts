// What is recorded holds no value of a secret: the attribute in which one turns up is left out, in state and journal.
import { expect, it } from 'vitest';
import { maskingOf, Secret } from '../../../src/model/index.js';
import { fileStore, maskedStore } from '../../../src/state/index.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import { simulatedFiles } from '../../support/simulated-files.js';
import { simulatedMachine } from '../../support/simulated-machine.js';
import { entry, intent, result, TARGET } from './samples.js';

const CANARY = 'canary-5ecret-value';

it('leaves out whole attributes, and nothing else', async () => {
  const masking = maskingOf();
  masking.add(new Secret('env.S', () => CANARY));
  const files = simulatedFiles(1);
  const store = maskedStore(
    fileStore({
      path: '/sim/state.json',
      files,
      clock: simulatedClock(),
      random: seededRandom(1),
      lock: simulatedMachine().start(),
      version: '0',
    }),
    masking,
  );
  const session = await store.open('apply', TARGET);
  const values = {
    name: 'x',
    endpoint: { url: `https://x/${CANARY}`, other: 1 },
    list: ['a', `b ${CANARY}`],
    [CANARY]: 'a name of a member',
  };
  const kept = { name: 'x', [CANARY]: 'a name of a member' };
  const made = entry('7', { applied: values, observed: values });
  const { id: _, observed: __, ...planned } = made;
  const sent = { ...intent('a'), body: values, entry: planned };
  expect([session.hides?.(values.list), session.hides?.('x')]).toEqual([true, false]);
  await session.record(sent, { ...intent('b'), body: { name: 'y' } });
  await session.record({ ...result('a'), entry: made });
  const journal = [...files.contents].find(([path]) => path.endsWith('.journal'))?.[1] ?? '';
  expect(journal).not.toContain(`/${CANARY}`);
  expect(journal).not.toContain(`b ${CANARY}`);
  // What was sent is never compared as if the attribute had not been.
  expect(journal).toContain('"endpoint":"(sensitive)","list":"(sensitive)","name":"x"}');
  expect(session.snapshot.pending).toEqual([]);
  const { state, pending } = await session.compact();
  await session.release();
  expect(Object.values(state.resources)).toEqual([{ ...made, applied: kept, observed: kept }]);
  expect(pending).toEqual([{ ...intent('b'), body: { name: 'y' } }]);
  expect((await store.read())?.state.resources).toEqual(state.resources);
});
