// An account without a parent in its declaration: whose child it is follows from the listing. Where it does not, nothing
// is created, because an equal account may exist.
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/model/index.js';
import { declare } from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const cloudWith = (...accounts: readonly JsonObject[]): Rig =>
  rig({
    estate: {
      version: 1,
      root: '1',
      next_id: 1000,
      records: { accounts: [...accounts] },
      users: [],
    } as never,
  });
const account = (id: string, name: string, parent: Json): JsonObject => ({
  id,
  name,
  account: parent,
});
const project = desire(declare('accounts.field', { name: 'Field operations' }));

describe('an account that declares no parent', () => {
  it.each<[string, readonly JsonObject[]]>([
    [
      'the only one without a parent',
      [account('1', 'Root', null), account('10', 'Field operations', '1')],
    ],
    [
      'the only one whose parent is not listed',
      [account('1', 'Root', '99'), account('10', 'Field operations', '1')],
    ],
    ['its own parent', [account('1', 'Root', '1'), account('10', 'Field operations', '1')]],
  ])('is a child of the root, which is %s', async (_, accounts) => {
    const { plan, exit } = await cloudWith(...accounts).plan(project);
    expect([exit, plan.changes.map(({ action }) => action)]).toEqual([0, ['adopt']]);
  });

  it('is a child of the root, which is not listed, and the parent of all', async () => {
    const cloud = rig({
      estate: {
        version: 1,
        root: '1',
        next_id: 1000,
        records: {
          accounts: [
            account('1', 'Root', null),
            account('10', 'Field operations', '1'),
            account('11', 'Other', '1'),
            account('12', 'Below', '10'),
          ],
        },
        users: [],
      } as never,
      intercept: async ({ method, path }, proceed) => {
        const answer = await proceed();
        if (method !== 'GET' || !path.endsWith('/accounts/')) return answer;
        const body = JSON.parse(answer.body) as { readonly data: readonly JsonObject[] };
        return {
          ...answer,
          body: JSON.stringify({ ...body, data: body.data.filter(({ id }) => id !== '1') }),
        };
      },
    });
    const { plan, exit } = await cloud.plan(project);
    expect([exit, plan.changes.map(({ action }) => action)]).toEqual([0, ['adopt']]);
  });

  it.each<[string, readonly JsonObject[]]>([
    [
      'a parent that is not listed yet',
      [
        account('1', 'Root', null),
        account('10', 'Field operations', '1'),
        account('12', 'Below', '11'),
      ],
    ],
    [
      'two roots',
      [
        account('1', 'Root', null),
        account('2', 'Other root', null),
        account('10', 'Field operations', '1'),
      ],
    ],
    [
      'parents in a circle',
      [account('1', 'A', '2'), account('2', 'B', '1'), account('10', 'Field operations', '1')],
    ],
  ])('is not created beside %s', async (_, accounts) => {
    const cloud = cloudWith(...accounts);
    const { plan, exit } = await cloud.plan(project);
    expect([exit, plan.diagnostics.map(({ code, severity }) => [code, severity])]).toEqual([
      1,
      [['unknown-parent', 'error']],
    ]);
    expect(plan.diagnostics[0]?.detail).toContain('Declare `account`');
    await expect(cloud.apply(project)).resolves.toMatchObject({ exit: 1 });
    expect(cloud.mutations()).toEqual([]);
  });

  it('is created where the declaration names the parent, or allows a duplicate', async () => {
    const accounts = [account('1', 'Root', null), account('2', 'Other root', null)];
    expect(
      (
        await cloudWith(...accounts).plan(
          desire(declare('accounts.a', { name: 'A', account: '2' })),
        )
      ).plan.changes.map(({ action }) => action),
    ).toEqual(['create']);
    expect(
      (
        await cloudWith(...accounts).plan(
          desire(declare('accounts.a', { name: 'A' }, { allow_duplicate: true })),
        )
      ).plan.changes.map(({ action }) => action),
    ).toEqual(['create']);
  });
});
