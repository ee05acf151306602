// The figures of the provider and of CDK programs: terraform itself drives the built provider, beside as many built-in
// `terraform_data`, and plans the same stack as trueup.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { sizesOf, estate, typesOf } from './estate.js';
import {
  cloud,
  fixed,
  hasTerraform,
  median,
  memory,
  quick,
  repeat,
  root,
  row,
  seconds,
  time,
  tool,
} from './measuring.js';
import { terraformProject } from './peer.js';

const RULES = 1000;
const executable = resolve('dist/terraform-provider-devicecloud.cjs');
const bin = join(root, 'bin');
const plan = ['plan', '-input=false', '-no-color', '-detailed-exitcode'];

export async function provider(): Promise<void> {
  mkdirSync(bin);
  symlinkSync(executable, join(bin, 'terraform-provider-devicecloud'));
  await handshake();
  if (!hasTerraform)
    return row('terraform is not on the PATH: its provider', 'NOT measured', '–', true);
  await refresh();
  await program();
}

/** From the start of the process to the line that core waits for. */
async function handshake(): Promise<void> {
  const times: number[] = [];
  for (let turn = 0; turn < (quick ? 11 : 31); turn += 1) times.push(await untilReady());
  row(
    'provider, start to handshake',
    `${fixed(median(times) * 1000, 0)} ms`,
    'at most 150 ms',
    median(times) <= 0.15,
  );
}

function untilReady(): Promise<number> {
  return new Promise((done, fail) => {
    const start = process.hrtime.bigint();
    const child = spawn(process.execPath, [executable], {
      env: { ...process.env, ...cookie },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let elapsed = Number.NaN;
    child.stdout.once('data', () => {
      elapsed = Number(process.hrtime.bigint() - start) / 1e9;
      // It ends by itself, as after a run of terraform: then Node keeps the compiled code (from 22.1 on).
      child.kill('SIGTERM');
    });
    child.on('error', fail);
    child.on('close', () =>
      Number.isNaN(elapsed)
        ? fail(new Error('the provider ended without a handshake'))
        : done(elapsed),
    );
  });
}

const cookie = {
  TF_PLUGIN_MAGIC_COOKIE: 'd602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2',
  TF_DISABLE_PLUGIN_TLS: '1',
};

/** 1,000 rules that terraform made, planned again: time, requests, and memory of the provider. */
async function refresh(): Promise<void> {
  const folder = join(root, 'provider');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'main.tf'),
    [head, ...Array.from({ length: RULES }, (_, index) => block(index))].join('\n'),
  );
  const up = await cloud(folder, estate(sizesOf(50)));
  const environment = { ...up.environment, ...overrides(folder) };
  await time(
    'terraform',
    ['apply', '-auto-approve', '-input=false', '-no-color'],
    folder,
    environment,
  );
  const peerFolder = join(root, `terraform-${RULES}`);
  if (!readdirSync(root).includes(`terraform-${RULES}`)) terraformProject(RULES);
  const [own, peer]: [number[], number[]] = [[], []];
  // One line per resource, which nobody reads while both cores are busy.
  const said = join(root, 'plan.txt');
  for (let turn = 0; turn < (quick ? 7 : 15); turn += 1) {
    own.push(seconds([await time('terraform', plan, folder, environment, said)]));
    peer.push(seconds([await time('terraform', plan, peerFolder, process.env, said)]));
  }
  // Looking on takes time itself.
  const counted = await counting(String(environment['TRUEUP_V2_URL']));
  let peak = 0;
  const sampler = setInterval(() => (peak = Math.max(peak, providerMemory())), 20);
  await time('terraform', plan, folder, { ...environment, TRUEUP_V2_URL: counted.url });
  clearInterval(sampler);
  counted.close();
  await up.stop();
  // Each beside its neighbour in time: other guests of a machine slow down both.
  const ratio = median(own.map((time, turn) => time / (peer[turn] as number)));
  row(
    `refresh of ${RULES} rules through terraform`,
    `${counted.requests()} requests`,
    'at most 8',
    counted.requests() <= 8,
  );
  const compared = `${fixed(median(own))} s, ${fixed(ratio)} × as many terraform_data (${fixed(median(peer))} s)`;
  row(
    `terraform plan without changes, ${RULES} rules through the provider`,
    compared,
    'at most 2.3 ×',
    ratio <= 2.3,
  );
  row(
    'memory of the provider',
    `${fixed(peak / 1024, 0)} MiB`,
    'at most 180 MiB',
    peak / 1024 <= 180,
  );
}

const head =
  'terraform {\n  required_providers {\n    devicecloud = { source = "trueup/devicecloud" }\n  }\n}\nprovider "devicecloud" {}\n';
const block = (index: number): string =>
  `resource "devicecloud_alert_rule" "r${index}" {\n  associated_groups = ["${index + 1}"]\n  filter_criteria   = { alert_type__in = ${JSON.stringify(typesOf(index))} }\n  schedule          = "daily"\n}\n`;

function overrides(folder: string): Readonly<Record<string, string>> {
  const file = join(folder, 'cli.tfrc');
  writeFileSync(
    file,
    `provider_installation {\n  dev_overrides { "trueup/devicecloud" = ${JSON.stringify(bin)} }\n  direct {}\n}\n`,
  );
  return { TF_CLI_CONFIG_FILE: file, CHECKPOINT_DISABLE: '1' };
}

/** Peak resident memory in KiB of the largest provider that runs now. */
function providerMemory(): number {
  const sizes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        if (
          !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('terraform-provider-devicecloud')
        )
          return 0;
        return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
      } catch {
        return 0;
      }
    });
  return Math.max(0, ...sizes);
}

/** A way to the cloud that counts who takes it. */
async function counting(
  target: string,
): Promise<{ readonly url: string; readonly requests: () => number; close(): void }> {
  const { origin, pathname } = new URL(target);
  let requests = 0;
  const server: Server = createServer((incoming, outgoing) => {
    requests += 1;
    const asked = request(
      `${origin}${incoming.url ?? ''}`,
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(asked);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    requests: () => requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A CDK program of 1,000 resources: trueup runs it and plans what it made; terraform plans what it made. */
async function program(): Promise<void> {
  const folder = join(root, 'program');
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  for (const name of ['cdktf', 'constructs'])
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'trueup'));
  writeFileSync(
    join(folder, 'cdktf.json'),
    JSON.stringify({ language: 'typescript', app: 'node main.mjs' }),
  );
  writeFileSync(join(folder, 'main.mjs'), source);
  const up = await cloud(folder, estate(sizesOf(50)));
  await time(process.execPath, [tool, 'synth'], folder, up.environment);
  // It has a backend, which only `terraform init` sets up, which only takes what is installed.
  const stack = join(folder, 'cdktf.out', 'stacks', 'bench');
  const installed = { ...up.environment, CHECKPOINT_DISABLE: '1' };
  await time(process.execPath, [tool, 'provider', 'install'], stack, installed);
  await time('terraform', ['init', '-input=false', '-no-color'], stack, installed);
  const turns = quick ? 3 : 5;
  const peer = await repeat(turns, () => time('terraform', plan.slice(0, 3), stack, installed));
  const own = await repeat(turns, () =>
    time(process.execPath, [tool, 'plan', folder], folder, up.environment),
  );
  await up.stop();
  const ratio = seconds(peer) / seconds(own);
  const measured = `${fixed(seconds(own))} s and ${fixed(memory(own), 0)} MiB, terraform alone ${fixed(seconds(peer))} s: ${fixed(ratio, 1)} × faster`;
  row(
    `synth and plan of a CDK program of ${RULES} rules`,
    measured,
    'at least 3 × faster',
    ratio >= 3,
  );
}

const source = `import { App, TerraformStack } from 'cdktf';
import { AlertRule, DevicecloudProvider } from 'trueup/cdktf';
const app = new App();
const stack = new TerraformStack(app, 'bench');
new DevicecloudProvider(stack, 'devicecloud');
for (let index = 0; index < ${RULES}; index += 1)
  new AlertRule(stack, 'r' + index, { associatedGroups: [String(index + 1)], filterCriteria: { alertTypeIn: ['cpu_utilization', 'login_success'] }, schedule: 'daily' });
app.synth();
`;
