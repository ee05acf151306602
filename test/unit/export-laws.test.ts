// The law of an export: over whatever is live, the plan of what it writes adopts everything and writes nothing.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportRequest, exportSelection } from '../../src/cli/export-selection.js';
import { exportedTexts } from '../../src/cli/export-texts.js';
import type { Flags } from '../../src/cli/command-table.js';
import { lint } from '../../src/declarations/index.js';
import type { Estate } from '../../src/emulator/index.js';
import { maskingOf, type Diagnostic } from '../../src/model/index.js';
import { kinds } from '../../src/resources/index.js';
import { drawn } from '../support/drawn.js';
import { rig } from '../support/rig.js';
import { shown, loading } from './declarations/project.js';

const uuid = (kind: number, index: number): string =>
  `${String(index).padStart(8, '0')}-97c4-11f0-8a5${kind}-3d2c9b7f6e10`;

/** Accounts in a tree, and objects of every kind that name a few of them, so that many are alike. */
const services: fc.Arbitrary<Estate> = fc
  .record({
    accounts: fc.array(
      fc.record({
        name: fc.oneof(fc.constantFrom('Acme', 'ACME', 'nul', 'a/b', '${x}', '&amp;'), fc.string()),
        above: fc.nat(),
        is_disabled: fc.boolean(),
      }),
      { minLength: 1, maxLength: 8 },
    ),
    destinations: fc.array(fc.boolean(), { maxLength: 3 }),
    rules: fc.array(
      fc.record({
        scope: fc.uniqueArray(fc.nat(8), { maxLength: 2 }),
        groups: fc.constantFrom<readonly number[]>([], [], [7]),
        type: fc.constantFrom('cpu_utilization', 'memory_utilization'),
        hook: fc.nat(3),
        schedule: fc.constantFrom(null, null, 'daily'),
      }),
      { maxLength: 14 },
    ),
    roles: fc.uniqueArray(
      fc.record({
        user: fc.constantFrom('71', '72', '73'),
        account: fc.nat(8),
        role: fc.constantFrom('administrator', 'full_access_user'),
      }),
      { maxLength: 8, selector: ({ user, account }) => `${user} ${account}` },
    ),
    routers: fc.array(fc.tuple(fc.nat(8), fc.constantFrom(1400, 1500)), { maxLength: 6 }),
  })
  .map(({ accounts, destinations, rules, roles, routers }) => {
    const ids = ['1', ...accounts.map((_, index) => `${index + 2}`)];
    const idAt = (index: number): string => ids[index % ids.length]!;
    const hooks = destinations.map((_, index) => uuid(1, index));
    const pairs = new Map(roles.map((one) => [`${one.user} ${idAt(one.account)}`, one]));
    return {
      version: 1,
      root: '1',
      next_id: 500,
      records: {
        accounts: [
          { id: '1', account: null, name: 'Headquarters' },
          ...accounts.map(({ name, above, is_disabled }, index) => ({
            id: ids[index + 1]!,
            account: ids[above % (index + 1)]!,
            name: `${name} `.trimEnd() === '' ? `Account ${index}` : `${name.trim()} ${index % 3}`,
            is_disabled,
          })),
        ],
        alert_push_destinations: destinations.map((enabled, index) => ({
          destination_config_id: hooks[index]!,
          name: `Hook ${index}`,
          enabled,
          endpoint: { url: 'https://hooks.example.com/a' },
        })),
        alert_rules: rules.map(({ scope, groups, type, hook, schedule }, index) => ({
          alert_config_id: uuid(2, index),
          associated_accounts: [...new Set(scope.map((one) => Number(idAt(one))))],
          associated_groups: [...groups],
          filter_criteria: { alert_type__in: [type] },
          http_destinations: hooks.slice(hook % 2, hook),
          schedule,
        })),
        account_authorizations: [...pairs.values()].map(({ user, account, role }, index) => ({
          id: `${9001 + index}`,
          user,
          account: idAt(account),
          role,
        })),
        configuration_managers: routers.map(([account, mtu], index) => ({
          id: `${6001 + index}`,
          router: `${5001 + index}`,
          account: idAt(account),
          version_number: 1,
          configuration: [{ lan: { mtu }, users: { admin: { password: '*' } } }, []],
        })),
      },
      users: ['71', '72', '73'].map((id) => ({ id, email: `u${id}@example.com` })),
    };
  });

async function planned(estate: Estate, flags: Flags, names: readonly string[] = []) {
  const service = rig({ estate });
  const told: Diagnostic[] = [];
  const context = {
    kinds,
    flags: { format: 'yaml', ...flags },
    masking: maskingOf(),
    tell: async (some: readonly Diagnostic[]) => void told.push(...some),
  };
  const cloud = service.connect(new AbortController().signal);
  const selection = await exportSelection(
    context,
    { cloud, snapshot: undefined },
    exportRequest(context, names),
  );
  const texts = await exportedTexts(context, selection);
  const { project, diagnostics } = await loading(Object.fromEntries(texts));
  const found = project ? [...diagnostics, ...lint(project, kinds)] : diagnostics;
  const errors = found.filter(({ severity }) => severity === 'error').map(shown);
  expect(errors, [...texts.values()].join('\n')).toEqual([]);
  const document = service.document(await service.plan(project!));
  return { texts, told, selection, document, project: project! };
}

describe('the plan of an export', () => {
  it.each<[string, Flags]>([
    ['in one file a kind', {}],
    ['split by customers', { split: 'account' }],
  ])('adopts everything and writes nothing, %s', async (_, flags) => {
    await fc.assert(
      fc.asyncProperty(services, async (estate) => {
        const { document, texts } = await planned(estate, flags);
        const count = Object.values(estate.records).flat().length;
        expect(document.summary, [...texts.values()].join('\n')).toMatchObject({
          adopt: count,
          create: 0,
          update: 0,
          delete: 0,
          writes: { create: 0, update: 0, delete: 0 },
        });
        expect(document.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      }),
      { numRuns: drawn(60) },
    );
  });

  it('of one account writes nothing, and everything is exported once by the accounts side by side', async () => {
    await fc.assert(
      fc.asyncProperty(services, async (estate) => {
        const all = estate.records['accounts']!;
        const tops = all.flatMap(({ id, account }) => (account === '1' ? [String(id)] : []));
        const seen = new Set<string>();
        for (const account of tops) {
          const { document, project, selection } = await planned(estate, { account });
          expect(document.summary).toMatchObject({ writes: { create: 0, update: 0, delete: 0 } });
          for (const objects of selection.chosen.values())
            for (const { accounts } of objects)
              expect(accounts.every((id) => selection.tree.isWithin(account, id))).toBe(true);
          for (const { kind, lifecycle } of project.declarations) {
            const key = `${kind} ${lifecycle.adopt}`;
            expect(seen.has(key)).toBe(false);
            seen.add(key);
          }
        }
        for (const { id } of all) expect(seen.has(`accounts ${String(id)}`)).toBe(id !== '1');
      }),
      { numRuns: drawn(40) },
    );
  });
});
