// What a newcomer sees first: the tour tells its story on two screens.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

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
    'update by somebody.else@example.com (sso_user) at ',
    'BLOCKED by privilege-escalation. ',
    'Applied: 0 created, 1 updated',
  ])
    expect(stdout).toContain(told);
  expect(readFileSync(page, 'utf8')).toContain('<title>BLOCKED by privilege-escalation. Plan: ');
});
