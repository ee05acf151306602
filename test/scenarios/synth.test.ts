// CDK programs as people have them: run by the built command, planned, applied, migrated. Both libraries are the real ones.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { run as migrate } from '../../src/cli/commands/migrate.js';
import { contextOf } from '../../src/cli/context.js';
import { emulator, folder, type Folder } from '../support/cli.js';

/** A folder for temporary files, in which Node keeps no compiled code. */
const tmpIn = (folder: string): Readonly<Record<string, string>> => ({
  TMPDIR: folder,
  NODE_DISABLE_COMPILE_CACHE: '1',
});
const modules = join(import.meta.dirname, '../../node_modules');

/** A program of two stacks; `body` is inside of a function of both. */
const program = (library: string, body: string): string => `import cdk from '${library}';
const { App, TerraformStack, TerraformResource, TerraformProvider, TerraformVariable, TerraformIterator } = cdk;
class Resource extends TerraformResource {
  constructor(scope, id, type, body, meta) {
    super(scope, id, { terraformResourceType: 'devicecloud_' + type, terraformGeneratorMetadata: { providerName: 'devicecloud' }, ...meta });
    this.body = body;
  }
  synthesizeAttributes() {
    return this.body;
  }
}
class Provider extends TerraformProvider {
  constructor(scope) {
    super(scope, 'provider', { terraformResourceType: 'devicecloud', terraformGeneratorMetadata: { providerName: 'devicecloud' } });
  }
}
const app = new App();
const [base, top] = ['base', 'top'].map((name) => new TerraformStack(app, name));
for (const stack of [base, top]) new Provider(stack);
${body}
console.log('the program ran');
app.synth();
`;

const estate = `
const key = new TerraformVariable(base, 'pager_key', { type: 'string', sensitive: true });
const ops = new Resource(base, 'ops', 'account', { name: 'Field operations' }, { lifecycle: { preventDestroy: true } });
const each = TerraformIterator.fromList(['north', 'south']);
new Resource(base, 'regions', 'account', { name: \`Region \${each.value}\`, account: ops.getStringAttribute('id') }, { forEach: each });
const pager = new Resource(base, 'pager', 'alert_push_destination', {
  name: 'Pager', enabled: true, endpoint: { url: 'https://hooks.example.com/a' }, authentication: { secret_wo: key.stringValue, secret_wo_version: 1 },
}, { dependsOn: [ops] });
const rule = new Resource(top, 'wan-down', 'alert_rule', {
  associated_accounts: [ops.getStringAttribute('id')],
  filter_criteria: { alert_type__in: ['modem_wan_disconnected'] },
  http_destinations: [pager.getStringAttribute('destination_config_id')],
  settings: JSON.stringify({ limits: { percent: 80 } }),
});
`;

function home(library: string, body: string, more: Readonly<Record<string, string>> = {}): Folder {
  const made = folder({
    'main.mjs': program(library, body),
    'cdktf.json': '{"language":"typescript","app":"node main.mjs","context":{"stage":"test"}}',
    ...more,
  });
  symlinkSync(modules, join(made.path, 'node_modules'));
  return made;
}

const env = { TRUEUP_VAR_pager_key: 'hunter2' };

describe.each(['cdktf', 'cdktn'])('a program of %s', (library) => {
  it('is run by synth, which says what it wrote', async () => {
    const at = home(library, estate);
    const ran = await at.expect(0, ['synth', '--output', 'out']);
    expect(ran.stdout).toBe(
      'wrote out/stacks/base/cdk.tf.json\nwrote out/stacks/top/cdk.tf.json\n',
    );
    expect(ran.stderr).toBe('the program ran\n');
    expect((await at.expect(0, ['validate', 'out'])).stdout).toBe('Valid: 5 declarations.\n');
  });

  it('is planned and applied like YAML, and leaves nothing behind', async () => {
    const at = home(library, estate);
    const temporary = join(at.path, 'tmp');
    mkdirSync(temporary);
    const cloud = await emulator(at);
    const options = { env: { ...cloud.env, ...env, ...tmpIn(temporary) } };
    const plan = await at.expect(
      2,
      ['plan', '--detailed-exitcode', '--out', 'saved.plan'],
      options,
    );
    expect(plan.stdout).toContain(
      '+ create alert_rules.wan-down  POST /api/v2/alert_rules/\n  it has no live object yet · top/wan-down\n',
    );
    await at.expect(0, ['apply', 'saved.plan'], options);
    expect((await at.expect(0, ['plan', '--detailed-exitcode'], options)).stdout).toContain(
      'No changes. 5 objects are as declared.',
    );
    expect((await at.expect(0, ['drift', '--detailed-exitcode'], options)).stdout).not.toContain(
      'changed',
    );
    const state = JSON.parse(at.read('.trueup/state.json')) as {
      readonly resources: Readonly<
        Record<string, { readonly file: string; readonly depends_on: readonly string[] }>
      >;
    };
    expect(Object.values(state.resources).map(({ file }) => file)).toEqual(
      Array.from({ length: 5 }, () => 'cdktf.json'),
    );
    expect(state.resources['alert_push_destinations.pager']?.depends_on).toEqual(['accounts.ops']);
    expect(JSON.stringify(state)).not.toContain('hunter2');
    expect(readdirSync(temporary)).toEqual([]);
  });
});

it.each(['cdktf', 'cdktn'])('plans what functions and conditions of %s give', async (library) => {
  const at = home(
    library,
    `const large = new TerraformVariable(base, 'large', { type: 'bool', default: true });
new Resource(base, 'ops', 'account', { name: cdk.Fn.join('-', ['site', cdk.conditional(large.value, 'large', 'small'), cdk.ref('terraform.workspace', base)]) });`,
    { 'trueup.prod.yaml': 'variables: { large: false }\n' },
  );
  const { env: target } = await emulator(at);
  expect((await at.expect(0, ['plan'], { env: target })).stdout).toContain('site-large-default');
  const prod = await at.expect(0, ['plan', '--env', 'prod'], { env: target });
  expect(prod.stdout).toContain('site-small-prod');
});

it('renames what moved, takes over what is imported, and guards what is protected', async () => {
  const at = home(
    'cdktf',
    `new Resource(base, 'ops', 'account', { name: 'Ops' }, { lifecycle: { preventDestroy: true } });`,
  );
  const cloud = await emulator(at);
  const options = { env: cloud.env };
  await at.expect(0, ['apply', '--auto-approve'], options);
  const [there] = JSON.parse(
    (await at.expect(0, ['get', 'accounts', '--filter', 'name=Ops', '-o', 'json'], options)).stdout,
  ) as readonly { readonly id: string }[];
  at.write(
    'main.mjs',
    program(
      'cdktf',
      `new Resource(base, 'operations', 'account', { name: 'Ops' }).moveFromId('devicecloud_account.ops');`,
    ),
  );
  expect((await at.expect(0, ['plan'], options)).stdout).toContain(
    'No changes in the cloud, 1 renamed.',
  );
  await at.expect(0, ['apply', '--auto-approve'], options);
  expect((await at.expect(0, ['state', 'list'], options)).stdout).toContain('accounts.operations');
  await at.expect(0, ['state', 'rm', 'accounts.operations'], options);
  at.write(
    'main.mjs',
    program(
      'cdktf',
      `new Resource(base, 'bound', 'account', { name: 'Ops' }, { lifecycle: { preventDestroy: true } }).importFrom('${there?.id}');`,
    ),
  );
  expect((await at.expect(0, ['apply', '--auto-approve'], options)).stdout).toContain(
    `accounts.bound (id ${there?.id})`,
  );
  at.write('main.mjs', program('cdktf', ''));
  expect((await at.expect(3, ['plan', '--allow', 'all-removed'], options)).stdout).toContain(
    'protected',
  );
});

it('keeps what gets a count, changes it in place, and keeps the first where the count goes', async () => {
  const ops = (name: string, more: string): string =>
    program('cdktf', `new Resource(base, 'ops', 'account', { name: '${name}' }, {${more}});`);
  const at = home('cdktf', '');
  const cloud = await emulator(at);
  const options = { env: cloud.env };
  const after = async (source: string): Promise<unknown> => {
    at.write('main.mjs', source);
    await at.expect(0, ['apply', '--auto-approve'], options);
    const { resources } = JSON.parse(at.read('.trueup/state.json')) as {
      readonly resources: Readonly<Record<string, { readonly id: string }>>;
    };
    return Object.fromEntries(Object.entries(resources).map(([address, { id }]) => [address, id]));
  };
  const [first] = Object.values((await after(ops('Ops', ''))) as Readonly<Record<string, string>>);
  expect(await after(ops('Ops', ' count: 1 '))).toEqual({ 'accounts.ops["0"]': first });
  expect(await after(ops('Operations', ''))).toEqual({ 'accounts.ops': first });
});

describe('a program that cannot be planned', () => {
  it.each([
    ['fails', `throw new Error('out of order');`, {}, 'program-failed', 'out of order'],
    ['writes nothing', 'process.exit(0);', {}, 'no-stacks', 'It has to end with'],
    [
      'writes a folder for a document',
      `process.getBuiltinModule('fs').mkdirSync(process.env.CDKTF_OUTDIR + '/x.yaml'); process.exit(0);`,
      {},
      'not-a-file',
      'cdktf.json/x.yaml is not a regular file',
    ],
    [
      'writes a link for a document',
      `process.getBuiltinModule('fs').symlinkSync('/etc/passwd', process.env.CDKTF_OUTDIR + '/x.yaml'); process.exit(0);`,
      {},
      'not-a-file',
      'cdktf.json/x.yaml is a link',
    ],
    [
      'is not named',
      '',
      { 'cdktf.json': '{"language":"typescript"}' },
      'bad-program',
      '"app": "node main.js"',
    ],
    ['has a broken cdktf.json', '', { 'cdktf.json': '{' }, 'bad-program', 'is not a JSON object'],
    [
      'asks for a function that is not evaluated',
      `new Resource(base, 'a', 'account', { name: cdk.Fn.sha256('a') });`,
      {},
      'unsupported-expression',
      'the expression ${sha256("a")} is not evaluated here: the function `sha256`',
    ],
  ])('because it %s', async (_, body, files, code, words) => {
    const ran = await home('cdktf', body, files).expect(1, ['validate']);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).toContain(`[${code}]`);
    expect(ran.stderr.replaceAll(/\s+/g, ' ')).toContain(words);
  });

  it('is told by its error, not by the line of a package that threw it', async () => {
    const body = "base.node.addValidation({ validate: () => ['not on a Friday'] });";
    const { stderr } = await home('cdktf', body).expect(1, ['validate']);
    const told = stderr.slice(stderr.indexOf('[program-failed]'));
    expect(told).toContain(
      '  the program ran\n  Error: Validation failed with the following errors:\n    [base] not on a Friday\n',
    );
    expect(told).not.toContain('Node.js v');
  });

  it('is not run for what needs no declarations', async () => {
    const at = home('cdktf', `throw new Error('must not run');`, {
      'trueup.prod.yaml': 'settings: { target: emulator }\n',
    });
    expect((await at.expect(0, ['state', 'list', '--env', 'prod'])).stderr).not.toContain(
      'must not run',
    );
  });

  it('has to be told from YAML beside it', async () => {
    const at = home('cdktf', estate, { 'trueup.yaml': 'settings: { target: emulator }\n' });
    expect((await at.expect(1, ['validate'])).stderr).toContain('The program: cdktf.json');
    expect((await at.expect(0, ['validate', 'cdktf.json', 'trueup.yaml'])).stdout).toBe(
      'Valid: 5 declarations.\n',
    );
  });

  /** It does not care for being asked to end. */
  const stubborn = `process.on('SIGTERM', () => {}); console.log('pid', process.pid); setInterval(() => {}, 1000); await new Promise(() => {});`;

  it.each([
    ['validate', 'SIGTERM', 143],
    ['validate', 'SIGINT', 130],
    ['migrate --auto-approve', 'SIGINT', 130],
  ] as const)('ends with the command, and leaves nothing: %s, %s', async (words, signal, code) => {
    const at = home('cdktf', stubborn, { 'tmp/.keep': '' });
    const started = at.start(words.split(' '), { env: tmpIn(join(at.path, 'tmp')) });
    let said = '';
    started.child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await started.says('pid');
    const pid = Number(/pid (\d+)/.exec(said)?.[1]);
    started.child.kill(signal);
    expect([(await started.ended).code, at.read('main.mjs').includes("from 'cdktf'")]).toEqual([
      code,
      true,
    ]);
    await gone(pid);
    expect(readdirSync(join(at.path, 'tmp'))).toEqual(['.keep']);
  });

  it('is stopped when it takes too long, and whatever it started with it', async () => {
    const child = `import { spawn } from 'node:child_process';\nspawn('sleep', ['600']).on('spawn', function () { console.log('child', this.pid, '.'); });`;
    const at = home('cdktf', '', { 'main.mjs': `${child}\n${stubborn}` });
    const { stderr } = await at.expect(1, ['validate'], { env: { TRUEUP_SYNTH_SECONDS: '2' } });
    expect(stderr).toContain('did not end within 2 seconds');
    expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(
      /\[program-timeout\] It said: .*Where it needs longer: export TRUEUP_SYNTH_SECONDS=6 $/,
    );
    for (const word of ['pid', 'child'])
      await gone(Number(new RegExp(`${word} (\\d+)`).exec(stderr)?.[1]));
  });

  it.each(['0', '-1', 'long', '86401'])('is not given %s seconds', async (seconds) => {
    expect(
      (await home('cdktf', '').expect(1, ['validate'], { env: { TRUEUP_SYNTH_SECONDS: seconds } }))
        .stderr,
    ).toContain('TRUEUP_SYNTH_SECONDS takes seconds');
  });

  it('waits for no process that it left behind, and leaves none', async () => {
    const child = `import { spawn } from 'node:child_process'; const left = spawn('sleep', ['600'], { stdio: 'inherit' }); console.log('pid', left.pid); left.unref();`;
    const at = home('cdktf', estate);
    writeFileSync(
      join(at.path, 'main.mjs'),
      `${child}\n${readFileSync(join(at.path, 'main.mjs'), 'utf8')}`,
    );
    const { stderr } = await at.expect(0, ['validate']);
    await gone(Number(/pid (\d+)/.exec(stderr)?.[1]));
  });
});

/** Resolves once no process has the number. */
async function gone(pid: number): Promise<void> {
  while (existsSync(`/proc/${pid}/stat`)) await new Promise((done) => setTimeout(done, 20));
}

describe('migrate', () => {
  const manifest = `{
  "scripts": { "synth": "cdktf synth" },
  "dependencies": { "cdktf": "^0.21.0", "constructs": "^10.4.2" },
  "devDependencies": { "cdktf-cli": "0.21.0" }
}
`;

  it('changes imports and package.json once it is asked to, and proves that the stacks stayed the same', async () => {
    const at = home('cdktf', estate, {
      'package.json': manifest,
      '.gen/x.ts': `import { App } from "cdktf/lib/app";\nexport * from 'trueup/cdktf';\n`,
    });
    const refused = await at.expect(1, ['migrate']);
    expect([refused.stderr.includes('[not-approved]'), at.read('package.json')]).toEqual([
      true,
      manifest,
    ]);
    const ran = await at.expect(0, ['migrate', '--auto-approve']);
    expect(ran.stdout).toContain(
      `main.mjs:1\n  - import cdk from 'cdktf';\n  + import cdk from 'cdktn';\n`,
    );
    expect(ran.stdout).toMatch(
      /Proved: the program writes the same \(stacks\/base\/cdk\.tf\.json, stacks\/top\/cdk\.tf\.json\), but for the version: 0\.21\.0 before, 0\.24\.0 now\.\n$/,
    );
    expect(at.read('.gen/x.ts')).toBe(
      `import { App } from "cdktn/lib/app";\nexport * from 'trueup/cdktn';\n`,
    );
    expect(JSON.parse(at.read('package.json'))).toEqual({
      scripts: { synth: 'cdktn synth' },
      dependencies: { cdktn: '0.24.0', constructs: '^10.4.2' },
      devDependencies: { 'cdktn-cli': '0.24.0' },
    });
    expect((await at.expect(0, ['migrate'])).stdout).toBe(
      'Nothing names cdktf: there is nothing to change.\n',
    );
  });

  it.each([
    [
      'says something else',
      `new Resource(base, 'a', 'account', { name: cdk.App.name + (cdk.TerraformEphemeralResource ? 'new' : 'old') });`,
      'stacks/base/cdk.tf.json: resource.devicecloud_account.a.name',
    ],
    [
      'does not run',
      `if (cdk.TerraformEphemeralResource) throw new Error('not with this one');`,
      'not with this one',
    ],
  ])('puts everything back where the program then %s', async (_, body, words) => {
    const at = home('cdktf', body, { 'package.json': manifest });
    const ran = await at.expect(1, ['migrate', '--auto-approve']);
    expect(ran.stderr).toContain('Everything was put back.\n');
    expect(ran.stderr).toContain(words);
    expect([at.read('package.json'), at.read('main.mjs')]).toEqual([
      manifest,
      program('cdktf', body),
    ]);
  });

  it('leaves the proof for later where cdktn is not installed', async () => {
    const at = folder({
      'main.mjs': program('cdktf', estate),
      'cdktf.json': '{"app":"node main.mjs"}',
      'package.json': manifest,
    });
    mkdirSync(join(at.path, 'node_modules'));
    for (const name of ['cdktf', 'constructs', 'json-stable-stringify', 'archiver', 'semver']) {
      if (existsSync(join(modules, name)))
        symlinkSync(join(modules, name), join(at.path, 'node_modules', name));
    }
    expect((await at.expect(1, ['migrate', '--check'])).stderr).toContain('[nothing-to-check]');
    expect((await at.expect(0, ['migrate', '--auto-approve'])).stdout).toContain(
      'Type: npm install\nand then: trueup migrate --check\n',
    );
    expect((await at.expect(1, ['migrate', '--check'])).stderr).toContain('[not-installed]');
    symlinkSync(join(modules, 'cdktn'), join(at.path, 'node_modules/cdktn'));
    expect((await at.expect(0, ['migrate', '--check'])).stdout).toContain(
      'Proved: the program writes the same (stacks/base/cdk.tf.json, stacks/top/cdk.tf.json)',
    );
    expect(readdirSync(join(at.path, '.trueup'))).toEqual([]);
  });

  it.each([
    ['a text cannot be written', 'replace', 2],
    ['a text cannot be given its name', 'rename', 2],
  ] as const)('leaves everything as it was where %s', async (_, verb, nth) => {
    const at = home('cdktf', estate, {
      'package.json': manifest,
      '.gen/x.ts': `import 'cdktf';\n`,
    });
    const files = readdirSync(at.path, { recursive: true });
    const said = { stdout: '', stderr: '' };
    const stream = (name: 'stdout' | 'stderr'): PassThrough =>
      new PassThrough().on('data', (text: Buffer) => (said[name] += text.toString()));
    const own = Object.create(process, {
      cwd: { value: () => at.path },
      stdout: { value: stream('stdout') },
      stderr: { value: stream('stderr') },
    }) as NodeJS.Process;
    const context = contextOf(own, { autoApprove: true }, new AbortController().signal);
    let calls = 0;
    const failing = (...words: readonly string[]): Promise<void> => {
      calls += 1;
      const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
      return calls === nth
        ? Promise.reject(full)
        : (context.files[verb] as (...all: readonly unknown[]) => Promise<void>)(...words);
    };
    await expect(
      migrate({ ...context, files: { ...context.files, [verb]: failing } }, []),
    ).rejects.toThrow('no space');
    expect(said.stderr).toContain('Everything was put back.\n');
    expect(readdirSync(at.path, { recursive: true })).toEqual(files);
    expect([at.read('package.json'), at.read('main.mjs'), at.read('.gen/x.ts')]).toEqual([
      manifest,
      program('cdktf', estate),
      `import 'cdktf';\n`,
    ]);
  });

  it('follows no links, and names them', async () => {
    const at = home('cdktf', estate, { 'elsewhere.txt': `import 'cdktf';\n` });
    symlinkSync('elsewhere.txt', join(at.path, 'linked.ts'));
    symlinkSync('..', join(at.path, 'above'));
    symlinkSync('nowhere', join(at.path, 'package.json'));
    const { stderr } = await at.expect(0, ['migrate', '--auto-approve']);
    expect(stderr).toContain(
      'Links are not followed, and what they lead to stays as it is:\n  above\n  linked.ts\n  package.json\n',
    );
    expect(at.read('elsewhere.txt')).toBe(`import 'cdktf';\n`);
  });

  it('refuses bindings that are bound to cdktf', async () => {
    const at = home('cdktf', estate, {
      'package.json': manifest.replace(
        '"cdktf-cli"',
        '"@cdktf/provider-aws": "19.0.0", "cdktf-cli"',
      ),
    });
    expect((await at.expect(1, ['migrate', '--auto-approve'])).stderr).toContain(
      '[bound-to-cdktf]',
    );
    expect(at.read('main.mjs')).toContain(`from 'cdktf'`);
  });

  it('refuses a file that it could not write as it was', async () => {
    const at = home('cdktf', estate);
    const latin = Buffer.from("// caf\u00e9\nimport 'cdktf';\n", 'latin1');
    writeFileSync(join(at.path, 'latin.mjs'), latin);
    expect((await at.expect(1, ['migrate', '--auto-approve'])).stderr).toContain('[not-utf8]');
    expect(readFileSync(join(at.path, 'latin.mjs')).equals(latin)).toBe(true);
  });
});
