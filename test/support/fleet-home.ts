// A fleet in a folder, and the emulated account of each tenant, for commands over a fleet in this process.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run as apply } from '../../src/cli/commands/fleet-apply.js';
import { run as drift } from '../../src/cli/commands/fleet-drift.js';
import { run as fleetPlan } from '../../src/cli/commands/fleet-plan.js';
import { run as report } from '../../src/cli/commands/fleet-report.js';
import { run as showBundle } from '../../src/cli/commands/fleet-show.js';
import { run as validate } from '../../src/cli/commands/fleet-validate.js';
import { accountCredentials, byAccount, serve } from '../../src/emulator/index.js';
import type { TenantResult } from '../../src/model/index.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { collections, kinds } from '../../src/resources/index.js';
import { cleanUp } from './clean-up.js';
import { freshFolder, inProcess, type Said } from './in-process.js';
import { recordingEmulator, type RecordingEmulator } from './recording-emulator.js';

const commands = { validate, plan: fleetPlan, drift, apply, report, show: showBundle };
type Name = keyof typeof commands;

export interface FleetHome {
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly accounts: ReadonlyMap<string, RecordingEmulator>;
  write(path: string, text: string): void;
  run(name: Name, ...words: readonly string[]): Promise<Said>;
  calls(tenant: string): number;
  /** Methods and paths of the requests that write. */
  writes(tenant: string): readonly string[];
  result(run: string, tenant: string): TenantResult;
}

export const BASE = `variables: { hook: https://hooks.example.com/alerts }
alert_push_destinations:
  pager: { name: On-call pager, enabled: true, endpoint: { url: "\${var.hook}" } }
`;
/** Five, of one code. */
export const MANY_WARNINGS = `alert_rules:
  r: { for_each: [a, b, c, d, e], filter_criteria: { alert_type__in: ["\${each.key}"] }, associated_accounts: ["1"] }
`;
export const FILE = `fleet:
  tenants: { from: tenants/* }
  defaults: { paths: [base] }
`;

/** A fleet of these tenants, whose accounts are at one address. */
export async function fleetOf(
  names: readonly string[],
  file = FILE,
  base = BASE,
): Promise<FleetHome> {
  const cwd = freshFolder();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  };
  const [clock, random] = [systemClock(), systemRandom()];
  const accounts = new Map(
    names.map((name) => {
      const credentials = accountCredentials(name);
      return [name, recordingEmulator({ kinds, collections, clock, random, credentials })];
    }),
  );
  const { fetch, calls } = byAccount(accounts, clock);
  const served = await serve({ fetch }, { port: 0 });
  cleanUp.push(() => served.close());
  const env: Record<string, string> = { PATH: process.env['PATH'] ?? '' };
  write('trueup.fleet.yaml', file);
  write('base/base.yaml', base);
  for (const name of names) {
    write(
      `tenants/${name}/tenant.yaml`,
      `variables: { hook: "https://hooks.example.com/${name}" }\n`,
    );
    const prefix = `${name.toUpperCase()}_TRUEUP`;
    env[`${prefix}_V2_URL`] = `${served.url}/api/v2`;
    for (const part of ['MGR', 'VND']) {
      env[`${prefix}_${part}_API_ID`] = `${name}-${part.toLowerCase()}-id`;
      env[`${prefix}_${part}_API_KEY`] = `${name}-${part.toLowerCase()}-key`;
    }
  }
  return {
    cwd,
    env,
    accounts,
    write,
    run: (name, ...words) => inProcess(commands[name], ['fleet', name, ...words], { cwd, env }),
    calls: (name) => calls().get(name)!.calls,
    writes: (name) =>
      accounts
        .get(name)!
        .requests.filter(({ method }) => method !== 'GET')
        .map(({ method, path }) => `${method} ${path}`),
    result: (run, name) =>
      JSON.parse(
        readFileSync(join(cwd, `.trueup/fleet/${run}/${name}.json`), 'utf8'),
      ) as TenantResult,
  };
}
