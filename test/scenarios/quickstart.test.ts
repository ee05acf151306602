// What a newcomer sees first: the tour tells its story on two screens.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshFolder } from '../support/in-process.js';

test('one create, one drift with its author, one block, one page, below 80 lines', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['scripts/run.mjs', 'scripts/quickstart.ts'],
    { encoding: 'utf8' },
  );
  expect([status, stderr]).toEqual([0, '']);
  // npm and the first installation add eight lines.
  expect(stdout.split('\n').length + 8).toBeLessThan(80);
  const [, page = ''] = /as a page: (\S+)\n/.exec(stdout) ?? [];
  for (const told of [
    'Applied: 1 created, 2 adopted',
    'updated by somebody.else@example.com (sso_user) at ',
    'BLOCKED by privilege-escalation. ',
    'more lines …\n~ updated account_authorizations.lead',
    'Applied: 0 created, 1 updated',
  ])
    expect(stdout).toContain(told);
  expect(readFileSync(page, 'utf8')).toContain('<title>BLOCKED by privilege-escalation. Plan: ');

  // What it says to type works, and then what trueup says to type.
  const clone = join(freshFolder(), 'the clone');
  mkdirSync(clone);
  const [, typed = ''] = /beside this clone:\n(.*)$/s.exec(stdout) ?? [];
  const begun = spawnSync('sh', ['-c', `${typed}trueup plan\n`], { cwd: clone, encoding: 'utf8' });
  expect(begun.status, begun.stderr).toBe(0);
  expect(begun.stdout).toContain('Next: trueup plan\n');
  expect(begun.stdout).toContain('\nPlan: 3 to create, ');
});
