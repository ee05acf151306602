// The real terraform over the wire, with a provider that is made up: started by it, and served to it.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { collections, kinds } from '../../src/resources/index.js';
import type { ProviderServer } from '../../src/terraform/protocol/provider-replies.js';
import { serve } from '../support/reattached.js';
import { executable } from '../support/built.js';
import { terraformIsHere, workspace, type Workspace } from '../support/terraform.js';
import { madeUp } from '../unit/terraform/made-up.js';

const here = terraformIsHere('terraform over the wire', 10);
vi.setConfig({ testTimeout: 120_000 });

let script: Awaited<ReturnType<typeof executable>>;
beforeAll(async () => {
  script = await executable(
    fileURLToPath(new URL('../unit/terraform/made-up-main.ts', import.meta.url)),
  );
});
afterAll(() => script.remove());

const noted = (text: string, more = ''): string =>
  `resource "devicecloud_note" "a" {\n  text = ${JSON.stringify(text)}\n${more}}\n`;
const secret = '  lock = { key_wo = "s3cret-s3cret", key_wo_version = 1 }\n';

/** Served from here, for as long as the test runs. */
async function reattached(main: string, provider: ProviderServer): Promise<Workspace> {
  const folder = mkdtempSync(join(tmpdir(), 'fw-'));
  const { reattach, close } = await serve({
    provider,
    log: () => undefined,
    source: 'registry.terraform.io/trueup/devicecloud',
    path: join(folder, 's'),
    pid: process.pid,
  });
  onTestFinished(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
  return workspace(main, { env: { TF_REATTACH_PROVIDERS: reattach } });
}

const providers = (calls: string): readonly number[] => [
  ...new Set([...readFileSync(calls, 'utf8').matchAll(/^(\d+) /gm)].map(([, pid]) => Number(pid))),
];
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

describe.runIf(here)('a provider that terraform starts', () => {
  it('lives through apply, plan, change, replace and destroy', async () => {
    const place = workspace(noted('hello', `  size = 12345678901234567890.125\n${secret}`), {
      executable: script.file,
    });
    const applied = await place.run('apply', '-auto-approve');
    expect(applied).toMatchObject({ status: 0, stderr: '' });
    expect(applied.stdout).toContain('1 added');
    const state = readFileSync(join(place.folder, 'terraform.tfstate'), 'utf8');
    expect(state).toContain('12345678901234567890.125');
    expect(state).not.toContain('s3cret');
    expect(await place.run('plan', '-detailed-exitcode')).toMatchObject({ status: 0 });
    place.write({
      'main.tf': noted('bye', `  size = 12345678901234567890.125\n  tags = ["b", "a"]\n${secret}`),
    });
    expect((await place.run('apply', '-auto-approve')).stdout).toContain('1 changed');
    place.write({ 'main.tf': noted('bye', '  size = 2\n') });
    expect((await place.run('apply', '-auto-approve')).stdout).toContain(
      '1 added, 0 changed, 1 destroyed',
    );
    expect((await place.run('destroy', '-auto-approve')).stdout).toContain('1 destroyed');
  });

  it('never tells core a number that would crash it, nor what is malformed', async () => {
    for (const deed of ['plan nan', 'read nan', 'read junk', 'apply nan']) {
      const place = workspace(noted(deed), { executable: script.file });
      const applied = await place.run('apply', '-auto-approve');
      expect([deed, applied.status]).toEqual([deed, deed.startsWith('read') ? 0 : 1]);
      const { status, stderr } = await place.run('plan');
      expect([deed, status, stderr + applied.stderr]).toEqual([
        deed,
        deed.startsWith('apply') ? 0 : 1,
        expect.stringMatching(/does not fit its own schema|does not fit the schema/),
      ]);
      expect(stderr + applied.stderr).not.toMatch(/panic|crash/i);
    }
  });

  it('leaves no process behind, killed at any kind of call', async () => {
    for (const call of [
      'configureProvider',
      'validateResourceConfig',
      'planResourceChange',
      'applyResourceChange',
    ]) {
      const calls = join(mkdtempSync(join(tmpdir(), 'fw-')), 'calls');
      onTestFinished(() => rmSync(join(calls, '..'), { recursive: true, force: true }));
      const place = workspace(noted('hello'), {
        executable: script.file,
        env: { TRUEUP_TEST_CALLS: calls, TRUEUP_TEST_CRASH: call },
      });
      const { status, stderr } = await place.run('apply', '-auto-approve');
      expect([call, status]).toEqual([call, 1]);
      expect(stderr).toMatch(/plugin/i);
      expect(providers(calls).filter(isAlive)).toEqual([]);
    }
  });

  it('ends when terraform is killed', async () => {
    const calls = join(mkdtempSync(join(tmpdir(), 'fw-')), 'calls');
    onTestFinished(() => rmSync(join(calls, '..'), { recursive: true, force: true }));
    const place = workspace(noted('hello'), {
      executable: script.file,
      env: { TRUEUP_TEST_CALLS: calls, TRUEUP_TEST_HANG: 'applyResourceChange' },
    });
    const child = place.start('apply', '-auto-approve');
    await expect
      .poll(() => existsSync(calls) && readFileSync(calls, 'utf8'), { timeout: 30_000 })
      .toContain('applyResourceChange');
    const [last] = providers(calls).slice(-1) as [number];
    expect(isAlive(last)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'close');
    await expect.poll(() => providers(calls).filter(isAlive), { timeout: 30_000 }).toEqual([]);
  });
});

describe.runIf(here)('a provider that is served to terraform', () => {
  it('answers it without being started', async () => {
    const calls: string[] = [];
    const place = await reattached(noted('hello'), madeUp({ calls }));
    expect(await place.run('apply', '-auto-approve')).toMatchObject({ status: 0 });
    expect(await place.run('plan', '-detailed-exitcode')).toMatchObject({ status: 0 });
    expect(calls.filter((call) => call === 'applyResourceChange')).toHaveLength(1);
    expect(calls).not.toContain('close');
  });

  it('points at the line that a diagnostic is about', async () => {
    const place = await reattached(noted(''), madeUp());
    const { stderr } = await place.run('validate');
    expect(stderr).toMatch(
      /Error: a note says something\s[^]*on main\.tf line 2, in resource "devicecloud_note" "a":\s+2:\s+text = ""\s[^]*Write a text\./,
    );
  });

  it('is held to its schema and its plan, by itself or by core, and loses no object over it', async () => {
    for (const deed of ['nan', 'unknown', 'leak', 'junk', 'other']) {
      const place = await reattached(noted(`apply ${deed}`), madeUp());
      const { status, stderr } = await place.run('apply', '-auto-approve');
      expect([deed, status]).toEqual([deed, 1]);
      expect([deed, stderr]).toEqual([
        deed,
        expect.stringMatching(
          /does not fit its own schema|does not fit the schema|inconsistent result/,
        ),
      ]);
      expect(stderr).not.toMatch(/panic|crash/i);
      expect((await place.run('state', 'list')).stdout).toBe('devicecloud_note.a\n');
    }
  });

  it('keeps what a partial failure left', async () => {
    const place = await reattached(noted('partly'), madeUp());
    expect((await place.run('apply', '-auto-approve')).stderr).toContain('half of it is done');
    expect(readFileSync(join(place.folder, 'terraform.tfstate'), 'utf8')).toContain(
      '"id": "note-1"',
    );
  });

  it('imports, and reads data that is known only at apply', async () => {
    const main = `${noted('imported')}import {\n  to = devicecloud_note.a\n  id = "old-1"\n}\ndata "devicecloud_echo" "e" {\n  text = devicecloud_note.b.id\n}\nresource "devicecloud_note" "b" {\n  text = "b"\n}\noutput "n" {\n  value = data.devicecloud_echo.e.length\n}\n`;
    const place = await reattached(main, madeUp());
    const { stdout, status } = await place.run('apply', '-auto-approve');
    expect([status, stdout]).toEqual([0, expect.stringContaining('1 imported, 1 added')]);
    expect(stdout).toContain('n = 6');
    expect(await place.run('plan', '-detailed-exitcode')).toMatchObject({ status: 0 });
  });
});

describe.runIf(here)('the executable that is built', () => {
  it('shows the schema of what there is, and tells of it in words', async () => {
    const place = workspace('', {
      executable: fileURLToPath(
        new URL('../../dist/terraform-provider-devicecloud.cjs', import.meta.url),
      ),
    });
    const { stdout, status } = await place.run('providers', 'schema', '-json');
    expect(status).toBe(0);
    const told = JSON.parse(stdout) as {
      readonly provider_schemas: Readonly<
        Record<string, { readonly resource_schemas: object; readonly data_source_schemas: object }>
      >;
    };
    const shown = told.provider_schemas['registry.terraform.io/trueup/devicecloud'];
    expect(Object.keys(shown?.resource_schemas ?? {}).toSorted()).toEqual(
      [...kinds.values()].map(({ singular }) => `devicecloud_${singular}`).toSorted(),
    );
    expect(Object.keys(shown?.data_source_schemas ?? {})).toHaveLength(collections.size);
    expect(await place.run('validate')).toMatchObject({ status: 0 });
  });
});
