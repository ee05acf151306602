// Estates of any size: as they are declared, as they are live, and as a project whose state holds them.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cloud, root, time, tool, type Cloud, type Run } from './measuring.js';

export interface Sizes {
  readonly accounts: number;
  readonly destinations: number;
  readonly rules: number;
  readonly authorizations: number;
}

export const sizesOf = (resources: number): Sizes => {
  const [accounts, destinations, authorizations] = [
    Math.ceil(resources * 0.02),
    Math.ceil(resources * 0.05),
    Math.ceil(resources * 0.02),
  ];
  return {
    accounts,
    destinations,
    authorizations,
    rules: resources - accounts - destinations - authorizations,
  };
};

export const uuid = (index: number, kind: string): string =>
  `${index.toString(16).padStart(8, '0')}-${kind}-11f0-8000-0242ac120002`;
export const types = [
  'account_locked',
  'connection_state',
  'cpu_utilization',
  'login_success',
  'memory_utilization',
  'modem_wan_connected',
  'modem_wan_disconnected',
  'wwan_standby',
];
export const typesOf = (index: number): readonly string[] =>
  [0, 3, 5].map((step) => types[(index + step) % types.length] as string);

/** The estate as it is live: what the declarations say, created by somebody else. */
export function estate({ accounts, destinations, rules, authorizations }: Sizes): object {
  const numbers = (count: number): readonly number[] =>
    Array.from({ length: count }, (_, index) => index);
  return {
    version: 1,
    root: '1',
    next_id: 1_000_000,
    records: {
      accounts: [
        { id: '1', name: 'Root', account: null },
        ...numbers(accounts).map((index) => ({
          id: String(index + 100),
          name: `Site ${index}`,
          account: '1',
        })),
      ],
      alert_push_destinations: numbers(destinations).map((index) => ({
        destination_config_id: uuid(index, 'd000'),
        name: `Hook ${index}`,
        enabled: true,
        endpoint: { url: `https://hooks.example.com/${index}` },
      })),
      alert_rules: numbers(rules).map((index) => ({
        alert_config_id: uuid(index, 'a000'),
        schedule: index % 2 === 0 ? null : 'daily',
        associated_accounts: [100 + (index % accounts)],
        associated_groups: [index + 1],
        filter_criteria: { alert_type__in: typesOf(index) },
        http_destinations: [uuid(index % destinations, 'd000')],
        settings: { data_cap_threshold: { percent: index % 100, notify: true, window: 'monthly' } },
      })),
      account_authorizations: numbers(authorizations).map((index) => ({
        id: String(index + 1),
        user: String(index + 500),
        account: String(100 + (index % accounts)),
        role: 'read_only_user',
      })),
    },
    users: numbers(authorizations).map((index) => ({
      id: String(index + 500),
      email: `user${index}@example.com`,
    })),
  };
}

/** The same as declarations, in files of 500. */
export function declarations({
  accounts,
  destinations,
  rules,
  authorizations,
}: Sizes): readonly string[] {
  const blocks: (readonly [kind: string, text: string])[] = [];
  for (let index = 0; index < accounts; index += 1)
    blocks.push(['accounts', `  site-${index}:\n    name: Site ${index}\n`]);
  for (let index = 0; index < destinations; index += 1)
    blocks.push([
      'alert_push_destinations',
      `  hook-${index}:\n    name: Hook ${index}\n    enabled: true\n    endpoint:\n      url: https://hooks.example.com/${index}\n`,
    ]);
  for (let index = 0; index < rules; index += 1)
    blocks.push([
      'alert_rules',
      `  rule-${index}:\n    schedule: ${index % 2 === 0 ? 'null' : 'daily'}\n    associated_accounts: ["\${accounts.site-${index % accounts}.id}"]\n    associated_groups: [${index + 1}]\n` +
        `    filter_criteria:\n      alert_type__in: [${typesOf(index).join(', ')}]\n    http_destinations: ["\${alert_push_destinations.hook-${index % destinations}.destination_config_id}"]\n` +
        `    settings:\n      data_cap_threshold:\n        percent: ${index % 100}\n        notify: true\n        window: monthly\n`,
    ]);
  for (let index = 0; index < authorizations; index += 1)
    blocks.push([
      'account_authorizations',
      `  user-${index}:\n    user: "${index + 500}"\n    account: "\${accounts.site-${index % accounts}.id}"\n    role: read_only_user\n`,
    ]);
  const files: string[] = [];
  for (let at = 0; at < blocks.length; at += 500) {
    const slice = blocks.slice(at, at + 500);
    const kinds = [...new Set(slice.map(([kind]) => kind))];
    files.push(
      kinds
        .map(
          (kind) =>
            `${kind}:\n${slice
              .filter(([one]) => one === kind)
              .map(([, text]) => text)
              .join('')}`,
        )
        .join('\n'),
    );
  }
  return files;
}

/** A project of this many resources, its emulator, and a state that holds them all. */
export async function settled(
  resources: number,
  faults: readonly string[] = [],
): Promise<{ folder: string; sizes: Sizes; cloud: Cloud }> {
  const folder = join(root, `plan-${resources}-${faults.join('')}`);
  mkdirSync(join(folder, 'estate'), { recursive: true });
  const sizes = sizesOf(resources);
  declarations(sizes).forEach((text, index) =>
    writeFileSync(join(folder, 'estate', `${String(index).padStart(4, '0')}.yaml`), text),
  );
  const up = await cloud(folder, estate(sizes), faults);
  await time(process.execPath, [tool, 'apply', '--auto-approve'], folder, up.environment);
  return { folder, sizes, cloud: up };
}

interface NewObjects {
  readonly faults?: readonly string[];
  /** One line of YAML. */
  readonly settings?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Creates this number of rules in a new project. */
export async function newObjects(
  name: string,
  count: number,
  { faults = [], settings = '{}', environment = {} }: NewObjects,
): Promise<Run> {
  const folder = join(root, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'estate'), { recursive: true });
  const rules = Array.from(
    { length: count },
    (_, index) =>
      `  rule-${index}:\n    associated_groups: [${index + 1001}]\n    filter_criteria:\n      alert_type__in: [${typesOf(index).join(', ')}]\n    schedule: daily\n`,
  );
  writeFileSync(
    join(folder, 'estate', 'rules.yaml'),
    `settings: ${settings}\nalert_rules:\n${rules.join('')}`,
  );
  const up = await cloud(folder, estate(sizesOf(50)), faults);
  try {
    return await time(
      process.execPath,
      [tool, 'apply', '--auto-approve', '--parallelism', '10'],
      folder,
      { ...up.environment, ...environment },
    );
  } finally {
    await up.stop();
  }
}
