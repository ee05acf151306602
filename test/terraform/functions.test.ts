// Functions of the provider, and moves between its types, as the real terraform asks for them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { alertTypes } from '../../src/resources/alert-types.js';
import { box, type Box } from '../support/box.js';
import { theirs } from '../support/estate.js';
import { terraformIsHere, workspace, type Workspace } from '../support/terraform.js';

const here = terraformIsHere('functions and moves', 4);
const executable = fileURLToPath(
  new URL('../../dist/terraform-provider-devicecloud.cjs', import.meta.url),
);
vi.setConfig({ testTimeout: 120_000 });

async function staged(): Promise<{ readonly cloud: Box; readonly place: Workspace }> {
  const cloud = await box(theirs);
  onTestFinished(() => cloud.close());
  const env = { ...cloud.env, TRUEUP_SETTLE_SECONDS: '0', TF_INPUT: '0' };
  return { cloud, place: workspace('', { executable, env }) };
}
const words = (text: string): string => text.replaceAll(/[\s│╷╵]+/g, ' ');

describe.runIf(here)('functions', () => {
  it('are called in outputs and attributes, without a service', async () => {
    const place = workspace(
      'output "url" {\n  value = provider::devicecloud::canonical_url("HTTPS://Hooks.example.com:443/a/../b")\n}\noutput "types" {\n  value = provider::devicecloud::alert_types()\n}\noutput "has" {\n  value = contains(provider::devicecloud::alert_types(), "account_locked")\n}\n',
      { executable, env: { TF_INPUT: '0' } },
    );
    expect(await place.run('apply', '-auto-approve')).toMatchObject({ status: 0, stderr: '' });
    const { url, types, has } = JSON.parse((await place.run('output', '-json')).stdout) as Record<
      string,
      { readonly value: unknown }
    >;
    expect([url?.value, types?.value, has?.value]).toEqual([
      'https://hooks.example.com/b',
      [...alertTypes].toSorted(),
      true,
    ]);
  });

  it('make one address of two spellings, and point at an argument that is none', async () => {
    const { cloud, place } = await staged();
    const declare = (url: string): void =>
      place.write({
        'main.tf': `resource "devicecloud_alert_push_destination" "p" {\n  name = "P"\n  endpoint = {\n    url = provider::devicecloud::canonical_url("${url}")\n  }\n}\n`,
      });
    declare('https://Hooks.example.com');
    expect(await place.run('apply', '-auto-approve')).toMatchObject({ status: 0 });
    expect(cloud.objects('alert_push_destinations').at(-1)?.['endpoint']).toEqual({
      url: 'https://hooks.example.com/',
    });
    declare('https://hooks.example.com:443/');
    expect(await place.run('plan', '-detailed-exitcode')).toMatchObject({ status: 0 });
    declare('http://hooks.example.com/');
    const { status, stderr } = await place.run('plan');
    expect(status).toBe(1);
    expect(words(stderr)).toMatch(
      /Invalid function argument on main\.tf line 4.*Invalid value for "url" parameter: `url` begins with http:\/\/ instead of https:\/\//,
    );
  });
});

describe.runIf(here)('a moved block', () => {
  it('between two types is refused, with what to write instead', async () => {
    const { cloud, place } = await staged();
    place.write({ 'main.tf': 'resource "devicecloud_account" "a" {\n  name = "A"\n}\n' });
    await place.run('apply', '-auto-approve');
    const before = cloud.writes().length;
    place.write({
      'main.tf':
        'resource "devicecloud_alert_push_destination" "b" {\n  name = "A"\n}\nmoved {\n  from = devicecloud_account.a\n  to   = devicecloud_alert_push_destination.b\n}\n',
    });
    const { status, stderr } = await place.run('plan');
    expect(status).toBe(1);
    expect(words(stderr)).toMatch(
      /devicecloud_account cannot become devicecloud_alert_push_destination.*removed \{ from = devicecloud_account\.NAME \}/,
    );
    // What it says works.
    place.write({
      'main.tf':
        'removed {\n  from = devicecloud_account.a\n  lifecycle {\n    destroy = false\n  }\n}\n',
    });
    expect(await place.run('apply', '-auto-approve')).toMatchObject({ status: 0 });
    expect((await place.run('state', 'list')).stdout).toBe('');
    expect(cloud.writes()).toHaveLength(before);
  });

  it('of the same type from another address of the provider keeps the object', async () => {
    const { cloud, place } = await staged();
    const config = join(place.folder, 'cli.tfrc');
    const bin = join(place.folder, 'bin');
    writeFileSync(
      config,
      readFileSync(config, 'utf8').replace(
        'dev_overrides {',
        `dev_overrides {\n "registry.example.com/acme/devicecloud" = ${JSON.stringify(bin)}\n`,
      ),
    );
    place.write({
      'terraform.tf':
        'terraform {\n  required_providers {\n    devicecloud = { source = "trueup/devicecloud" }\n    acme = { source = "registry.example.com/acme/devicecloud" }\n  }\n}\n',
      'main.tf':
        'resource "devicecloud_alert_push_destination" "a" {\n  provider = acme\n  name = "A"\n}\n',
    });
    expect(await place.run('apply', '-auto-approve')).toMatchObject({ status: 0 });
    const before = cloud.writes().length;
    place.write({
      'main.tf':
        'resource "devicecloud_alert_push_destination" "b" {\n  name = "A"\n}\nmoved {\n  from = devicecloud_alert_push_destination.a\n  to   = devicecloud_alert_push_destination.b\n}\n',
    });
    const planned = await place.run('plan');
    expect([planned.status, words(planned.stdout)]).toEqual([
      0,
      expect.stringContaining('0 to add, 0 to change, 0 to destroy'),
    ]);
    expect(await place.run('apply', '-auto-approve')).toMatchObject({ status: 0 });
    expect((await place.run('state', 'list')).stdout.trim()).toBe(
      'devicecloud_alert_push_destination.b',
    );
    expect(cloud.writes()).toHaveLength(before);
  });
});
