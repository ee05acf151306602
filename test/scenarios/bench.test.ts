// The benchmark takes hours: its usage, and what it refuses, have to be told before anything is measured.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { folder } from '../support/cli.js';

const GROUPS =
  'startup creates state plans templates adoption listing attribution pages secrets fleet workers kills provider'.split(
    ' ',
  );

/** With a folder of its own for temporary files, and what it left there. */
function bench(...args: readonly string[]) {
  const { path } = folder();
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['scripts/run.mjs', 'scripts/bench.ts', ...args],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], TMPDIR: path }, timeout: 30_000 },
  );
  return { status, stdout, stderr, left: readdirSync(path) };
}

test.each([[['--help']], [['-h', 'plans', '--quick']]])(
  '%j prints the groups and the options, and measures nothing',
  (args) => {
    const { status, stdout, stderr, left } = bench(...args);
    expect([status, stderr, left]).toEqual([0, '', []]);
    const told = [...stdout.matchAll(/^ {2}(\S+) +\S/gm)].map(([, name]) => name);
    expect(told).toEqual([...GROUPS, '--quick', '--from', '--help']);
  },
);

test.each([
  [['plans', 'toString'], 'There is no group named toString.'],
  [['--fast'], "Unknown option '--fast'"],
  [['kills', '--from', 'x'], '--from is a number of kills.'],
  [['--help', 'nothing'], 'There is no group named nothing.'],
])('%j is refused, and measures nothing', (args, why) => {
  const { status, stdout, stderr, left } = bench(...args);
  expect([status, stdout, left]).toEqual([2, '', []]);
  expect(stderr).toContain(why);
  expect(stderr).toContain('Usage: npm run bench -- [--quick] [GROUP...]');
});
