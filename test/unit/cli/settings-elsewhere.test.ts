// Projects whose settings lie outside of the current folder: what is printed about them can be typed here.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as drift } from '../../../src/cli/commands/drift.js';
import { run as write } from '../../../src/cli/commands/export.js';
import { run as init } from '../../../src/cli/commands/init.js';
import { run as log } from '../../../src/cli/commands/log.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { list, mv } from '../../../src/cli/commands/state.js';
import type { DriftDocument } from '../../../src/model/index.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

const settings = (state: string): string =>
  `settings: { target: emulator, state: .trueup/${state}.json }\n`;

/** Two projects, each applied in the folder of the first. */
async function applied() {
  const home = freshFolder();
  const cwd = join(home, 'x');
  for (const name of ['x', 'y']) {
    mkdirSync(join(home, name));
    writeFileSync(
      join(home, name, 'trueup.yaml'),
      `${settings(name)}accounts: { q: { name: ${name} } }\n`,
    );
    const { code } = await inProcess(apply, ['apply', `../${name}`, '--auto-approve'], {
      cwd,
      env: {},
    });
    expect(code).toBe(0);
  }
  return { cwd, env: {} };
}

test('--path names the settings of the state', async () => {
  const home = await applied();
  const listed = async (...words: readonly string[]) =>
    (await inProcess(list, ['state', 'list', ...words], home)).stdout;
  expect(await listed()).toContain('trueup.yaml');
  expect(await listed()).not.toContain('../y');
  expect(await listed('--path', '../y')).toContain('../y/trueup.yaml');
  const moved = await inProcess(
    mv,
    ['state', 'mv', 'accounts.q', 'accounts.r', '--path', '../y'],
    home,
  );
  expect(moved.code, moved.stderr).toBe(0);
  expect(await listed()).toContain('accounts.q');
  expect(await listed('--path', '../y')).toContain('accounts.r');
  const kept = await inProcess(log, ['log', '--path', '../y'], home);
  expect(kept.stdout).toContain('1 object in the state');
});

test('commands that read the settings alone are printed with --path, in documents of drift too', async () => {
  const home = await applied();
  const data = join(home.cwd, '.trueup/emulator.json');
  writeFileSync(data, readFileSync(data, 'utf8').replaceAll('"x"', '"y"'));
  rmSync(join(home.cwd, '.trueup/y.json'));
  const { stdout } = await inProcess(drift, ['drift', '../y', '--format', 'json'], home);
  const { diagnostics } = JSON.parse(stdout) as DriftDocument;
  const [detail = ''] = diagnostics.flatMap(({ code, detail = '' }) =>
    code === 'ambiguous' ? [detail] : [],
  );
  expect(detail).toMatch(/: trueup import accounts\.q \d+ \.\.\/y$/m);
});

test('a refused plan file leaves the scope as it was', async () => {
  const cwd = freshFolder();
  writeFileSync(
    join(cwd, 'trueup.yaml'),
    `settings: { target: emulator }
accounts: { a: { name: "\${var.n}" } }
alert_push_destinations:
  p:
    name: P
    endpoint: { url: "https://hooks.example.com" }
    authentication: { secret: "\${secret.env.TOKEN}" }
`,
  );
  const env = { TOKEN: 'a-token-of-this-test' };
  const words = ['plan', '--destroy', '--target', 'accounts.a', '--out', 'p.plan'];
  const { code, stderr } = await inProcess(plan, [...words, '--var', `n=${env.TOKEN}`], {
    cwd,
    env,
  });
  expect([code, stderr]).toEqual([1, expect.stringContaining('[secret-in-plan]')]);
  expect(stderr).toContain('trueup destroy --target accounts.a --var n=<value>');
});

test('export without --update keeps what was asked for', async () => {
  const cwd = freshFolder();
  const words = ['export', '--target', 'accounts.a', '--dry-run'];
  expect((await inProcess(write, words, { cwd, env: {} })).stderr).toContain(
    'trueup export --update --target accounts.a --dry-run',
  );
  const format = ['export', '--update', '--dry-run', '--format', 'hcl'];
  expect((await inProcess(write, format, { cwd, env: {} })).stderr).toContain(
    'trueup export --update --target ADDRESS --dry-run',
  );
  const split = ['export', 'accounts', '--split', 'account', '--account', '52'];
  expect((await inProcess(write, split, { cwd, env: {} })).stderr).toContain(
    'trueup export accounts --account 52 --out FOLDER --split account',
  );
});

test('init in a part of a repository names the environment', async () => {
  const top = freshFolder();
  execFileSync('git', ['init', '-q', top]);
  mkdirSync(join(top, 'part'));
  const words = ['init', '--ci', 'github', '--env', 'staging', '--package', './t.tgz'];
  const { stderr } = await inProcess(init, words, { cwd: join(top, 'part'), env: {} });
  expect(stderr).toContain(
    'cd ../ && trueup init --ci github --package ./part/t.tgz --env staging',
  );
});
