// The journal of the Terraform provider on real servers: an object that a killed run created on one runner is the object
// of the next run on another.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startHttp, startPostgres, type HttpServer, type Server } from '../../scripts/servers.js';
import { box, type Box } from '../support/box.js';
import { folder } from '../support/cli.js';
import { theirs } from '../support/estate.js';
import { STATE_USERS } from '../support/state-rules.js';
import { terraformIsHere } from '../support/terraform.js';
import { killProviders, runner, type Runner } from '../support/terraform-runner.js';

const here = terraformIsHere('the journal of the provider on servers', 4);
const main = (journal: string): string => `terraform {
  required_providers {
    devicecloud = { source = "trueup/devicecloud" }
  }
}
provider "devicecloud" {
  ${journal}
}
resource "devicecloud_alert_rule" "wan" {
  associated_accounts = ["2"]
  filter_criteria     = { alert_type__in = ["modem_wan_disconnected"] }
}
`;

let postgres: Server;
let http: HttpServer;
let cloud: Box;
let names = 0;

beforeAll(async () => {
  if (here) [postgres, http] = await Promise.all([startPostgres(), startHttp()]);
});
afterAll(async () => {
  if (here) await Promise.all([postgres.stop(), http.stop()]);
});
beforeEach(async () => {
  cloud = await box(theirs);
  onTestFinished(() => cloud.close());
});

const schema = (): string => `${postgres.url}?schema=j${(names += 1)}`;
const stateName = (): string => http.url.replace(/prod$/, `terraform-${(names += 1)}`);

/** A machine of its own, with a clone of one repository. Terraform has its state at `state`. */
async function on(state: string, place: Readonly<Record<string, string>>, journal = '') {
  const env = {
    ...cloud.env,
    ...postgres.environment,
    ...http.environment,
    ...place,
    TF_HTTP_PASSWORD: STATE_USERS.maintainer,
    TRUEUP_SETTLE_SECONDS: '1',
  };
  const host = `runner-${(names += 1)}`;
  const one = await runner({ 'main.tf': main(journal) }, env, { state, host });
  expect(await one.run(['init'])).toMatchObject({ code: 0 });
  return one;
}

/** The provider dies once the cloud has created the object, and before anybody hears of it. */
async function applyKilled({ run }: Runner): Promise<void> {
  let terraform = 0;
  cloud.intercept = async ({ method }, proceed) => {
    const answer = await proceed();
    if (method === 'POST') killProviders(terraform);
    return answer;
  };
  const { code } = await run(['apply', '-auto-approve'], (pid) => (terraform = pid));
  cloud.intercept = undefined;
  expect(code).toBe(1);
}

const posts = (): number => cloud.writes().filter((one) => one.startsWith('POST')).length;

describe.runIf(here)('the journal of the provider on a server', () => {
  it('shows the next runner what a killed one created', { timeout: 180_000 }, async () => {
    const [state, place] = [stateName(), { TRUEUP_STATE: schema() }];
    const before = cloud.objects('alert_rules').length;
    const [a, b] = [await on(state, place), await on(state, place)];
    await applyKilled(a);
    expect(posts()).toBe(1);
    // Waits for the lock of the killed one, which is silent.
    const applied = await b.run(['apply', '-auto-approve']);
    expect(applied).toMatchObject({ code: 0 });
    expect(posts()).toBe(1);
    expect(cloud.objects('alert_rules')).toHaveLength(before + 1);
    expect(await a.run(['plan', '-detailed-exitcode'])).toMatchObject({ code: 0 });
    // The place is not that of the command: it holds no state of a project.
    const project = folder({ 'trueup.yaml': 'accounts:\n  a: { name: A }\n' });
    const env = { ...cloud.env, ...postgres.environment, ...place };
    expect((await project.expect(0, ['state', 'history'], { env })).stderr).toContain(
      'no state yet',
    );
    await project.expect(0, ['apply', '--auto-approve', '--lock-wait', '0'], { env });
    expect(await a.run(['plan', '-detailed-exitcode'])).toMatchObject({ code: 0 });
  });

  it('is in the document of an http server, by the block of the provider', async () => {
    const [state, journal] = [stateName(), `journal = "${stateName()}"`];
    const [a, b] = [await on(state, {}, journal), await on(state, {}, journal)];
    expect(await a.run(['apply', '-auto-approve'])).toMatchObject({ code: 0 });
    const [name, kept] = [...http.rules.kept].find(([one]) => one.includes('-terraform-loopback'))!;
    expect(http.rules.document(name)).toContain('alert_rules.tf-');
    expect(kept.lock).toBeUndefined();
    b.home.write('main.tf', main(journal).replace('modem_wan', 'ethernet_wan'));
    expect(await b.run(['apply', '-auto-approve'])).toMatchObject({ code: 0 });
    expect(kept.lock).toBeUndefined();
    expect(await a.run(['plan', '-detailed-exitcode'])).toMatchObject({ code: 2 });
    expect(posts()).toBe(1);
  });

  it('gives nothing to another state that is kept elsewhere', { timeout: 180_000 }, async () => {
    const place = { TRUEUP_STATE: schema() };
    const [a, b] = [await on(stateName(), place), await on(stateName(), place)];
    await applyKilled(a);
    expect(await b.run(['apply', '-auto-approve'])).toMatchObject({ code: 0 });
    expect(posts()).toBe(2);
    expect(await a.run(['apply', '-auto-approve'])).toMatchObject({ code: 0 });
    expect(posts()).toBe(2);
  });

  it('refuses an address with a password, and repeats none', async () => {
    const a = await on(stateName(), { TRUEUP_STATE: 'postgres://trueup:hunter2@127.0.0.1/db' });
    const { code, said } = await a.run(['plan']);
    expect(code).toBe(1);
    expect(said).toContain('holds a password');
    expect(said).not.toContain('hunter2');
  });
});
