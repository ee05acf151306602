// Every example that declares something is told in five forms, and all five lead to the same requests: YAML, programs
// for cdktf, cdktn and constructs alone as trueup plans them, and HCL as the real terraform has the provider carry it out.
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEmulator, dummyCredentials, parseEstate, serve } from '../../src/emulator/index.js';
import {
  compareText,
  isObject,
  type Json,
  type PlanDocument,
  type ResourceChange,
} from '../../src/model/index.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { collections, kinds } from '../../src/resources/index.js';
import { emulator, folder, type Folder } from '../support/cli.js';
import { terraformIn } from '../support/installed.js';
import { terraformIsHere } from '../support/terraform.js';

const examples = join(import.meta.dirname, '../../examples');
const canary = 'canary-of-the-forms';
const secrets = {
  PAGER_SECRET: canary,
  TRUEUP_VAR_PAGER_SECRET: canary,
  TF_VAR_pager_secret: canary,
  ROUTER_PASSWORD: canary,
  TRUEUP_VAR_ROUTER_PASSWORD: canary,
};

interface Story {
  readonly name: string;
  readonly flags?: readonly string[];
  /** Writes that the first run sends. */
  readonly writes: number;
  /** Whether the first run changes what it adopts, and has to be allowed to. */
  readonly changes?: boolean;
  /** A member of bodies that HCL leaves out, because it would lie in terraform's state. */
  readonly unsaid?: string;
}

const stories: readonly Story[] = [
  { name: 'first-steps', writes: 3 },
  { name: 'field-operations', writes: 22, changes: true },
  { name: 'environments', flags: ['--env', 'local'], writes: 4 },
  { name: 'adopting-an-estate', writes: 0 },
  { name: 'router-configuration', writes: 1, changes: true, unsaid: 'users' },
  { name: 'who-changed-it', writes: 0 },
  { name: 'impact-of-a-rule', writes: 0 },
  { name: 'access-review', writes: 1, changes: true },
];

/** A folder with the YAML of a story, and its cloud: as data for the emulator of the same process, and as a seed for another. */
function homeOf(name: string): Folder {
  const home = folder();
  cpSync(join(examples, name), home.path, {
    recursive: true,
    filter: (path) => !/\.trueup|\/(?:cdkt[fn]|constructs)$/.test(path),
  });
  mkdirSync(join(home.path, '.trueup'));
  if (existsSync(join(home.path, 'estate.json')))
    cpSync(join(home.path, 'estate.json'), join(home.path, '.trueup/emulator.json'));
  return home;
}

type Sent = Pick<ResourceChange['requests'][number], 'method' | 'path' | 'body'>;

/** A request as text, with what stands for objects that are only made now replaced by what they are made of. Lists of scalars are sets. */
function meaning(
  { method, path, body }: Sent,
  replaced: (text: string) => string,
  unsaid?: string,
): string {
  const said = (value: Json): Json => {
    if (Array.isArray(value))
      return value
        .map(said)
        .toSorted((a, b) => (typeof a === 'object' ? 0 : compareText(String(a), String(b))));
    if (!isObject(value))
      return typeof value === 'string' || typeof value === 'number'
        ? replaced(String(value))
        : value;
    const members = Object.entries(value as Readonly<Record<string, Json>>).filter(
      ([key]) => key !== unsaid && key !== 'links',
    );
    return Object.fromEntries(
      members.toSorted(([a], [b]) => compareText(a, b)).map(([key, item]) => [key, said(item)]),
    );
  };
  return `${method} ${path} ${JSON.stringify(said(body))}`;
}

/** What a plan would send, whatever its declarations are called. */
function planned({ resource_changes }: PlanDocument): readonly string[] {
  const byAddress = new Map(resource_changes.map((change) => [change.address, change]));
  const of = ({ requests }: ResourceChange): readonly string[] =>
    requests.map((request) => meaning(request, replaced));
  const replaced = (text: string): string =>
    text.replaceAll(
      /\$\{([a-z_]+\.[\w-]+(?:\["[^"]*"\])?)\.[a-z_]+\}/g,
      (_, address: string) => `<${of(byAddress.get(address) as ResourceChange).join()}>`,
    );
  return resource_changes.flatMap(of).toSorted(compareText);
}

async function plan(
  home: Folder,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const { stdout } = await home.expect(0, ['plan', '--format', 'json', ...words], {
    env: { ...secrets, ...env },
  });
  expect(stdout).not.toContain(canary);
  return planned(JSON.parse(stdout) as PlanDocument);
}

/** A cloud of the tests' own process that takes note of what changes it. */
async function recording(estate: string | undefined) {
  const cloud = createEmulator({
    kinds,
    collections,
    clock: systemClock(),
    random: systemRandom(),
    ...(estate !== undefined && { estate: parseEstate(estate, 'estate.json') }),
  });
  const writes: Sent[] = [];
  const made = new Map<string, Sent>();
  const fetch = async (request: Request): Promise<Response> => {
    if (request.method === 'GET') return cloud.fetch(request);
    const sent = {
      method: request.method,
      path: new URL(request.url).pathname,
      body: JSON.parse(await request.clone().text()) as Json,
    };
    writes.push(sent);
    const answer = await cloud.fetch(request);
    const record = (await answer.clone().json()) as Readonly<Record<string, unknown>>;
    if (request.method === 'POST')
      made.set(
        String(record['destination_config_id'] ?? record['alert_config_id'] ?? record['id']),
        sent,
      );
    return answer;
  };
  const served = await serve({ ...cloud, fetch }, { port: 0 });
  onTestFinished(() => served.close());
  const [mgrId, mgrKey, vndId, vndKey] = Object.values(dummyCredentials.v2[0] ?? {}) as [
    string,
    string,
    string,
    string,
  ];
  const env = {
    TRUEUP_V2_URL: `${served.url}/api/v2`,
    TRUEUP_MGR_API_ID: mgrId,
    TRUEUP_MGR_API_KEY: mgrKey,
    TRUEUP_VND_API_ID: vndId,
    TRUEUP_VND_API_KEY: vndKey,
    TRUEUP_V3_URL: served.url,
    TRUEUP_V3_TOKEN: Object.keys(dummyCredentials.v3)[0] as string,
  };
  const sent = (unsaid?: string): readonly string[] => {
    const replaced = (text: string): string => {
      const object = made.get(text.replace(/^.*\/(\d+)\/$/, '$1'));
      return object
        ? `<${meaning(object, replaced, unsaid)}>`
        : text.replace(/^https?:\/\/[^/]+/, '');
    };
    return writes.map((one) => meaning(one, replaced, unsaid)).toSorted(compareText);
  };
  return { env, sent };
}

describe.each(stories)('$name', ({ name, flags = [], writes, changes, unsaid }) => {
  const allowed = changes ? ['--allow', 'first-run'] : [];
  it('leads to the same requests from YAML, cdktf, cdktn and constructs', async () => {
    const home = homeOf(name);
    const fromYaml = await plan(home, [...flags, ...allowed]);
    expect(fromYaml).toHaveLength(writes);
    const { env } = await emulator(
      home,
      existsSync(join(home.path, 'estate.json')) ? ['--seed', 'estate.json'] : [],
    );
    for (const library of ['cdktf', 'cdktn'])
      expect(await plan(home, [join(examples, name, library), ...allowed], env)).toEqual(fromYaml);
    const outdir = join(home.path, '.out');
    await promisify(execFile)(process.execPath, ['main.mjs'], {
      cwd: join(examples, name, 'constructs'),
      env: { TRUEUP_OUTDIR: outdir },
    });
    expect(await plan(home, [outdir, ...allowed], env)).toEqual(fromYaml);
  });

  describe.runIf(terraformIsHere(`${name} as HCL`, 2))('as HCL', () => {
    it('leads terraform to the same requests, and to none when it is asked again', async () => {
      const home = homeOf(name);
      const estate = existsSync(join(home.path, 'estate.json'))
        ? home.read('estate.json')
        : undefined;
      const [ours, theirs] = [await recording(estate), await recording(estate)];
      home.write(
        'trueup.yaml',
        home.read('trueup.yaml').replace(/^ +target: emulator.*$/m, '  requests_per_minute: 6000'),
      );
      await home.expect(0, ['apply', '--auto-approve', ...allowed], {
        env: { ...secrets, ...ours.env },
      });
      const terraform = await terraformIn(home, 'hcl', { ...secrets, ...theirs.env });
      const applied = await terraform('apply', '-auto-approve', '-input=false', '-no-color');
      expect(applied).toMatchObject({ code: 0 });
      expect(theirs.sent(unsaid)).toEqual(ours.sent(unsaid));
      expect(theirs.sent()).toHaveLength(writes);
      const again = await terraform('plan', '-detailed-exitcode', '-input=false', '-no-color');
      expect(again).toMatchObject({ code: 0 });
      expect(`${applied.said}${again.said}${home.read('hcl/terraform.tfstate')}`).not.toContain(
        canary,
      );
    });

    it('is as terraform fmt would have it', () => {
      expect(
        spawnSync('terraform', ['fmt', '-check', join(examples, name, 'hcl')], {
          encoding: 'utf8',
        }),
      ).toMatchObject({ status: 0, stdout: '' });
    });
  });
});

describe('the programs', () => {
  it('are what the types of the constructs allow', () => {
    const tsc = join(import.meta.dirname, '../../node_modules/@typescript/native/bin/tsc');
    expect(spawnSync(process.execPath, [tsc, '-p', examples], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: '',
    });
  });

  it.each(stories)('are the same for cdktf and cdktn: $name', ({ name }) => {
    const text = (library: string, file: string): string =>
      readFileSync(join(examples, name, library, file), 'utf8');
    expect(text('cdktn', 'main.mjs')).toBe(text('cdktf', 'main.mjs').replaceAll('cdktf', 'cdktn'));
    expect(text('cdktn', 'cdktf.json')).toBe(text('cdktf', 'cdktf.json'));
  });
});
