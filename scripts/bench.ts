// The figures: whole processes of the built tool against the emulator as a process of its own, medians over several
// runs, and the real terraform in the same run where it is on the PATH. Prints a table and the machine.
// `npm run bench -- --help` lists the groups and options.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { declarations, newObjects, settled, sizesOf, types, uuid } from './bench/estate.js';
import {
  cloud,
  cpuOf,
  fixed,
  hasTerraform,
  median,
  memory,
  quick,
  repeat,
  root,
  row,
  rows,
  seconds,
  time,
  tool,
  type Run,
} from './bench/measuring.js';
import { terraformProject } from './bench/peer.js';
import { provider } from './bench/provider.js';
import { fleets, workers } from './bench/fleet.js';
import { killedWorkers } from './bench/killed-workers.js';
import { secrets } from './bench/secrets.js';
import { sharedState } from './bench/shared-state.js';

const plan = (folder: string, environment: NodeJS.ProcessEnv): Promise<Run> =>
  time(process.execPath, [tool, 'plan', '--detailed-exitcode'], folder, environment);

async function startup(): Promise<void> {
  const times = quick ? 11 : 31;
  const bare = seconds(await repeat(times, () => time(process.execPath, ['-e', '0'], root)));
  for (const flag of ['--help', '--version']) {
    const own = seconds(await repeat(times, () => time(process.execPath, [tool, flag], root)));
    row(
      `\`trueup ${flag}\``,
      `${fixed(own * 1000, 0)} ms, ${fixed(own / bare)} × bare node (${fixed(bare * 1000, 0)} ms)`,
      'at most 1.6 × bare node',
      own / bare <= 1.6,
    );
  }
}

async function validation(folder: string): Promise<void> {
  const own = seconds(await repeat(7, () => time(process.execPath, [tool, 'validate'], folder)));
  row('`validate`, 1,000 resources', `${fixed(own)} s`, 'under 0.5 s', own < 0.5);
}

async function requests({
  folder,
  sizes,
  cloud: up,
}: Awaited<ReturnType<typeof settled>>): Promise<void> {
  const { stdout } = await time(
    process.execPath,
    [tool, 'plan', '--format', 'json'],
    folder,
    up.environment,
  );
  const { api_requests: cost, summary } = JSON.parse(stdout) as {
    api_requests: Record<string, number>;
    summary: { keep: number };
  };
  const total = Object.values(cost).reduce((sum, count) => sum + count, 0);
  const formula =
    Math.ceil(sizes.rules / 500) +
    Math.ceil(sizes.destinations / 500) +
    Math.ceil(sizes.authorizations / 50);
  const accounts = Math.ceil((sizes.accounts + 1) / 500);
  row(
    `requests for a plan of ${sizes.rules} rules, ${sizes.destinations} destinations, ${sizes.authorizations} authorizations`,
    `${total} (${accounts} of them for accounts; ${summary.keep} unchanged)`,
    `${formula} + at most 3`,
    total <= formula + 3,
  );
}

async function plans(): Promise<void> {
  // What newer versions of Node gain, the comparison has to show.
  const modern = Number.parseInt(process.versions.node) >= 24;
  const elapsed = new Map<number, number>();
  for (const [resources, factor] of [
    [1000, modern ? 7 : 5],
    [10_000, modern ? 12 : 9],
    ...(quick ? [] : ([[100_000, 0]] as const)),
  ] as const) {
    const stand = await settled(resources);
    if (resources === 1000) await validation(stand.folder);
    if (resources === 10_000) await requests(stand);
    const peerFolder = factor > 0 && hasTerraform ? terraformProject(resources) : undefined;
    const own: Run[] = [];
    const peer: Run[] = [];
    for (let turn = 0; turn < (resources > 1000 ? 3 : 5); turn += 1) {
      own.push(await plan(stand.folder, stand.cloud.environment));
      if (peerFolder)
        peer.push(
          await time(
            'terraform',
            ['plan', '-input=false', '-detailed-exitcode', '-no-color'],
            peerFolder,
          ),
        );
    }
    elapsed.set(resources, seconds(own));
    await stand.cloud.stop();
    if (peer.length > 0) {
      // Each beside its neighbour in time: other guests of a machine slow down both.
      const ratio = median(peer.map((one, turn) => one.seconds / (own[turn] as Run).seconds));
      row(
        `plan without changes, ${resources} resources`,
        `${fixed(seconds(own))} s, terraform ${fixed(seconds(peer))} s: ${fixed(ratio, 1)} × faster`,
        `at least ${factor} × faster`,
        ratio >= factor,
      );
      const share = memory(own) / memory(peer);
      if (resources === 10_000)
        row(
          'its memory',
          `${fixed(memory(own), 0)} MiB, terraform ${fixed(memory(peer), 0)} MiB: 1/${fixed(1 / share, 1)}`,
          'at most 1/8',
          share <= 1 / 8,
        );
    } else {
      row(
        `plan without changes, ${resources} resources`,
        `${fixed(seconds(own))} s, ${fixed(memory(own), 0)} MiB`,
        factor > 0 ? 'terraform is not on the PATH: not compared' : 'at most 800 MiB',
        factor > 0 || memory(own) <= 800,
      );
    }
  }
  const growth = (elapsed.get(100_000) ?? Number.NaN) / (elapsed.get(10_000) as number);
  if (!quick)
    row('growth from 10,000 to 100,000', `× ${fixed(growth, 1)}`, 'at most × 9', growth <= 9);
  await latency(elapsed.get(10_000) as number);
}

async function latency(without: number): Promise<void> {
  const { folder, sizes, cloud: up } = await settled(10_000, ['latency=50']);
  const own = seconds(await repeat(3, () => plan(folder, up.environment)));
  await up.stop();
  const chain = Math.max(Math.ceil(sizes.rules / 500), Math.ceil(sizes.authorizations / 50));
  const reach = 1.3 * chain * 0.05 + without;
  row(
    'plan of 10,000 with 50 ms of latency',
    `${fixed(own)} s (longest chain ${chain} pages)`,
    `at most ${fixed(reach)} s`,
    own <= reach,
  );
}

/** A project that meets what is live for the first time: no state, everything is adopted. */
async function adoption(): Promise<void> {
  const resources = quick ? 10_000 : 100_000;
  const { folder, cloud: up } = await settled(resources);
  const turns = quick ? 3 : 2;
  const unchanged = cpuOf(await repeat(turns, () => plan(folder, up.environment)));
  const adopting = cpuOf(
    await repeat(turns, () => {
      rmSync(join(folder, '.trueup'), { recursive: true });
      return time(process.execPath, [tool, 'apply', '--auto-approve'], folder, up.environment);
    }),
  );
  await up.stop();
  const ratio = adopting / unchanged;
  row(
    `apply that adopts ${resources} resources`,
    `${fixed(adopting, 1)} s of CPU, ${fixed(ratio)} × the plan without changes (${fixed(unchanged, 1)} s)`,
    'at most 3 × its CPU',
    ratio <= 3,
  );
}

async function creates(): Promise<void> {
  const runs = await repeat(3, () => newObjects('creates', 1000, { faults: ['latency=20'] }));
  const ideal = (1000 * 0.02) / 10;
  row(
    'apply of 1,000 creates, 20 ms server, parallelism 10',
    `${fixed(seconds(runs))} s, ${fixed(seconds(runs) / ideal)} × the ideal ${fixed(ideal, 1)} s`,
    'at most 1.35 ×',
    seconds(runs) <= ideal * 1.35,
  );
}

/** The same pages without anything: what is measured against. */
const downloader = `
import { request } from 'undici';
const [base, path, ...headers] = process.argv.slice(1);
const sent = Object.fromEntries(headers.map((one) => one.split('=', 2)));
let records = 0;
for (let query = '?limit=500'; query !== ''; ) {
  const { body } = await request(base + path + query, { headers: sent });
  const { data, meta } = JSON.parse(await body.text());
  records += data.length;
  query = meta.next === null ? '' : new URL(meta.next, base).search;
}
process.stdout.write(String(records));`;

async function listing(): Promise<void> {
  const folder = join(root, 'listing');
  mkdirSync(folder);
  const count = quick ? 20_000 : 100_000;
  const start = Date.parse('2026-01-01T00:00:00Z');
  const alerts = Array.from({ length: count }, (_, index) => ({
    created_at: new Date(start + index * 1000).toISOString(),
    created_at_timeuuid: `${index.toString(16).padStart(8, '0')}-a1e7-11f0-8000-0242ac120002`,
    detected_at: new Date(start + index * 1000).toISOString(),
    account: '1',
    router: null,
    type: types[index % types.length],
    friendly_info: `The modem of router ${index} lost its connection to the network`,
    info: {
      alert_type: types[index % types.length],
      status: 'down',
      type: 'wan_status_change',
      info: { port: index % 5, reason: 'link', uid: uuid(index, 'beef') },
    },
  }));
  const up = await cloud(folder, {
    version: 1,
    root: '1',
    records: { accounts: [{ id: '1', name: 'Root', account: null }], alerts },
  });
  const { environment } = up;
  const headers = [
    `X-MGR-API-ID=${environment['TRUEUP_MGR_API_ID']}`,
    `X-MGR-API-KEY=${environment['TRUEUP_MGR_API_KEY']}`,
    `X-VND-API-ID=${environment['TRUEUP_VND_API_ID']}`,
    `X-VND-API-KEY=${environment['TRUEUP_VND_API_KEY']}`,
  ];
  const [own, bare]: [Run[], Run[]] = [[], []];
  const records = join(folder, 'alerts.ndjson');
  for (let turn = 0; turn < 3; turn += 1) {
    own.push(
      await time(
        process.execPath,
        [tool, 'get', 'alerts', '-o', 'ndjson'],
        folder,
        environment,
        records,
      ),
    );
    bare.push(
      await time(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          downloader,
          String(environment['TRUEUP_V2_URL']),
          '/alerts/',
          ...headers,
        ],
        process.cwd(),
      ),
    );
  }
  await up.stop();
  const lines = readFileSync(records, 'utf8').trimEnd().split('\n').length;
  if (lines !== count || bare[0]?.stdout !== String(count))
    throw new Error(`${lines} and ${bare[0]?.stdout} records were read, not ${count}`);
  const ratio = seconds(own) / seconds(bare);
  row(
    `\`get alerts -o ndjson\`, ${count} records`,
    `${fixed(seconds(own))} s, ${fixed(ratio)} × undici alone (${fixed(seconds(bare))} s)`,
    'at most 1.5 ×',
    ratio <= 1.5,
  );
  row('its memory', `${fixed(memory(own), 0)} MiB`, 'under 150 MiB', memory(own) < 150);
}

/** Somebody else changes 500 of 1,000 objects; finding the author takes this many requests to the activity log. */
async function attribution(): Promise<void> {
  const { folder, cloud: up } = await settled(1000);
  const { environment } = up;
  const headers = {
    'X-MGR-API-ID': String(environment['TRUEUP_MGR_API_ID']),
    'X-MGR-API-KEY': String(environment['TRUEUP_MGR_API_KEY']),
    'X-VND-API-ID': String(environment['TRUEUP_VND_API_ID']),
    'X-VND-API-KEY': String(environment['TRUEUP_VND_API_KEY']),
    'content-type': 'application/json',
  };
  for (let index = 0; index < 500; index += 1)
    await fetch(`${environment['TRUEUP_V2_URL']}/alert_rules/${uuid(index, 'a000')}/`, {
      method: 'PATCH',
      headers,
      body: '{"schedule":"weekly"}',
    });
  const { stdout } = await time(
    process.execPath,
    [tool, 'drift', '--format', 'json'],
    folder,
    environment,
  );
  await up.stop();
  const { drift, api_requests: cost } = JSON.parse(stdout) as {
    drift: unknown[];
    api_requests: Record<string, number>;
  };
  const asked = cost['activity_logs'] ?? 0;
  const reach = 1 + Math.ceil(500 / 500);
  row(
    `who changed ${drift.length} objects`,
    `${asked} requests to the activity log`,
    `at most ${reach}`,
    drift.length === 500 && asked <= reach,
  );
}

async function pages(): Promise<void> {
  const folder = join(root, 'pages');
  mkdirSync(join(folder, 'estate'), { recursive: true });
  const { authorizations, rules, ...rest } = sizesOf(5000);
  declarations({ ...rest, authorizations: 0, rules: rules + authorizations }).forEach(
    (text, index) =>
      writeFileSync(join(folder, 'estate', `${String(index).padStart(4, '0')}.yaml`), text),
  );
  const up = await cloud(folder, {
    version: 1,
    root: '1',
    records: { accounts: [{ id: '1', name: 'Root', account: null }], account_authorizations: [] },
  });
  const saved = join(folder, 'plan.json');
  await time(process.execPath, [tool, 'plan', '--out', saved], folder, up.environment);
  await up.stop();
  const runs = await repeat(3, () =>
    time(process.execPath, [tool, 'show', saved, '--format', 'html'], folder),
  );
  const html = runs[0]?.stdout ?? '';
  row(
    'HTML of 5,000 changes, from a saved plan',
    `${fixed(seconds(runs))} s, ${fixed(html.length / 2 ** 20, 1)} MiB`,
    'under 1.5 s',
    seconds(runs) < 1.5,
  );
  const file = join(folder, 'plan.html');
  writeFileSync(file, html);
  const paint = await firstPaint(file);
  row(
    'its first paint in Chromium',
    paint === undefined ? 'no Chromium on this machine: NOT measured' : `${fixed(paint)} s`,
    'under 1 s',
    paint === undefined || paint < 1,
  );
}

/** Seconds from opening a page to the first text on the screen: the median of three. */
async function firstPaint(file: string): Promise<number | undefined> {
  const { launch } = await import('../test/browser/chromium.js');
  const browser = await launch().catch(() => undefined);
  if (!browser) return undefined;
  const times: number[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const page = await browser.newPage();
    await page.goto(`file://${file}`);
    times.push(
      (await page.evaluate<number>(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime",
      )) / 1000,
    );
    await page.close();
  }
  await browser.close();
  return median(times);
}

/** 20,000 objects, from 1,000 uses of a template of 20. */
async function templates(): Promise<void> {
  const folder = join(root, 'templates');
  mkdirSync(folder);
  const rules = Array.from(
    { length: 19 },
    (_, index) =>
      `      rule-${index}: { associated_groups: [${index + 1}], associated_accounts: ["\${accounts.main.id}"], filter_criteria: { alert_type__in: [${types[index % types.length]}] }, schedule: "\${param.daily ? 'daily' : 'weekly'}" }\n`,
  );
  const customers = Array.from({ length: 1000 }, (_, index) => `c${index}`);
  writeFileSync(
    join(folder, 'trueup.yaml'),
    `templates:\n  customer:\n    parameters:\n      required: [title]\n      properties: { title: { type: string }, daily: { type: boolean, default: true } }\n    accounts:\n      main: { name: "\${param.title}" }\n    alert_rules:\n${rules.join('')}use:\n  all:\n    for_each: [${customers.join(', ')}]\n    template: customer\n    with: { title: "Customer \${each.key}" }\n`,
  );
  const runs = await repeat(7, () => time(process.execPath, [tool, 'validate'], folder));
  row(
    '`validate`, 20,000 objects of 1,000 templates',
    `${fixed(seconds(runs))} s, ${fixed(memory(runs), 0)} MiB`,
    'at most 2 s',
    seconds(runs) <= 2,
  );
}

interface Group {
  readonly what: string;
  readonly measure: () => Promise<void>;
}

const groups: Readonly<Record<string, Group>> = {
  startup: { what: 'the start of the command', measure: startup },
  creates: { what: 'apply of 1,000 new objects', measure: creates },
  state: { what: 'the same with a state in PostgreSQL and in S3', measure: sharedState },
  plans: {
    what: 'validate, and plans without changes beside those of terraform',
    measure: plans,
  },
  templates: { what: 'validate of many uses of a template', measure: templates },
  adoption: { what: 'apply that adopts what is live', measure: adoption },
  listing: { what: 'get of many records', measure: listing },
  attribution: { what: 'the requests that tell who changed what', measure: attribution },
  pages: { what: 'a plan as HTML, and its first paint in Chromium', measure: pages },
  secrets: { what: 'what secrets cost a plan', measure: secrets },
  fleet: { what: 'audits of 2,000 tenants, in one process and in shards', measure: fleets },
  workers: { what: 'these audits by one worker and by eight', measure: workers },
  kills: { what: '100 of these audits by workers, of which one is killed', measure: killedWorkers },
  provider: { what: 'the Terraform provider, and CDK programs', measure: provider },
};

const usage = `Usage: npm run bench -- [--quick] [GROUP...]

Measures the built command and prints a table. Exit code 1 means that a figure missed what it has to reach.
Without a GROUP it measures all of them: most take a minute or two, \`fleet\` half an hour, \`workers\` an hour, \`kills\` more than an hour.

Groups:
${Object.entries(groups)
  .map(([name, { what }]) => `  ${name.padEnd(12)} ${what}\n`)
  .join('')}
Options:
  --quick      fewer runs, and no project of 100,000 resources, 200 tenants
  --from N     \`kills\` without the first N kills, which an earlier run has played
  --help       print this text
`;

/** The groups to measure; undefined where the usage was asked for. @throws TypeError with what is wrong */
function chosenGroups(words: readonly string[]): readonly Group[] | undefined {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      quick: { type: 'boolean' },
      from: { type: 'string' },
    },
  });
  if (!/^\d*$/.test(values.from ?? '')) throw new TypeError('--from is a number of kills.');
  const unknown = positionals.filter((word) => !Object.hasOwn(groups, word));
  if (unknown.length > 0) throw new TypeError(`There is no group named ${unknown.join(', ')}.`);
  if (values.help) return undefined;
  const names = Object.keys(groups);
  return names.flatMap((name) =>
    positionals.length === 0 || positionals.includes(name) ? (groups[name] as Group) : [],
  );
}

async function measureAll(chosen: readonly Group[]): Promise<void> {
  /** Processes that waited for a core in the last minute: a figure of a busy machine says little. */
  const load = fixed(loadavg()[0] as number);
  for (const { measure } of chosen) await measure();
  const [cpu] = cpus();
  process.stdout.write(
    `\n| work | measured (median) | reach | |\n|---|---|---|---|\n${rows.map((one) => `| ${one.what} | ${one.measured} | ${one.reach} | ${one.reached ? 'reached' : '**missed**'} |`).join('\n')}\n\n`,
  );
  process.stdout.write(
    `Load before: ${load}. Machine: ${cpus().length} × ${cpu?.model ?? 'unknown'}, ${fixed(totalmem() / 2 ** 30, 0)} GiB, Node ${process.version}, ${process.platform}${hasTerraform ? '' : '; terraform is NOT on this machine: nothing was compared with it'}\n`,
  );
  process.exitCode = rows.every((one) => one.reached) ? 0 : 1;
}

function asked(): readonly Group[] | undefined {
  try {
    const chosen = chosenGroups(process.argv.slice(2));
    if (!chosen) process.stdout.write(usage);
    return chosen;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
    return undefined;
  }
}

try {
  const chosen = asked();
  if (chosen) await measureAll(chosen);
} finally {
  rmSync(root, { recursive: true, force: true });
}
