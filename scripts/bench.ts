// The figures: whole processes of the built tool against the emulator as a process of its own, medians over several
// runs, and the real terraform in the same run where it is on the PATH. Prints a table and the machine.
// `npm run bench -- --quick` leaves out 100,000 resources and takes fewer runs; `npm run bench -- creates listing`
// measures those groups alone.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';

const quick = process.argv.includes('--quick');
const tool = resolve('dist/trueup.cjs');
const root = mkdtempSync(join(tmpdir(), 'trueup-bench-'));

interface Run {
  readonly seconds: number;
  readonly mebibytes: number;
  readonly stdout: string;
}
interface Row {
  readonly what: string;
  readonly measured: string;
  readonly reach: string;
  readonly reached: boolean;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
const repeat = async (times: number, work: () => Promise<Run>): Promise<readonly Run[]> => {
  const runs: Run[] = [];
  for (let index = 0; index < times; index += 1) runs.push(await work());
  return runs;
};
const seconds = (runs: readonly Run[]): number => median(runs.map((run) => run.seconds));
const memory = (runs: readonly Run[]): number => median(runs.map((run) => run.mebibytes));

/**
 * Runs a command to its end; the peak of its memory is read from the kernel while it runs. Much output goes to a file:
 * reading it here would take one of two cores from what is measured. @throws when it fails
 */
function time(command: string, args: readonly string[], cwd: string, environment: NodeJS.ProcessEnv = process.env, output?: string): Promise<Run> {
  return new Promise((done, fail) => {
    const start = process.hrtime.bigint();
    const to = output === undefined ? 'pipe' : openSync(output, 'w');
    const child = spawn(command, args, { cwd, env: environment, stdio: ['ignore', to, 'pipe'] });
    if (typeof to === 'number') closeSync(to);
    let [stdout, stderr, peak] = ['', '', 0];
    const sampler = setInterval(() => (peak = Math.max(peak, highWater(child.pid))), 25);
    child.stdout?.on('data', (chunk: Buffer) => (stdout += String(chunk)));
    child.stderr?.on('data', (chunk: Buffer) => (stderr += String(chunk)));
    child.on('error', fail);
    child.on('close', (code) => {
      clearInterval(sampler);
      const elapsed = Number(process.hrtime.bigint() - start) / 1e9;
      if (code === 0) done({ seconds: elapsed, mebibytes: peak / 1024, stdout });
      else fail(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stderr.slice(-2000)}`));
    });
  });
}

/** Peak resident memory in KiB. */
function highWater(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

interface Sizes {
  readonly accounts: number;
  readonly destinations: number;
  readonly rules: number;
  readonly authorizations: number;
}

const sizesOf = (resources: number): Sizes => {
  const [accounts, destinations, authorizations] = [Math.ceil(resources * 0.02), Math.ceil(resources * 0.05), Math.ceil(resources * 0.02)];
  return { accounts, destinations, authorizations, rules: resources - accounts - destinations - authorizations };
};

const uuid = (index: number, kind: string): string => `${index.toString(16).padStart(8, '0')}-${kind}-11f0-8000-0242ac120002`;
const types = ['account_locked', 'connection_state', 'cpu_utilization', 'login_success', 'memory_utilization', 'modem_wan_connected', 'modem_wan_disconnected', 'wwan_standby'];
const typesOf = (index: number): readonly string[] => [0, 3, 5].map((step) => types[(index + step) % types.length] as string);

/** The estate as it is live: what the declarations say, made by another hand. */
function estate({ accounts, destinations, rules, authorizations }: Sizes): object {
  const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
  return {
    version: 1,
    root: '1',
    next_id: 1_000_000,
    records: {
      accounts: [{ id: '1', name: 'Root', account: null }, ...numbers(accounts).map((index) => ({ id: String(index + 100), name: `Site ${index}`, account: '1' }))],
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
    users: numbers(authorizations).map((index) => ({ id: String(index + 500), email: `user${index}@example.com` })),
  };
}

/** The same as declarations, in files of 500. */
function declarations({ accounts, destinations, rules, authorizations }: Sizes): readonly string[] {
  const blocks: (readonly [kind: string, text: string])[] = [];
  for (let index = 0; index < accounts; index += 1) blocks.push(['accounts', `  site-${index}:\n    name: Site ${index}\n`]);
  for (let index = 0; index < destinations; index += 1)
    blocks.push(['alert_push_destinations', `  hook-${index}:\n    name: Hook ${index}\n    enabled: true\n    endpoint:\n      url: https://hooks.example.com/${index}\n`]);
  for (let index = 0; index < rules; index += 1)
    blocks.push([
      'alert_rules',
      `  rule-${index}:\n    schedule: ${index % 2 === 0 ? 'null' : 'daily'}\n    associated_accounts: ["\${accounts.site-${index % accounts}.id}"]\n    associated_groups: [${index + 1}]\n` +
        `    filter_criteria:\n      alert_type__in: [${typesOf(index).join(', ')}]\n    http_destinations: ["\${alert_push_destinations.hook-${index % destinations}.destination_config_id}"]\n` +
        `    settings:\n      data_cap_threshold:\n        percent: ${index % 100}\n        notify: true\n        window: monthly\n`,
    ]);
  for (let index = 0; index < authorizations; index += 1)
    blocks.push(['account_authorizations', `  user-${index}:\n    user: "${index + 500}"\n    account: "\${accounts.site-${index % accounts}.id}"\n    role: read_only_user\n`]);
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

interface Cloud {
  readonly environment: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

async function cloud(folder: string, seed: object, faults: readonly string[] = []): Promise<Cloud> {
  const file = join(folder, 'seed.json');
  writeFileSync(file, JSON.stringify(seed));
  const child = spawn(process.execPath, [tool, 'emulator', '--port', '0', '--seed', file, ...faults.flatMap((fault) => ['--fault', fault])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exports = await firstLines(child);
  const pairs = [...exports.matchAll(/^export (TRUEUP_\w+)='?([^'\n]*)'?$/gm)].map(([, name, value]) => [name as string, value as string] as const);
  const quiet = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TRUEUP_')));
  return {
    environment: { ...quiet, ...Object.fromEntries(pairs), TRUEUP_LOG: 'error' },
    stop: () =>
      new Promise((done) => {
        child.on('close', () => done());
        child.kill('SIGTERM');
      }),
  };
}

function firstLines(child: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += String(chunk);
      if (/TRUEUP_V3_TOKEN=.*\n/.test(text) && /TRUEUP_VND_API_KEY=.*\n/.test(text) && /TRUEUP_V2_URL=.*\n/.test(text)) done(text);
    });
    child.on('close', () => fail(new Error(`the emulator ended: ${text}`)));
  });
}

/** A project of so many resources, its emulator, and a state that holds them all. */
async function settled(resources: number, faults: readonly string[] = []): Promise<{ folder: string; sizes: Sizes; cloud: Cloud }> {
  const folder = join(root, `plan-${resources}-${faults.join('')}`);
  mkdirSync(join(folder, 'estate'), { recursive: true });
  const sizes = sizesOf(resources);
  declarations(sizes).forEach((text, index) => writeFileSync(join(folder, 'estate', `${String(index).padStart(4, '0')}.yaml`), text));
  const up = await cloud(folder, estate(sizes), faults);
  await time(process.execPath, [tool, 'apply', '--auto-approve'], folder, up.environment);
  return { folder, sizes, cloud: up };
}

const plan = (folder: string, environment: NodeJS.ProcessEnv): Promise<Run> => time(process.execPath, [tool, 'plan', '--detailed-exitcode'], folder, environment);

/** The peer: as many `terraform_data`, one block each, whose `input` has twelve fields, and a state that holds them. */
function terraformProject(resources: number): string {
  const folder = join(root, `terraform-${resources}`);
  mkdirSync(folder);
  const fields = (index: number): Record<string, string> => Object.fromEntries(Array.from({ length: 12 }, (_, field) => [`field_${field}`, `value ${index} ${field}`]));
  const type = ['object', Object.fromEntries(Array.from({ length: 12 }, (_, field) => [`field_${field}`, 'string']))];
  const numbers = Array.from({ length: resources }, (_, index) => index);
  const block = (index: number): string =>
    `resource "terraform_data" "r${index}" {\n  input = {\n${Object.entries(fields(index))
      .map(([name, value]) => `    ${name} = "${value}"`)
      .join('\n')}\n  }\n}\n`;
  for (let at = 0; at < resources; at += 500)
    writeFileSync(
      join(folder, `main-${at}.tf`),
      numbers
        .slice(at, at + 500)
        .map(block)
        .join('\n'),
    );
  const instance = (index: number): object => {
    const value = { value: fields(index), type };
    return {
      schema_version: 0,
      attributes: { id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`, input: value, output: value, triggers_replace: null },
      sensitive_attributes: [],
    };
  };
  const resourcesInState = numbers.map((index) => ({
    mode: 'managed',
    type: 'terraform_data',
    name: `r${index}`,
    provider: 'provider["terraform.io/builtin/terraform"]',
    instances: [instance(index)],
  }));
  writeFileSync(
    join(folder, 'terraform.tfstate'),
    JSON.stringify({
      version: 4,
      terraform_version: '1.11.4',
      serial: 1,
      lineage: '00000000-0000-4000-8000-000000000000',
      outputs: {},
      resources: resourcesInState,
      check_results: null,
    }),
  );
  spawnSync('terraform', ['init', '-input=false'], { cwd: folder });
  return folder;
}

const hasTerraform = spawnSync('terraform', ['version']).status === 0;
const rows: Row[] = [];
const row = (what: string, measured: string, reach: string, reached: boolean): void => {
  rows.push({ what, measured, reach, reached });
  process.stderr.write(`${reached ? 'ok  ' : 'MISS'} ${what}: ${measured} (reach: ${reach})\n`);
};
const fixed = (value: number, digits = 2): string => value.toFixed(digits);

async function startup(): Promise<void> {
  const times = quick ? 11 : 31;
  const bare = seconds(await repeat(times, () => time(process.execPath, ['-e', '0'], root)));
  for (const flag of ['--help', '--version']) {
    const own = seconds(await repeat(times, () => time(process.execPath, [tool, flag], root)));
    row(`\`trueup ${flag}\``, `${fixed(own * 1000, 0)} ms, ${fixed(own / bare)} × bare node (${fixed(bare * 1000, 0)} ms)`, 'at most 1.6 × bare node', own / bare <= 1.6);
  }
}

async function validation(folder: string): Promise<void> {
  const own = seconds(await repeat(7, () => time(process.execPath, [tool, 'validate'], folder)));
  row('`validate`, 1,000 resources', `${fixed(own)} s`, 'under 0.5 s', own < 0.5);
}

async function requests({ folder, sizes, cloud: up }: Awaited<ReturnType<typeof settled>>): Promise<void> {
  const { stdout } = await time(process.execPath, [tool, 'plan', '--format', 'json'], folder, up.environment);
  const { api_requests: cost, summary } = JSON.parse(stdout) as { api_requests: Record<string, number>; summary: { keep: number } };
  const total = Object.values(cost).reduce((sum, count) => sum + count, 0);
  const formula = Math.ceil(sizes.rules / 500) + Math.ceil(sizes.destinations / 500) + Math.ceil(sizes.authorizations / 50);
  const accounts = Math.ceil((sizes.accounts + 1) / 500);
  row(
    `requests for a plan of ${sizes.rules} rules, ${sizes.destinations} destinations, ${sizes.authorizations} authorizations`,
    `${total} (${accounts} of them for accounts; ${summary.keep} unchanged)`,
    `${formula} + at most 3`,
    total <= formula + 3,
  );
}

async function plans(): Promise<void> {
  const elapsed = new Map<number, number>();
  for (const [resources, factor] of [[1000, 6], [10_000, 15], ...(quick ? [] : ([[100_000, 0]] as const))] as const) {
    const stand = await settled(resources);
    if (resources === 1000) await validation(stand.folder);
    if (resources === 10_000) await requests(stand);
    const peerFolder = factor > 0 && hasTerraform ? terraformProject(resources) : undefined;
    const own: Run[] = [];
    const peer: Run[] = [];
    for (let turn = 0; turn < (resources > 1000 ? 3 : 5); turn += 1) {
      own.push(await plan(stand.folder, stand.cloud.environment));
      if (peerFolder) peer.push(await time('terraform', ['plan', '-input=false', '-detailed-exitcode', '-no-color'], peerFolder));
    }
    elapsed.set(resources, seconds(own));
    await stand.cloud.stop();
    if (peer.length > 0) {
      const ratio = seconds(peer) / seconds(own);
      row(
        `plan without changes, ${resources} resources`,
        `${fixed(seconds(own))} s, terraform ${fixed(seconds(peer))} s: ${fixed(ratio, 1)} × faster`,
        `at least ${factor} × faster`,
        ratio >= factor,
      );
      const share = memory(own) / memory(peer);
      if (resources === 10_000) row('its memory', `${fixed(memory(own), 0)} MiB, terraform ${fixed(memory(peer), 0)} MiB: 1/${fixed(1 / share, 1)}`, 'at most 1/8', share <= 1 / 8);
    } else {
      row(
        `plan without changes, ${resources} resources`,
        `${fixed(seconds(own))} s, ${fixed(memory(own), 0)} MiB`,
        factor > 0 ? 'terraform is not on the PATH: not compared' : '–',
        true,
      );
    }
  }
  const growth = (elapsed.get(100_000) ?? Number.NaN) / (elapsed.get(10_000) as number);
  if (!quick) row('growth from 10,000 to 100,000', `× ${fixed(growth, 1)}`, 'at most × 12', growth <= 12);
  await latency(elapsed.get(10_000) as number);
}

async function latency(without: number): Promise<void> {
  const { folder, sizes, cloud: up } = await settled(10_000, ['latency=50']);
  const own = seconds(await repeat(3, () => plan(folder, up.environment)));
  await up.stop();
  const chain = Math.max(Math.ceil(sizes.rules / 500), Math.ceil(sizes.authorizations / 50));
  const reach = 1.3 * chain * 0.05 + without;
  row('plan of 10,000 with 50 ms of latency', `${fixed(own)} s (longest chain ${chain} pages)`, `at most ${fixed(reach)} s`, own <= reach);
}

async function creates(): Promise<void> {
  const folder = join(root, 'creates');
  const runs = await repeat(3, async () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, 'estate'), { recursive: true });
    const rules = Array.from(
      { length: 1000 },
      (_, index) => `  rule-${index}:\n    associated_groups: [${index + 1}]\n    filter_criteria:\n      alert_type__in: [${typesOf(index).join(', ')}]\n    schedule: daily\n`,
    );
    writeFileSync(join(folder, 'estate', 'rules.yaml'), `alert_rules:\n${rules.join('')}`);
    const up = await cloud(folder, estate(sizesOf(50)), ['latency=20']);
    const run = await time(process.execPath, [tool, 'apply', '--auto-approve', '--parallelism', '10'], folder, up.environment);
    await up.stop();
    return run;
  });
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
    info: { alert_type: types[index % types.length], status: 'down', type: 'wan_status_change', info: { port: index % 5, reason: 'link', uid: uuid(index, 'beef') } },
  }));
  const up = await cloud(folder, { version: 1, root: '1', records: { accounts: [{ id: '1', name: 'Root', account: null }], alerts } });
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
    own.push(await time(process.execPath, [tool, 'get', 'alerts', '-o', 'ndjson'], folder, environment, records));
    bare.push(await time(process.execPath, ['--input-type=module', '-e', downloader, String(environment['TRUEUP_V2_URL']), '/alerts/', ...headers], process.cwd()));
  }
  await up.stop();
  const lines = readFileSync(records, 'utf8').trimEnd().split('\n').length;
  if (lines !== count || bare[0]?.stdout !== String(count)) throw new Error(`${lines} and ${bare[0]?.stdout} records were read, not ${count}`);
  const ratio = seconds(own) / seconds(bare);
  row(`\`get alerts -o ndjson\`, ${count} records`, `${fixed(seconds(own))} s, ${fixed(ratio)} × undici alone (${fixed(seconds(bare))} s)`, 'at most 1.5 ×', ratio <= 1.5);
  row('its memory', `${fixed(memory(own), 0)} MiB`, 'under 150 MiB', memory(own) < 150);
}

/** Somebody else changes 500 of 1,000 objects; who it was costs so many requests of the activity log. */
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
    await fetch(`${environment['TRUEUP_V2_URL']}/alert_rules/${uuid(index, 'a000')}/`, { method: 'PATCH', headers, body: '{"schedule":"weekly"}' });
  const { stdout } = await time(process.execPath, [tool, 'drift', '--format', 'json'], folder, environment);
  await up.stop();
  const { drift, api_requests: cost } = JSON.parse(stdout) as { drift: unknown[]; api_requests: Record<string, number> };
  const asked = cost['activity_logs'] ?? 0;
  const reach = 1 + Math.ceil(500 / 500);
  row(`who changed ${drift.length} objects`, `${asked} requests of the activity log`, `at most ${reach}`, drift.length === 500 && asked <= reach);
}

async function pages(): Promise<void> {
  const folder = join(root, 'pages');
  mkdirSync(join(folder, 'estate'), { recursive: true });
  const { authorizations, rules, ...rest } = sizesOf(5000);
  declarations({ ...rest, authorizations: 0, rules: rules + authorizations }).forEach((text, index) =>
    writeFileSync(join(folder, 'estate', `${String(index).padStart(4, '0')}.yaml`), text),
  );
  const up = await cloud(folder, { version: 1, root: '1', records: { accounts: [{ id: '1', name: 'Root', account: null }], account_authorizations: [] } });
  const saved = join(folder, 'plan.json');
  await time(process.execPath, [tool, 'plan', '--out', saved], folder, up.environment);
  await up.stop();
  const runs = await repeat(3, () => time(process.execPath, [tool, 'show', saved, '--format', 'html'], folder));
  const html = runs[0]?.stdout ?? '';
  row('HTML of 5,000 changes, from a saved plan', `${fixed(seconds(runs))} s, ${fixed(html.length / 2 ** 20, 1)} MiB`, 'under 1.5 s', seconds(runs) < 1.5);
  const file = join(folder, 'plan.html');
  writeFileSync(file, html);
  const paint = await firstPaint(file);
  row('its first paint in Chromium', paint === undefined ? 'no Chromium on this machine: NOT measured' : `${fixed(paint)} s`, 'under 1 s', paint === undefined || paint < 1);
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
    times.push((await page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0].startTime")) / 1000);
    await page.close();
  }
  await browser.close();
  return median(times);
}

try {
  const groups = { startup, creates, plans, listing, attribution, pages };
  const chosen = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const unknown = chosen.filter((word) => !Object.hasOwn(groups, word));
  if (unknown.length > 0) throw new Error(`no such group of figures: ${unknown.join(', ')} (there are ${Object.keys(groups).join(', ')})`);
  for (const [name, measure] of Object.entries(groups)) if (chosen.length === 0 || chosen.includes(name)) await measure();
  const [cpu] = cpus();
  process.stdout.write(
    `\n| work | measured (median) | reach | |\n|---|---|---|---|\n${rows.map((one) => `| ${one.what} | ${one.measured} | ${one.reach} | ${one.reached ? 'reached' : '**missed**'} |`).join('\n')}\n\n`,
  );
  process.stdout.write(
    `Machine: ${cpus().length} × ${cpu?.model ?? 'unknown'}, ${fixed(totalmem() / 2 ** 30, 0)} GiB, Node ${process.version}, ${process.platform}${hasTerraform ? '' : '; terraform is NOT on this machine: nothing was compared with it'}\n`,
  );
  process.exitCode = rows.every((one) => one.reached) ? 0 : 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}
