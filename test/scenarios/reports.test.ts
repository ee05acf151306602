// Reports and other files a command is asked for: none replaces what matters, each is written whatever became of the
// others, and what an earlier audit left behind never stands for one that could not be made.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Ajv } from 'ajv';
import { emulator, folder, small, type Folder } from '../support/cli.js';

const schema = JSON.parse(
  readFileSync(new URL('../../schemas/drift.schema.json', import.meta.url), 'utf8'),
) as object;
const every = ['text', 'json', 'markdown', 'html', 'junit', 'sarif'] as const;
const reports = every.flatMap((format) => ['--report', `${format}=out.${format}`]);

async function applied(): Promise<Folder> {
  const home = folder({ 'trueup.yaml': small });
  await home.expect(0, ['apply', '--auto-approve']);
  return home;
}

/** Every file with its text. */
const contents = (home: Folder): readonly (readonly [string, string])[] =>
  readdirSync(home.path, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()
    .map((path) => [path, readFileSync(path, 'utf8')] as const);

describe('before any work', () => {
  test.each<readonly [readonly string[], RegExp]>([
    [
      ['drift', '--report', 'json=.trueup/state.json'],
      /--report json cannot write \S+state\.json: trueup keeps its state there\./,
    ],
    [['drift', '--report', 'json=.trueup/state.json.journal'], /keeps its state/],
    [['drift', '--report', 'json=.trueup/emulator.json'], /keeps its state/],
    [['drift', '--report', 'json=linked'], /keeps its state/],
    [
      ['drift', '--report', 'html=trueup.yaml'],
      /--report html cannot write \S+trueup\.yaml: a file of that name holds declarations\./,
    ],
    [
      ['drift', 'trueup.yaml', 'other.json', '--report', 'json=other.json'],
      /this command reads it/,
    ],
    [
      ['drift', '--report', 'junit=a', '--report', 'sarif=./a'],
      /--report sarif cannot write \S+a: --report junit writes it too\./,
    ],
    [['drift', '--report', 'junit=a', '--report', 'sarif=sub/../a'], /writes it too/],
    [['drift', '--report', 'junit=nowhere/a'], /there is no folder \S+nowhere\./],
    [['drift', '--report', 'junit=trueup.yaml/a'], /is not a folder/],
    [['drift', '--report', 'junit=sub'], /it is a folder/],
    [['drift', '--report', 'junit=/dev/null'], /it is not a regular file/],
    [['plan', '--out', '.trueup/state.json'], /--out cannot write/],
    [
      ['plan', '--out', 'p', '--report', 'html=p'],
      /--report html cannot write \S+p: --out writes it too/,
    ],
    [['watch', '--metrics-file', 'trueup.yaml'], /--metrics-file cannot write/],
    [['show', 'saved.plan', '--report', 'html=saved.plan'], /this command reads it/],
  ])('%j is refused, and nothing is touched', async (args, why) => {
    const home = await applied();
    home.write('other.json', '{"accounts": {"x": {"name": "X"}}}');
    await home.expect(0, ['plan', '--out', 'saved.plan']);
    mkdirSync(join(home.path, 'sub'));
    symlinkSync('.trueup/state.json', join(home.path, 'linked'));
    const before = contents(home);
    const { stdout, stderr } = await home.expect(1, args);
    expect([stderr.replaceAll(/\n {2}(?=\S)/g, ' '), stdout]).toEqual([
      expect.stringMatching(why),
      '',
    ]);
    expect(contents(home)).toEqual(before);
  });

  test('a state elsewhere is as safe, though the declarations do not load', async () => {
    const home = folder({
      'trueup.yaml': small.replace('emulator }', 'emulator, state: memory }'),
    });
    await home.expect(0, ['apply', '--auto-approve']);
    const before = home.read('memory');
    home.write('trueup.yaml', `${home.read('trueup.yaml')}accountz: {}\n`);
    expect((await home.expect(1, ['drift', '--report', 'json=memory'])).stderr).toMatch(
      /keeps\s+its state/,
    );
    await home.expect(1, ['drift', '--report', 'json=memory.json']);
    expect([home.read('memory'), existsSync(join(home.path, 'memory.json'))]).toEqual([
      before,
      true,
    ]);
  });
});

test('a report that cannot be written keeps no other from it', async () => {
  const expectation =
    'expectations:\n  late: { collection: subscriptions, where: { label: a }, count: { max: 0 } }\n';
  const home = folder({
    'trueup.yaml': `accounts:\n  hq: { name: Headquarters, lifecycle: { adopt: "1" } }\n${expectation}`,
  });
  const { env } = await emulator(home, ['--fault', 'latency=1500,path=subscriptions']);
  mkdirSync(join(home.path, 'gone'));
  const args = [
    'drift',
    '--report',
    'html=gone/a.html',
    '--report',
    'junit=b.xml',
    '--report',
    'json=gone/c.json',
    '--report',
    'markdown=d.md',
  ];
  const run = home.start(args, { env: { ...env, TRUEUP_LOG: 'debug' } });
  await run.says('/accounts/');
  rmSync(join(home.path, 'gone'), { recursive: true });
  const { code, stderr, stdout } = await run.ended;
  expect([code, stdout]).toEqual([1, expect.stringMatching(/No drift/)]);
  expect(stderr.match(/The report \S+ could not be\s+written\s+\(ENOENT\)/g)).toHaveLength(2);
  expect([home.read('b.xml'), home.read('d.md')]).toEqual([
    expect.stringContaining('<testsuites>'),
    expect.stringContaining('No drift'),
  ]);
});

describe('an audit that could not be made', () => {
  test.each<readonly [string, string, Readonly<Record<string, string>>]>([
    [
      'the cloud cannot be reached',
      small.replace('settings: { target: emulator }\n', ''),
      { TRUEUP_V2_URL: 'http://127.0.0.1:9/api/v2' },
    ],
    ['nothing is known of a cloud', small.replace('settings: { target: emulator }\n', ''), {}],
    ['the declarations do not load', `${small}accountz: {}\n`, {}],
    ['the declarations are no YAML', `${small}alert_types: { a: [\n`, {}],
  ])('%s: every report says so', async (_, yaml, env) => {
    const home = await applied();
    await home.expect(0, ['drift', ...reports]);
    expect(home.read('out.junit')).not.toContain('<error');
    home.write('trueup.yaml', yaml);
    rmSync(join(home.path, '.trueup'), { recursive: true });
    const credentials = Object.fromEntries(
      ['MGR_API_ID', 'MGR_API_KEY', 'VND_API_ID', 'VND_API_KEY'].map((name) => [
        `TRUEUP_${name}`,
        'x',
      ]),
    );
    const { stdout, stderr } = await home.expect(1, ['drift', ...reports], {
      env: { ...env, ...(env['TRUEUP_V2_URL'] !== undefined && credentials) },
    });
    expect([stdout, stderr]).toEqual(['', expect.stringContaining('error: ')]);
    const document = JSON.parse(home.read('out.json')) as {
      diagnostics: readonly { severity: string; summary: string }[];
    };
    const validate = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true }).compile(
      schema,
    );
    expect(validate(document) ? [] : validate.errors).toEqual([]);
    const errors = document.diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors).not.toEqual([]);
    expect(home.read('out.junit')).toMatch(
      /<testsuite [^>]* tests="1" failures="0" errors="1"[\s\S]*name="the audit can be made" time="0"><error /,
    );
    const [{ invocations, results }] = (
      JSON.parse(home.read('out.sarif')) as {
        runs: [{ invocations: [{ executionSuccessful: boolean }]; results: { level: string }[] }];
      }
    ).runs;
    expect([
      invocations[0].executionSuccessful,
      results.filter(({ level }) => level === 'error'),
    ]).toEqual([false, expect.objectContaining({ length: errors.length })]);
    for (const format of ['text', 'markdown', 'html'] as const)
      expect(home.read(`out.${format}`)).toMatch(/The audit could not be made: \d+ errors?\./);
  });
});

test('in a CI job, a page links declarations to their lines; a blocked plan says so in its title', async () => {
  const home = await applied();
  home.write(
    'trueup.yaml',
    `settings: { target: emulator, policy: { max_deletes: 1 } }
accounts:
  field-ops: { name: Field team }
`,
  );
  const [sha, page] = ['a'.repeat(40), ['plan', '--report', 'html=out.html']];
  const env = {
    GITHUB_SERVER_URL: 'https://github.example.com',
    GITHUB_REPOSITORY: 'acme/network',
    GITHUB_SHA: sha,
    GITHUB_WORKSPACE: home.path,
  };
  await home.expect(3, page, { env });
  const html = home.read('out.html');
  for (const element of ['title', 'h1'])
    expect(html).toContain(`<${element}>BLOCKED by max-deletes, all-removed. Plan: `);
  const place = '<code>trueup.yaml:3:3</code>';
  expect(html).toContain(
    `<a href="https://github.example.com/acme/network/blob/${sha}/trueup.yaml#L3">${place}</a>`,
  );
  await home.expect(3, page);
  expect(home.read('out.html')).toContain(`<dd>${place}</dd>`);
});

test('declarations from standard input are looked at for the state, and still loaded', async () => {
  const home = folder();
  await home.expect(0, ['plan', '-', '--out', 'p.plan', '--report', 'json=p.json'], {
    input: small,
  });
  expect([home.read('p.plan'), home.read('p.json')]).toEqual([
    expect.stringContaining('accounts.field-ops'),
    expect.stringContaining('accounts.field-ops'),
  ]);
  const elsewhere = small.replace('emulator }', 'emulator, state: p.plan }');
  expect(
    (await home.expect(1, ['plan', '-', '--out', 'p.plan'], { input: elsewhere })).stderr,
  ).toMatch(/keeps\s+its state/);
});
