// The guides for teams, typed: what their blocks show is written and run in two folders, which stand for two machines,
// against real servers. Only addresses, passwords and the lease are others.
import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import {
  startHttp,
  startPostgres,
  startS3,
  type HttpServer,
  type Server,
} from '../../scripts/servers.js';
import { postgresPool } from '../../src/state/backends/registers/postgres.js';
import { box } from '../support/box.js';
import { cleanUp } from '../support/clean-up.js';
import { folder, type Folder } from '../support/cli.js';
import { theirs } from '../support/estate.js';
import { blocksOf, filesOf, pathWithCommand } from '../support/printed.js';
import { STATE_USERS } from '../support/state-rules.js';
import { terraformIsHere } from '../support/terraform.js';
import { backend, killProviders, quiet } from '../support/terraform-runner.js';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

type Variables = Readonly<Record<string, string>>;

let postgres: Server;
let s3: Server;
let http: HttpServer;
let admin: Pool | undefined;

const started: Server[] = [];
/** One that started is stopped, whatever becomes of the others. */
async function kept<S extends Server>(starting: Promise<S>): Promise<S> {
  const server = await starting;
  started.push(server);
  return server;
}

beforeAll(async () => {
  s3 = await kept(startS3());
  http = await kept(startHttp());
  postgres = await kept(startPostgres());
  admin = postgresPool(new URL(postgres.url), postgres.environment['PGPASSWORD'], 1);
});
afterAll(async () => {
  await admin?.end();
  for (const one of started) await one.stop();
});

const pageOf = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../docs/how-to', `${name}.md`), 'utf8');

/** What a page says to type below a heading, block by block. */
function blocksBelow(page: string, heading: string, language = 'sh'): readonly string[] {
  const [, below = ''] = page.split(`\n## ${heading}\n`);
  const blocks = blocksOf(below.split('\n## ')[0]!).filter((one) => one.language === language);
  if (blocks.length === 0) throw new Error(`nothing to type below ${heading}`);
  return blocks.map(({ text }) => text);
}

const typedBelow = (page: string, heading: string): string => blocksBelow(page, heading).join('');

interface Typing {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly said: string }>;
}

/** Types lines into a shell that ends with the first command that fails. Its processes end together. */
function type(home: Folder, lines: string, env: Variables): Typing {
  const child = spawn('bash', ['-ec', lines], {
    cwd: home.path,
    env: { PATH: pathWithCommand(), HOME: home.path, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = new Promise<{ code: number | null; said: string }>((done) => {
    child.once('close', (code) => done({ code, said }));
  });
  cleanUp.push(async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
    await ended;
  });
  return { child, ended };
}

/** @throws where it ends with another code */
async function ends(code: number, home: Folder, lines: string, env: Variables): Promise<string> {
  const ended = await type(home, lines, env).ended;
  if (ended.code !== code)
    throw new Error(`${lines}\nended with ${ended.code}, not ${code}.\n${ended.said}`);
  return ended.said;
}

const NAMES = ['Alpha', 'Bravo', 'Charlie', 'Delta'];

/** Objects that are created one after the other, because each refers to the one before. */
const estate = (names: readonly string[]): string =>
  `accounts:\n${names
    .map((name, index) => {
      const parent =
        index === 0 ? '' : `, account: "\${accounts.${names[index - 1]!.toLowerCase()}.id}"`;
      return `  ${name.toLowerCase()}: { name: ${name}${parent} }\n`;
    })
    .join('')}`;

/** A cloud, and clones of the repository that a page describes. @param url of the state, in place of the one on the page */
async function repository(page: string, url: string) {
  const cloud = await box(theirs);
  cleanUp.push(() => cloud.close());
  cloud.setFaults('latency=200');
  const shown = Object.entries(filesOf(page)).map(([name, text]) => [
    name,
    text.replace(/state: \S+:\/\/\S+/, `state: { url: "${url}", lock: { lease: 2s } }`),
  ]);
  const files: Variables = {
    ...(Object.fromEntries(shown) as Variables),
    'estate.yaml': estate(NAMES),
  };
  const env = { ...cloud.env, CI: 'true', TRUEUP_SETTLE_SECONDS: '1' };
  return {
    files,
    env,
    clone: (more: Variables = {}): Folder => folder({ ...files, ...more }),
    /** The job dies once the cloud has created its second object, and before it hears of it. */
    async killedAmid({ child, ended }: Typing): Promise<void> {
      let posts = 0;
      cloud.intercept = async ({ method }, proceed) => {
        const answer = await proceed();
        if (method === 'POST' && (posts += 1) === 2) process.kill(-child.pid!, 'SIGKILL');
        return answer;
      };
      await ended;
      cloud.intercept = undefined;
      expect(posts).toBe(2);
    },
    live: (): readonly string[] =>
      cloud
        .objects('accounts')
        .map(({ name }) => String(name))
        .filter((name) => NAMES.includes(name))
        .toSorted(),
  };
}

interface Guide {
  readonly name: string;
  /** Of the state, made anew. */
  readonly url: () => string;
  /** What jobs have in their environment, beside what the page exports. */
  readonly env: () => Variables;
  /** Text of the page that is another one here. */
  readonly here?: () => Variables;
  /** What the page says to do before the first job. */
  readonly prepare?: (page: string, home: Folder, env: Variables) => Promise<void>;
  /** What the lock of a killed job needs: what it is to be told. */
  readonly lockId?: (said: string) => string;
}

let places = 0;

/** As root would have put it there. */
function passwordFiles(): Variables {
  const home = folder({ plan: 'choose-a-third', apply: 'choose-another' });
  return {
    '/etc/trueup/apply-password': join(home.path, 'apply'),
    '/etc/trueup/plan-password': join(home.path, 'plan'),
  };
}

const guides: readonly Guide[] = [
  {
    name: 'github-and-s3',
    url: () => s3.url.replace('/state?', `/pages-${(places += 1)}?`),
    env: () => s3.environment,
  },
  {
    name: 'gitlab-and-managed-state',
    url: () => http.url.replace(/prod$/, `pages-${(places += 1)}`),
    env: () => ({ CI_JOB_TOKEN: STATE_USERS.maintainer }),
    here: () => ({ 'gitlab-ci-token': 'maintainer' }),
    lockId: (said) => /trueup unlock (\S+)/.exec(said)![1]!,
  },
  {
    name: 'self-hosted-and-postgresql',
    url: () => postgres.url.replace('trueup@', '').replace(/postgres$/, 'trueup'),
    env: () => ({}),
    here: passwordFiles,
    async prepare(page, home, env) {
      const [first = '', second = ''] = blocksBelow(page, 'Prepare', 'sql');
      const sql = async (pool: Pool, text: string): Promise<void> => {
        for (const one of text.split(';\n').filter((part) => part.trim() !== ''))
          await pool.query(one);
      };
      await admin!.query('drop database if exists trueup');
      await admin!.query('drop role if exists trueup_apply, trueup_plan');
      await sql(admin!, first);
      const empty = folder({
        'trueup.yaml': home.read('trueup.yaml'),
        'none.yaml': 'accounts: {}\n',
      });
      await ends(0, empty, typedBelow(page, 'Prepare'), env);
      const url = new URL(postgres.url.replace(/postgres$/, 'trueup'));
      const there = postgresPool(url, postgres.environment['PGPASSWORD'], 1);
      await sql(there, second);
      await there.end();
    },
  },
];

/** The page as it is typed here, the environment, and the clones. */
async function begun({ name, url, env, here, prepare }: Guide) {
  let page = pageOf(name);
  for (const [from, to] of Object.entries(here?.() ?? {})) page = page.replaceAll(from, to);
  const all = await repository(page, url());
  const job = { ...all.env, ...env() };
  await prepare?.(page, all.clone(), job);
  const exported = blocksBelow(page, 'Prepare').filter((text) => text.startsWith('export '));
  /** What a job types that the page lists below a heading. */
  const at = (heading: string): string => `${exported.join('')}${typedBelow(page, heading)}`;
  return { ...all, env: job, page, at };
}

describe.each(guides)('the guide $name', (guide) => {
  it('plans on the pull request in one folder and applies in another', async () => {
    const { env, at, clone, live } = await begun(guide);
    const [a, b] = [clone(), clone()];
    await ends(0, a, at('On the pull request'), env);
    b.write('change.plan', a.read('change.plan'));
    expect(await ends(0, b, at('After the merge'), env)).toContain('Applied: 4 created');
    expect(live()).toEqual(NAMES);
    expect(await ends(0, a, at('On the pull request'), env)).toContain('No changes');
    expect(readdirSync(a.path)).toContain('plan.json');
  });

  it('applies in two folders at once: one waits, and nothing is created twice', async () => {
    const { env, at, clone, live } = await begun(guide);
    const both = [clone(), clone()].map((home) => ends(0, home, at('Two jobs at once'), env));
    expect((await Promise.all(both)).filter((said) => said.includes('Waiting up to'))).toHaveLength(
      1,
    );
    expect(live()).toEqual(NAMES);
  });

  it('continues in another folder after a job that was killed', async () => {
    const { env, at, clone, live, killedAmid } = await begun(guide);
    const [a, b] = [clone(), clone()];
    await ends(0, a, at('On the pull request'), env);
    await killedAmid(type(a, at('After the merge'), env));
    const { lockId } = guide;
    const waits = { ...env, CI: lockId ? '' : 'true' };
    const LOCK_ID = lockId?.(await ends(4, b, at('Two jobs at once'), waits)) ?? '';
    await ends(0, b, at('A cancelled job'), { ...env, LOCK_ID });
    expect(live()).toEqual(NAMES);
    expect(await ends(0, a, at('On the pull request'), env)).toContain('No changes');
  });
});

interface Workflow {
  readonly steps: readonly { readonly run: string }[];
}
interface ServerConfiguration {
  readonly repos: readonly { readonly workflow: string }[];
  readonly workflows: Readonly<Record<string, Readonly<Record<'plan' | 'apply', Workflow>>>>;
}

describe('docs/how-to/atlantis.md', () => {
  const page = pageOf('atlantis');

  /** What Atlantis does with a pull request: a clone of its own, in which it runs the steps of the workflow. */
  async function server() {
    const all = await repository(page, `${postgres.url}?schema=atlantis${(places += 1)}`);
    const { repos, workflows } = parse(all.files['repos.yaml']!) as ServerConfiguration;
    const { projects } = parse(all.files['atlantis.yaml']!) as {
      readonly projects: readonly { readonly name: string; readonly dir: string }[];
    };
    const workflow = workflows[repos[0]!.workflow]!;
    const { name, dir } = projects[0]!;
    const pull = (number: number, more: Variables = {}) => {
      const home = all.clone(more);
      const env = {
        ...all.env,
        ...postgres.environment,
        CI: '',
        DIR: join(home.path, dir),
        PLANFILE: join(home.path, dir, `${name}-default.tfplan`),
        WORKSPACE: 'default',
        PROJECT_NAME: name,
        PULL_NUM: String(number),
      };
      /** Each step is a shell of its own. */
      const lines = (command: 'plan' | 'apply'): string =>
        workflow[command].steps.map(({ run }) => `sh -c '${run}'`).join('\n');
      return {
        home,
        start: (command: 'plan' | 'apply') => type(home, lines(command), env),
        comment: (command: 'plan' | 'apply', code = 0) => ends(code, home, lines(command), env),
      };
    };
    return { ...all, pull };
  }

  it('plans a pull request, applies that plan, and is done', async () => {
    const { pull, live } = await server();
    const [seven, eight] = [pull(7), pull(8)];
    expect(await seven.comment('plan')).toContain('4 to create');
    expect(readdirSync(seven.home.path)).toContain('alerting-default.tfplan');
    await eight.comment('plan');
    expect(await seven.comment('apply')).toContain('Applied: 4 created');
    expect(readdirSync(seven.home.path)).not.toContain('alerting-default.tfplan');
    expect(live()).toEqual(NAMES);
    // The plan of the other pull request is about a cloud that is another one now.
    await eight.comment('apply', 6);
    expect(await eight.comment('plan')).toContain('No changes');
    await eight.comment('apply');
    expect(live()).toEqual(NAMES);
  });

  it('applies two pull requests at once, one after the other', async () => {
    const { pull, live } = await server();
    const first = pull(7, { 'estate.yaml': estate(NAMES.slice(0, 1)) });
    await first.comment('plan');
    await first.comment('apply');
    const all = [pull(8), pull(9)];
    for (const one of all) await one.comment('plan');
    const ran = await Promise.all(all.map((one) => one.start('apply').ended));
    expect(ran.map(({ code }) => code)).toEqual([0, 0]);
    expect(ran.filter(({ said }) => said.includes('Waiting up to'))).toHaveLength(1);
    expect(live()).toEqual(NAMES);
  });

  it('continues after Atlantis was ended during an apply', async () => {
    const { pull, live, killedAmid } = await server();
    const seven = pull(7);
    await seven.comment('plan');
    await killedAmid(seven.start('apply'));
    const again = pull(7);
    await again.comment('plan');
    await again.comment('apply');
    expect(live()).toEqual(NAMES);
    expect(await again.comment('plan')).toContain('No changes');
  });
});

describe.runIf(terraformIsHere('the guide to Terraform Cloud', 1))(
  'docs/how-to/terraform-cloud.md',
  () => {
    it('uses on another worker what a killed run created', async () => {
      const page = pageOf('terraform-cloud');
      const { 'main.tf': main = '' } = filesOf(page);
      const cloud = await box(theirs);
      cleanUp.push(() => cloud.close());
      const accounts = (): number => cloud.objects('accounts').length;
      const before = accounts();
      const env = {
        ...quiet,
        ...cloud.env,
        ...postgres.environment,
        TRUEUP_STATE: `${postgres.url}?schema=cloud`,
        TRUEUP_SETTLE_SECONDS: '1',
        TFC_WORKSPACE_SLUG: 'acme/alerting',
        TF_HTTP_PASSWORD: STATE_USERS.maintainer,
      };
      // Terraform Cloud keeps the state; here a server does, in a file beside those of the page.
      const state = http.url.replace(/prod$/, 'cloud');
      const author = folder({ 'main.tf': main, 'backend.tf': backend(state) });
      const [prepare = ''] = blocksBelow(page, 'Prepare');
      await ends(0, author, `git init --quiet .\n${prepare}`, env);
      /** A worker has what was committed, and the variables of the workspace. */
      const worker = (): Folder => {
        const home = folder();
        cpSync(author.path, home.path, {
          recursive: true,
          filter: (path) => !/\/\.(?:git|terraform|trueup)(?:\/|$)/.test(path),
        });
        return home;
      };
      const [apply = '', plan = ''] = blocksBelow(page, 'Plan and apply');
      const [a, b] = [worker(), worker()];
      let isKilled = false;
      const killed = type(a, apply, env);
      cloud.intercept = async ({ method }, proceed) => {
        const answer = await proceed();
        if (method === 'POST' && !isKilled) killProviders(killed.child.pid!);
        isKilled ||= method === 'POST';
        return answer;
      };
      expect(await killed.ended).toMatchObject({ code: 1 });
      expect([isKilled, accounts()]).toEqual([true, before + 1]);
      await ends(0, b, apply, env);
      await ends(0, b, plan, env);
      expect(accounts()).toBe(before + 1);
    });
  },
);
