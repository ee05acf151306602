// The provider is killed at every kind of call of the real terraform: terraform says so, nothing hangs and nothing lives
// on, and the next apply leaves each object once and nothing to do.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Estate } from '../../src/emulator/index.js';
import { box, type Box } from '../support/box.js';
import { executable } from '../support/built.js';
import { DESTINATIONS, theirs } from '../support/estate.js';
import { terraformIsHere, workspace, type Workspace } from '../support/terraform.js';

const calls = [
  'getProviderSchema',
  'validateProviderConfig',
  'configureProvider',
  'validateResourceConfig',
  'validateDataResourceConfig',
  'upgradeResourceState',
  'readResource',
  'planResourceChange',
  'applyResourceChange',
  'after applyResourceChange',
  'importResourceState',
  'readDataSource',
] as const;

const here = terraformIsHere('crashes of the provider', calls.length + 2);
vi.setConfig({ testTimeout: 120_000 });

const begun = 'provider "devicecloud" {}\nresource "devicecloud_account" "a" {\n  name = "A"\n}\n';
/** Something for every call to do: what is held, what is made, what is imported, what is read. */
const grown = `${begun}
data "devicecloud_account" "hq" {
  name = "Headquarters"
}
import {
  to = devicecloud_alert_push_destination.theirs
  id = "${DESTINATIONS[0]}"
}
resource "devicecloud_alert_push_destination" "theirs" {
  name = "Theirs"
}
resource "devicecloud_alert_rule" "r" {
  associated_accounts = [data.devicecloud_account.hq.id, devicecloud_account.a.id]
  filter_criteria     = { alert_type__in = ["modem_wan_disconnected"] }
}
resource "devicecloud_account_authorization" "dana" {
  user    = "77"
  account = "1"
  role    = "read_only_user"
}
`;

let script: Awaited<ReturnType<typeof executable>>;
let folder: string;
let first: { readonly state: string; readonly estate: Estate };

interface Scene {
  readonly cloud: Box;
  /** Where the provider crashes as it is told. */
  crashing(call: string): Workspace;
  readonly providers: () => readonly number[];
}

async function scene(estate: Estate): Promise<Scene> {
  const cloud = await box(estate);
  const told = mkdtempSync(join(tmpdir(), 'crashes-'));
  onTestFinished(async () => {
    await cloud.close();
    rmSync(told, { recursive: true, force: true });
  });
  const file = join(told, 'calls');
  let crash = '';
  const env = (): Readonly<Record<string, string>> => ({
    ...cloud.env,
    TRUEUP_TEST_CALLS: file,
    TRUEUP_TEST_CRASH: crash,
    TRUEUP_SETTLE_SECONDS: '1',
    TF_INPUT: '0',
  });
  const place = workspace(begun, { executable: script.file, env });
  return {
    cloud,
    crashing(call) {
      crash = call;
      return place;
    },
    providers: () =>
      existsSync(file)
        ? [
            ...new Set(
              [...readFileSync(file, 'utf8').matchAll(/^(\d+) /gm)].map(([, pid]) => Number(pid)),
            ),
          ]
        : [],
  };
}

const alive = (pids: readonly number[]): readonly number[] =>
  pids.filter((pid) => existsSync(`/proc/${pid}`));

/** What an apply without a crash leaves: everything once, and nothing to do. */
async function heals({ cloud, crashing }: Scene): Promise<void> {
  const place = crashing('');
  const healed = await place.run('apply', '-auto-approve');
  expect([healed.status, healed.status === 0 ? '' : healed.stderr]).toEqual([0, '']);
  expect((await place.run('plan', '-detailed-exitcode')).status).toBe(0);
  expect(
    ['accounts', 'alert_push_destinations', 'alert_rules', 'account_authorizations'].map(
      (kind) => cloud.objects(kind).length,
    ),
  ).toEqual([3, 2, 2, 2]);
  expect(cloud.writes().filter((one) => one.startsWith('POST'))).toEqual([
    'POST /api/v2/alert_rules/',
  ]);
  const { resources } = JSON.parse(
    readFileSync(join(place.folder, 'terraform.tfstate'), 'utf8'),
  ) as { readonly resources: readonly unknown[] };
  expect(resources).toHaveLength(5);
}

beforeAll(async () => {
  if (!here) return;
  script = await executable(fileURLToPath(new URL('./crashing-main.ts', import.meta.url)));
  folder = mkdtempSync(join(tmpdir(), 'crashes-'));
});
afterAll(() => {
  if (!here) return;
  script.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function prepared(): Promise<Scene> {
  if (first === undefined) {
    const { cloud, crashing } = await scene(theirs);
    const place = crashing('');
    const { status, stderr } = await place.run('apply', '-auto-approve');
    if (status !== 0) throw new Error(stderr);
    copyFileSync(join(place.folder, 'terraform.tfstate'), join(folder, 'state'));
    first = { state: join(folder, 'state'), estate: cloud.snapshot() };
  }
  const next = await scene(first.estate);
  const place = next.crashing('');
  copyFileSync(first.state, join(place.folder, 'terraform.tfstate'));
  place.write({ 'main.tf': grown });
  return next;
}

describe.runIf(here)('a provider that is killed', () => {
  it.each(calls)('at %s is told of, and nothing is left of it', async (call) => {
    const stage = await prepared();
    const { status, stderr } = await stage.crashing(call).run('apply', '-auto-approve');
    expect([status, stderr]).toEqual([1, expect.stringMatching(/Error: [^]*(?:plugin|provider)/i)]);
    expect(stage.providers().length).toBeGreaterThan(0);
    expect(alive(stage.providers())).toEqual([]);
    await heals(stage);
  });

  it('between a write and its answer leaves one object', async () => {
    const stage = await prepared();
    stage.cloud.intercept = async ({ method }, proceed) => {
      const answer = await proceed();
      if (method === 'POST')
        for (const pid of alive(stage.providers())) process.kill(pid, 'SIGKILL');
      return answer;
    };
    expect((await stage.crashing('').run('apply', '-auto-approve')).status).toBe(1);
    expect(alive(stage.providers())).toEqual([]);
    stage.cloud.intercept = undefined;
    await heals(stage);
  });

  it('at stopProvider, while a write is under way, leaves one object', async () => {
    const stage = await prepared();
    const place = stage.crashing('stopProvider');
    const child = place.start('apply', '-auto-approve');
    stage.cloud.intercept = async ({ method }, proceed) => {
      const answer = await proceed();
      if (method !== 'POST') return answer;
      child.kill('SIGINT');
      await expect.poll(() => alive(stage.providers()), { timeout: 20_000 }).toEqual([]);
      return answer;
    };
    const [status] = (await once(child, 'exit')) as [number | null];
    expect(status).toBe(1);
    expect(alive(stage.providers())).toEqual([]);
    stage.cloud.intercept = undefined;
    await heals(stage);
  });
});
