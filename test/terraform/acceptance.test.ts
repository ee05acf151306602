// Every kind through the real terraform and the provider as it is: made, imported, changed and removed by another hand,
// let go. What terraform is left with is what is there, and no secret is in anything it writes.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { errorCode, type JsonObject } from '../../src/model/index.js';
import { box, KEYS, served, type Box } from '../support/box.js';
import { DESTINATIONS, theirs } from '../support/estate.js';
import { terraformIsHere, workspace, type Ran, type Workspace } from '../support/terraform.js';

const CANARY = 'canary-of-the-acceptance';

interface Story {
  readonly collection: string;
  readonly id: string;
  readonly type: string;
  /** Attributes, as HCL. */
  readonly declared: string;
  /** What cannot be read, and is declared but for imports. */
  readonly secret?: string;
  /** What names the object, beside its id. */
  readonly identity?: string;
  /** What another hand makes of it, and the attribute where terraform tells of it. */
  readonly drift: JsonObject;
  readonly seen: string;
  /** A change of what is declared, and all that its plan shows as not known: what the write changes beside it. */
  readonly changed: readonly [from: string, to: string];
  readonly open: readonly string[];
  /** Whether the API makes and deletes such objects. */
  readonly made: boolean;
}

const stories: readonly Story[] = [
  {
    collection: 'accounts',
    id: 'id',
    type: 'devicecloud_account',
    declared: 'name = "Field \\"operations\\" $${x} größe"\n  account = "1"',
    identity: 'account=1,name=Field "operations" ${x} größe',
    drift: { account: '2' },
    seen: 'account',
    changed: ['account = "1"', 'account = "2"'],
    open: [],
    made: true,
  },
  {
    collection: 'alert_rules',
    id: 'alert_config_id',
    type: 'devicecloud_alert_rule',
    declared: `associated_accounts = ["2"]\n  filter_criteria = { alert_type__in = ["modem_wan_disconnected"] }\n  http_destinations = ["${DESTINATIONS[0]}"]\n  settings = jsonencode({ overage = { limit = 0.1 } })`,
    drift: { filter_criteria: { alert_type__in: ['account_locked'] } },
    seen: 'filter_criteria',
    changed: ['modem_wan_disconnected', 'account_locked'],
    open: ['updated_at'],
    made: true,
  },
  {
    collection: 'alert_push_destinations',
    id: 'destination_config_id',
    type: 'devicecloud_alert_push_destination',
    declared:
      'name = "Pager"\n  enabled = true\n  endpoint = { url = "https://hooks.example.com/a" }',
    secret: 'authentication = { secret_wo = var.secret, secret_wo_version = 1 }',
    identity: 'name=Pager',
    drift: { endpoint: { url: 'https://elsewhere.example.com/a' } },
    seen: 'endpoint',
    changed: ['example.com/a', 'example.com/b'],
    open: ['updated_at'],
    made: true,
  },
  {
    collection: 'account_authorizations',
    id: 'id',
    type: 'devicecloud_account_authorization',
    declared: 'user = "77"\n  account = "1"\n  role = "read_only_user"',
    identity: 'user=77,account=1',
    drift: { role: 'full_access_user' },
    seen: 'role',
    changed: ['read_only_user', 'administrator'],
    open: [],
    made: false,
  },
  {
    collection: 'configuration_managers',
    id: 'id',
    type: 'devicecloud_configuration_manager',
    declared:
      'router = "12"\n  configuration = jsonencode([{ lan = { mtu = 1500 }, wan = { rules = { old = null } } }])',
    identity: 'router=12',
    drift: {
      configuration: [{ lan: { mtu: 1300 }, wan: { rules: { new: { prio: 2 } } } }, []],
      target: [{ lan: { mtu: 1300 }, wan: { rules: { new: { prio: 2 } } } }, []],
    },
    seen: 'configuration',
    changed: ['mtu = 1500', 'mtu = 1400'],
    open: ['actual', 'pending', 'synched', 'target', 'version_number'],
    made: false,
  },
];

const here = terraformIsHere('acceptance', stories.length + 4);
vi.setConfig({ testTimeout: 120_000 });

/** The contents of a zip, such as a plan file is. */
function* unzipped(zip: Buffer): Generator<string> {
  for (
    let at = zip.indexOf('PK\u0001\u0002', 0, 'latin1');
    at >= 0;
    at = zip.indexOf('PK\u0001\u0002', at + 4, 'latin1')
  ) {
    const [method, size, local] = [
      zip.readUInt16LE(at + 10),
      zip.readUInt32LE(at + 20),
      zip.readUInt32LE(at + 42),
    ];
    const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const bytes = zip.subarray(begin, begin + size);
    yield (method === 0 ? bytes : inflateRawSync(bytes)).toString('latin1');
  }
}

/** A provider that is about to end may remove a file that was listed. */
function bytesAt(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Files below a folder in which one of the texts stands, plan files looked into. */
function holding(folder: string, texts: readonly string[]): readonly string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  return files.flatMap(({ name, parentPath }) => {
    const bytes = bytesAt(join(parentPath, name));
    if (!bytes) return [];
    const contents = [
      bytes.toString('latin1'),
      ...(bytes.toString('latin1', 0, 2) === 'PK' ? unzipped(bytes) : []),
    ];
    return contents.some((content) => texts.some((text) => content.includes(text))) ? [name] : [];
  });
}

/** Takes `id` out of a state, where an older version of the provider had none. */
function withoutIds(folder: string, id: string): void {
  const file = join(folder, 'terraform.tfstate');
  if (id !== 'id')
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/^ *"id": ".*",?\n/gm, ''));
}

interface Stage {
  readonly cloud: Box;
  readonly place: Workspace;
  /** Puts one resource, and what is beside it, in the place of what was declared. */
  declare(attributes: string | undefined, beside?: string): void;
  /** Runs, and fails where it ended otherwise. */
  expects(status: number, ...words: readonly string[]): Promise<Ran>;
}

async function staged(type: string): Promise<Stage> {
  const cloud = await box(theirs);
  const place = workspace('', {
    env: () => ({
      ...cloud.env,
      TF_REATTACH_PROVIDERS: reattach,
      TF_VAR_secret: CANARY,
      TF_INPUT: '0',
    }),
  });
  const { reattach, close } = await served(place.folder, {
    ...cloud.env,
    TRUEUP_SETTLE_SECONDS: '0',
  });
  onTestFinished(async () => {
    await close();
    await cloud.close();
  });
  return {
    cloud,
    place,
    declare: (attributes, beside = '') =>
      place.write({
        'main.tf': `provider "devicecloud" {\n  allow = ["privilege-escalation", "destination-moved"]\n}\nvariable "secret" {\n  type = string\n  ephemeral = true\n}\n${attributes === undefined ? '' : `resource "${type}" "it" {\n  ${attributes}\n}\n`}${beside}`,
      }),
    async expects(status, ...words) {
      const ran = await place.run(...words);
      expect([
        words.join(' '),
        ran.status,
        ran.status === status ? '' : ran.stdout + ran.stderr,
      ]).toEqual([words.join(' '), status, '']);
      return ran;
    },
  };
}

describe.runIf(here).each(stories)(
  '$collection',
  ({ collection, id, type, declared, secret = '', identity, drift, seen, made, ...story }) => {
    it('are made or adopted, imported, healed, missed and let go', async () => {
      const { cloud, place, declare, expects } = await staged(type);
      const address = `${type}.it`;
      const full = `${declared}\n  ${secret}`;
      const before = cloud.objects(collection);
      const mine = (): JsonObject | undefined =>
        cloud.objects(collection).find((one) => one[id] === key);
      const isEmpty = (): Promise<Ran> => expects(0, 'plan', '-detailed-exitcode');

      declare(full);
      await expects(0, 'plan', '-out=plan.zip');
      const said = [await expects(0, 'apply', 'plan.zip')];
      const { resources } = JSON.parse(
        readFileSync(join(place.folder, 'terraform.tfstate'), 'utf8'),
      ) as { resources: [{ instances: [{ attributes: JsonObject }] }] };
      const key = resources[0].instances[0].attributes[id] as string;
      expect(cloud.objects(collection)).toHaveLength(before.length + (made ? 1 : 0));
      expect(mine()).toBeDefined();
      await isEmpty();
      expect(resources[0].instances[0].attributes['id']).toBe(key);
      withoutIds(place.folder, id);
      for (const more of [[], ['-refresh=false']])
        expect((await expects(0, 'plan', '-detailed-exitcode', ...more)).stdout).not.toContain(
          'changed outside',
        );
      const asMade = mine();

      for (const asked of [key, ...(identity === undefined ? [] : [identity])]) {
        await expects(0, 'state', 'rm', address);
        declare(
          declared,
          `import {\n  to = ${address}\n  id = ${JSON.stringify(asked).replaceAll('${', '$$${')}\n}\n`,
        );
        expect((await expects(0, 'plan')).stdout).toContain(
          'Plan: 1 to import, 0 to add, 0 to change, 0 to destroy.',
        );
        await expects(0, 'apply', '-auto-approve');
        await isEmpty();
      }
      expect(mine()).toEqual(asMade);

      declare(full);
      said.push(await expects(0, 'apply', '-auto-approve'));
      await isEmpty();
      cloud.tamper(collection, (all) =>
        all.map((record) => (record[id] === key ? { ...record, ...drift } : record)),
      );
      expect((await expects(2, 'plan', '-detailed-exitcode', '-out=plan.zip')).stdout).toMatch(
        new RegExp(`~ ${seen} `),
      );
      said.push(await expects(0, 'apply', 'plan.zip'));
      expect(mine()?.[Object.keys(drift)[0] as string]).toEqual(
        asMade?.[Object.keys(drift)[0] as string],
      );
      await isEmpty();

      declare(full.replace(...story.changed));
      const update = (await expects(2, 'plan', '-detailed-exitcode', '-out=plan.zip')).stdout;
      const { resource_changes: planned } = JSON.parse(
        (await expects(0, 'show', '-json', 'plan.zip')).stdout,
      ) as { resource_changes: [{ change: { after_unknown: JsonObject } }] };
      const open = Object.entries(planned[0].change.after_unknown).filter(([, one]) =>
        JSON.stringify(one).includes('true'),
      );
      expect(open.map(([name]) => name).toSorted()).toEqual(story.open);
      expect(update.match(/known after apply/g) ?? []).toHaveLength(story.open.length);
      said.push(await expects(0, 'apply', 'plan.zip'));
      await isEmpty();
      declare(full);
      await expects(0, 'apply', '-auto-approve');

      const gone = mine() as JsonObject;
      cloud.tamper(collection, (all) => all.filter((record) => record[id] !== key));
      expect((await expects(2, 'plan', '-detailed-exitcode')).stdout).toContain('1 to add');
      const again = await place.run('apply', '-auto-approve');
      expect(again.status).toBe(made ? 0 : 1);
      expect(again.stderr.replaceAll(/\s+/g, ' ')).toMatch(
        made ? /^$/ : /cannot be created through the API.*trueup get/,
      );
      if (!made) {
        cloud.tamper(collection, (all) => [...all, gone]);
        await expects(0, 'apply', '-auto-approve');
      }
      expect(cloud.objects(collection)).toHaveLength(before.length + (made ? 1 : 0));
      await isEmpty();

      const kept = mine();
      const last = await expects(0, 'destroy', '-auto-approve');
      expect((await expects(0, 'state', 'list')).stdout).toBe('');
      expect(cloud.objects(collection)).toHaveLength(before.length);
      expect(made ? cloud.objects(collection) : mine()).toEqual(made ? before : kept);
      expect(last.stdout + last.stderr).toMatch(made ? /1 destroyed/ : /cannot\s+delete/);

      expect(holding(place.folder, [CANARY, ...KEYS])).toEqual([]);
      expect(said.map(({ stdout, stderr }) => stdout + stderr).join('')).not.toContain(CANARY);
    });
  },
);

describe.runIf(here)('an object that another resource stops naming', () => {
  const hook = (lifecycle: string): string =>
    `resource "devicecloud_alert_push_destination" "hook" {\n  name = "Hook"\n${lifecycle}}\n`;
  const rule = (hooks: string): string =>
    `associated_accounts = ["2"]\n  http_destinations = [${hooks}]`;
  const named = 'devicecloud_alert_push_destination.hook.destination_config_id';

  it.each([
    ['is refused to go, with what to write', '', 1],
    [
      'goes after it, made before it is destroyed',
      '  lifecycle {\n    create_before_destroy = true\n  }\n',
      0,
    ],
  ] as const)('%s', async (_, lifecycle, status) => {
    const { declare, expects } = await staged('devicecloud_alert_rule');
    declare(rule(named), hook(lifecycle));
    await expects(0, 'apply', '-auto-approve');
    declare(rule(`"${DESTINATIONS[0]}"`));
    const { stderr } = await expects(status, 'apply', '-auto-approve');
    expect(stderr.includes('create_before_destroy')).toBe(status === 1);
  });

  const last = '  lifecycle {\n    create_before_destroy = true\n  }\n';
  const all = 'devicecloud_alert_push_destination.hook[*].destination_config_id';
  const hooks = (count: number, lifecycle: string): string =>
    `resource "devicecloud_alert_push_destination" "hook" {\n  count = ${count}\n  name = "Hook \${count.index}"\n${lifecycle}}\n`;
  const counted = (hooks: string): string =>
    `associated_accounts = ["2"]\n  http_destinations = ${hooks}`;

  it('goes when the count shrinks, also one that had to be put back for it', async () => {
    const { cloud, declare, expects } = await staged('devicecloud_alert_rule');
    const left = (): number =>
      cloud.objects('alert_push_destinations').filter(({ name }) => String(name).startsWith('Hook'))
        .length;
    declare(counted(all), hooks(3, ''));
    await expects(0, 'apply', '-auto-approve');
    declare(counted(all), hooks(1, last));
    await expects(1, 'apply', '-auto-approve');
    expect(left()).toBe(3);
    declare(counted(all), hooks(3, last));
    await expects(0, 'apply', '-auto-approve');
    declare(counted(all), hooks(1, last));
    await expects(0, 'apply', '-auto-approve');
    expect(left()).toBe(1);
  });

  it('goes after an import, from the next apply on', async () => {
    const { cloud, declare, expects } = await staged('devicecloud_alert_rule');
    declare(undefined, hook(''));
    await expects(0, 'apply', '-auto-approve');
    await expects(0, 'state', 'rm', 'devicecloud_alert_push_destination.hook');
    const id = String(
      cloud.objects('alert_push_destinations').find(({ name }) => name === 'Hook')?.[
        'destination_config_id'
      ],
    );
    declare(
      rule(named),
      `${hook(last)}import {\n  to = devicecloud_alert_push_destination.hook\n  id = "${id}"\n}\n`,
    );
    await expects(0, 'apply', '-auto-approve');
    expect((await expects(0, 'apply', '-auto-approve')).stdout).toContain('No changes');
    declare(rule(`"${DESTINATIONS[0]}"`));
    await expects(0, 'apply', '-auto-approve');
    expect(cloud.objects('alert_push_destinations').some(({ name }) => name === 'Hook')).toBe(
      false,
    );
  });
});
