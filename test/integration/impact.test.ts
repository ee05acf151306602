// `plan --impact` through the built command, against an emulator of its own process.
import { describe, expect, test } from 'vitest';
import type { PlanDocument } from '../../src/model/index.js';
import { emulator, folder } from '../support/cli.js';

const uuid = (index: number): string =>
  `${index.toString(16).padStart(8, '0')}-aaaa-11f0-8000-000000000001`;
const hours = (count: number): string => new Date(Date.now() - count * 3_600_000).toISOString();
const hook = (index: number, name: string): object => ({
  destination_config_id: uuid(index),
  name,
  enabled: true,
  endpoint: { url: 'https://hooks.example.com/t' },
});

/** An alert of North each hour for eleven days, of a router there every third; one of nobody's router; the oldest far back. */
const alerts = Array.from({ length: 264 }, (_, index) => ({
  created_at_timeuuid: uuid(1000 + index),
  created_at: hours(index + 0.5),
  type: 'ethernet_wan_disconnected',
  account: index % 3 === 0 ? null : '2',
  router: index % 3 === 0 ? (index === 0 ? '99' : '5') : null,
}));
const estate = {
  version: 1,
  root: '1',
  records: {
    accounts: [
      { id: '1', account: null, name: 'Headquarters' },
      { id: '2', account: '1', name: 'North' },
    ],
    alert_push_destinations: [hook(1, 'Desk'), hook(2, 'Pager')],
    alert_rules: [
      {
        alert_config_id: uuid(3),
        schedule: 'daily',
        associated_accounts: ['2'],
        filter_criteria: { alert_type__in: ['ethernet_wan_disconnected'] },
        http_destinations: [uuid(1)],
      },
    ],
    configuration_managers: [
      {
        id: '71',
        router: '5',
        account: '2',
        synched: true,
        suspended: false,
        version_number: 1,
        configuration: [{}, []],
      },
    ],
    alerts,
  },
};
const declarations = (schedule: string): string => `alert_rules:
  wan-down:
    associated_accounts: ["1"]
    schedule: ${schedule}
    filter_criteria: { alert_type__in: [ethernet_wan_disconnected] }
    http_destinations: ["${uuid(2)}"]
    lifecycle: { adopt: ${uuid(3)} }
`;

async function scene(schedule: string, ...faults: readonly string[]) {
  const home = folder({
    'estate.json': JSON.stringify(estate),
    'trueup.yaml': declarations(schedule),
  });
  const { env } = await emulator(home, [
    '--seed',
    'estate.json',
    ...faults.flatMap((fault) => ['--fault', fault]),
  ]);
  return { home, env };
}

describe('the impact of a plan', () => {
  test('is part of it in every form, saved with it, and changes nothing else', async () => {
    const { home, env } = await scene('null');
    const json = async (...args: string[]): Promise<PlanDocument> =>
      JSON.parse(
        (await home.expect(0, [...args, '--format', 'json'], { env })).stdout,
      ) as PlanDocument;
    const { impact, ...rest } = await json('plan', '--impact');
    expect(impact).toMatchObject({
      alerts: 168,
      rules: [
        {
          rule: 'alert_rules.wan-down',
          id: uuid(3),
          after: 167,
          unjudged: { before: 1, after: 1 },
          noisy: true,
        },
      ],
      unheard: [],
      through_sub_accounts: 167,
      unjudged: { groups: 0, routers: 1 },
    });
    expect(impact?.rules[0]?.destinations).toEqual({
      before: [`alert_push_destinations Desk (${uuid(1)})`],
      after: [`alert_push_destinations Pager (${uuid(2)})`],
    });
    expect([7, 8]).toContain(impact?.rules[0]?.before);
    const days = (Date.parse(impact?.until ?? '') - Date.parse(impact?.since ?? '')) / 86_400_000;
    expect(days).toBeCloseTo(7, 2);
    expect(rest.api_requests).toMatchObject({ alerts: 1, configuration_managers: 1 });

    const plain = await json('plan');
    expect(plain).not.toHaveProperty('impact');
    expect({ ...rest, generated_at: '', api_requests: {} }).toEqual({
      ...plain,
      generated_at: '',
      api_requests: {},
    });
    expect((await json('plan', '--impact', '--since', '24h')).impact?.alerts).toBe(24);
    expect((await json('plan', '--impact', '--since', '2020-01-01')).impact?.alerts).toBe(264);

    const { stdout } = await home.expect(
      2,
      [
        'plan',
        '--impact',
        '--detailed-exitcode',
        '--out',
        'p.plan',
        '--report',
        'markdown=plan.md',
        '--report',
        'html=plan.html',
      ],
      { env },
    );
    expect(stdout).toMatch(
      /What it means for alerts\n {2}alert_rules\.wan-down: [78] notifications before, 167 after, MUCH MORE/,
    );
    expect(home.read('plan.md')).toContain('**MUCH MORE**');
    expect(home.read('plan.html')).toContain('What it means for alerts');
    expect((await home.expect(0, ['show', 'p.plan'], { env })).stdout).toContain(
      stdout.slice(stdout.indexOf('What it means'), stdout.indexOf('Cloud:')),
    );
    const lines = (await home.expect(0, ['plan', '--impact', '--json'], { env })).stdout
      .trim()
      .split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toContain('impact');
    await home.expect(0, ['apply', 'p.plan'], { env });
    expect((await home.expect(0, ['plan', '--impact'], { env })).stdout).toContain(
      '167 notifications before, 167 after; not judged',
    );
  });

  test('is told to be unknown where alerts cannot be read, and the plan stays whole', async () => {
    const { home, env } = await scene('null', 'status=403,path=/alerts/');
    const { stdout } = await home.expect(
      2,
      ['plan', '--impact', '--detailed-exitcode', '--format', 'json'],
      { env },
    );
    const { impact, diagnostics, summary } = JSON.parse(stdout) as PlanDocument;
    expect([impact, summary.adopt]).toEqual([undefined, 1]);
    expect(diagnostics.map(({ severity, summary: said }) => [severity, said])).toEqual([
      ['warning', expect.stringMatching(/^What the plan means for alerts is not known\. .*alerts/)],
    ]);
    expect((await home.expect(0, ['plan', '--impact'], { env })).stdout).not.toContain(
      'What it means for alerts',
    );
  });

  test('does not judge alerts of routers where nobody tells their accounts', async () => {
    const { home, env } = await scene('daily', 'status=403,path=configuration_managers');
    const { stdout } = await home.expect(
      2,
      ['plan', '--impact', '--detailed-exitcode', '--format', 'json'],
      { env },
    );
    const { impact, diagnostics } = JSON.parse(stdout) as PlanDocument;
    expect(impact).toMatchObject({
      alerts: 168,
      unjudged: { routers: 56 },
      through_sub_accounts: 112,
      rules: [{ unjudged: { before: 56, after: 56 }, noisy: false }],
    });
    expect(diagnostics.map(({ summary }) => summary)).toEqual([
      expect.stringMatching(
        /^Which account a router belongs to is not known, so its alerts are not judged\./,
      ),
    ]);
  });

  test('is asked for by its own words', async () => {
    const home = folder({ 'trueup.yaml': declarations('null') });
    expect((await home.expect(1, ['plan', '--since', '7d'])).stderr).toContain(
      'trueup plan --impact --since 7d',
    );
    expect((await home.expect(1, ['plan', '--impact', '--since', 'yesterday'])).stderr).toContain(
      '--since takes a time',
    );
    expect((await home.expect(1, ['plan', '--impact', '--since', '2999-01-01'])).stderr).toContain(
      'is in the future',
    );
  });

  test('of a plan with errors is not asked for', async () => {
    const { home, env } = await scene('null', 'status=403,path=/alerts/');
    home.write(
      'trueup.yaml',
      `${declarations('null')}lookups: { hq: { accounts: { name: Nowhere } } }\n`,
    );
    const { stderr, stdout } = await home.expect(1, ['plan', '--impact'], { env });
    expect(stderr + stdout).not.toContain('means for alerts');
  });
});
