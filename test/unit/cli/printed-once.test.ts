// Errors, warnings and notes of a text report are printed once: in the text where both streams are one, else on stderr.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as comment } from '../../../src/cli/commands/comment.js';
import { run as drift } from '../../../src/cli/commands/drift.js';
import { run as bind } from '../../../src/cli/commands/import.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { run as show } from '../../../src/cli/commands/show.js';
import { run as watch } from '../../../src/cli/commands/watch.js';
import type { Command } from '../../../src/cli/context.js';
import { reportFailures } from '../../../src/cli/report-flags.js';
import type { DriftDocument, Outcome, PlanDocument } from '../../../src/model/index.js';
import { box } from '../../support/box.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

const SETTINGS = 'settings: { target: emulator, policy: { max_deletes: 0 } }\n';
const REFUSED = 'account_authorizations: { x: { user: "1", account: "1", role: administrator } }\n';
const ACCOUNTS = 'accounts: { a: { name: A }, b: { name: B } }\n';

const UNKNOWN =
  'alert_rules: { r: { filter_criteria: { alert_type__in: [login_sucess] }, associated_accounts: ["1"] } }\n';

const FIRST = 'Correct the errors first.';
const NOTHING = 'Nothing is applied while the plan has errors.';

const times = (text: string, part: string): number => text.split(part).length - 1;

test('what is told one after the other is separated by blank lines', async () => {
  let written = '';
  const one = { severity: 'info', code: 'x', summary: 'a' } as const;
  const told: Command = async (context) => {
    vi.spyOn(context.err, 'write').mockImplementation((text) => void (written += text));
    for (const all of [[one, one], [], [one]]) await context.tell(all);
    return 0;
  };
  await inProcess(told, ['plan'], { cwd: freshFolder(), env: {} });
  expect(written).toBe('info: a\n  [x]\n\ninfo: a\n  [x]\n\ninfo: a\n  [x]\n');
});

test.each([
  ['both streams are one', true, [1, 0]],
  ['they are two', false, [0, 1]],
] as const)('where %s', async (_, isOne, counts) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + REFUSED);
  const told: Command = (context, args) => plan({ ...context, isOneStream: () => isOne }, args);
  for (const words of [['plan'], ['plan', '--report', 'text=plan.txt', '--verbose']]) {
    const { code, stdout, stderr } = await inProcess(told, words, { cwd, env: {} });
    const [inText, apart] = [stdout, stderr].map((text) => times(text, '[cannot-create]'));
    expect([code, inText, apart]).toEqual([1, ...counts]);
  }
});

test.each([
  ['both streams are one', true, [1, 0]],
  ['they are two', false, [0, 1]],
] as const)('those of the files, too: where %s', async (_, isOne, counts) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + UNKNOWN);
  const told: Command = (context, args) => plan({ ...context, isOneStream: () => isOne }, args);
  const { code, stdout, stderr } = await inProcess(told, ['plan'], { cwd, env: {} });
  const [inText, apart] = [stdout, stderr].map((text) => times(text, '[unknown-value]'));
  expect([code, inText, apart]).toEqual([0, ...counts]);
});

test.each([true, false])(
  'as far as TRUEUP_LOG wants them: both streams are one: %s',
  async (isOne) => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + UNKNOWN);
    const told: Command = (context, args) => plan({ ...context, isOneStream: () => isOne }, args);
    for (const [level, count] of [
      ['error', 0],
      ['warning', 1],
    ] as const) {
      const env = { TRUEUP_LOG: level };
      const words = ['plan', '--report', 'markdown=plan.md'];
      const { stdout, stderr } = await inProcess(told, words, { cwd, env });
      expect(times(stdout + stderr, '[unknown-value]')).toBe(count);
      expect(readFileSync(join(cwd, 'plan.md'), 'utf8')).toContain('unknown-value');
    }
  },
);

test('documents hold those of the files', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + UNKNOWN);
  for (const [command, words] of [
    [plan, ['plan', '--format', 'markdown']],
    [plan, ['plan', '--format', 'json']],
    [drift, ['drift', '--format', 'markdown']],
  ] as const) {
    const { stdout } = await inProcess(command, [...words], { cwd, env: {} });
    expect(times(stdout, 'unknown-value')).toBe(1);
  }
});

describe('rules whose destination is declared disabled', () => {
  const SILENT = `accounts: { a: { name: A } }
alert_push_destinations:
  p: { name: P, enabled: false, endpoint: { url: "https://hooks.example.com" } }
alert_rules:
  r:
    for_each: [cpu_utilization, login_success, wwan_connected, wwan_disconnected]
    associated_accounts: ["\${accounts.a.id}"]
    filter_criteria: { alert_type__in: ["\${each.key}"] }
    http_destinations: ["\${alert_push_destinations.p.destination_config_id}"]
`;

  test('are warned of until they are live, and then told under the health issues', async () => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + SILENT);
    const found = async () => {
      const { stdout } = await inProcess(drift, ['drift', '--format', 'json'], { cwd, env: {} });
      const { diagnostics, health } = JSON.parse(stdout) as DriftDocument;
      return [diagnostics.map(({ code }) => code), health.map(({ code }) => code)];
    };
    expect(await found()).toEqual([Array(4).fill('rule-without-destination'), []]);
    await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
    expect(await found()).toEqual([[], Array(4).fill('rule-cannot-fire')]);
  });

  test('are all named in JSON and with --verbose', async () => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + SILENT);
    await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
    const told: Command = (context, args) => plan({ ...context, isOneStream: () => true }, args);
    const of = async (...words: readonly string[]) =>
      (await inProcess(told, ['plan', ...words], { cwd, env: {} })).stdout;
    const named = /alert_rules\.r\["\w+"\]/g;
    const detail = (text: string) => text.split('[silent-destinations]')[1]!.split('\n\n')[0]!;
    expect(detail(await of()).match(named)).toHaveLength(3);
    expect(detail(await of())).toContain('and 1 more');
    expect(detail(await of('--verbose')).match(named)).toHaveLength(4);
    const { diagnostics } = JSON.parse(await of('--format', 'json')) as PlanDocument;
    const [listing] = diagnostics.filter(({ code }) => code === 'silent-destinations');
    expect(listing?.detail?.match(named)).toHaveLength(4);
  });
});

test('a question repeats the counts where the plan went elsewhere', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + ACCOUNTS);
  for (const isOne of [true, false]) {
    const asked: string[] = [];
    const answered: Command = (context, args) =>
      apply(
        {
          ...context,
          isOneStream: () => isOne,
          interactive: true,
          ask: (question) => {
            asked.push(question);
            return Promise.resolve('no');
          },
        },
        args,
      );
    await inProcess(answered, ['apply'], { cwd, env: {} });
    const counts = isOne ? '' : '\\nPlan: 2 to create, .*';
    expect(asked).toEqual([expect.stringMatching(new RegExp(`^${counts}\\nCarry this out\\?`))]);
  }
});

/** A saved plan in `p.plan`, blocked by the rules max-deletes and held. */
async function blockedPlan(allowable: boolean): Promise<string> {
  const cwd = freshFolder();
  const held = { name: 'held', when: 'plan.summary.delete > 0', message: 'no', allow: allowable };
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + ACCOUNTS);
  await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
  mkdirSync(join(cwd, 'policies'));
  writeFileSync(join(cwd, 'policies/held.cel.yaml'), JSON.stringify([held]));
  writeFileSync(join(cwd, 'trueup.yaml'), `${SETTINGS}accounts: { a: { name: "\${var.n}" } }\n`);
  const words = ['plan', '--out', 'p.plan', '--var', 'n=A', '--valid-for', '7d'];
  expect((await inProcess(plan, words, { cwd, env: {} })).code).toBe(3);
  return cwd;
}

test('what blocks a saved plan is allowed by one command, which is the same everywhere', async () => {
  const cwd = await blockedPlan(true);
  const whole =
    'trueup plan --out p.plan --valid-for 7d --allow max-deletes --allow held --var n=A';
  for (const [command, isOne, counts] of [
    [apply, true, [1, 0]],
    [apply, false, [1, 1]],
    [show, true, [1, 0]],
  ] as const) {
    const told: Command = (context, args) =>
      command({ ...context, isOneStream: () => isOne }, args);
    const name = command === apply ? 'apply' : 'show';
    const { code, stdout, stderr } = await inProcess(told, [name, 'p.plan'], { cwd, env: {} });
    const [inText, apart] = [stdout.replaceAll(/\s+/g, ' '), stderr];
    expect(code).toBe(name === 'apply' ? 3 : 0);
    expect(
      [inText, apart].map((text) => times(text, `To allow them, plan again: ${whole}`)),
    ).toEqual(counts);
    // No other advice, which would be about one rule of them.
    expect([inText, apart].map((text) => times(text, '--allow'))).toEqual(
      counts.map((count) => 2 * count),
    );
  }
  const again = await inProcess(plan, whole.split(' ').slice(1), { cwd, env: {} });
  expect(again.code, again.stderr).toBe(0);
  expect((await inProcess(apply, ['apply', 'p.plan'], { cwd, env: {} })).code).toBe(0);
});

test('a plan with errors says that it is not saved, and leaves an earlier one', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + ACCOUNTS);
  const saving = ['plan', '--out', 'p.plan'];
  expect((await inProcess(plan, saving, { cwd, env: {} })).stderr).toContain('Saved. ');
  const before = readFileSync(join(cwd, 'p.plan'));
  const role = 'account_authorizations: { x: { user: "999", account: "1", role: no_access } }\n';
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + ACCOUNTS + role);
  const { code, stderr } = await inProcess(plan, saving, { cwd, env: {} });
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('Not saved, because the plan has errors: p.plan is as it was.'),
  ]);
  expect(readFileSync(join(cwd, 'p.plan')).equals(before)).toBe(true);
  const another = await inProcess(plan, ['plan', '--out', 'q.plan'], { cwd, env: {} });
  expect(another.stderr).toContain('Not saved, because the plan has errors. Nothing');
});

test('no command is named where one of the rules that block a saved plan cannot be allowed', async () => {
  const cwd = await blockedPlan(false);
  const { stdout, stderr } = await inProcess(apply, ['apply', 'p.plan'], { cwd, env: {} });
  expect(stdout).toContain('No flag allows held: change what is declared, or the policy.');
  expect(stderr).toContain('Blocked by max-deletes.');
  expect(stdout + stderr).not.toMatch(/--allow|plan again/);
});

test.each([
  ['', 'To allow it: --allow few'],
  [', allow: false', 'No flag allows it: change what is declared, or the policy.'],
])('what blocks says what to do, also where the text is elsewhere: %j', async (allow, next) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + ACCOUNTS);
  mkdirSync(join(cwd, 'policies'));
  const policy = `{ name: few, when: plan.summary.create > 0, message: found${allow} }`;
  writeFileSync(join(cwd, 'policies/a.cel.yaml'), policy);
  const { code, stderr } = await inProcess(plan, ['plan'], { cwd, env: {} });
  expect([code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([3, expect.stringContaining(next)]);
});

test('warnings of the files come before the error that ends a run, briefly', async () => {
  const cwd = freshFolder();
  const many =
    'alert_rules: { r: { for_each: [a, b, c, d, e], filter_criteria: { alert_type__in: [login_sucess, "${each.key}"] }, associated_accounts: ["1"] } }\n';
  writeFileSync(join(cwd, 'trueup.yaml'), many);
  const { code, stderr } = await inProcess(plan, ['plan'], { cwd, env: {} });
  expect(code).toBe(1);
  // Those of one value that is equal for all are one; of the others, three are shown.
  expect(times(stderr, '`login_sucess` is not a known value')).toBe(1);
  expect(times(stderr, '[unknown-value]')).toBe(4);
  expect(stderr.indexOf('[unknown-value]')).toBeLessThan(stderr.indexOf('error: '));
});

const MANY =
  'alert_rules: { r: { for_each: [a, b, c, d, e], filter_criteria: { alert_type__in: ["${each.key}"] }, associated_accounts: ["1"] } }\n';

test('so they do before an error in the files', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), `${MANY}accounts: { a: { nam: A } }\n`);
  const { stderr } = await inProcess(plan, ['plan'], { cwd, env: {} });
  expect(times(stderr, '[unknown-value]')).toBe(4);
  expect(stderr.lastIndexOf('[unknown-value]')).toBeLessThan(stderr.indexOf('error: '));
  const all = await inProcess(plan, ['plan', '--verbose'], { cwd, env: {} });
  expect(times(all.stderr, '[unknown-value]')).toBe(5);
});

test.each([
  [plan, ['plan'], '--verbose'],
  [bind, ['import', 'accounts.a', '999'], 'trueup validate --verbose'],
  [comment, ['comment', '--forge', 'github', '--number', '1'], 'trueup plan --verbose'],
  [watch, ['watch'], 'trueup drift --verbose'],
] as const)('each command names what shows all of them: %#', async (command, words, all) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), `${MANY}accounts: { a: { nam: A } }\n`);
  const ending = new AbortController();
  const once: Command = (context, args) =>
    command(
      {
        ...context,
        signal: ending.signal,
        clock: {
          ...context.clock,
          sleep: async () => ending.abort(),
        },
      },
      args,
    );
  const env = { GITHUB_REPOSITORY: 'a/b', GITHUB_TOKEN: 'x' };
  const { stderr } = await inProcess(once, [...words], { cwd, env });
  expect(stderr).toContain(`and 2 more like this [unknown-value] All of them: ${all} `);
});

test('the reports of an audit that failed hold all of them', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), MANY);
  const words = ['drift', '--report', 'json=drift.json'];
  const { code, stderr } = await inProcess(drift, words, { cwd, env: {} });
  expect([code, times(stderr, '[unknown-value]')]).toEqual([1, 4]);
  const report = readFileSync(join(cwd, 'drift.json'), 'utf8');
  expect([times(report, '"unknown-value"'), times(report, 'more like this')]).toEqual([5, 0]);
});

test.each([true, false])('errors are shortened alike: one stream %s', async (isOne) => {
  const cwd = freshFolder();
  const missing =
    'accounts: { c: { for_each: [a, b, c, d, e], name: "${each.key}", account: "${accounts.x[each.key].id}" } }\n';
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + missing);
  const told: Command = (context, args) => plan({ ...context, isOneStream: () => isOne }, args);
  const { stdout, stderr } = await inProcess(told, ['plan'], { cwd, env: {} });
  const [text, other] = isOne ? [stdout, stderr] : [stderr, stdout];
  expect([times(text, '[unknown-reference]'), times(other, '[unknown-reference]')]).toEqual([4, 0]);
  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    'place: accounts.c["d"] (accounts.x["d"]), accounts.c["e"] (accounts.x["e"]) trueup.yaml:2:66 · [unknown-reference] All of them: --verbose',
  );
});

test('the reason of each write that failed is shown', async () => {
  const outcomes = ['a', 'b', 'c', 'd', 'e'].map((key): Outcome => ({
    address: `accounts.c["${key}"]`,
    kind: 'accounts',
    action: 'create',
    outcome: 'failed',
    diagnostic: {
      severity: 'error',
      code: 'rejected',
      summary: 'POST returned 400',
      origin: { file: 'trueup.yaml', line: 1, column: 1 },
    },
  }));
  const reporting: Command = async (context) => {
    await reportFailures(context, outcomes);
    return 1;
  };
  const { stderr } = await inProcess(reporting, ['apply'], { cwd: freshFolder(), env: {} });
  expect(times(stderr, '[rejected]')).toBe(5);
});

test('a command that makes no plan tells them once, whether it ends well or not', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + UNKNOWN + 'accounts: { a: { name: A } }\n');
  for (const words of [
    ['import', 'accounts.a', '999'],
    ['import', 'accounts.nobody', '1'],
  ]) {
    const { code, stderr } = await inProcess(bind, words, { cwd, env: {} });
    expect([code, times(stderr, '[unknown-value]')]).toEqual([1, 1]);
  }
});

test('errors come before the rules that block', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + ACCOUNTS);
  await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
  writeFileSync(join(cwd, 'trueup.yaml'), `${SETTINGS}${REFUSED}accounts: { a: { name: A } }\n`);
  for (const format of ['text', 'markdown', 'html', 'json']) {
    const words = ['plan', '--format', format];
    const { stdout, stderr } = await inProcess(plan, words, { cwd, env: {} });
    const isText = format === 'text';
    const both = format === 'json' ? stderr : stdout;
    expect(both).toContain(isText ? 'BLOCKED by max-deletes. Correct the errors first.' : FIRST);
    expect(stderr).toContain(FIRST);
    expect(stdout + stderr).not.toContain('--allow');
    expect(stderr).not.toContain(NOTHING);
  }
});

test('a plan with errors says that nothing is applied', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), `${SETTINGS}accounts: { a: { name: A } }\n`);
  await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
  writeFileSync(
    join(cwd, 'trueup.yaml'),
    `${SETTINGS}accounts: { a: { name: B }, b: { name: C, lifecycle: { adopt: "999" } } }\n`,
  );
  const { stdout, stderr } = await inProcess(plan, ['plan'], { cwd, env: {} });
  expect(stdout).toContain('Plan with 1 error: ');
  expect(stderr).toContain(NOTHING);
});

test('where nobody can be asked, the command has the scope and all flags', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + ACCOUNTS);
  const words = ['apply', '--destroy', '--target', 'accounts.b', '--parallelism', '2'];
  const { code, stderr } = await inProcess(apply, words, { cwd, env: {} });
  expect(code).toBe(1);
  const command = 'trueup destroy --auto-approve --parallelism 2 --target accounts.b';
  expect(stderr).toContain(`${command} To save`);
});

test('a first apply says as little of blocks as its plan: nothing shows what they did', async () => {
  const cwd = freshFolder();
  const moved = 'moved: [{ from: accounts.old, to: accounts.a }]\n';
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + ACCOUNTS + moved);
  const words = ['apply', '--auto-approve'];
  const first = await inProcess(apply, words, { cwd, env: {} });
  expect([first.code, times(first.stdout + first.stderr, '[moved-nothing]')]).toEqual([0, 0]);
  const next = await inProcess(apply, words, { cwd, env: {} });
  expect(next.stdout + next.stderr).toMatch(/\[(moved-nothing|finished-block)\]/);
});

test('a file holds them in any case', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + REFUSED);
  await inProcess(plan, ['plan', '--report', 'text=plan.txt'], { cwd, env: {} });
  expect(times(readFileSync(join(cwd, 'plan.txt'), 'utf8'), '[cannot-create]')).toBe(1);
});

test('what blocks is in the text, and stderr names the rule', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), SETTINGS + ACCOUNTS);
  await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
  writeFileSync(join(cwd, 'trueup.yaml'), `${SETTINGS}accounts: { a: { name: A } }\n`);
  const { code, stdout, stderr } = await inProcess(plan, ['plan'], { cwd, env: {} });
  expect([code, times(stdout, 'BLOCKED max-deletes: 1 to delete')]).toEqual([3, 1]);
  expect(stderr).toContain('error: Blocked by max-deletes.');
  expect(stderr).not.toContain('1 to delete');
  const json = await inProcess(plan, ['plan', '--format', 'json'], { cwd, env: {} });
  expect(json.stderr).toContain('error: Blocked by policy: 1 to delete');
});

test('an alert rule that is deleted is named by what it does, not by ids alone', async () => {
  const cwd = freshFolder();
  const written = (text: string): void => writeFileSync(join(cwd, 'trueup.yaml'), text);
  const base =
    'settings: { target: emulator }\naccounts: { ops: { name: Field ops } }\nalert_push_destinations: { p: { name: Pager, endpoint: { url: "https://a.test" } } }\n';
  written(
    `${base}alert_rules: { r: { associated_accounts: ["\${accounts.ops.id}"], http_destinations: ["\${alert_push_destinations.p.destination_config_id}"], filter_criteria: { alert_type__in: [connection_state] } } }\n`,
  );
  await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
  written(base);
  const { stdout } = await inProcess(plan, ['plan'], { cwd, env: {} });
  expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /DELETE alert_rules\.r .*no longer declared in trueup\.yaml · Field ops: connection_state → Pager/,
  );
});

test('what the service rejected is named before an apply is advised', async () => {
  const service = await box({
    version: 1,
    root: '1',
    next_id: 10,
    records: { accounts: [{ id: '1', account: null, name: 'Headquarters' }] },
    users: [],
  });
  try {
    const cwd = freshFolder();
    writeFileSync(join(cwd, 'trueup.yaml'), 'accounts: { a: { name: A, account: "1" } }\n');
    service.setFaults('status=409,method=POST');
    const words = ['apply', '--auto-approve'];
    const { code, stderr } = await inProcess(apply, words, { cwd, env: service.env });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(
        'The service may reject the same again. First remove the cause: accounts.a To continue: trueup apply',
      ),
    ]);
  } finally {
    await service.close();
  }
});
