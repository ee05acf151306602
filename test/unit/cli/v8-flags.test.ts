// The flags of V8 that the command sets: known to the Node they are set on, and none on a Node that was not measured.
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { flagsFor, flagsForFleets } from '../../../src/cli/v8-flags.js';

it.each([
  ['20.19.0', 3],
  ['22.12.0', 3],
  ['24.0.0', 2],
] as const)('sets flags on Node %s', (version, count) => {
  expect(flagsFor(version)).toHaveLength(count);
  expect(flagsForFleets(version)).toHaveLength(1);
});

it.each(['18.20.0', '21.7.3', '99.0.0'])('sets none on Node %s', (version) => {
  expect([...flagsFor(version), ...flagsForFleets(version)]).toEqual([]);
});

it('sets none that this Node does not know', () => {
  const code = `for (const flag of ${JSON.stringify([...flagsFor(process.versions.node), ...flagsForFleets(process.versions.node)])}) require('node:v8').setFlagsFromString(flag);`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});
