// The whole story on two screens, told by the built command itself: a create, a drift with its author, a block, and a
// page in `reports`. Works in a temporary folder.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { dummyCredentials, type Estate } from '../src/emulator/index.js';
import { makeEstate } from '../test/support/make-estate.js';
import { shellWord, type JsonObject } from '../src/model/index.js';
import { systemClock } from '../src/platform/clock.js';
import { systemRandom } from '../src/platform/random.js';

const tool = resolve('dist/trueup.cjs');
/** From the current folder, as they are printed. */
const page = join('reports', 'quickstart.html');
const temporary = mkdtempSync(join(tmpdir(), 'trueup-quickstart-'));
const begun = performance.now();
const bold = (text: string): string =>
  process.stdout.isTTY && !process.env['NO_COLOR'] ? `\u001b[1m${text}\u001b[22m` : text;

const tell = (text: string): void => console.log(`\n${bold(`── ${text}`)}`);

/** Long answers keep their beginning and their end. */
function excerpt(text: string, head: number, tail: number): string {
  const lines = text.trimEnd().split('\n');
  if (lines.length <= head + tail + 1) return lines.join('\n');
  return [
    ...lines.slice(0, head),
    `   … ${lines.length - head - tail} more lines …`,
    ...lines.slice(-tail).filter((line) => line !== ''),
  ].join('\n');
}

interface Step {
  readonly expect?: number;
  readonly head?: number;
  readonly tail?: number;
}

/** Runs the command, shows it and its answer. @throws Error for another exit code than expected */
function run(
  environment: NodeJS.ProcessEnv,
  words: string,
  { expect = 0, head = 400, tail = 0 }: Step = {},
): void {
  console.log(bold(`$ trueup ${words.replace(resolve(page), page)}`));
  const { status, stdout, stderr } = spawnSync(process.execPath, [tool, ...words.split(' ')], {
    cwd: temporary,
    env: environment,
    encoding: 'utf8',
  });
  console.log(excerpt(stdout, head, tail));
  if (status !== expect)
    throw new Error(`trueup ${words} ended with ${status}, and ${expect} was expected.\n${stderr}`);
}

/** A role that is no administrator's, so that nothing else depends on it. */
const trusted = ({ records }: Estate): JsonObject =>
  (records['account_authorizations'] ?? []).find(({ role }) => role === 'full_access_user') ?? {};

/** What the cloud holds already is recognised: headquarters is looked up, a destination and a role are adopted. */
function declarations(estate: Estate): string {
  const { user, account, role } = trusted(estate);
  return `lookups:
  hq: { accounts: { name: Headquarters } }

alert_push_destinations:
  security: { name: Security desk }

alert_rules:
  logins:
    associated_accounts: ["\${lookups.hq.id}"]
    filter_criteria: { alert_type__in: [account_locked, login_success] }
    http_destinations: ["\${alert_push_destinations.security.destination_config_id}"]

account_authorizations:
  lead: { user: "${String(user)}", account: "${String(account)}", role: ${String(role)} }
`;
}

/** Somebody with keys of their own takes the role away. */
async function meddle(
  { TRUEUP_V3_URL: v3 = '' }: NodeJS.ProcessEnv,
  estate: Estate,
): Promise<void> {
  const headers = {
    authorization: `Bearer ${Object.keys(dummyCredentials.v3)[1]}`,
    accept: 'application/vnd.api+json',
    'content-type': 'application/vnd.api+json',
  };
  const url = `${v3}/api/v3/beta/account_authorizations/${String(trusted(estate)['id'])}`;
  const { data } = (await (await fetch(url, { headers })).json()) as {
    data: { attributes: object };
  };
  const answer = await fetch(url, {
    method: 'PUT',
    headers,
    body: JSON.stringify({
      data: { ...data, attributes: { ...data.attributes, role: 'no_access' } },
    }),
  });
  if (!answer.ok) throw new Error(`the change was answered ${answer.status}`);
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
  mkdirSync(dirname(page), { recursive: true });
  writeFileSync(join(temporary, 'estate.json'), JSON.stringify(estate));

  const { child, environment } = await serve('estate.json');
  try {
    tell('A cloud that others made: 12 accounts, 24 rules, 120 roles. It runs on this machine.');
    run(environment, 'get accounts --limit 2');

    tell('One file declares three objects: two exist and are recognised, one rule is created.');
    writeFileSync(join(temporary, 'field.yaml'), declarations(estate));
    run(environment, 'apply field.yaml --auto-approve');

    tell('A colleague takes the role away. The audit says who did it, and when.');
    await meddle(environment, estate);
    run(environment, 'drift field.yaml --detailed-exitcode', { expect: 2, head: 5, tail: 1 });

    tell('A plan gives it back. That raises a privilege, so a rule blocks it.');
    run(environment, `plan field.yaml --report html=${resolve(page)}`, { expect: 3 });

    tell('You have read it, and allow it.');
    run(environment, 'apply field.yaml --auto-approve --allow privilege-escalation', {
      head: 0,
      tail: 3,
    });
  } finally {
    child.removeAllListeners('close');
    child.kill('SIGTERM');
    await new Promise((done) => child.once('close', done));
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`\n${bold(`That was trueup, in ${seconds} s.`)} The blocked plan as a page: ${page}`);
  // The next commands that trueup prints begin with its name.
  console.log(`Begin a project of your own, beside this clone:
  alias trueup=${shellWord(`node ${shellWord(tool)}`)}
  mkdir ../try && cd ../try && trueup init`);
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
