// The whole story in half a minute, told by the built command itself: a cloud that others made, thirty objects
// declared over it, a hand that changes two of them, and the way back. Works in a temporary folder.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { dummyCredentials, type Estate } from '../src/emulator/index.js';
import { makeEstate } from '../test/support/make-estate.js';
import type { JsonObject } from '../src/model/index.js';
import { systemClock } from '../src/platform/clock.js';
import { systemRandom } from '../src/platform/random.js';

const tool = resolve('dist/trueup.cjs');
const temporary = mkdtempSync(join(tmpdir(), 'trueup-quickstart-'));
const begun = performance.now();
const bold = (text: string): string =>
  process.stdout.isTTY && !process.env['NO_COLOR'] ? `\u001b[1m${text}\u001b[22m` : text;

const tell = (text: string): void => console.log(`\n${bold(`── ${text}`)}\n`);

/** Long answers keep their beginning and their end. */
function excerpt(text: string, head: number, tail: number): string {
  const lines = text.trimEnd().split('\n');
  if (lines.length <= head + tail + 1) return lines.join('\n');
  return [
    ...lines.slice(0, head),
    `   … ${lines.length - head - tail} more lines …`,
    ...lines.slice(-tail),
  ].join('\n');
}

interface Step {
  readonly expect?: number;
  readonly head?: number;
  readonly tail?: number;
  readonly cwd?: string;
}

/** Runs the command, shows it and its answer. @throws Error for another exit code than expected */
function run(
  environment: NodeJS.ProcessEnv,
  words: string,
  { expect = 0, head = 400, tail = 0, cwd = temporary }: Step = {},
): void {
  console.log(bold(`$ trueup ${words}`));
  const { status, stdout, stderr } = spawnSync(process.execPath, [tool, ...words.split(' ')], {
    cwd,
    env: environment,
    encoding: 'utf8',
  });
  console.log(excerpt(stdout, head, tail));
  if (status !== expect)
    throw new Error(`trueup ${words} ended with ${status}, and ${expect} was expected.\n${stderr}`);
}

const roles = ({ records }: Estate): readonly JsonObject[] =>
  (records['account_authorizations'] ?? []).slice(0, 8);

/** What the estate holds already is recognised: headquarters is looked up, two destinations and eight roles are adopted. */
function declarations(estate: Estate): string {
  return `lookups:
  hq: { accounts: { name: Headquarters } }

accounts:
  field-ops: { name: Field operations, account: "\${lookups.hq.id}" }
  site:
    for_each: [harbour, airport, depot, clinic, campus]
    name: "Site \${each.key}"
    account: "\${accounts.field-ops.id}"

alert_push_destinations:
  tickets: { name: Ticket desk }          # exists: adopted as it is
  security: { name: Security desk }       # exists: adopted as it is
  pager:
    name: Field pager
    enabled: true
    endpoint: { url: https://hooks.example.com/field }
    authentication: { secret: "\${secret.env.PAGER_SECRET}" }

alert_rules:
  wan-down:
    for_each: [harbour, airport, depot, clinic, campus]
    associated_accounts: ["\${accounts.site[each.key].id}"]
    filter_criteria: { alert_type__in: [ethernet_wan_disconnected, modem_wan_disconnected] }
    http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"]
  heat:
    for_each: [harbour, airport, depot, clinic, campus]
    associated_accounts: ["\${accounts.site[each.key].id}"]
    filter_criteria: { alert_type__in: [thermal_exceeds_limit, cpu_utilization] }
    http_destinations: ["\${alert_push_destinations.tickets.destination_config_id}"]
    schedule: daily
  doors:
    associated_accounts: ["\${accounts.field-ops.id}"]
    filter_criteria: { alert_type__in: [sim_door_event] }
    http_destinations: ["\${alert_push_destinations.security.destination_config_id}"]
  logins:
    associated_accounts: ["\${lookups.hq.id}"]
    filter_criteria: { alert_type__in: [account_locked, login_success] }
    http_destinations: ["\${alert_push_destinations.security.destination_config_id}"]
  tunnels:
    associated_accounts: ["\${accounts.field-ops.id}"]
    filter_criteria: { alert_type__in: [ipsec_tunnel_down] }
    http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"]

account_authorizations:
${roles(estate)
  .map(
    ({ user, account, role }, index) =>
      `  role-${index + 1}: { user: "${String(user)}", account: "${String(account)}", role: ${String(role)} }`,
  )
  .join('\n')}
`;
}

/** Somebody with keys of their own, who does not know that these objects are declared. */
async function meddle(environment: NodeJS.ProcessEnv, estate: Estate): Promise<void> {
  const { TRUEUP_V2_URL: v2 = '', TRUEUP_V3_URL: v3 = '' } = environment;
  const headers = { ...dummyCredentials.v2[1], 'content-type': 'application/json' };
  const listed = (await (await fetch(`${v2}/alert_rules/?limit=500`, { headers })).json()) as {
    data: { alert_config_id: string; filter_criteria: { alert_type__in: string[] } }[];
  };
  const doors = listed.data.find(
    (rule) =>
      rule.filter_criteria.alert_type__in.includes('sim_door_event') &&
      rule.filter_criteria.alert_type__in.length === 1,
  );
  const first = await fetch(`${v2}/alert_rules/${doors?.alert_config_id}/`, {
    method: 'PATCH',
    headers,
    body: JSON.stringify({ schedule: 'daily', http_destinations: [] }),
  });
  const api = {
    authorization: `Bearer ${Object.keys(dummyCredentials.v3)[1]}`,
    accept: 'application/vnd.api+json',
    'content-type': 'application/vnd.api+json',
  };
  const trusted = roles(estate).find(({ role }) => role === 'full_access_user');
  const url = `${v3}/api/v3/beta/account_authorizations/${String(trusted?.['id'])}`;
  const { data } = (await (await fetch(url, { headers: api })).json()) as {
    data: { attributes: object };
  };
  const second = await fetch(url, {
    method: 'PUT',
    headers: api,
    body: JSON.stringify({
      data: { ...data, attributes: { ...data.attributes, role: 'no_access' } },
    }),
  });
  if (!first.ok || !second.ok)
    throw new Error(`the two changes were answered ${first.status} and ${second.status}`);
}

/** The environment that a served emulator prints. */
function serve(
  seed: string,
): Promise<{ readonly child: ChildProcess; readonly environment: NodeJS.ProcessEnv }> {
  const child = spawn(process.execPath, [tool, 'emulator', '--seed', seed], {
    cwd: temporary,
    env: plain,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return new Promise((done, fail) => {
    let printed = '';
    child.once('close', () => fail(new Error('the emulator ended')));
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (!/TRUEUP_V3_TOKEN=.*\n/.test(printed)) return;
      const exported = [...printed.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [
        name as string,
        value as string,
      ]);
      done({
        child,
        environment: {
          ...plain,
          ...Object.fromEntries(exported),
          PAGER_SECRET: 'only-for-this-tour',
        },
      });
    });
  });
}

const plain = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^TRUEUP_|_proxy$/i.test(name)),
);

async function tour(): Promise<void> {
  let seed = 1;
  const fraction = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const estate = makeEstate({ random: { ...systemRandom(), fraction }, clock: systemClock() });
  writeFileSync(join(temporary, 'estate.json'), JSON.stringify(estate));

  tell(
    'A cloud that somebody else made: 12 accounts, 6 destinations, 24 rules, 120 roles. It runs on this machine.',
  );
  const { child, environment } = await serve('estate.json');
  try {
    run(environment, 'get accounts', { head: 6, tail: 1 });

    tell(
      'All of it written down as declarations. A plan over them adopts everything and changes nothing.',
    );
    const survey = join(temporary, 'survey');
    mkdirSync(survey);
    run(environment, 'export --out found', { cwd: survey });
    run(environment, 'plan found --detailed-exitcode', { cwd: survey, head: 3, tail: 4 });

    tell(
      'Thirty objects of our own in one file: some exist already and are recognised, the rest is to be made.',
    );
    writeFileSync(join(temporary, 'field.yaml'), declarations(estate));
    run(environment, 'plan field.yaml', { head: 24, tail: 8 });
    run(environment, 'apply field.yaml --auto-approve', { head: 0, tail: 12 });
    run(environment, 'plan field.yaml --detailed-exitcode');

    tell(
      'Behind our back, a colleague silences a rule and takes a role away. The audit says who, where the log knows, and lists health issues.',
    );
    await meddle(environment, estate);
    run(environment, 'drift field.yaml --detailed-exitcode', { expect: 2, head: 20, tail: 8 });

    tell(
      'Healed: only the two are touched. Giving a role back is a rise in privilege, which policy lets pass only when told.',
    );
    run(environment, 'apply field.yaml --auto-approve --allow privilege-escalation');

    tell('And a plan that is empty, as it should be.');
    run(environment, 'plan field.yaml --detailed-exitcode');
  } finally {
    child.removeAllListeners('close');
    child.kill('SIGTERM');
    await new Promise((done) => child.once('close', done));
  }
  console.log(
    `\n${bold(`That was trueup, in ${((performance.now() - begun) / 1000).toFixed(1)} s.`)} Next: read README.md, or type: mkdir try && cd try && node ${tool} init`,
  );
}

try {
  await tour();
} catch (error) {
  console.error(
    `\nThe tour ended early: ${error instanceof Error ? error.message : String(error)}`,
  );
  process.exitCode = 1;
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
