// `trueup log` over the states that the built command writes.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeState } from '../../src/state/index.js';
import { emulator, folder, small, type Folder } from '../support/cli.js';

interface Logged {
  readonly [name: string]: unknown;
}

const logged = async (home: Folder): Promise<readonly Logged[]> =>
  JSON.parse((await home.expect(0, ['log', '--format', 'json'])).stdout) as readonly Logged[];

const ci = { GITHUB_SERVER_URL: 'https://github.example', GITHUB_REPOSITORY: 'acme/sites' };

test('each run that changed the state: who, when, what', async () => {
  const home = folder({ 'trueup.yaml': small });
  const none = await home.expect(0, ['log']);
  expect(none.stdout).toBe('');
  expect(none.stderr).toContain(
    'No run has changed the state yet. To make the first one: trueup apply',
  );
  expect(await logged(home)).toEqual([]);

  const before = Date.now();
  await home.expect(0, ['apply', '--auto-approve'], { env: { ...ci, GITHUB_RUN_ID: '7' } });
  await home.expect(0, ['apply', '--auto-approve']);
  home.write('trueup.yaml', small.replace('name: Field operations', 'name: Field'));
  await home.expect(0, ['apply', '--auto-approve']);
  await home.expect(0, ['state', 'mv', 'alert_rules.wan-down', 'alert_rules.wan']);
  await home.expect(0, ['destroy', '--auto-approve']);

  const who = { user: userInfo().username, host: hostname() };
  const runs = await logged(home);
  expect(runs).toMatchObject([
    { ...who, serial: 4, operation: 'destroy', created: 0, updated: 0, deleted: 3, objects: 0 },
    { ...who, serial: 3, operation: 'state mv', created: 0, renamed: 1, adopted: 0, objects: 3 },
    { ...who, serial: 2, operation: 'apply', created: 0, updated: 1, deleted: 0, objects: 3 },
    {
      ...who,
      serial: 1,
      operation: 'apply',
      created: 3,
      updated: 0,
      deleted: 0,
      objects: 3,
      url: 'https://github.example/acme/sites/actions/runs/7',
    },
  ]);
  for (const { at } of runs) expect(Date.parse(String(at))).toBeGreaterThanOrEqual(before);
  const plan = JSON.parse((await home.expect(0, ['plan', '--format', 'json'])).stdout) as {
    readonly generated_from: { readonly digest: string };
  };
  expect(runs[1]).not.toHaveProperty('digest');
  expect(runs[2]!['digest']).toBe(plan.generated_from.digest);
  expect(runs[3]!['digest']).not.toBe(plan.generated_from.digest);

  const second = (run: Logged | undefined): string =>
    `${String(run?.['at']).slice(0, '2026-07-01T12:00:00'.length)}Z`;
  const { stdout } = await home.expect(0, ['log', '-n', '2']);
  expect(stdout.split('\n')).toEqual([
    `4  ${second(runs[0])}  destroy  0 created, 0 updated, 3 deleted`,
    `    0 objects in the state; by ${who.user}@${who.host}; declarations ${plan.generated_from.digest.slice(0, 12)}`,
    `3  ${second(runs[1])}  state mv  0 created, 0 updated, 0 deleted, 1 renamed`,
    `    3 objects in the state; by ${who.user}@${who.host}`,
    '',
  ]);
  const whole = await home.expect(0, ['log']);
  expect(whole.stdout).toContain(' in https://github.example/acme/sites/actions/runs/7; ');
  expect((await home.expect(1, ['log', '-n', '0'])).stderr).toContain(
    '--limit takes a whole number',
  );
});

test('a state that an older version wrote is read, and listed with what is known of it', async () => {
  const home = folder({ 'trueup.yaml': small });
  await home.expect(0, ['apply', '--auto-approve']);
  const path = join(home.path, '.trueup/state.json');
  const { checksum: _, runs: __, ...older } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, encodeState(older));
  expect(await logged(home)).toEqual([{ serial: 1, objects: 3 }]);
  expect((await home.expect(0, ['log'])).stdout).toBe(
    '1  at an unknown time  unknown operation\n    3 objects in the state; by unknown\n',
  );
  home.write('trueup.yaml', small.replace('name: Field operations', 'name: Field'));
  await home.expect(0, ['apply', '--auto-approve']);
  expect((await logged(home)).map(({ serial, updated }) => [serial, updated])).toEqual([
    [2, 1],
    [1, undefined],
  ]);
});

test('objects that a run adopts, renames or forgets are counted', async () => {
  const home = folder({ 'trueup.yaml': small });
  await home.expect(0, ['apply', '--auto-approve']);
  rmSync(join(home.path, '.trueup/state.json'));
  await home.expect(0, ['apply', '--auto-approve']);
  expect(await logged(home)).toMatchObject([{ created: 0, updated: 0, adopted: 3, renamed: 0 }]);
  home.write(
    'trueup.yaml',
    `${small.replace('  wan-down:', '  wan:')}moved: [{ from: alert_rules.wan-down, to: alert_rules.wan }]\n`,
  );
  await home.expect(0, ['apply', '--auto-approve']);
  expect(await logged(home)).toMatchObject([{ adopted: 0, renamed: 1 }, { adopted: 3 }]);
  const { stdout } = await home.expect(0, ['log']);
  expect(stdout).toContain('apply  0 created, 0 updated, 0 deleted, 1 renamed\n    3 objects');
  expect(stdout).toContain('apply  0 created, 3 adopted, 0 updated, 0 deleted\n    3 objects');
  rmSync(join(home.path, '.trueup/state.json'));
  home.write('trueup.yaml', small.replace('enabled: true', 'enabled: false'));
  const allowed = ['first-run', 'rule-without-destination'].flatMap((rule) => ['--allow', rule]);
  await home.expect(0, ['apply', '--auto-approve', ...allowed]);
  expect(await logged(home)).toMatchObject([{ updated: 0, adopted: 3, renamed: 0, forgotten: 0 }]);
  expect((await home.expect(0, ['log', '-n', '1'])).stdout).toContain(
    'apply  0 created, 3 adopted, 0 updated, 0 deleted\n    3 objects',
  );
  home.write(
    'trueup.yaml',
    `${small.replace('  pager:', '  desk:').replace('.pager.', '.desk.')}moved: [{ from: alert_push_destinations.pager, to: alert_push_destinations.desk }]\n`,
  );
  const { stdout: applied } = await home.expect(0, ['apply', '--auto-approve']);
  expect(applied).toContain('0 created, 1 updated (1 renamed), 0 deleted');
  expect((await home.expect(0, ['log', '-n', '1'])).stdout).toContain(
    'apply  0 created, 1 updated, 0 deleted\n    3 objects',
  );
  await home.expect(0, ['state', 'rm', 'alert_rules.wan-down']);
  expect((await home.expect(0, ['log', '-n', '1'])).stdout).toContain(
    'state rm  0 created, 0 updated, 0 deleted, 1 forgotten\n    2 objects',
  );
});

test('changes that failed or were not tried are counted', async () => {
  const home = folder({ 'trueup.yaml': small.replace('settings: { target: emulator }\n', '') });
  const { env } = await emulator(home, ['--fault', 'status=400,method=POST,path=/accounts/']);
  await home.expect(7, ['apply', '--auto-approve'], { env });
  expect((await home.expect(0, ['log'])).stdout).toContain(
    'apply  1 created, 0 updated, 0 deleted; 1 failed, 1 skipped\n    1 object in the state',
  );
});
