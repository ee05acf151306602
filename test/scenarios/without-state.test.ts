// A job without a state, limits, and objects that another hand put in place of ours. Each through the command and real
// sockets.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Estate } from '../../src/emulator/index.js';
import type { DriftDocument, PlanDocument } from '../../src/model/index.js';
import { box, type Box } from '../support/box.js';
import { folder, type Folder } from '../support/cli.js';

const boxes: Box[] = [];
afterEach(async () => {
  for (const one of boxes.splice(0)) await one.close();
});

type There = Box & { readonly there: { readonly env: Readonly<Record<string, string>> } };

async function cloud(records: Estate['records'] = {}): Promise<There> {
  const one = await box({
    version: 1,
    root: '1',
    records: { accounts: [{ id: '1', name: 'Headquarters', account: null }], ...records },
  });
  boxes.push(one);
  return Object.assign(one, {
    there: { env: { ...one.env, TRUEUP_SETTLE_SECONDS: '1', PAGER_SECRET: 'canary' } },
  });
}

const APPLY = ['apply', '--auto-approve'] as const;
const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) as string;
const forget = (home: Folder): void => rmSync(join(home.path, '.trueup'), { recursive: true });
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

async function planned(
  home: Folder,
  one: There,
  code: number,
  ...words: readonly string[]
): Promise<PlanDocument> {
  return JSON.parse(
    (await home.expect(code, ['plan', '--format', 'json', ...words], one.there)).stdout,
  ) as PlanDocument;
}

describe('a run without a state', () => {
  const accounts = (extra = ''): string =>
    `accounts:\n${Array.from({ length: 40 }, (_, index) => `  a${index}: { name: Site ${index}, account: "1"${extra} }`).join('\n')}\n`;

  test('changes nothing that it adopts, unless that is allowed', async () => {
    const one = await cloud();
    const home = folder({ 'trueup.yaml': accounts() });
    await home.expect(0, APPLY, one.there);
    forget(home);
    home.write('trueup.yaml', accounts(', is_disabled: true'));
    const before = one.writes().length;
    const blocked = await home.expect(3, ['plan'], one.there);
    expect(flat(blocked.stdout)).toContain('40 to adopt (40 with changes), 0 to update');
    expect(flat(blocked.stdout)).toContain(
      'BLOCKED first-run: there is no state, and 40 of 40 adopted objects would be changed',
    );
    expect(flat(blocked.stdout)).toMatch(
      /BLOCKED by max-changed, first-run\. To allow them: --allow max-changed --allow first-run $/,
    );
    const { summary } = await planned(home, one, 3);
    expect(summary).toMatchObject({
      create: 0,
      update: 0,
      adopt: 40,
      writes: { create: 0, update: 40, delete: 0 },
    });
    await home.expect(3, APPLY, one.there);
    expect(one.writes()).toHaveLength(before);
    await home.expect(0, [...APPLY, '--allow', 'max-changed', '--allow', 'first-run'], one.there);
    expect(one.objects('accounts').filter(({ is_disabled }) => is_disabled === true)).toHaveLength(
      40,
    );
  });

  test('counts what other files declare, with the objects that they refer to, where a PATH leaves them out', async () => {
    const one = await cloud();
    const rules = Array.from(
      { length: 28 },
      (_, index) =>
        `  r${index}: { associated_accounts: ["\${accounts.a${index % 12}.id}"], filter_criteria: { alert_type__in: [cpu_utilization] }, schedule: daily, associated_groups: [${index + 1}] }`,
    );
    const sites = (from: number, count: number, extra = ''): string =>
      `accounts:\n${Array.from({ length: count }, (_, index) => `  a${from + index}: { name: Site ${from + index}, account: "1"${extra} }`).join('\n')}\n`;
    const home = folder({
      'first.yaml': sites(0, 10),
      'sub/rules.yaml': `alert_rules:\n${rules.join('\n')}\n`,
      'sub/sites.yaml': sites(10, 2),
    });
    await home.expect(0, APPLY, one.there);
    forget(home);
    home.write('first.yaml', sites(0, 10, ', is_disabled: true'));
    const allowed = ['plan', 'first.yaml', '--allow', 'first-run'];
    await home.expect(0, allowed, one.there);
    home.write('sub/rules.yaml', `alert_rules:\n${rules.slice(0, 20).join('\n')}\n`);
    expect(flat((await home.expect(3, allowed, one.there)).stdout)).toContain(
      'BLOCKED max-changed: 10 of 32 objects to update or delete',
    );
    home.write('sub/rules.yaml', 'alert_rules: [');
    expect(flat((await home.expect(3, allowed, one.there)).stdout)).toContain(
      'BLOCKED max-changed: 10 of 10 objects to update or delete',
    );
  });

  test('changes what lifecycle.adopt names, and nothing beside it', async () => {
    const one = await cloud({
      accounts: [
        { id: '1', name: 'Headquarters', account: null },
        { id: '5', name: 'Depot', account: '1' },
      ],
    });
    const home = folder({
      'trueup.yaml': 'accounts:\n  depot: { name: Renamed, lifecycle: { adopt: "5" } }\n',
    });
    await home.expect(0, APPLY, one.there);
    expect(one.objects('accounts')[1]).toMatchObject({ name: 'Renamed' });
  });

  test('creates no rule beside one that nearly equals it', async () => {
    const types = (index: number, more = ''): string =>
      `  r${index}: { associated_accounts: ["1"], filter_criteria: { alert_type__in: [type_${index}, other_${index}${more}] } }`;
    const rules = (more = ''): string =>
      `alert_rules:\n${Array.from({ length: 40 }, (_, index) => types(index, more)).join('\n')}\n`;
    const one = await cloud();
    const home = folder({ 'trueup.yaml': rules() });
    await home.expect(0, APPLY, one.there);
    forget(home);
    home.write('trueup.yaml', rules(', added'));
    const { stdout } = await home.expect(3, ['plan'], one.there);
    const [first] = one.objects('alert_rules');
    expect(flat(stdout)).toContain(
      `alert_rules.r0 is a possible duplicate of the unmanaged alert rule ${String(first?.['alert_config_id'])} (account 1: other_0 and 1 more → nobody; differs in filter_criteria); if both are the same object, import it: \`trueup import alert_rules.r0`,
    );
    expect(stdout.match(/BLOCKED possible-duplicate/g)).toHaveLength(3);
    expect(stdout).toContain('and 37 more by possible-duplicate. All of them: --verbose');
    const { stdout: whole } = await home.expect(3, ['plan', '--verbose'], one.there);
    expect(whole.match(/BLOCKED possible-duplicate/g)).toHaveLength(40);
    expect(lastLine(stdout)).toBe(
      'BLOCKED by possible-duplicate. To allow it: --allow possible-duplicate',
    );
    await home.expect(
      0,
      ['import', 'alert_rules.r0', String(first?.['alert_config_id'])],
      one.there,
    );
    const after = await planned(home, one, 3);
    expect(after.policy.filter(({ rule }) => rule === 'possible-duplicate')).toHaveLength(39);
    expect(one.objects('alert_rules')).toHaveLength(40);
  });

  test('creates no rule beside its own, in which somebody set what nobody declares', async () => {
    const one = await cloud();
    const home = folder({
      'trueup.yaml':
        'alert_rules:\n  r: { associated_accounts: ["1"], filter_criteria: { alert_type__in: [login_success] } }\n',
    });
    const set = (more: object): void =>
      one.tamper('alert_rules', (all) => all.map((record) => ({ ...record, ...more })));
    await home.expect(0, APPLY, one.there);
    for (const [more, shown] of [
      [{ schedule: 'daily' }, 'schedule "daily"'],
      [{ schedule: null, associated_groups: [5] }, 'associated_groups ["5"]'],
    ] as const) {
      set(more);
      await home.expect(0, ['plan', '--detailed-exitcode'], one.there);
      forget(home);
      const { stdout } = await home.expect(3, APPLY, one.there);
      expect(flat(stdout)).toContain(
        `; no declared attribute differs; live, but not declared: ${shown})`,
      );
      const id = String(one.objects('alert_rules')[0]?.['alert_config_id']);
      await home.expect(0, ['import', 'alert_rules.r', id], one.there);
    }
    set({ schedule: '', associated_groups: [] });
    forget(home);
    await home.expect(0, APPLY, one.there);
    expect(one.objects('alert_rules')).toHaveLength(1);
  });

  test('claims nothing that it cannot know', async () => {
    const one = await cloud();
    const home = folder({
      'trueup.yaml':
        'accounts:\n  a: { name: A }\nalert_push_destinations:\n  pager: { name: Pager, endpoint: { url: https://hooks.example.com/a }, authentication: { secret: "${secret.env.PAGER_SECRET}" } }\n  other: { name: Other, endpoint: { url: https://hooks.example.com/b } }\n',
    });
    await home.expect(0, APPLY, one.there);
    forget(home);
    one.tamper('alert_push_destinations', (all) =>
      all.map((record) =>
        record['name'] === 'Other'
          ? { ...record, endpoint: { url: 'https://hooks.example.com/c' } }
          : record,
      ),
    );
    one.tamper('accounts', (all) => all.filter(({ name }) => name !== 'A'));
    const { stdout } = await home.expect(2, ['drift', '--detailed-exitcode'], one.there);
    expect(stdout).toContain('declared, but no live object exists');
    expect(stdout).not.toMatch(/never made|last applied|secret/);
    const document = JSON.parse(
      (await home.expect(0, ['drift', '--format', 'json'], one.there)).stdout,
    ) as DriftDocument;
    expect(
      document.drift.map(({ address, status, changes }) => [
        address,
        status,
        changes.map(({ path }) => path),
      ]),
    ).toEqual([
      ['accounts.a', 'missing', []],
      ['alert_push_destinations.other', 'changed', ['endpoint.url']],
    ]);
    expect(JSON.stringify(document.drift)).not.toContain('"applied"');
  });

  test('a state that cannot be read is no first run', async () => {
    const one = await cloud();
    const home = folder({ 'trueup.yaml': 'accounts:\n  a: { name: A }\n' });
    await home.expect(0, APPLY, one.there);
    home.write('.trueup/state.json', home.read('.trueup/state.json').slice(0, -10));
    expect((await home.expect(1, ['plan'], one.there)).stderr).toContain('is damaged');
  });
});

describe('limits', () => {
  test('count each object once in 24 hours, adopted ones too, over all that the project declares', async () => {
    const accounts = Array.from({ length: 12 }, (_, index) => ({
      id: String(index + 10),
      name: `Site ${index}`,
      account: '1',
    }));
    const one = await cloud({
      accounts: [{ id: '1', name: 'Headquarters', account: null }, ...accounts],
    });
    const declared = (changed: number, name: string): string =>
      `accounts:\n${accounts.map(({ id }, index) => `  a${index}: { name: ${index < changed ? name : 'Site'} ${index}, lifecycle: { adopt: "${id}" } }`).join('\n')}\n`;
    const home = folder({ 'trueup.yaml': declared(3, 'New') });
    await home.expect(0, APPLY, one.there);
    // The same three again: still three of twelve.
    home.write('trueup.yaml', declared(3, 'Newer'));
    await home.expect(0, APPLY, one.there);
    home.write('trueup.yaml', declared(4, 'Newest'));
    expect((await home.expect(3, ['plan'], one.there)).stdout).toContain('BLOCKED max-changed');
    // A target narrows the plan, and not what the limit is of.
    expect((await home.expect(3, ['plan', '--target', 'accounts.a3'], one.there)).stdout).toContain(
      'BLOCKED max-changed',
    );
  });
});

describe('an object that another hand put in place of ours', () => {
  const text =
    'alert_push_destinations:\n  pager: { name: Pager, endpoint: { url: https://hooks.example.com/a }, authentication: { secret: "${secret.env.PAGER_SECRET}" } }\n';
  const other = '99999999-aa9b-11f0-9b22-116adc8ab9a4';

  async function swapped(): Promise<{
    readonly one: There;
    readonly home: Folder;
    readonly id: string;
  }> {
    const one = await cloud();
    const home = folder({ 'trueup.yaml': text });
    await home.expect(0, APPLY, one.there);
    const id = String(one.objects('alert_push_destinations')[0]?.['destination_config_id']);
    one.tamper('alert_push_destinations', (all) =>
      all.map((record) => ({ ...record, destination_config_id: other })),
    );
    return { one, home, id };
  }

  test('is reported by plan and drift alike, with both ids', async () => {
    const { one, home, id } = await swapped();
    const plan = await planned(home, one, 2, '--detailed-exitcode');
    const [change] = plan.resource_changes;
    expect(change).toMatchObject({
      address: 'alert_push_destinations.pager',
      reason: 'replaced-outside',
      previous_id: id,
      change: { importing: { id: other } },
    });
    expect(plan.resource_drift).toMatchObject([
      { address: 'alert_push_destinations.pager', id, actions: ['delete'], replaced_by: other },
    ]);
    const drift = JSON.parse(
      (await home.expect(2, ['drift', '--detailed-exitcode', '--format', 'json'], one.there))
        .stdout,
    ) as DriftDocument;
    expect(drift.drift).toMatchObject([
      {
        address: 'alert_push_destinations.pager',
        status: 'replaced',
        reason: 'replaced-outside',
        previous_id: id,
        importing: { id: other },
      },
    ]);
    expect(
      flat((await home.expect(2, ['drift', '--detailed-exitcode'], one.there)).stderr),
    ).toContain('its secret may not be the declared one');
    expect(
      flat((await home.expect(2, ['plan', '--detailed-exitcode'], one.there)).stdout),
    ).toContain(`replaced outside of trueup; it was ${id}`);
  });

  test('is recorded by apply, and gets our secret', async () => {
    const { one, home } = await swapped();
    await home.expect(0, APPLY, one.there);
    expect(home.read('.trueup/state.json')).toContain(other);
    expect(one.writes().at(-1)).toBe(`PATCH /api/v2/alert_push_destinations/${other}/`);
    await home.expect(0, ['plan', '--detailed-exitcode'], one.there);
    await home.expect(0, ['drift', '--detailed-exitcode'], one.there);
  });
});
