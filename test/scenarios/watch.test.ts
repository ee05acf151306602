// The continuous audit: one line a cycle, metrics beside it, through changes and outages, until a signal; and never a
// write to the cloud.
import { describe, expect, test } from 'vitest';
import { emulator, folder, type Started } from '../support/cli.js';

const declared =
  'accounts:\n  field: { name: Field }\nalert_push_destinations:\n  pager: { name: Pager, enabled: true, endpoint: { url: "https://hooks.example.com/a" } }\n';

/** Samples of a page in Prometheus' text format, by name and labels. Every line is either a comment or a sample. */
function samples(text: string): Readonly<Record<string, number>> {
  const out: Record<string, number> = {};
  const typed = new Set<string>();
  for (const line of text.trimEnd().split('\n')) {
    const [, comment] = /^# (?:HELP|TYPE) (trueup_\w+) \S/.exec(line) ?? [];
    if (comment !== undefined) {
      typed.add(comment);
      continue;
    }
    const [, name = '', labels = '', value = ''] =
      /^(trueup_\w+)(\{(?:\w+="(?:[^"\\\n]|\\.)*",?)+\})? (NaN|-?[\d.e+-]+)$/.exec(line) ?? [];
    expect(typed, line).toContain(name);
    out[name + labels] = Number(value);
  }
  return out;
}

describe('watch', () => {
  test('tells each cycle, serves and writes metrics, sees drift and writes nothing', async () => {
    const home = folder({ 'trueup.yaml': declared });
    const { env } = await emulator(home);
    await home.expect(0, ['apply', '--auto-approve'], { env });
    const watch = home.start(
      ['watch', '--every', '1s', '--metrics-port', '0', '--metrics-file', 'trueup.prom'],
      { env: { ...env, TRUEUP_LOG: 'debug' } },
    );
    let said = '';
    watch.child.stderr?.on('data', (text: Buffer) => (said += text.toString()));
    await watch.says('No drift. 2 objects are as declared');
    const [, url = ''] = /Metrics at (http:\/\/127\.0\.0\.1:\d+\/metrics)/.exec(said) ?? [];
    const answer = await fetch(url);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(samples(await answer.text())).toMatchObject({
      'trueup_drift_objects{kind="accounts"}': 0,
      'trueup_unmanaged_objects{kind="accounts"}': 1,
      'trueup_audits_total{result="success"}': 1,
      'trueup_audits_total{result="failure"}': 0,
    });
    expect((await fetch(url.replace('/metrics', '/'))).status).toBe(404);
    await changeName(env, 'Pager', 'Other');
    await watch.says('Drift: 1 changed');
    const seen = samples(await (await fetch(url)).text());
    expect(seen['trueup_drift_objects{kind="alert_push_destinations"}']).toBe(1);
    expect(
      Date.now() / 1000 - (seen['trueup_audit_last_success_timestamp_seconds'] ?? 0),
    ).toBeLessThan(60);
    expect(seen['trueup_api_requests_total{collection="accounts"}']).toBeGreaterThan(1);
    watch.child.kill('SIGTERM');
    const ended = await watch.ended;
    expect(ended.code).toBe(143);
    expect(ended.stdout).toMatch(/^(?:\d{4}-\d\d-\d\dT[\d:.]+Z (?:No drift|Drift).*\n)+$/);
    expect(Object.keys(samples(home.read('trueup.prom')))).toContain(
      'trueup_audit_last_success_timestamp_seconds',
    );
    expect(ended.stderr).toMatch(/GET http/);
    expect(ended.stderr).not.toMatch(/(?:POST|PUT|PATCH|DELETE) http/);
  });

  test('goes on through an outage, says one line a cycle, and a warning once', async () => {
    const home = folder({
      'trueup.yaml': `${declared}alert_rules:\n  lost: { filter_criteria: { alert_type__in: [login_success] } }\n`,
    });
    const { env, child, ended: gone } = await emulator(home);
    const watch = home.start(['watch', '--every', '1s', '--metrics-file', 'trueup.prom'], { env });
    await watch.says('missing');
    child.kill('SIGTERM');
    await gone;
    await watch.says('failed: ');
    watch.child.kill('SIGINT');
    const ended = await watch.ended;
    expect(ended.code).toBe(130);
    expect(ended.stderr.split('the rule declares neither accounts nor groups')).toHaveLength(2);
    expect(
      ended.stdout
        .split('\n')
        .filter((line) => line !== '')
        .every((line) => /^\S+Z (?:Drift|failed: )/.test(line)),
    ).toBe(true);
    const seen = samples(home.read('trueup.prom'));
    expect(seen['trueup_audits_total{result="failure"}']).toBeGreaterThan(0);
    expect(seen['trueup_drift_objects{kind="accounts"}']).toBe(1);
  }, 60_000);

  test('an expectation that cannot be read hides neither drift nor the other expectations', async () => {
    const home = folder({
      'trueup.yaml': `${declared}expectations:
  few: { collection: accounts, count: { max: 0 } }
  paid: { collection: subscriptions, where: { label: a }, count: { min: 1 } }
`,
    });
    const { env } = await emulator(home, ['--fault', 'status=403,path=subscriptions']);
    const watch = home.start(['watch', '--every', '1s', '--metrics-file', 'trueup.prom'], { env });
    await cycles(watch, 2);
    watch.child.kill('SIGTERM');
    const { stdout, stderr } = await watch.ended;
    expect(stdout).toMatch(
      /^\S+Z Audit with 1 error: 2 drifted, 1 expectation failed, .* \(0 of 2 expectations met, expectations\.paid could not be checked: [^\n]*\)\n/,
    );
    expect(stderr.split('expectations.paid could not be')).toHaveLength(2);
    expect(samples(home.read('trueup.prom'))).toMatchObject({
      'trueup_drift_objects{kind="accounts"}': 1,
      trueup_expectations_failed: 1,
      'trueup_expectation_failed{expectation="few"}': 1,
      'trueup_expectation_failed{expectation="paid"}': Number.NaN,
      'trueup_audits_total{result="success"}': 0,
    });
    expect(home.read('trueup.prom')).not.toContain('last_success_timestamp');
  });

  test('tells once that the activity log cannot be read', async () => {
    const home = folder({
      'trueup.yaml': 'accounts:\n  hq: { name: Main, lifecycle: { adopt: "1" } }\n',
    });
    const { env } = await emulator(home, ['--fault', 'status=403,path=activity_logs']);
    const watch = home.start(['watch', '--every', '1s', '--metrics-port', '0'], { env });
    await cycles(watch, 2);
    watch.child.kill('SIGTERM');
    const { stdout, stderr } = await watch.ended;
    expect(stdout).toMatch(/^\S+Z Drift: 1 changed/);
    expect(stderr.split('Who changed it is not known')).toHaveLength(2);
  });

  test.each([
    [['--metrics-host', '127.0.0.1'], /--metrics-host can be used only with --metrics-port/],
    [['--every', '5x'], /--every takes a span/],
    [['--every', '0s'], /at least 1s/],
    [['--metrics-port', '70000'], /--metrics-port takes a whole number/],
    [
      ['--metrics-port', '0', '--metrics-host', '203.0.113.7'],
      /Metrics cannot be served at 203\.0\.113\.7/,
    ],
  ])('refuses %j', async (args, message) => {
    const home = folder({ 'trueup.yaml': 'settings: { target: emulator }\n' });
    expect((await home.expect(1, ['watch', ...args])).stderr).toMatch(message);
  });
});

/** Resolves once so many lines were told. */
function cycles({ child }: Started, count: number): Promise<void> {
  let lines = 0;
  return new Promise((done) =>
    child.stdout?.on(
      'data',
      (text: Buffer) => (lines += text.toString().split('\n').length - 1) >= count && done(),
    ),
  );
}

async function changeName(
  env: Readonly<Record<string, string>>,
  from: string,
  to: string,
): Promise<void> {
  const headers = {
    'X-MGR-API-ID': env['TRUEUP_MGR_API_ID'] ?? '',
    'X-MGR-API-KEY': env['TRUEUP_MGR_API_KEY'] ?? '',
    'X-VND-API-ID': env['TRUEUP_VND_API_ID'] ?? '',
    'X-VND-API-KEY': env['TRUEUP_VND_API_KEY'] ?? '',
    'content-type': 'application/json',
    accept: 'application/json',
  };
  const base = `${env['TRUEUP_V2_URL'] ?? ''}/alert_push_destinations/`;
  const { data } = (await (await fetch(base, { headers })).json()) as {
    data: { name: string; destination_config_id: string }[];
  };
  const id = data.find(({ name }) => name === from)?.destination_config_id;
  const answer = await fetch(`${base}${id}/`, {
    method: 'PATCH',
    headers,
    body: JSON.stringify({ name: to }),
  });
  expect(answer.status).toBe(200);
}
