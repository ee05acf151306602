// Notes beside a store: left by several at once, read whole or not at all, gone once they are forgotten.
import { expect, it } from 'vitest';
import { notesBeside } from '../../../src/state/index.js';
import { seededRandom } from '../../support/simulated.js';
import { simulatedFiles } from '../../support/simulated-files.js';

it('are read by who comes next, but for a line that was cut off', async () => {
  const files = simulatedFiles();
  const notes = notesBeside('/sim/state.json', { files, random: seededRandom(3) });
  expect((await notes.read()).lines).toEqual([]);
  files.put('/sim/state.json', 'the store itself');
  await Promise.all([notes.leave(['accounts 1', 'accounts 2']), notes.leave(['alert_rules a'])]);
  files.put('/sim/state.json.note.torn', 'accounts 3\naccounts 4');
  const { lines, forget } = await notes.read();
  expect(lines.toSorted()).toEqual(['accounts 1', 'accounts 2', 'accounts 3', 'alert_rules a']);
  await notes.leave(['accounts 5']);
  await forget();
  expect((await notes.read()).lines).toEqual(['accounts 5']);
  expect(files.contents.get('/sim/state.json')).toBe('the store itself');
});
