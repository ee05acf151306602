// What people run into, through the real terraform: it is told once, with what to type, and what is not known yet is no
// trouble.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { box, served } from '../support/box.js';
import { theirs } from '../support/estate.js';
import { terraformIsHere, workspace, type Ran, type Workspace } from '../support/terraform.js';

const here = terraformIsHere('troubles', 5);
vi.setConfig({ testTimeout: 120_000 });

const accounts =
  'resource "devicecloud_account" "depots" {\n  count = 3\n  name  = "Depot ${count.index}"\n}\n';

/** A place whose environment has the addresses and no credentials; `keys` are those that were left out. */
async function keyless(
  more: (keys: Readonly<Record<string, string>>) => Readonly<Record<string, string>> = () => ({}),
): Promise<{
  readonly place: Workspace;
  readonly keys: Readonly<Record<string, string>>;
  readonly made: () => number;
}> {
  const cloud = await box(theirs);
  const { TRUEUP_V2_URL = '', TRUEUP_V3_URL: _, TRUEUP_V3_TOKEN: __, ...keys } = cloud.env;
  const place = workspace('', { env: () => ({ TF_REATTACH_PROVIDERS: reattach }) });
  const { reattach, close } = await served(place.folder, { TRUEUP_V2_URL, ...more(keys) });
  onTestFinished(async () => {
    await close();
    await cloud.close();
  });
  return { place, keys, made: () => cloud.objects('accounts').length };
}

describe.runIf(here)('credentials', () => {
  it('that are missing are told once, whatever the number of resources', async () => {
    const { place } = await keyless();
    place.write({ 'main.tf': `provider "devicecloud" {\n}\n${accounts}` });
    const { status, stderr } = await place.run('plan');
    expect([status, stderr.match(/Error:/g)?.length]).toEqual([1, 1]);
    expect(stderr.replaceAll(/[\s│]+/g, ' ')).toMatch(
      /TRUEUP_MGR_API_ID, .* have no value with provider\["registry.terraform.io\/trueup\/devicecloud"\], on main.tf line 1/,
    );
  });

  it('beside a setting that is none are told once, too', async () => {
    const { place } = await keyless((keys) => ({ ...keys, TRUEUP_SETTLE_SECONDS: 'abc' }));
    place.write({ 'main.tf': `provider "devicecloud" {\n}\n${accounts}` });
    const { status, stderr } = await place.run('plan');
    expect([status, stderr.match(/Error:/g)?.length]).toEqual([1, 1]);
    expect(stderr.replaceAll(/[\s│]+/g, ' ')).toMatch(/TRUEUP_SETTLE_SECONDS .* on main.tf line 1/);
  });

  it('that are known at apply alone plan, and apply', async () => {
    const { place, keys, made } = await keyless();
    const before = made();
    const block = Object.keys(keys).map(
      (name) =>
        `  ${name.replace('TRUEUP_', '').toLowerCase()} = terraform_data.keys.output.${name}\n`,
    );
    const source = `resource "terraform_data" "keys" {\n  input = ${JSON.stringify(keys)}\n}\n`;
    place.write({
      'main.tf': `${source}provider "devicecloud" {\n${block.join('')}}\n${accounts}`,
    });
    const succeeds = async (...words: readonly string[]): Promise<Ran> => {
      const ran = await place.run(...words);
      expect([ran.status, ran.stderr]).toEqual([0, '']);
      return ran;
    };
    await succeeds('validate');
    expect((await succeeds('plan')).stdout).toContain('4 to add');
    await succeeds('apply', '-auto-approve');
    expect(made()).toBe(before + 3);
    expect((await succeeds('plan')).stdout).toContain('No changes');
  });
});

describe.runIf(here)('a journal', () => {
  it('that is damaged is told with what follows from losing it under terraform', async () => {
    const { place, keys, made } = await keyless();
    const before = made();
    const folder = join(place.folder, '.trueup', 'terraform');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'loopback.json.journal'), 'one\ntwo\nthree\n');
    const block = Object.entries(keys).map(
      ([name, value]) =>
        `  ${name.replace('TRUEUP_', '').toLowerCase()} = ${JSON.stringify(value)}\n`,
    );
    place.write({
      'main.tf': `provider "devicecloud" {\n${block.join('')}}\nresource "devicecloud_account" "depot" {\n  name = "Depot"\n}\n`,
    });
    const { status, stderr } = await place.run('apply', '-auto-approve');
    const told = stderr.replaceAll(/[\s│]+/g, ' ');
    expect([status, made()]).toEqual([1, before]);
    expect(told).toMatch(
      /loopback\.json\.journal is damaged at line 1.* mv \S+ \S+\.damaged .*trueup get KIND.* import block/,
    );
    expect(told).not.toContain('adopt');
  });
});

describe.runIf(here)('an attribute', () => {
  it('is named as the configuration writes it, and pointed at', async () => {
    const { place } = await keyless();
    place.write({
      'main.tf':
        'resource "devicecloud_alert_push_destination" "p" {\n  name = "P"\n  endpoint = {\n    url = "https://me:pw@hooks.example.com/"\n  }\n  authentication = {\n    secret_wo_version = 1\n  }\n  timeouts {\n    create = "soon"\n  }\n}\n',
    });
    const { status, stderr } = await place.run('validate');
    const told = stderr.replaceAll(/[\s│╷╵]+/g, ' ');
    expect(status).toBe(1);
    expect(told).toMatch(/`timeouts\.create` is not a duration .* on main\.tf line 10/);
    expect(told).toMatch(/`authentication\.secret_wo` is missing .* on main\.tf line 6/);
    expect(told).not.toMatch(/authentication\.secret\b/);
  });
});
