// `trueup emulator --tenant`: names whose printed variables would be the same are refused before anything is served.
import { expect, test } from 'vitest';
import { run } from '../../../src/cli/commands/emulator.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

test.each([
  [['a-b', 'a_b'], /--tenant a-b and --tenant a_b have the same prefix, A_B_\./],
  [['a', 'A'], /--tenant a and --tenant A have the same prefix/],
  [['a', 'b', 'a'], /--tenant a and --tenant a have the same prefix/],
  [['a/b'], /--tenant "a\/b" takes letters/],
])('--tenant %j is refused', async (names, expected) => {
  const words = ['emulator', ...names.flatMap((name) => ['--tenant', name])];
  const { code, stdout, stderr } = await inProcess(run, words, { cwd: freshFolder(), env: {} });
  expect(stderr).toMatch(expected);
  expect([code, stdout]).toEqual([1, '']);
});
