// The store on a real server of Terraform's http protocol, whose rules terraform itself checks as well.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { undiciTransport } from '../../src/client/index.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import {
  documentStore,
  type DocumentStoreOptions,
} from '../../src/state/backends/http/document-store.js';
import { stateServer } from '../../src/state/backends/http/state-server.js';
import { rescueIn } from '../../src/state/backends/registers/rescue.js';
import type { Store } from '../../src/state/index.js';
import { pause, startHttp, type HttpServer } from '../../scripts/servers.js';
import { simulatedFiles } from '../support/simulated-files.js';
import { simulatedMachine } from '../support/simulated-machine.js';
import { GITLAB_PATH, PLAIN_PATH, STATE_USERS } from '../support/state-rules.js';
import { terraformIsHere } from '../support/terraform.js';
import { conformance, refusal } from '../unit/state/conformance.js';
import { entry, intent, result, TARGET } from '../unit/state/samples.js';

const [clock, random, machine] = [systemClock(), systemRandom(), simulatedMachine()];
let server: HttpServer;
let names = 0;

beforeAll(async () => {
  server = await startHttp();
});
afterEach(() => server.cut(() => false));
afterAll(() => server.stop());

function address(name: string, path = GITLAB_PATH): URL {
  const url = new URL(server.url);
  url.pathname = `${path}/${name}`;
  return url;
}

function storeAt(
  url: URL,
  more: Partial<DocumentStoreOptions> = {},
  user: keyof typeof STATE_USERS = 'maintainer',
  password: string = STATE_USERS[user],
): Store {
  const { transport, close } = undiciTransport({ origins: [url.origin] });
  onTestFinished(close);
  const one = stateServer({ url, user, password, version: '0.1.0', transport, clock, random });
  return documentStore({
    server: one,
    clock,
    random,
    lock: machine.start(),
    version: '0.1.0',
    project: 'default',
    rescue: rescueIn('/rescue', one.location, { files: simulatedFiles(), random, clock }),
    ...more,
  });
}

for (const [title, path] of [
  ['a server with the rules of GitLab', GITLAB_PATH],
  ['a server with LOCK and UNLOCK', PLAIN_PATH],
] as const)
  conformance(`the store on ${title}, by real requests`, async () => {
    const name = `conformance-${(names += 1)}`;
    // The wall clock stands still, but for long sleeps, which end at once.
    let wall = Date.now();
    const clockOfStore = {
      ...clock,
      now: () => wall,
      sleep: async (milliseconds: number): Promise<void> => {
        if (milliseconds > 60_000) wall += milliseconds;
        else await clock.sleep(milliseconds / 10);
      },
    };
    return {
      clock: clockOfStore,
      store: (more) => storeAt(address(name, path), { clock: clockOfStore, ...more }),
      bytes: async () => {
        const { lineage, trueup } = JSON.parse(server.rules.document(name) ?? '{"trueup":{}}');
        return { lineage, state: trueup.state, journal: trueup.journal };
      },
      steal: async () => void (server.rules.kept.get(name)!.lock = undefined),
    };
  });

describe('the store on a server of the http protocol', () => {
  it('settles every answer that the network loses', async () => {
    for (const path of [GITLAB_PATH, PLAIN_PATH]) {
      const name = `lost-${(names += 1)}`;
      const cut = new Set<string>();
      server.cut(({ path: to, method, body }) => {
        // The first answer to each lock, document and unlock.
        const key = `${method} ${to} ${body}`;
        if (!to.includes(name) || method === 'GET' || cut.has(key)) return false;
        cut.add(key);
        return true;
      });
      const session = await storeAt(address(name, path)).open('apply', TARGET);
      for (let op = 0; op < 10; op += 1) {
        await session.record(intent(`${op}`), result(`${op}`));
        await session.assertHeld();
      }
      await session.compact();
      await session.release();
      expect(cut.size).toBeGreaterThan(13);
      expect(server.rules.kept.get(name)!.lock).toBeUndefined();
      const { resources } = (await storeAt(address(name, path)).read())!.state;
      expect(Object.keys(resources)).toHaveLength(10);
      expect(resources['accounts.a7']).toEqual(entry('7'));
    }
  });

  it('tells wrong credentials from missing rights, and repeats no password', async () => {
    const url = address('rights');
    const wrong = await refusal(storeAt(url, {}, 'maintainer', 'wrong-word').read());
    expect(wrong).toMatchObject({ code: 'backend-denied', exit: 1 });
    expect(wrong.words).toContain('status 401');
    expect(wrong.words).not.toContain('wrong-word');
    expect(await storeAt(url, {}, 'reader').read()).toBeUndefined();
    const reader = await refusal(storeAt(url, {}, 'reader').open('apply', TARGET));
    expect(reader.words).toContain('let this user lock it: status 403');
    expect(server.rules.kept.has('rights')).toBe(false);
    const project = new URL(url);
    project.pathname = '/api/v4/projects/43/terraform/state/rights';
    expect((await refusal(storeAt(project).read())).words).toContain('no such project');
  });

  it('is not reached where nothing listens', async () => {
    const url = new URL('http://127.0.0.1:9/states/prod');
    expect(await refusal(storeAt(url).open('apply', TARGET))).toMatchObject({
      code: 'backend-unreachable',
      exit: 1,
    });
  });
});

describe.runIf(terraformIsHere('the rules of the server', 3))(
  'terraform on the same server',
  () => {
    it('keeps its state there, and finds the lock of trueup', async () => {
      const { run, name } = workspace();
      expect(await run('init')).toMatchObject({ status: 0 });
      expect(await run('apply', '-auto-approve')).toMatchObject({ status: 0 });
      expect(JSON.parse(server.rules.document(name)!)).toMatchObject({
        version: 4,
        resources: [{ type: 'terraform_data' }],
      });
      const holder = { id: 'held', operation: 'apply', host: 'box', pid: 7, created_at: 'now' };
      const url = address(name);
      const { transport, close } = undiciTransport({ origins: [url.origin] });
      onTestFinished(close);
      const ours = stateServer({
        url,
        user: 'maintainer',
        password: STATE_USERS.maintainer,
        version: '0.1.0',
        transport,
        clock,
        random,
      });
      expect(await ours.lock(holder)).toBe('taken');
      const { status, stderr } = await run('apply', '-auto-approve');
      expect(status).toBe(1);
      expect(stderr).toContain('already locked: ID=held');
      expect(await ours.unlock(holder)).toBe('done');
      const refused = await refusal(storeAt(url).open('apply', TARGET));
      expect(refused.code).toBe('foreign-state');
      expect(refused.words).toContain('a state of Terraform');
      expect(await run('apply', '-auto-approve')).toMatchObject({ status: 0 });
    });

    it('holds a lock that stops trueup, which says how to remove it', async () => {
      const { run, start, name, folder } = workspace(
        'provisioner "local-exec" { command = "touch begun; until [ -e go ]; do sleep 0.1; done" }',
      );
      await run('init');
      const applying = start('apply', '-auto-approve');
      const ended = new Promise((resolve) => void applying.once('close', resolve));
      while (!existsSync(join(folder, 'begun'))) await pause(50);
      const refused = await refusal(storeAt(address(name)).open('apply', TARGET));
      expect(refused).toMatchObject({ code: 'locked', exit: 4 });
      expect(refused.words).toContain(`trueup unlock ${server.rules.kept.get(name)!.lock!['ID']}`);
      writeFileSync(join(folder, 'go'), '');
      expect(await ended).toBe(0);
    });

    it('refuses to read a document of trueup', async () => {
      const { run, name } = workspace();
      const session = await storeAt(address(name)).open('apply', TARGET);
      await session.record(intent('1'), result('1'));
      await session.compact();
      await session.release();
      const before = server.rules.document(name);
      await run('init');
      const { status, stderr } = await run('apply', '-auto-approve');
      expect(status).toBe(1);
      expect(stderr.replaceAll(/\s+/g, ' ')).toContain('does not have a "version" attribute');
      expect(server.rules.document(name)).toBe(before);
    });
  },
);

/** A folder with one resource, and a backend at an address of its own. */
function workspace(inside = '') {
  const name = `terraform-${(names += 1)}`;
  const folder = mkdtempSync(join(tmpdir(), 'trueup-http-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const url = address(name).href;
  writeFileSync(join(folder, 'cli.tfrc'), '');
  writeFileSync(
    join(folder, 'main.tf'),
    `terraform {
  backend "http" {
    address        = "${url}"
    lock_address   = "${url}/lock"
    unlock_address = "${url}/lock"
    lock_method    = "POST"
    unlock_method  = "DELETE"
    username       = "maintainer"
    retry_max      = 0
  }
}
resource "terraform_data" "one" {
  input = "value"
  ${inside}
}
`,
  );
  const start = (...words: readonly string[]): ChildProcess =>
    spawn('terraform', [...words, '-no-color', '-input=false'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        TF_CLI_CONFIG_FILE: join(folder, 'cli.tfrc'),
        TF_HTTP_PASSWORD: STATE_USERS.maintainer,
        CHECKPOINT_DISABLE: '1',
      },
    });
  const run = (...words: readonly string[]) =>
    new Promise<{ readonly status: number | null; readonly stderr: string }>((resolve) => {
      const child = start(...words);
      let stderr = '';
      child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      child.stdout!.resume();
      child.once('close', (status) => resolve({ status, stderr }));
    });
  return { name, folder, start, run };
}
