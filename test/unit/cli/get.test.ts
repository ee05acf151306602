// What `get` says of formats that only the access review has, and its tables on a terminal.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../../src/cli/commands/get.js';
import { commands } from '../../../src/cli/command-table.js';
import { formOf } from '../../../src/cli/record-formats.js';
import { alertPushDestinations } from '../../../src/resources/alert-push-destinations.js';
import { alertRules } from '../../../src/resources/alert-rules.js';
import { box } from '../../support/box.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

test.each(['markdown', 'html'])('-o %s of a kind names its formats, and access', async (format) => {
  const words = ['get', 'accounts', '-o', format];
  const { code, stderr } = await inProcess(run, words, { cwd: freshFolder(), env: {} });
  expect(code).toBe(1);
  expect(stderr).toContain(
    'Formats of accounts: table, wide, json, yaml, csv, ndjson. The access review: trueup get access -o '.concat(
      format,
    ),
  );
});

test('the help says which formats only access has', () => {
  const flags = commands.find(({ name }) => name === 'get')?.flags ?? [];
  expect(flags.find(({ spelling }) => spelling.includes('--output'))?.doc).toBe(
    'output format; markdown and html only of access',
  );
});

test('on a terminal of 80 columns, a rule is recognised by its label', async () => {
  const record = {
    alert_config_id: '94d89ac0-ea2c-11f1-bbb3-bf684fe56bc5',
    filter_criteria: { alert_type__in: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
    associated_accounts: ['3'],
    http_destinations: ['94d677e0-ea2c-11f1-bbb3-bf684fe56bc5'],
  };
  const found = [{ record, values: record }];
  const label = () => 'Customer north: ethernet_wan_disconnected';
  const form = await formOf('table', alertRules, found, { columns: 80, label });
  expect(form.some(found)).toContain(
    '94d89ac0-ea2c-11f1-bbb3-bf684fe56bc5  Customer north: ethernet_wan_disconnected',
  );
});

const ID = '94d89ac0-ea2c-11f1-bbb3-bf684fe56bc5';

test.each([
  ['account_authorizations', 'settings: { kinds: [users] }', 'dana@example.com on Acme'],
  ['account_authorizations', 'settings: {}', 'user 77 on Acme'],
  ['alert_rules', 'settings: {}', 'Acme: cpu_utilization → Pager'],
])('the label of %s has the names that the service shows, with %s', async (name, text, label) => {
  const service = await box({
    version: 1,
    root: '1',
    next_id: 10,
    records: {
      accounts: [{ id: '1', account: null, name: 'Acme' }],
      account_authorizations: [{ id: '90', user: '77', account: '1', role: 'administrator' }],
      alert_push_destinations: [{ destination_config_id: ID, name: 'Pager' }],
      alert_rules: [
        { alert_config_id: ID.replace('9', '8') },
        {
          alert_config_id: ID,
          associated_accounts: [1],
          filter_criteria: { alert_type__in: ['cpu_utilization'] },
          http_destinations: [ID],
        },
      ],
    },
    users: [{ id: '77', email: 'dana@example.com' }],
  });
  try {
    const cwd = freshFolder();
    writeFileSync(join(cwd, 'trueup.yaml'), text);
    const got = (...words: string[]) =>
      inProcess(run, ['get', name, ...words], { cwd, env: service.env });
    expect((await got()).stdout).toContain(label);
    let requests = 0;
    service.intercept = (_, proceed) => {
      requests += 1;
      return proceed();
    };
    await got('-o', 'json');
    expect(requests).toBe(1);
  } finally {
    await service.close();
  }
});

test('a label holds no secret, and has ids for what the service does not show', async () => {
  const secret = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEF';
  const service = await box({
    version: 1,
    root: '1',
    next_id: 10,
    records: {
      accounts: [{ id: '1', account: null, name: `pre ${secret}` }],
      account_authorizations: [{ id: '90', user: '77', account: '1', role: 'administrator' }],
      alert_rules: [{ alert_config_id: ID, associated_accounts: [1] }],
    },
    users: [{ id: '77', email: 'dana@example.com' }],
  });
  try {
    const cwd = freshFolder();
    writeFileSync(
      join(cwd, 'trueup.yaml'),
      'settings: { kinds: [users] }\nalert_push_destinations: { d: { name: D, authentication: { secret: "${secret.env.SEC}" } } }\n',
    );
    const env = { ...service.env, SEC: secret };
    const roles = () => inProcess(run, ['get', 'account_authorizations'], { cwd, env });
    expect((await roles()).stdout).toContain('dana@example.com on pre (sensitive)');
    // There, names are shortened.
    const rules = await inProcess(run, ['get', 'alert_rules'], { cwd, env });
    expect(rules.stdout).toContain('pre (sensitive): ');
    service.setFaults('status=403,path=users');
    const { code, stdout, stderr } = await roles();
    expect([code, stdout, stderr]).toEqual([
      0,
      expect.stringContaining('user 77 on pre (sensitive)'),
      expect.stringContaining('Labels may have ids for names: users cannot be read: GET'),
    ]);
  } finally {
    await service.close();
  }
});

const URL = 'https://hooks.example.com/pager';

test.each([
  [120, [`${ID}  On-call pager  true     ${URL}  false`], ''],
  [80, [`94d89ac0-ea…  On-call pager  true     ${URL}  false`], 'Some values are shortened.'],
  [60, ['94d89ac…  On-call pager  true     https://hooks.…  false'], 'Some values are shortened.'],
  [51, [`${ID}  On-call pager`], '3 columns are not shown here.'],
])('in %i columns, an id is shortened before a name if all columns fit', (columns, row, some) => {
  const said = some === '' ? '' : `${some} To see all: -o wide\n`;
  const values = {
    destination_config_id: ID,
    name: 'On-call pager',
    enabled: true,
    suspended: false,
  };
  const found = [{ record: {}, values: { ...values, endpoint: { url: URL } } }];
  return formOf('table', alertPushDestinations, found, { columns }).then((form) => {
    expect(form.some(found).split('\n').slice(1, -1)).toEqual(row);
    expect(form.shortened?.()).toBe(said);
  });
});
