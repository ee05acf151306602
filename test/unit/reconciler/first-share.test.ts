// The limits are a share of everything that the project declares and the service holds, also of kinds that a target leaves
// out of the plan.
import { describe, expect, it } from 'vitest';
import type { Estate } from '../../../src/emulator/index.js';
import { Reference, type Declaration } from '../../../src/model/index.js';
import { declare } from '../../support/planning.js';
import { desire, rig, type RunOptions } from '../../support/rig.js';

const indexes = [...Array(9).keys()];
const accounts = indexes.map((index) =>
  declare(
    `accounts.a${index}`,
    { name: `Site ${index}`, is_disabled: true },
    { adopt: String(index + 10) },
  ),
);
const destinations = indexes
  .slice(0, 5)
  .map((index) => declare(`alert_push_destinations.d${index}`, { name: `D${index}` }));

const estateOf = (count: number): Estate =>
  ({
    version: 1,
    root: '1',
    next_id: 1000,
    records: {
      accounts: [
        { id: '1', name: 'Root', account: null },
        ...indexes.slice(0, count).map((index) => ({
          id: String(index + 10),
          name: `Site ${index}`,
          account: '1',
        })),
      ],
      alert_push_destinations: indexes.slice(0, 5).map((index) => ({
        destination_config_id: `0000000${index}-d000-11f0-8000-0242ac120002`,
        name: `D${index}`,
        enabled: true,
        endpoint: { url: 'https://d.example.com' },
      })),
    },
    users: [],
  }) as never;

it('counts kinds that no target names', async () => {
  const cloud = rig({ estate: estateOf(9) });
  const project = desire(...accounts, ...destinations);
  const detail = async (targets: readonly string[]): Promise<readonly (string | undefined)[]> =>
    (await cloud.plan(project, { targets })).plan.verdicts.flatMap(({ rule, verdict, detail }) =>
      rule === 'max-changed' && verdict === 'blocked' ? [detail] : [],
    );
  const whole = await detail([]);
  expect(whole).toEqual([expect.stringContaining('9 of 14 objects')]);
  expect(await detail(accounts.map(({ address }) => address))).toEqual(whole);
});

it('counts them beside a state, too, and reads them for an update alone', async () => {
  const asked = new Set<string>();
  const cloud = rig({
    estate: estateOf(8),
    intercept: ({ method, path }, proceed) => {
      if (method === 'GET') asked.add(path);
      return proceed();
    },
  });
  const one = declare('alert_push_destinations.new', { name: 'New' });
  await cloud.apply(desire(one));
  const some = accounts.slice(0, 8);
  const project = desire(one, ...some, ...destinations);
  const plan = async (targets: readonly string[]): Promise<readonly string[]> => {
    asked.clear();
    const { plan } = await cloud.plan(project, { targets });
    return plan.verdicts.flatMap(({ rule }) => (rule === 'max-changed' ? [rule] : []));
  };
  expect(await plan([])).toEqual(['max-changed']);
  expect(await plan(some.map(({ address }) => address))).toEqual(['max-changed']);
  expect([...asked]).toContain('/api/v2/alert_push_destinations/');
  expect(await plan([one.address])).toEqual([]);
  expect([...asked]).toEqual(['/api/v2/alert_push_destinations/']);
});

describe('a kind that only the limits need', () => {
  const dana = declare('account_authorizations.dana', {
    user: '77',
    account: '1',
    role: 'full_access_user',
  });
  /** A service whose v3 answers so, and whose requests are counted. */
  const refusing = (status: number) => {
    const asked = new Set<string>();
    const cloud = rig({
      estate: estateOf(9),
      intercept: async ({ method, path }, proceed) => {
        if (method === 'GET') asked.add(path);
        return path.includes('authorizations') ? { status, headers: {}, body: '' } : proceed();
      },
    });
    return { cloud, asked };
  };
  const some = accounts.slice(0, 2);
  const targets = some.map(({ address }) => address);
  const planned = async (
    { cloud }: ReturnType<typeof refusing>,
    others: readonly Declaration[],
    options: RunOptions = {},
  ) => {
    const { plan, exit } = await cloud.plan(desire(...some, ...others), { targets, ...options });
    return [exit, plan.diagnostics.map(({ severity, code }) => `${severity} ${code}`)];
  };

  it.each([403, 500])('is left out, aloud, where it answers %i', async (status) => {
    expect(await planned(refusing(status), [dana])).toEqual([2, ['warning policy-unread']]);
  });

  it('lifts no limit by that', async () => {
    const seven = indexes
      .slice(0, 8)
      .map((index) => ({ ...dana, address: `${dana.address}${index}` }));
    const service = refusing(403);
    expect(await planned(service, seven.slice(0, 7))).toEqual([2, ['warning policy-unread']]);
    expect(await planned(service, seven)).toEqual([3, ['warning policy-unread']]);
  });

  it('is not read where the limit is allowed, or the state counts what is left out', async () => {
    const service = refusing(403);
    expect(await planned(service, [dana], { allow: ['max-changed'] })).toEqual([2, []]);
    const { cloud, asked } = service;
    await cloud.apply(desire(...destinations.slice(0, 1)));
    asked.clear();
    expect(await planned(service, destinations.slice(0, 1))).toEqual([2, []]);
    expect([...asked]).toEqual(['/api/v2/accounts/']);
  });

  it('is an error where a rule needs it, too', async () => {
    const moved = declare('accounts.a0', { name: 'Site 0', account: '11' }, { adopt: '10' });
    const { cloud } = refusing(403);
    await expect(cloud.plan(desire(moved, dana), { targets: [moved.address] })).rejects.toThrow(
      'account_authorizations',
    );
  });
});

it('counts what other files declare, and what refers to another object that is left out', async () => {
  const { records, ...rest } = estateOf(9);
  const parts = (index: number) => ({
    associated_groups: [String(index + 1)],
    filter_criteria: { alert_type__in: ['cpu_utilization'] },
  });
  const live = indexes.map((index) => ({
    alert_config_id: `0000000${index}-a000-11f0-8000-0242ac120002`,
    associated_accounts: ['30'],
    ...parts(index),
  }));
  const account = { id: '30', name: 'Other', account: '1' };
  const cloud = rig({
    estate: {
      ...rest,
      records: {
        ...records,
        accounts: [...(records['accounts'] ?? []), account],
        alert_rules: live,
      },
    },
  });
  const rules = indexes.map((index) =>
    declare(`alert_rules.r${index}`, {
      associated_accounts: [new Reference('declared', 'accounts.z', 'id')],
      ...parts(index),
    }),
  );
  const other = declare('accounts.z', { name: 'Other', account: '1' });
  const project = { ...desire(...accounts), outside_paths: [...rules, other] };
  const { plan } = await cloud.plan(project, {});
  expect(plan.verdicts.find(({ rule }) => rule === 'max-changed')?.detail).toContain(
    '9 of 19 objects',
  );
});

it('takes no declaration that PATHs leave out for a second one of the same object', async () => {
  const cloud = rig({ estate: estateOf(1) });
  const forms = ['a', 'b'].map((name) =>
    declare(`accounts.${name}`, { name: 'Site 0', account: '1', is_disabled: false }),
  );
  const project = { ...desire(...forms.slice(0, 1)), outside_paths: forms.slice(1) };
  const { exit, plan } = await cloud.plan(project, {});
  expect([exit, plan.diagnostics, plan.changes.map(({ action }) => action)]).toEqual([
    0,
    [],
    ['adopt'],
  ]);
});

describe('a kind beyond the reference that a rule needs', () => {
  const planned = async (status: number) => {
    let isRefused = false;
    const cloud = rig({
      intercept: async ({ method, path }, proceed) =>
        isRefused && method === 'GET' && path.includes('groups')
          ? { status, headers: {}, body: '' }
          : proceed(),
    });
    const old = declare('accounts.old', { name: 'Old' });
    const group = declare('groups.g', {
      name: 'G',
      account: new Reference('declared', 'accounts.keep', 'id'),
    });
    const kept = [declare('accounts.keep', { name: 'Keep' }), group];
    await cloud.apply(desire(old, ...kept));
    isRefused = true;
    return cloud.plan(desire(...kept), { targets: ['accounts.old'] });
  };

  it.each([401, 403, 404])('is left out, aloud, where it answers %i', async (status) => {
    const { plan, exit } = await planned(status);
    expect([exit, plan.diagnostics.map(({ code, summary }) => [code, summary])]).toEqual([
      2,
      [
        ['policy-unread', expect.stringContaining('groups were not checked')],
        ['not-read', expect.stringContaining('because routers were not read')],
      ],
    ]);
  });

  it.each([400, 405, 409, 423, 429, 500, 503])('is an error where it answers %i', (status) =>
    expect(planned(status)).rejects.toThrow('groups'),
  );
});
