// A journal that somebody removes or empties while a run goes on, through the command: nothing more is sent, nothing
// that was done is forgotten, and the next run makes nothing twice.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { box, type Box } from '../support/box.js';
import { folder } from '../support/cli.js';

const boxes: Box[] = [];
afterEach(async () => {
  for (const one of boxes.splice(0)) await one.close();
});

test.each([
  ['removed', (path: string) => rmSync(path)],
  ['emptied', (path: string) => writeFileSync(path, '')],
])('%s during a run', async (_, harm) => {
  const there = await box({
    version: 1,
    root: '1',
    records: { accounts: [{ id: '1', name: 'Headquarters', account: null }] },
  });
  boxes.push(there);
  const home = folder({
    'trueup.yaml': `accounts:\n${['a', 'b', 'c', 'd'].map((name) => `  ${name}: { name: ${name}, account: "1" }\n`).join('')}`,
  });
  there.intercept = async (request, proceed) => {
    const answer = await proceed();
    if (request.method === 'POST' && there.writes().length === 2)
      harm(join(home.path, '.trueup/state.json.journal'));
    return answer;
  };
  const { stdout, stderr } = await home.expect(
    7,
    ['apply', '--auto-approve', '--parallelism', '1'],
    there,
  );
  expect((stdout + stderr).replaceAll(/\s+/g, ' ')).toContain(
    'was removed or changed outside of this run',
  );
  expect(there.writes()).toHaveLength(2);
  there.intercept = undefined;
  await home.expect(0, ['apply', '--auto-approve'], there);
  expect(there.objects('accounts').map((one) => one['name'])).toEqual([
    'Headquarters',
    'a',
    'b',
    'c',
    'd',
  ]);
  await home.expect(0, ['plan', '--detailed-exitcode'], there);
});

test('of a killed run, removed while the next one reads it: what it held is settled, and nothing is sent', async () => {
  const there = await box({
    version: 1,
    root: '1',
    records: { accounts: [{ id: '1', name: 'Headquarters', account: null }] },
  });
  boxes.push(there);
  const home = folder({ 'trueup.yaml': 'accounts:\n  a: { name: a, account: "1" }\n' });
  const first = home.start(['apply', '--auto-approve'], there);
  there.intercept = async (request, proceed) => {
    if (request.method === 'POST') first.child.kill('SIGKILL');
    return proceed();
  };
  await first.ended;
  const journal = join(home.path, '.trueup/state.json.journal');
  there.intercept = async (_, proceed) => {
    rmSync(journal, { force: true });
    return proceed();
  };
  home.write(
    'trueup.yaml',
    'accounts:\n  a: { name: a, account: "1" }\n  b: { name: b, account: "1" }\n',
  );
  const env = { ...there.env, TRUEUP_SETTLE_SECONDS: '0' };
  const { stdout, stderr } = await home.expect(4, ['apply', '--auto-approve'], { env });
  expect(stdout + stderr).toContain('journal-lost');
  expect(there.writes()).toEqual(['POST /api/v2/accounts/']);
  there.intercept = undefined;
  await home.expect(0, ['apply', '--auto-approve'], { env });
  expect(there.objects('accounts').map((one) => one['name'])).toEqual(['Headquarters', 'a', 'b']);
});
