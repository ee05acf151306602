// Which plans read a collection of several pages again, and how: those that write something which rests on what the first
// reading lacks. Others cost one reading.
import { expect, it } from 'vitest';
import { Reference, type Declaration, type Lookup, type Values } from '../../../src/model/index.js';
import { declare } from '../../support/planning.js';
import { desire, rig } from '../../support/rig.js';

const records = {
  accounts: [
    { id: '1', name: 'Headquarters', account: null },
    ...Array.from({ length: 500 }, (_, index) => ({
      id: String(index + 10),
      name: `Site ${index}`,
      account: '1',
      is_disabled: index === 5,
    })),
  ],
};
const lookup = (name: string, where: Values): Lookup => ({
  name,
  kind: 'accounts',
  where,
  origin: { file: 'a.yaml', line: 1, column: 1 },
});
const account = (values: Values, lifecycle = {}): Declaration =>
  declare('accounts.a', values, lifecycle);
const rule = (...accounts: readonly Reference[]): Declaration =>
  declare('alert_rules.r', {
    associated_accounts: accounts,
    filter_criteria: { alert_type__in: ['login_success'] },
  });
const found = (name: string): Reference => new Reference('lookup', name, 'id');
const byName = [lookup('site', { name: 'Site 3' })];
const FIRST = ['', 'offset=500'];

interface Row {
  readonly title: string;
  readonly declared: readonly Declaration[];
  readonly lookups?: readonly Lookup[];
  /** Applied before. */
  readonly before?: readonly Declaration[];
  readonly again: readonly string[];
}

it.each<Row>([
  { title: 'a create', declared: [account({ name: 'New' })], again: [...FIRST, 'name=New'] },
  {
    title: 'an adoption by identity that writes',
    declared: [account({ name: 'Site 3', is_disabled: true })],
    again: ['name=Site+3'],
  },
  {
    title: 'an adoption by identity that writes nothing',
    declared: [account({ name: 'Site 3' })],
    again: [],
  },
  {
    title: 'an adoption by id that writes',
    declared: [account({ name: 'Site 3', is_disabled: true }, { adopt: '13' })],
    again: [],
  },
  {
    title: 'a lookup that is written',
    declared: [rule(found('site'))],
    lookups: byName,
    again: ['name=Site+3'],
  },
  {
    title: 'a lookup by more than the filter knows',
    declared: [rule(found('site'))],
    lookups: [lookup('site', { is_disabled: true })],
    again: FIRST,
  },
  {
    title: 'a lookup that finds what another lookup looks for',
    declared: [rule(found('child'))],
    lookups: [
      ...byName,
      lookup('child', { name: 'Site 4', account: new Reference('lookup', 'site', 'account') }),
    ],
    again: ['name=Site+3', 'name=Site+4'],
  },
  {
    title: 'a lookup that is written by way of a declaration',
    declared: [
      account({ name: 'Site 4', account: new Reference('lookup', 'site', 'account') }),
      rule(new Reference('declared', 'accounts.a', 'account')),
    ],
    lookups: byName,
    again: ['name=Site+3'],
  },
  {
    title: 'a lookup by id',
    declared: [rule(found('site'))],
    lookups: [lookup('site', { id: '13' })],
    again: [],
  },
  {
    title: 'a lookup that nothing uses',
    declared: [rule()],
    lookups: byName,
    again: [],
  },
  {
    title: 'a lookup of what is as declared',
    declared: [rule(found('site'))],
    before: [rule(found('site'))],
    lookups: byName,
    again: [],
  },
])('$title', async ({ declared, before = [], lookups = [], again }) => {
  const asked: string[] = [];
  const cloud = rig({
    estate: { version: 1, root: '1', next_id: 5000, records, users: [] } as never,
  });
  const { fetch } = cloud.emulator;
  Object.assign(cloud.emulator, {
    fetch(request: Request) {
      const { pathname, search } = new URL(request.url);
      if (request.method === 'GET' && pathname.endsWith('/accounts/')) asked.push(search);
      return fetch(request);
    },
  });
  if (before.length > 0) await cloud.apply({ ...desire(...before), lookups });
  asked.splice(0);
  await cloud.plan({ ...desire(...declared), lookups });
  const plain = asked
    .map((search) => search.slice(1).replace(/&?limit=500&?/, ''))
    // A guess at a third page, which is sent ahead.
    .filter((search) => search !== 'offset=1000');
  expect(plain.toSorted()).toEqual([...FIRST, ...again].toSorted());
});

it('reads nothing again to destroy what was declared with a lookup', async () => {
  const cloud = rig({ estate: { version: 1, root: '1', records } });
  const project = { ...desire(rule(found('site'))), lookups: byName };
  expect((await cloud.apply(project)).exit).toBe(0);
  const { exit, plan } = await cloud.plan(project, { destroy: true });
  expect([exit, plan.changes.map(({ action }) => action)]).toEqual([2, ['delete']]);
});
