// Policies of a fleet: judged once for the run, before the first write, over the plans of all tenants; again for a bundle.
import { describe, expect, test } from 'vitest';
import { run as planProject } from '../../../src/cli/commands/plan.js';
import { run as testPolicies } from '../../../src/cli/commands/test.js';
import { run as validateProject } from '../../../src/cli/commands/validate.js';
import type { FleetDocument } from '../../../src/model/index.js';
import { BASE, FILE, fleetOf, type FleetHome } from '../../support/fleet-home.js';
import { inProcess } from '../../support/in-process.js';

const FEW = `- name: few-tenants
  when: fleet.changed_tenants > 1 || fleet.writes.create + fleet.writes.update > 1
  message: \${fleet.changed_tenants} of \${size(fleet.tenants)} tenants, \${fleet.writes.create} creates
`;

async function governed(policy: string, file = FILE): Promise<FleetHome> {
  const home = await fleetOf(['acme', 'globex'], file);
  home.write('policies/fleet.cel.yaml', policy);
  return home;
}
const writes = (home: FleetHome): number =>
  home.writes('acme').length + home.writes('globex').length;

test('blocks the run before its first write, once and not for each tenant', async () => {
  const home = await governed(FEW);
  const planned = await home.run('plan', '--format', 'json');
  expect(planned.code, planned.stderr).toBe(3);
  const document = JSON.parse(planned.stdout) as FleetDocument;
  expect(document.diagnostics).toEqual([
    {
      severity: 'error',
      code: 'few-tenants',
      summary: 'Blocked by policy: 2 of 2 tenants, 2 creates.',
      detail: 'To allow it: --allow few-tenants',
    },
  ]);
  expect(document.tenants.map(({ status }) => status)).toEqual(['changes', 'changes']);
  const applied = await home.run('apply', '--auto-approve');
  expect(applied.code).toBe(3);
  expect(applied.stderr.match(/Blocked by policy/g)).toHaveLength(1);
  expect(writes(home)).toBe(0);
  // One tenant is within the limit.
  expect((await home.run('apply', '--auto-approve', '--select', 'tenant=acme')).code).toBe(0);
  expect(writes(home)).toBe(1);
});

test.each(['plan', 'apply'] as const)(
  '--allow of a policy that nothing allows is one error of %s',
  async (name) => {
    const home = await governed(`${FEW}  allow: false\n`);
    const words = name === 'apply' ? ['--auto-approve'] : [];
    const { code, stdout, stderr } = await home.run(name, ...words, '--allow', 'few-tenants');
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr.match(/allow: false/g)).toHaveLength(1);
    expect(home.calls('acme')).toBe(0);
  },
);

test('an apply in shards without a bundle is refused', async () => {
  const home = await governed(FEW);
  const words = ['--auto-approve', '--shard', '1/2'];
  const { code, stderr } = await home.run('apply', ...words);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('The policy few-tenants names `fleet`'),
  ]);
  expect(stderr).toContain('trueup fleet plan --out change.bundle --shard 1/1');
  expect((await home.run('apply', ...words, '--allow', 'few-tenants')).code).toBe(0);
  const warned = await governed(`${FEW}  severity: warning\n`);
  expect((await warned.run('apply', ...words)).code).toBe(0);
});

test('a bundle that is blocked as a whole is not said to be ready', async () => {
  const home = await governed(FEW);
  const { stderr } = await home.run('plan', '--out', 'c.bundle');
  expect(stderr).toContain('Saved. The run is blocked as a whole. To apply a part');
});

test('blocks a bundle that is to be queued, before the queue is asked', async () => {
  const home = await governed(FEW);
  expect((await home.run('plan', '--out', 'c.bundle')).code).toBe(3);
  home.env['TRUEUP_QUEUE'] = 'postgres://127.0.0.1:1/none';
  const queued = await home.run('apply', 'c.bundle', '--engine', 'pgboss');
  expect(queued.code, queued.stderr).toBe(3);
  expect(queued.stderr).toContain('Blocked by policy: 2 of 2 tenants, 2 creates.');
});

const SHARED = FILE.replace(
  'paths: [base]',
  'paths: [base], state: "postgres://127.0.0.1:1/x?schema=${tenant}"',
);

test.each([
  ['postgres://u:50%off@h/q', 'holds a `%` that does not begin an escape'],
  ['postgres://h:x/q', 'is not an address of a PostgreSQL database'],
  ['postgres://h/q?shcema=z', 'has the unknown parameter `shcema`. Did you mean `schema`?'],
])('the address %s of a queue is refused', async (address, said) => {
  const home = await fleetOf(['acme'], SHARED);
  home.env['TRUEUP_QUEUE'] = address;
  const { code, stderr } = await home.run('drift', '--engine', 'pgboss');
  expect([code, stderr.includes(said), stderr.includes('50%off')]).toEqual([1, true, false]);
});

test('a password in a parameter of --queue is refused, too', async () => {
  const home = await fleetOf(['acme'], SHARED);
  const { code, stderr } = await home.run(
    'drift',
    '--engine',
    'pgboss',
    '--queue',
    'postgres://h/q?password=hunter2',
  );
  expect([code, stderr.includes('--queue holds a password')]).toEqual([1, true]);
});

test('passes with --allow, which is told', async () => {
  const home = await governed(FEW);
  const applied = await home.run('apply', '--auto-approve', '--allow', 'few-tenants');
  expect(applied.code, applied.stderr).toBe(0);
  expect(applied.stderr).toContain('Allowed by --allow few-tenants: 2 of 2 tenants, 2 creates.');
  expect(writes(home)).toBe(2);
});

test('holds for a bundle, and what its plan allowed is allowed', async () => {
  const home = await governed(FEW);
  expect((await home.run('plan', '--out', 'blocked')).code).toBe(3);
  const refused = await home.run('apply', 'blocked');
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain('Blocked by policy: 2 of 2 tenants, 2 creates.');
  expect(refused.stderr).toContain(
    'To allow it, plan again: trueup fleet plan --out blocked --allow few-tenants',
  );
  expect(writes(home)).toBe(0);
  expect((await home.run('plan', '--out', 'allowed', '--allow', 'few-tenants')).code).toBe(0);
  // A policy that came later is judged, too.
  home.write(
    'policies/more.cel.yaml',
    '- { name: none-at-all, when: fleet.changed_tenants > 0, message: not now }\n',
  );
  expect((await home.run('apply', 'allowed')).code).toBe(3);
  home.write('policies/more.cel.yaml', '[]');
  const applied = await home.run('apply', 'allowed');
  expect(applied.code, applied.stderr).toBe(0);
  expect(writes(home)).toBe(2);
});

test('one command makes a bundle again that several policies block', async () => {
  const home = await governed(
    `${FEW}- { name: noon, when: fleet.changed_tenants > 0, message: later }\n`,
  );
  const words = ['--out', 'c.bundle', '--select', '*'];
  expect((await home.run('plan', ...words)).code).toBe(3);
  const { code, stderr } = await home.run('apply', 'c.bundle');
  const allowed = ['--allow', 'few-tenants', '--allow', 'noon'];
  expect([code, stderr.match(/\[(?:few-tenants|noon)\]/g)]).toEqual([
    3,
    ['[few-tenants]', '[noon]'],
  ]);
  expect(stderr.match(/To allow [^[]*/g)).toEqual([
    `To allow them, plan again: trueup fleet plan --out c.bundle --select '*' --allow few-tenants --allow noon `,
  ]);
  expect((await home.run('plan', ...words, ...allowed)).code).toBe(0);
});

test('a tenant of a bundle that is blocked is told once, with what a bundle takes', async () => {
  const home = await governed(
    '- { name: noteam, when: plan.summary.create > 0, message: bad name }\n',
  );
  expect((await home.run('plan', '--out', 'c.bundle', '--select', 'tenant=acme')).code).toBe(3);
  const { code, stderr } = await home.run('apply', 'c.bundle', '--run', 'r');
  expect(code).toBe(3);
  expect(stderr.match(/Blocked by|To allow it/g), stderr).toHaveLength(2);
  expect(stderr).toContain(
    'Blocked by policy: bad name. [noteam] To allow it, plan again: trueup fleet plan --out c.bundle --select tenant=acme --allow noteam',
  );
  expect(home.result('r', 'acme').diagnostics).toHaveLength(1);
  const now = await home.run('apply', '--auto-approve', '--select', 'tenant=acme');
  expect(now.stderr.match(/To allow it: --allow noteam/g), now.stderr).toHaveLength(1);
});

describe('the input', () => {
  const file = `fleet:
  tenants: { from: tenants/*, each: { acme: { labels: { tier: canary } } } }
  defaults: { paths: [base] }
`;
  test.each([
    [
      'labels and names',
      'fleet.tenants.exists(t, t.name == "acme" && has(t.labels.tier) && t.labels.tier == "canary")',
    ],
    [
      'a label that is not there',
      'fleet.tenants.exists(t, t.name == "globex" && !has(t.labels.tier))',
    ],
    ['writes of a tenant', 'fleet.tenants.all(t, t.writes.create == 1 && t.writes.delete == 0)'],
    [
      'writes of a tenant by kind',
      'fleet.tenants.all(t, t.kinds.alert_push_destinations.create == 1)',
    ],
    [
      'writes by kind',
      'fleet.kinds.alert_push_destinations.create == 2 && fleet.kinds.alert_push_destinations.tenants == 2',
    ],
    ['a share', 'fleet.changed_tenants * 2 > size(fleet.tenants)'],
    ['the status', 'fleet.tenants.all(t, t.status == "changes")'],
  ])('holds %s', async (_, when) => {
    const policy = `- { name: holds, when: '${when}', message: yes it does }\n`;
    const home = await governed(policy, file);
    const { stderr, code } = await home.run('plan');
    expect(code).toBe(3);
    expect(stderr).toContain('Blocked by policy: yes it does.');
    // A bundle gives the same input.
    await home.run('plan', '--out', 'b');
    expect((await home.run('apply', 'b')).stderr).toContain('Blocked by policy: yes it does.');
  });

  test('counts no writes of a tenant that is blocked', async () => {
    const home = await governed(
      `- { name: one, when: 'change.change.after.endpoint.url.contains("acme")', message: not acme }
- { name: sums, when: 'fleet.changed_tenants != 1 || fleet.writes.create != 1', message: wrong sums }
`,
    );
    const { stderr } = await home.run('plan');
    expect(stderr).toContain('Blocked by policy: not acme.');
    expect(stderr).not.toContain('wrong sums');
  });
});

test('a warning blocks nothing, and is in the report', async () => {
  const home = await governed(`${FEW.trimEnd()}\n  severity: warning\n`);
  const applied = await home.run('apply', '--auto-approve', '--format', 'json');
  expect(applied.code, applied.stderr).toBe(0);
  const { diagnostics, exit } = JSON.parse(applied.stdout) as FleetDocument;
  expect(diagnostics).toMatchObject([{ severity: 'warning', code: 'few-tenants' }]);
  expect(exit).toBe(0);
});

test('a condition that cannot be evaluated is a violation', async () => {
  const home = await governed('- { name: broken, when: fleet.nothing > 1, message: x }\n');
  const { code, stderr } = await home.run('apply', '--auto-approve');
  expect(code).toBe(3);
  expect(stderr).toContain('`when` cannot be evaluated: there is no member `nothing`');
  expect(writes(home)).toBe(0);
});

test('what no flag lets pass stays blocked', async () => {
  const home = await governed(`${FEW.trimEnd()}\n  allow: false\n`);
  expect((await home.run('plan')).stderr).not.toContain('To allow it');
  expect((await home.run('apply', '--auto-approve', '--allow', 'few-tenants')).code).not.toBe(0);
  expect(writes(home)).toBe(0);
});

describe('outside of a run', () => {
  test('it is an error where there is no fleet', async () => {
    const home = await governed(FEW);
    home.write('alone/a.yaml', BASE);
    home.write('alone/policies/fleet.cel.yaml', FEW);
    const place = { cwd: `${home.cwd}/alone`, env: home.env };
    for (const [command, name] of [
      [planProject, 'plan'],
      [validateProject, 'validate'],
    ] as const) {
      const { code, stderr } = await inProcess(command, [name, 'a.yaml'], place);
      expect(code).toBe(1);
      expect(stderr).toContain(
        'few-tenants: `when` names `fleet`, and there is no trueup.fleet.yaml in this folder',
      );
      expect(stderr).toContain('policies/fleet.cel.yaml:1:3');
    }
  });

  test('it is not judged for a single tenant', async () => {
    const home = await governed(
      '- { name: none-at-all, when: "fleet.changed_tenants >= 0", message: not now }\n',
    );
    const own = Object.entries(home.env).flatMap(([name, value]) =>
      name.startsWith('ACME_') ? [[name.slice('ACME_'.length), value]] : [],
    );
    const env = {
      ...Object.fromEntries(own),
      TRUEUP_STATE: '.trueup/tenants/acme/state.json',
    } as Record<string, string>;
    const { code, stderr } = await inProcess(planProject, ['plan', 'base', 'tenants/acme'], {
      cwd: home.cwd,
      env,
    });
    expect(code, stderr).toBe(0);
  });

  test('it has tests, which see an empty fleet where they say nothing', async () => {
    const home = await governed(FEW);
    home.write(
      'policies/fleet.test.yaml',
      `- name: two are too many
  policy: few-tenants
  fleet: { changed_tenants: 2, tenants: [{ name: a }, { name: b }, { name: c }] }
  violations: ["2 of 3 tenants, 0 creates"]
- { name: none is fine, policy: few-tenants, violations: [] }
`,
    );
    const good = await inProcess(testPolicies, ['test'], home);
    expect(good.code, good.stdout + good.stderr).toBe(0);
    expect(good.stdout).toContain('2 tests: 2 passed, 0 failed.');
    home.write(
      'policies/other.cel.yaml',
      '- { name: of-plan, when: plan.summary.delete > 0, message: x }\n',
    );
    home.write(
      'policies/fleet.test.yaml',
      `- { name: a, policy: few-tenants, plan: {}, violations: [] }
- { name: b, policy: of-plan, fleet: {}, violations: [] }
`,
    );
    const bad = await inProcess(testPolicies, ['test'], home);
    expect(bad.code).toBe(1);
    expect(bad.stderr).toContain('`few-tenants` does not see `plan`');
    expect(bad.stderr).toContain('`of-plan` does not see `fleet`');
  });
});
