// The audit as a person meets it: another key changes and deletes behind our back, and the report names it.
import { describe, expect, test } from 'vitest';
import { existsSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { dummyCredentials } from '../../src/emulator/index.js';
import type { DriftDocument } from '../../src/model/index.js';
import { emulator, folder, type Folder } from '../support/cli.js';

const yaml = `accounts:
  north: { name: North }
  south: { name: South }
alert_push_destinations:
  pager: { name: On-call pager, enabled: true, endpoint: { url: https://hooks.example.com/alerts } }
alert_rules:
  down: { associated_accounts: ["\${accounts.north.id}"], http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"] }
`;

type Env = Readonly<Record<string, string>>;

async function hand(env: Env, method: string, path: string, body?: unknown): Promise<void> {
  const headers = { ...dummyCredentials.v2[1], 'content-type': 'application/json' };
  const answer = await fetch(`${env['TRUEUP_V2_URL']}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect([method, path, answer.ok]).toEqual([method, path, true]);
}

/** Everything applied, then renamed, deleted, switched off and made by another key. */
async function meddled(home: Folder, env: Env): Promise<void> {
  await home.expect(0, ['apply', '--auto-approve'], { env });
  const { resources } = JSON.parse(home.read('.trueup/state.json')) as {
    resources: Record<string, { id: string }>;
  };
  const id = (address: string): string => resources[address]?.id ?? '';
  await hand(env, 'PUT', `/accounts/${id('accounts.north')}/`, { name: 'Nord \u001b[31m`x`' });
  await hand(env, 'DELETE', `/accounts/${id('accounts.south')}/`);
  await hand(env, 'PATCH', `/alert_push_destinations/${id('alert_push_destinations.pager')}/`, {
    enabled: false,
  });
  await hand(env, 'POST', '/accounts/', { name: 'Trial' });
  await hand(env, 'POST', '/alert_rules/', {
    associated_accounts: [Number(id('accounts.north'))],
    filter_criteria: { alert_type__in: ['cpu_utilization', 'memory_utilization'] },
    http_destinations: [id('alert_push_destinations.pager')],
  });
}

const schema = JSON.parse(
  readFileSync(new URL('../../schemas/drift.schema.json', import.meta.url), 'utf8'),
) as object;

describe('drift', () => {
  test('does not wait for an apply, and says that one is in progress', async () => {
    const home = folder({ 'trueup.yaml': yaml });
    const { env } = await emulator(home, ['--fault', 'latency=1500,method=POST']);
    const apply = home.start(['apply', '--auto-approve'], { env });
    await expect
      .poll(() => existsSync(`${home.path}/.trueup/state.json.lock`), { timeout: 20_000 })
      .toBe(true);
    const during = await home.expect(0, ['drift'], { env });
    expect(during.stdout + during.stderr).toMatch(
      /A run that writes is in progress: "apply", process \d+ on/,
    );
    expect((await apply.ended).code).toBe(0);
    const after = await home.expect(0, ['drift'], { env });
    expect(after.stdout + after.stderr).not.toContain('in progress');
  });

  test('says who changed what, what nothing manages, and what is ill', async () => {
    const home = folder({ 'trueup.yaml': yaml });
    const { env } = await emulator(home);
    await meddled(home, env);
    const { stdout } = await home.expect(2, ['drift', '--format', 'json', '--detailed-exitcode'], {
      env,
    });
    const document = JSON.parse(stdout) as DriftDocument;
    const validate = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true }).compile(
      schema,
    );
    expect(validate(document) ? [] : validate.errors).toEqual([]);
    const by = { actor: 'other-mgr-id', actor_type: 'api_key' };
    const found = new Map(document.drift.map((record) => [record.address, record]));
    expect(found.get('accounts.north')).toMatchObject({
      status: 'changed',
      changed_by: {
        ...by,
        action: 'update',
        before: { name: 'North' },
        after: { name: 'Nord \u001b[31m`x`' },
      },
    });
    expect(found.get('accounts.south')).toMatchObject({
      status: 'gone',
      changed_by: { ...by, action: 'delete', before: { name: 'South' }, after: null },
    });
    const pager = found.get('alert_push_destinations.pager');
    expect(pager).toMatchObject({ changed_by: 'unknown', window: { after: pager?.since } });
    expect(Date.parse(String(pager?.window.before))).toBeGreaterThanOrEqual(
      Date.parse(String(pager?.since)),
    );
    expect(document.unmanaged_objects).toMatchObject([
      { label: 'Headquarters', changed_by: 'unknown' },
      { label: 'Trial', changed_by: { ...by, action: 'create' } },
      { label: 'Nord \u001b[31m`x`: cpu_utilization and 1 more → On-call pager' },
    ]);
    expect(document.health).toMatchObject([
      { code: 'rule-cannot-fire', address: 'alert_rules.down' },
      { code: 'rule-cannot-fire', label: expect.stringMatching(/^Nord .* → On-call pager$/) },
    ]);
    expect(document.api_requests['activity_logs']).toBe(1);

    const text = (await home.expect(0, ['drift'], { env })).stdout;
    expect(text).toMatch(/updated by other-mgr-id \(api_key\) at 20/);
    expect(text).toMatch(/deleted by other-mgr-id \(api_key\) at 20/);
    expect(text).toMatch(/changed by: unknown, after 20\S+ and before\s+20/);
    expect(text).toContain(
      '! alert_push_destinations.pager is disabled, so 2 alert_rules do not work: alert_rules.down, Nord',
    );
    // What a plan warns of, the health issues tell.
    expect(document.diagnostics.map(({ code }) => code)).not.toContain('silent-destinations');
    expect(text.split('Unmanaged: ')).toHaveLength(2);
    expect(text).toMatch(/accounts Trial \(\d+\)\n +created by other-mgr-id/);
    const label = 'Nord \\u001b[31m`x`: cpu_utilization and 1 more → On-call pager';
    expect(text).toMatch(
      new RegExp(
        `alert_rules ${label.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')} \\([\\w-]{36}\\)\n`,
      ),
    );
    const listed = (await home.expect(0, ['get', 'alert_rules'], { env })).stdout;
    expect(listed).toContain('Nord \\u001b[31m`x`: cpu_utilization and 1 more → On-call pa…');
    // No terminal reads it: without colour, and not wrapped.
    expect(text).not.toContain('\u001b');
    expect(text).toMatch(/ → On-call pager \([\w-]{36}\) \[rule-cannot-fire\]\n/);
    const markdown = (await home.expect(0, ['drift', '--format', 'markdown'], { env })).stdout;
    expect(markdown).toMatch(
      /\| \*\*`-` gone\*\* \| `accounts\.south` \|[^\n]*deleted by other-mgr-id/,
    );
    const lines = (await home.expect(0, ['drift', '--json'], { env })).stdout.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(
      expect.arrayContaining(['resource_drift', 'health_issue', 'unmanaged', 'drift_summary']),
    );
  });

  test('shows drift without authors where the log fails, and is quiet where there is nothing', async () => {
    const home = folder({
      'trueup.yaml': 'accounts:\n  hq: { name: Headquarters, lifecycle: { adopt: "1" } }\n',
    });
    const { env } = await emulator(home, ['--fault', 'status=403,path=activity_logs']);
    await home.expect(0, ['apply', '--auto-approve'], { env });
    const quiet = await home.expect(0, ['drift', '--detailed-exitcode'], { env });
    expect([quiet.stdout, quiet.stderr.includes('activity')]).toEqual([
      'No drift. 1 object is as declared.\n',
      false,
    ]);
    await hand(env, 'PUT', '/accounts/1/', { name: 'Main' });
    const { stdout, stderr } = await home.expect(
      2,
      ['drift', '--detailed-exitcode', '--format', 'json'],
      { env },
    );
    expect((JSON.parse(stdout) as DriftDocument).drift).toMatchObject([
      { address: 'accounts.hq', changed_by: 'unknown' },
    ]);
    expect(stderr).toMatch(
      /warning: Who changed it is not known, because the activity log could not be\s+read/,
    );
  });
});
