// The pipelines that `trueup init --ci` writes, the Action and the component for GitLab are run as they stand: each job
// in a fresh clone, with the packed package, an emulator, real servers for the state, and a forge on loopback.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPostgres, startS3, type Server } from '../../scripts/servers.js';
import { freshMachine, git } from '../support/ci-machine.js';
import { emulator, folder, type Folder } from '../support/cli.js';
import { forgeServer } from '../support/forge-server.js';
import { packageRegistry, type PackageRegistry } from '../support/package-registry.js';
import { component, runPipeline, type PipelineRun } from '../support/pipeline-runner.js';
import { stateRules, STATE_USERS } from '../support/state-rules.js';
import { runWorkflow, type WorkflowRun } from '../support/workflow-runner.js';

/** Milliseconds for one test, which installs the package some ten times. */
const PATIENCE = 300_000;

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

let [packed, tarball, npm]: [string, string, Readonly<Record<string, string>>] = ['', '', {}];
let registry: PackageRegistry | undefined;
let [s3, postgres]: [Server | undefined, Server | undefined] = [undefined, undefined];
let places = 0;

beforeAll(async () => {
  registry = await packageRegistry();
  s3 = await startS3();
  postgres = await startPostgres();
  packed = mkdtempSync(join(tmpdir(), 'trueup-packed-'));
  npm = {
    npm_config_registry: registry.url,
    npm_config_cache: join(packed, 'cache'),
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
  };
  const words = ['pack', '--ignore-scripts', '--offline', '--pack-destination', packed];
  execFileSync('npm', words, { cwd: root, stdio: 'pipe' });
  tarball = join(
    packed,
    readdirSync(packed).find((name) => name.endsWith('.tgz'))!,
  );
}, PATIENCE);
afterAll(async () => {
  await Promise.all([registry?.stop(), s3?.stop(), postgres?.stop()]);
  if (packed) rmSync(packed, { recursive: true, force: true });
});

const more = ['alpha', 'bravo', 'charlie', 'delta']
  .map((name) => `  ${name}: { name: ${name} }\n`)
  .join('');

interface Repository {
  readonly home: Folder;
  /** The bare repository. */
  readonly origin: string;
  /** Commits everything. @returns the commit */
  commit(subject: string): Promise<string>;
}

/** A repository with what `trueup init` wrote, and some more objects. */
async function repository(...words: readonly string[]): Promise<Repository> {
  const home = folder();
  await git(home.path, 'init', '--quiet', '--initial-branch=main');
  const { workspace: origin } = freshMachine();
  await git(origin, 'init', '--quiet', '--bare', '--initial-branch=main');
  const env = { ...npm, HOME: packed };
  await home.expect(0, ['init', '--package', tarball, ...words], { env });
  home.write('trueup.yaml', home.read('trueup.yaml').replace('accounts:\n', `accounts:\n${more}`));
  return {
    home,
    origin,
    async commit(subject) {
      await git(home.path, 'add', '--all');
      await git(home.path, 'commit', '--quiet', '--allow-empty', '--message', subject);
      await git(home.path, 'push', '--quiet', '--force', origin, 'HEAD:refs/heads/main');
      return git(home.path, 'rev-parse', 'HEAD');
    },
  };
}

/** The cloud, what its users see of it, and what somebody changes in it by hand. */
async function deviceCloud() {
  const home = folder();
  const { env } = await emulator(home, [], { patience: PATIENCE });
  const names = async (kind: string): Promise<readonly string[]> => {
    const { stdout } = await home.expect(0, ['get', kind, '-o', 'json'], { env });
    return (JSON.parse(stdout) as { name?: string; id: string }[]).map(
      ({ name, id }) => name ?? id,
    );
  };
  const { TRUEUP_V2_URL = '', ...rest } = env;
  const headers = {
    'X-MGR-API-ID': env['TRUEUP_MGR_API_ID']!,
    'X-MGR-API-KEY': env['TRUEUP_MGR_API_KEY']!,
    'X-VND-API-ID': env['TRUEUP_VND_API_ID']!,
    'X-VND-API-KEY': env['TRUEUP_VND_API_KEY']!,
    'content-type': 'application/json',
  };
  async function enable(enabled: boolean): Promise<void> {
    const { stdout } = await home.expect(0, ['get', 'alert_push_destinations', '-o', 'json'], {
      env,
    });
    const [{ destination_config_id: id } = { destination_config_id: '' }] = JSON.parse(stdout) as {
      destination_config_id: string;
    }[];
    const url = `${TRUEUP_V2_URL}/alert_push_destinations/${id}/`;
    const body = JSON.stringify({ enabled });
    expect((await fetch(url, { method: 'PATCH', headers, body })).ok).toBe(true);
  }
  return { url: TRUEUP_V2_URL, secrets: rest, names, enable };
}

type Done = Readonly<Record<string, { readonly result: string; readonly said: string }>>;

/** Those of the jobs that ran have to have ended as expected, and no other may have run. */
function ended(done: Done, expected: Readonly<Record<string, string>>): void {
  const ran = Object.entries(done).filter(([, { result }]) => result !== 'skipped');
  const results = Object.fromEntries(ran.map(([name, { result }]) => [name, result]));
  expect(results, ran.map(([name, { said }]) => `${name}: ${said}`).join('\n')).toEqual(expected);
}

const remove = (home: Folder): void =>
  home.write('trueup.yaml', home.read('trueup.yaml').replace('  delta: { name: delta }\n', ''));

async function githubRepository(state: Server | undefined) {
  const { url: address = '', environment = {} } = state ?? {};
  const [forge, cloud, repo] = await Promise.all([
    forgeServer(),
    deviceCloud(),
    repository('--ci', 'github'),
  ]);
  const [identity, recipient] = await keyPair();
  const place = address.replace('/state?', `/workflow-${(places += 1)}?`);
  const runOf = async (
    event: string,
    { fork = false }: { readonly fork?: boolean } = {},
  ): Promise<WorkflowRun> => ({
    origin: repo.origin,
    sha: await repo.commit(event),
    github: {
      event_name: event,
      ref: event === 'pull_request' ? 'refs/pull/7/merge' : 'refs/heads/main',
      repository: 'acme/network',
      actor: 'dana',
      token: 'job-token',
      event: {
        pull_request: {
          number: '7',
          head: {
            sha: 'b'.repeat(40),
            repo: { full_name: fork ? 'else/network' : 'acme/network' },
          },
        },
      },
    },
    vars: {
      TRUEUP_V2_URL: cloud.url,
      TRUEUP_STATE: place,
      TRUEUP_AGE_RECIPIENT: recipient,
    },
    secrets: fork ? {} : { ...cloud.secrets, ...environment },
    environments: { production: { TRUEUP_IDENTITY: identity } },
    env: { ...npm, GITHUB_API_URL: forge.url },
    action: read('action.yml'),
  });
  const workflow = repo.home.read('.github/workflows/trueup.yml');
  const run = async (...about: Parameters<typeof runOf>) =>
    runWorkflow(workflow, await runOf(...about));
  return { forge, cloud, repo, run, runOf, state: { TRUEUP_STATE: place, ...environment } };
}

async function keyPair(): Promise<readonly [identity: string, recipient: string]> {
  const identity = await generateIdentity();
  return [identity, await identityToRecipient(identity)];
}

describe('GitHub', () => {
  test(
    'a state in S3: plan on the pull request, apply on merge, an issue about drift',
    async () => {
      const { forge, cloud, repo, run, state } = await githubRepository(s3);
      const history = () =>
        repo.home.expect(0, ['state', 'history', '--env', 'prod'], { env: state });
      const first = await run('pull_request');
      ended(first, { validate: 'success', preview: 'success' });
      expect(forge.comments).toHaveLength(1);
      expect(forge.comments[0]!.body).toMatch(/^### Plan: 7 to create, 0 to update, 0 to delete/m);
      expect((await history()).stderr).toContain('no state yet');
      expect(await cloud.names('accounts')).toEqual(['Headquarters']);

      const fork = await run('pull_request', { fork: true });
      ended(fork, { validate: 'success' });
      expect(fork['validate']!.said).toContain('Valid: 7 declarations.');

      const merged = await run('push');
      ended(merged, { plan: 'success', apply: 'success' });
      expect(merged['plan']!.summary).toContain('7 to create');
      expect(merged['apply']!.said).toContain('Applied: 7 created');
      expect(await cloud.names('accounts')).toContain('delta');
      const again = await run('push');
      ended(again, { plan: 'success' });
      expect(again['plan']!.outputs).toEqual({ changes: 'false' });

      remove(repo.home);
      ended(await run('pull_request'), { validate: 'success', preview: 'success' });
      expect(forge.comments).toHaveLength(1);
      expect(forge.comments[0]!.body).toMatch(/^### Plan: 0 to create, 0 to update, 1 to delete/m);
      ended(await run('push'), { plan: 'success', apply: 'success' });
      expect(await cloud.names('accounts')).not.toContain('delta');

      await cloud.enable(false);
      ended(await run('schedule'), { drift: 'failure' });
      expect(forge.issues).toMatchObject([{ open: true, title: 'Drift: default.prod' }]);
      await cloud.enable(true);
      ended(await run('schedule'), { drift: 'success' });
      expect(forge.issues).toMatchObject([{ open: false }]);
    },
    PATIENCE,
  );

  test(
    'a state in PostgreSQL, and the Action in place of the steps',
    async () => {
      const { forge, cloud, runOf, repo } = await githubRepository(postgres);
      const secrets = [...Object.keys(cloud.secrets), 'PGPASSWORD'];
      const step = (id: string, inputs: Readonly<Record<string, string>>): string =>
        `      - id: ${id}\n        uses: trueup\n        with: ${JSON.stringify(inputs)}\n        env:\n${secrets.map((name) => `          ${name}: \${{ secrets.${name} }}\n`).join('')}`;
      const outputs = (id: string): string =>
        ['exit', 'summary', 'changed', 'drifted', 'plan']
          .map((name) => `      ${id}_${name}: \${{ steps.${id}.outputs.${name} }}\n`)
          .join('');
      const workflow = `env: { TRUEUP_ENV: prod, TRUEUP_V2_URL: "\${{ vars.TRUEUP_V2_URL }}", TRUEUP_STATE: "\${{ vars.TRUEUP_STATE }}" }
jobs:
  all:
    outputs:
${['plan', 'apply', 'drift'].map(outputs).join('')}
    steps:
      - uses: actions/checkout@v4
${step('plan', { comment: 'true' })}${step('apply', { command: 'apply', paths: '${{ steps.plan.outputs.plan }}' })}${step('drift', { command: 'drift' })}`;
      const { all } = await runWorkflow(workflow, await runOf('pull_request'));
      expect(all!.result, all!.said).toBe('success');
      expect(forge.comments[0]!.body).toContain('7 to create');
      expect(all!.outputs).toMatchObject({
        plan_exit: '2',
        plan_summary: 'Plan: 7 to create, 0 to update, 0 to delete; 0 unchanged.',
        plan_changed: 'true',
        plan_drifted: '',
        apply_exit: '0',
        apply_changed: 'true',
        drift_exit: '0',
        drift_drifted: 'false',
        drift_plan: '',
      });
      remove(repo.home);
      const one = (inputs: Readonly<Record<string, string>>): string =>
        workflow.replace(/ {6}- id: plan[^]*/, step('plan', inputs));
      const strict = await runWorkflow(one({ 'detailed-exitcode': 'true' }), await runOf('push'));
      expect(strict['all']).toMatchObject({ result: 'failure', outputs: { plan_exit: '2' } });
      // What somebody writes into a text that becomes an input is no command.
      const hostile = await runWorkflow(
        one({ args: '$(touch injected)\n`touch injected`', paths: '"; touch injected; "' }),
        await runOf('push'),
      );
      expect(hostile['all']).toMatchObject({ result: 'failure', outputs: { plan_exit: '1' } });
      expect(hostile['all']!.said).toContain('$(touch injected)');
    },
    PATIENCE,
  );
});

async function gitlabProject() {
  const states = stateRules();
  const [forge, cloud, repo] = await Promise.all([
    forgeServer(states),
    deviceCloud(),
    repository('--ci', 'gitlab'),
  ]);
  const runOf = async (
    source: string,
    { fork = false }: { readonly fork?: boolean } = {},
  ): Promise<PipelineRun> => {
    const isRequest = source === 'merge_request_event';
    const request = {
      CI_MERGE_REQUEST_IID: '7',
      CI_MERGE_REQUEST_PROJECT_ID: '42',
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: fork ? '43' : '42',
    };
    const variables = {
      CI: 'true',
      CI_PIPELINE_SOURCE: source,
      CI_DEFAULT_BRANCH: 'main',
      CI_API_V4_URL: `${forge.url}/api/v4`,
      CI_PROJECT_ID: '42',
      // A job for a merge request runs with the rights of a developer: it must not write the state.
      CI_JOB_TOKEN: STATE_USERS[source === 'push' ? 'maintainer' : 'reader'],
      ...(isRequest ? request : { CI_COMMIT_BRANCH: 'main' }),
    };
    const project = { TRUEUP_V2_URL: cloud.url, ...cloud.secrets, GITLAB_TOKEN: 'person-token' };
    return {
      origin: repo.origin,
      sha: await repo.commit(source),
      variables: { ...variables, ...(fork ? {} : project) },
      startedByHand: ['trueup-apply'],
      env: npm,
    };
  };
  const pipeline = repo.home.read('.gitlab-ci.yml');
  const run = async (...about: Parameters<typeof runOf>) =>
    runPipeline(pipeline, await runOf(...about));
  return { states, forge, cloud, repo, pipeline, run, runOf };
}

describe('GitLab', () => {
  test(
    'its managed state: plan on the merge request, apply by hand, an issue about drift',
    async () => {
      const { states, forge, cloud, repo, pipeline, run, runOf } = await gitlabProject();
      const request = 'merge_request_event';
      ended(await run(request), {
        'trueup-validate': 'success',
        'trueup-preview': 'success',
      });
      expect(forge.comments).toHaveLength(1);
      expect(forge.comments[0]!.body).toMatch(/^### Plan: 7 to create, 0 to update, 0 to delete/m);
      expect(states.document('trueup-prod')).toBeUndefined();
      expect(await cloud.names('accounts')).toEqual(['Headquarters']);
      ended(await run(request, { fork: true }), { 'trueup-validate': 'success' });

      const waiting = await runPipeline(pipeline, { ...(await runOf('push')), startedByHand: [] });
      ended(waiting, { 'trueup-plan': 'success', 'trueup-apply': 'manual' });
      expect(states.document('trueup-prod')).toBeUndefined();
      const merged = await run('push');
      ended(merged, { 'trueup-plan': 'success', 'trueup-apply': 'success' });
      expect(merged['trueup-apply']!.said).toContain('Applied: 7 created');
      expect(states.document('trueup-prod')).toContain('accounts.delta');

      remove(repo.home);
      await run(request);
      expect(forge.comments).toHaveLength(1);
      expect(forge.comments[0]!.body).toMatch(/^### Plan: 0 to create, 0 to update, 1 to delete/m);
      ended(await run('push'), { 'trueup-plan': 'success', 'trueup-apply': 'success' });
      expect(await cloud.names('accounts')).not.toContain('delta');

      await cloud.enable(false);
      ended(await run('schedule'), { 'trueup-drift': 'failed' });
      expect(forge.issues).toMatchObject([{ open: true }]);
      await cloud.enable(true);
      ended(await run('schedule'), { 'trueup-drift': 'success' });
      expect(forge.issues).toMatchObject([{ open: false }]);
    },
    PATIENCE,
  );

  test(
    'the component does the same in jobs of other pipelines',
    async () => {
      const { forge, pipeline, runOf, cloud } = await gitlabProject();
      const template = read('templates/trueup/template.yml');
      const managed = /variables:\n((?: {4}.*\n)+)/.exec(pipeline)?.[1] ?? '';
      const job = (inputs: Readonly<Record<string, unknown>>): string =>
        component(template, inputs).replace('  variables:\n', `  variables:\n${managed}`);
      const request = await runOf('merge_request_event');
      const strict = job({
        comment: true,
        'detailed-exitcode': true,
        args: ['--exclude', 'accounts.delta'],
      });
      const { trueup: planned } = await runPipeline(strict, request);
      expect(planned).toMatchObject({
        result: 'failed',
        reported: {
          TRUEUP_JOB_EXIT: '2',
          TRUEUP_JOB_SUMMARY: 'Plan: 6 to create, 0 to update, 0 to delete; 0 unchanged.',
          TRUEUP_JOB_CHANGED: 'true',
          TRUEUP_JOB_PLAN: './change.plan',
        },
      });
      expect(forge.comments).toHaveLength(1);
      const both = `${job({ job: 'first' })}${job({ job: 'second', stage: 'deploy', command: 'apply', paths: ['change.plan'] })}`;
      const { second } = await runPipeline(both, await runOf('push'));
      expect(second).toMatchObject({ result: 'success', reported: { TRUEUP_JOB_CHANGED: 'true' } });
      expect(await cloud.names('accounts')).toContain('delta');
    },
    PATIENCE,
  );
});
