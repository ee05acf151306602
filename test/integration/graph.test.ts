// `trueup graph` of declarations and of plans, through the built command, without a cloud.
import { expect, test } from 'vitest';
import { folder, small } from '../support/cli.js';

const cloudless = small.replace('settings: { target: emulator }\n', '');

test('of declarations: needs no target and no credentials, and leaves nothing', async () => {
  const home = folder({ 'trueup.yaml': cloudless });
  expect((await home.expect(0, ['graph'])).stdout).toBe(`flowchart LR
  n0["accounts.field-ops"]
  n1["alert_push_destinations.pager"]
  n2["alert_rules.wan-down"]
  n2 --> n0
  n2 --> n1
`);
  const { stdout } = await home.expect(0, ['graph', 'trueup.yaml', '--format', 'dot']);
  expect(stdout).toContain('  n2 -> n1;\n');
  home.write('trueup.yaml', cloudless.replace('accounts.field-ops.id', 'accounts.field.id'));
  const broken = await home.expect(1, ['graph']);
  expect(broken.stdout).toBe('');
  expect(broken.stderr).toContain('trueup.yaml:7:');
  expect(broken.stderr).toContain('accounts.field-ops');
});

test('of a saved plan: each object with its action', async () => {
  const home = folder({ 'trueup.yaml': small });
  await home.expect(0, ['apply', '--auto-approve']);
  home.write(
    'trueup.yaml',
    small.replace('Field operations', 'Field').replace(/alert_rules:[^]*$/, '') +
      '  second: { name: Second, enabled: true, endpoint: { url: https://b.example.com/x } }\n',
  );
  const files = ['--out', 'change.plan', '--report', 'json=plan.json'];
  await home.expect(0, ['plan', ...files, '--allow', 'all-removed']);
  const { stdout } = await home.expect(0, ['graph', '--plan', 'change.plan']);
  for (const label of [
    'update accounts.field-ops',
    'keep alert_push_destinations.pager',
    'create alert_push_destinations.second',
    'delete alert_rules.wan-down',
  ])
    expect(stdout).toContain(`["${label}"]\n`);
  expect((await home.expect(0, ['graph', '--plan', 'plan.json'])).stdout).toBe(stdout);
  const beside = await home.expect(1, ['graph', '--plan', 'change.plan', 'trueup.yaml']);
  expect(beside.stderr).toContain('A PATH cannot be used with --plan');
  expect((await home.expect(1, ['graph', '--plan', 'none.plan'])).stderr).toContain(
    'There is no file',
  );
});
