// One estate declared twice: as YAML that trueup applies, and as what the real terraform has the provider apply. What
// both leave in a cloud of their own has to be the same, after the first run and after a change. Estates are generated
// from a seed, so that a difference can be looked at again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  compareText,
  isObject,
  own,
  type Attribute,
  type Attributes,
  type Json,
  type JsonObject,
} from '../../src/model/index.js';
import { kinds } from '../../src/resources/index.js';
import { box, served, type Box } from './box.js';
import { start, TRUEUP } from './command.js';
import { DESTINATIONS, theirs } from './estate.js';
import { seededRandom } from './simulated.js';
import { allowable } from './rule-names.js';

/** Stands for the id of another declaration. */
class To {
  constructor(
    readonly kind: string,
    readonly name: string,
  ) {}
}

type Said = Json | To | readonly Said[] | { readonly [name: string]: Said };
type Fields = Readonly<Record<string, Said>>;

interface Declared {
  readonly kind: string;
  readonly name: string;
  readonly values: Fields;
  /** The live object that it is. */
  readonly adopt?: string;
}

/** Numbers each secret that was ever declared. */
const SECRETS = ['first-of-the-secrets', 'second-of-the-secrets'] as const;

const alertTypes = [
  'ethernet_wan_disconnected',
  'modem_wan_disconnected',
  'ipsec_tunnel_down',
  'ipsec_tunnel_up',
  'ethernet_wan_connected',
];
const spice = [
  '',
  ' "quoted"',
  ' ${not.a.reference}',
  ' $${',
  ' %{ if x }',
  ' größe',
  " O'Brien & Sons",
  ' \\n #: ',
  ' \u{1f469}\u200d\u{1f4bb}',
  ' [1]',
];

interface Dice {
  chance(of: number): boolean;
  below(end: number): number;
  one<T>(of: readonly T[]): T;
  some<T>(of: readonly T[], least: number): readonly T[];
}

function diceOf(seed: number): Dice {
  const { fraction } = seededRandom(seed);
  const below = (end: number): number => Math.floor(fraction() * end);
  const shuffled = <T>(of: readonly T[]): readonly T[] =>
    of
      .map((item) => ({ item, at: fraction() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ item }) => item);
  return {
    below,
    chance: (of) => fraction() < of,
    one: (of) => of[below(of.length)] as (typeof of)[number],
    some: (of, least) => shuffled(of).slice(0, least + below(of.length - least + 1)),
  };
}

const namesOf = (estate: readonly Declared[], kind: string): readonly string[] =>
  estate.flatMap((one) => (one.kind === kind ? [one.name] : []));

/** Each part of a kind's declaration, drawn anew; `estate` is what may be referred to. */
const drawn: Readonly<
  Record<
    string,
    Readonly<
      Record<string, (dice: Dice, estate: readonly Declared[], name: string) => Said | undefined>
    >
  >
> = {
  accounts: {
    name: (dice, _, name) => `${name}${dice.one(spice)}`,
    account: (dice, estate) =>
      dice.one<Said | undefined>([
        undefined,
        '1',
        '2',
        ...namesOf(estate, 'accounts').map((name) => new To('accounts', name)),
      ]),
  },
  alert_push_destinations: {
    name: (dice, _, name) => `${name}${dice.one(spice)}`,
    enabled: (dice) => dice.one([undefined, true, false]),
    endpoint: (dice) =>
      dice.chance(0.8)
        ? { url: `https://hooks${dice.below(9)}.example.com/a?b=c&d=%20` }
        : undefined,
    authentication: (dice) => (dice.chance(0.4) ? { secret: dice.below(2) } : undefined),
  },
  alert_rules: {
    associated_accounts: (dice, estate) =>
      dice.some<Said>(
        ['1', '2', ...namesOf(estate, 'accounts').map((name) => new To('accounts', name))],
        0,
      ),
    associated_groups: (dice) => (dice.chance(0.3) ? dice.some(['7', '8'], 0) : undefined),
    filter_criteria: (dice) => ({ alert_type__in: dice.some(alertTypes, 1) }),
    http_destinations: (dice, estate) =>
      dice.some<Said>(
        [
          ...DESTINATIONS,
          ...namesOf(estate, 'alert_push_destinations').map(
            (name) => new To('alert_push_destinations', name),
          ),
        ],
        0,
      ),
    schedule: (dice) => (dice.chance(0.3) ? 'daily' : undefined),
    settings: (dice) =>
      dice.chance(0.4)
        ? {
            overage: {
              limit: dice.one([1, 0.1, 1e21]),
              text: dice.one(spice),
              list: [1, null, true],
            },
          }
        : undefined,
  },
  account_authorizations: {
    role: (dice) => dice.one(['no_access', 'read_only_user', 'full_access_user', 'administrator']),
  },
  configuration_managers: {
    suspended: (dice) => dice.one([undefined, true, false]),
    configuration: (dice) =>
      dice.chance(0.8)
        ? [
            {
              lan: { mtu: 1400 + dice.below(3) },
              name: dice.one(spice),
              system: { users: null },
              ...(dice.chance(0.5) && { wan: { rules: { [dice.one(['old', 'new'])]: null } } }),
            },
            ...(dice.chance(0.5) ? [[['lan', dice.one(['a', 'b'])]]] : []),
          ]
        : undefined,
  },
};

/** A part that draws nothing is left out. `keep`: how likely a part stays as it was. */
function valuesOf(
  dice: Dice,
  kind: string,
  name: string,
  estate: readonly Declared[],
  before: Fields = {},
  keep = 0,
): Fields {
  const parts = Object.entries(drawn[kind] ?? {}).map(
    ([part, draw]): [string, Said | undefined] => [
      part,
      dice.chance(keep) ? before[part] : draw(dice, estate, name),
    ],
  );
  const { user, account, router } = before;
  const fixed =
    kind === 'account_authorizations'
      ? { user, account }
      : kind === 'configuration_managers'
        ? { router }
        : {};
  return Object.fromEntries(
    [...Object.entries(fixed), ...parts].filter(
      (part): part is [string, Said] => part[1] !== undefined,
    ),
  );
}

function firstEstate(dice: Dice): readonly Declared[] {
  const estate: Declared[] = [];
  const add = (kind: string, name: string, before: Fields = {}, adopt?: string): void => {
    estate.push({
      kind,
      name,
      values: valuesOf(dice, kind, name, estate, before),
      ...(adopt !== undefined && { adopt }),
    });
  };
  if (dice.chance(0.4)) add('accounts', 'depot', {}, '2');
  for (let number = 1 + dice.below(4); number > 0; number -= 1) add('accounts', `site-${number}`);
  if (dice.chance(0.4)) add('alert_push_destinations', 'theirs', {}, DESTINATIONS[0]);
  for (let number = dice.below(4); number > 0; number -= 1)
    add('alert_push_destinations', `hook-${number}`);
  for (let number = 1 + dice.below(5); number > 0; number -= 1)
    add('alert_rules', `rule-${number}`);
  if (dice.chance(0.7)) add('account_authorizations', 'dana', { user: '77', account: '1' });
  if (dice.chance(0.4)) add('account_authorizations', 'robin', { user: '78', account: '1' });
  if (dice.chance(0.7)) add('configuration_managers', 'router-12', { router: '12' });
  if (dice.chance(0.4)) add('configuration_managers', 'router-7', { router: '7' });
  return withoutLoops(estate);
}

/** A depot cannot lie below itself: whoever is adopted is not moved. */
const withoutLoops = (estate: readonly Declared[]): readonly Declared[] =>
  estate.map((one) =>
    one.kind === 'accounts' && one.adopt !== undefined
      ? { ...one, values: { ...one.values, account: '1' } }
      : one,
  );

/** Some go, some change, some are new. What goes is referred to no more; what was adopted stays, as it may be named by its id. */
function nextEstate(dice: Dice, first: readonly Declared[]): readonly Declared[] {
  const next: Declared[] = [];
  for (const one of first) {
    const referring = { ...one, values: withoutLost(one.values, next, first) };
    if (dice.chance(0.2) && one.adopt === undefined) continue;
    next.push(
      dice.chance(0.5)
        ? { ...one, values: valuesOf(dice, one.kind, one.name, next, referring.values, 0.6) }
        : referring,
    );
  }
  for (const kind of ['accounts', 'alert_push_destinations', 'alert_rules'])
    if (dice.chance(0.5))
      next.push({ kind, name: 'late', values: valuesOf(dice, kind, 'late', next) });
  return withoutLoops(next);
}

function withoutLost(
  values: Fields,
  next: readonly Declared[],
  first: readonly Declared[],
): Fields {
  const isLost = (said: Said | undefined): boolean =>
    said instanceof To &&
    first.some(({ kind, name }) => kind === said.kind && name === said.name) &&
    !next.some(({ kind, name }) => kind === said.kind && name === said.name);
  return Object.fromEntries(
    Object.entries(values).map(([part, said]) => [
      part,
      isLost(said)
        ? '1'
        : Array.isArray(said)
          ? (said as readonly Said[]).filter((item) => !isLost(item))
          : said,
    ]),
  );
}

/** @param text how a literal and a reference are written */
function written(said: Said, text: (said: string | To) => string): Json {
  if (said instanceof To || typeof said === 'string') return text(said);
  if (Array.isArray(said)) return (said as readonly Said[]).map((item) => written(item, text));
  if (!isObject(said)) return said as Json;
  return Object.fromEntries(
    Object.entries(said as Fields).map(([name, item]) => [name, written(item, text)]),
  );
}

const idOf = (kind: string): string => kinds.get(kind)?.id ?? '';

/** JSON is YAML. */
function asYaml(estate: readonly Declared[]): string {
  const text = (said: string | To): string =>
    said instanceof To
      ? `\${${said.kind}.${said.name}.${idOf(said.kind)}}`
      : said.replaceAll('${', () => '$${');
  const sections: Record<string, Record<string, Json>> = {};
  for (const { kind, name, values, adopt } of estate) {
    const { authentication, ...rest } = values;
    const secret =
      authentication === undefined
        ? {}
        : {
            authentication: {
              secret: `\${secret.env.SECRET_${(authentication as { readonly secret: number }).secret}}`,
            },
          };
    (sections[kind] ??= {})[name] = {
      ...(written(rest, text) as JsonObject),
      ...secret,
      ...(adopt !== undefined && { lifecycle: { adopt } }),
    };
  }
  return JSON.stringify({ settings: { requests_per_minute: 60_000 }, ...sections }, undefined, 1);
}

/** Terraform deletes an object before it takes it out of what names it, unless it is made before it is destroyed. */
function asTerraform(estate: readonly Declared[]): string {
  const type = (kind: string): string => `devicecloud_${kinds.get(kind)?.singular}`;
  const literal = (said: string): string =>
    said.replaceAll('${', () => '$${').replaceAll('%{', '%%{');
  const text = (said: string | To): string =>
    said instanceof To ? `\${${type(said.kind)}.${said.name}.${idOf(said.kind)}}` : literal(said);
  const resource: Record<string, Record<string, Json>> = {};
  for (const { kind, name, values } of estate) {
    const parts = Object.entries(values).map(([part, said]): [string, Json] => {
      if (kinds.get(kind)?.attributes[part]?.word === 'document')
        return [part, literal(JSON.stringify(said))];
      if (part !== 'authentication') return [part, written(said, text)];
      const { secret } = said as { readonly secret: number };
      return [part, { secret_wo: `\${var.secret_${secret}}`, secret_wo_version: secret }];
    });
    (resource[type(kind)] ??= {})[name] = {
      ...Object.fromEntries(parts),
      lifecycle: { create_before_destroy: true },
    };
  }
  const imports = estate.flatMap(({ kind, name, adopt }) =>
    adopt === undefined ? [] : [{ to: `${type(kind)}.${name}`, id: adopt }],
  );
  return JSON.stringify({
    terraform: { required_providers: { devicecloud: { source: 'trueup/devicecloud' } } },
    provider: { devicecloud: { allow: allowable } },
    variable: Object.fromEntries(
      SECRETS.map((_, number) => [`secret_${number}`, { type: 'string', ephemeral: true }]),
    ),
    ...(imports.length > 0 && { import: imports }),
    ...(estate.length > 0 && { resource }),
  });
}

/** What tells the secrets of an object from others. */
function secretsOf(cloud: Box, kind: string, id: string): string {
  const digests = [...cloud.secrets()].flatMap(([place, digest]) =>
    place.startsWith(`${kind} ${id} `) ? [digest.slice(0, 15)] : [],
  );
  return digests.length === 0 ? '' : ` with ${digests.join()}`;
}

/** Every object of a cloud by what it is: ids of what was made stand as what they are ids of, secrets as the beginning of their digests, and times are left out. */
export function contentsOf(cloud: Box): readonly string[] {
  const accounts = new Map(cloud.objects('accounts').map((one) => [String(one['id']), one]));
  const way = (id: string): string => {
    const one = accounts.get(id);
    return one ? `${way(String(one['account']))}/${String(one['name'])}` : '';
  };
  const names = new Map<string, string>([
    ...[...accounts.keys()].map((id) => [`accounts ${id}`, way(id)] as const),
    ...cloud
      .objects('alert_push_destinations')
      .map(
        (one) =>
          [
            `alert_push_destinations ${String(one['destination_config_id'])}`,
            String(one['name']),
          ] as const,
      ),
  ]);
  const said = (attribute: Attribute | undefined, value: Json): Json => {
    if (attribute?.word === 'ref') return names.get(`${attribute.to} ${String(value)}`) ?? value;
    if (attribute?.word === 'set' && Array.isArray(value))
      return value
        .map((item: Json) => said(attribute.of, item))
        .toSorted((a, b) => compareText(JSON.stringify(a), JSON.stringify(b)));
    if (attribute?.word === 'object' && isObject(value))
      return saidAll(attribute.attributes, value);
    return value;
  };
  const saidAll = (attributes: Attributes, values: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(values)
        .map(([name, value]): [string, Json] => [name, said(own(attributes, name), value)])
        .toSorted(([a], [b]) => compareText(a, b)),
    );
  return [...kinds.values()].flatMap(({ name, id, attributes }) =>
    cloud
      .objects(name)
      .map(
        ({ [id]: key, updated_at: _, ...values }) =>
          `${name} ${['account_authorizations', 'configuration_managers'].includes(name) ? String(key) : ''} ${JSON.stringify(saidAll(attributes, values))}${secretsOf(cloud, name, String(key))}`,
      )
      .toSorted(compareText),
  );
}

const secrets = (prefix: string): Readonly<Record<string, string>> =>
  Object.fromEntries(SECRETS.map((value, number) => [`${prefix}${number}`, value]));

interface Side {
  readonly cloud: Box;
  declare(estate: readonly Declared[]): void;
  /** Undefined where all went well, otherwise what was said. */
  apply(): Promise<string | undefined>;
  /** Undefined where there is nothing to do. */
  plan(): Promise<string | undefined>;
  close(): Promise<void>;
}

const asked = (what: string, code: number | null, said: string): string | undefined =>
  code === 0
    ? undefined
    : `${what} ended with ${code}:\n${said.slice(Math.max(0, said.search(/^error: /im)))}`;

async function ofTrueup(folder: string, script: string): Promise<Side> {
  const cloud = await box(theirs);
  const run = async (...words: readonly string[]): Promise<string | undefined> => {
    const { code, stdout, stderr } = await start(
      [...words, ...allowable.flatMap((rule) => ['--allow', rule])],
      {
        cwd: folder,
        script,
        env: { ...cloud.env, ...secrets('SECRET_') },
      },
    ).ended;
    return asked(`trueup ${words.join(' ')}`, code, stdout + stderr);
  };
  return {
    cloud,
    declare: (estate) => writeFileSync(join(folder, 'trueup.yaml'), asYaml(estate)),
    apply: () => run('apply', '--auto-approve'),
    plan: () => run('plan', '--detailed-exitcode'),
    close: () => cloud.close(),
  };
}

async function ofTerraform(folder: string): Promise<Side> {
  const cloud = await box(theirs);
  const { reattach, close } = await served(folder, cloud.env);
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    TF_REATTACH_PROVIDERS: reattach,
    ...secrets('TF_VAR_secret_'),
  };
  const run = async (...words: readonly string[]): Promise<string | undefined> => {
    const child = spawn('terraform', [...words, '-no-color'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [code] = (await once(child, 'close')) as [number | null];
    return asked(`terraform ${words.join(' ')}`, code, said);
  };
  return {
    cloud,
    declare: (estate) => writeFileSync(join(folder, 'main.tf.json'), asTerraform(estate)),
    apply: () => run('apply', '-auto-approve'),
    plan: () => run('plan', '-detailed-exitcode'),
    async close() {
      await close();
      await cloud.close();
    },
  };
}

/**
 * What trueup and terraform do otherwise with the estate of a seed, and with its change; empty where both do the same.
 * @param trueup the built command
 */
export async function differences(seed: number, trueup = TRUEUP): Promise<readonly string[]> {
  const dice = diceOf(seed);
  const first = firstEstate(dice);
  const next = nextEstate(dice, first);
  const folders = ['trueup', 'terraform'].map((name) =>
    mkdtempSync(join(tmpdir(), `differential-${name}-`)),
  ) as [string, string];
  const sides = [await ofTrueup(folders[0], trueup), await ofTerraform(folders[1])] as const;
  try {
    for (const [when, estate] of [
      ['at first', first],
      ['after a change', next],
    ] as const) {
      for (const side of sides) side.declare(estate);
      const trouble = (await Promise.all(sides.map((side) => side.apply()))).filter(
        (one) => one !== undefined,
      );
      const [ours, others] = sides.map(({ cloud }) => contentsOf(cloud)) as [
        readonly string[],
        readonly string[],
      ];
      const unlike = [
        ...ours.filter((one) => !others.includes(one)).map((one) => `only trueup: ${one}`),
        ...others.filter((one) => !ours.includes(one)).map((one) => `only terraform: ${one}`),
      ];
      const found = [
        ...trouble,
        ...unlike,
        ...(ours.length === others.length
          ? []
          : [`${ours.length} objects of trueup, ${others.length} of terraform`]),
      ];
      if (found.length > 0) return [`estate ${seed}, ${when}:`, ...found, asYaml(estate)];
    }
    return (await Promise.all(sides.map((side) => side.plan())))
      .filter((one) => one !== undefined)
      .map((one) => `estate ${seed}, planned again: ${one}`);
  } finally {
    await Promise.all(sides.map((side) => side.close()));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}
