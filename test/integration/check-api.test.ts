// `trueup doctor --check-api` as a person runs it, against a service that holds what is assumed and one that does not.
import { expect, onTestFinished, test } from 'vitest';
import { checks } from '../../src/client/api-check-table.js';
import { makeEstate } from '../support/make-estate.js';
import type { JsonObject } from '../../src/model/index.js';
import { systemClock } from '../../src/platform/clock.js';
import { box, type Box } from '../support/box.js';
import { seededRandom } from '../support/simulated.js';
import { folder } from '../support/cli.js';

async function cloud(): Promise<{ readonly here: Box; readonly asked: string[] }> {
  const size = {
    accounts: 4,
    rules: 3,
    destinations: 3,
    authorizations: 4,
    alerts: 3,
    activities: 3,
    audits: 3,
    routers: 4,
  };
  const here = await box(makeEstate({ ...size, clock: systemClock(), random: seededRandom() }));
  onTestFinished(() => here.close());
  const asked: string[] = [];
  here.intercept = (request, proceed) => {
    asked.push(`${request.method} ${new URL(request.url).pathname}`);
    return proceed();
  };
  return { here, asked };
}

test('holds, by GET alone, and says what cannot be checked', async () => {
  const { here, asked } = await cloud();
  const before = JSON.stringify(here.snapshot());
  const { stdout } = await folder().expect(0, ['doctor', '--check-api'], { env: here.env });
  expect(stdout).toMatch(/^ok +v2-next +7 collections$/m);
  expect(stdout).toMatch(/^ok +v3-account-ids +/m);
  expect(stdout).not.toMatch(/BAD|not checked/);
  expect(stdout).toMatch(
    /^note +others +\d+ assumptions cannot be checked by reading: docs\/explanation\/api\.md /m,
  );
  expect(asked.filter((one) => !one.startsWith('GET '))).toEqual([]);
  expect(asked.filter((one) => /get_sim_info|iot/.test(one))).toEqual([]);
  expect(JSON.stringify(here.snapshot())).toBe(before);
});

test('ends with 1 if one does not hold, and names it as the ledger does', async () => {
  const { here } = await cloud();
  here.intercept = async (request, proceed) => {
    const answer = await proceed();
    if (!request.url.includes('/alert_push_destinations/')) return answer;
    const { data, meta } = (await answer.json()) as {
      readonly data: readonly JsonObject[];
      readonly meta: JsonObject;
    };
    return Response.json({
      data: data.map((one) => ({ ...one, authentication: { secret: 'canary' } })),
      meta,
    });
  };
  const { stdout, stderr } = await folder().expect(1, ['doctor', '--check-api'], { env: here.env });
  expect(stdout).toMatch(
    /^BAD +destination-secret +a secret reads back as something else than \*/m,
  );
  expect(stdout.match(/^BAD/gm)).toHaveLength(1);
  expect(stdout + stderr).not.toContain('canary');
  expect((await folder().expect(0, ['doctor'], { env: here.env })).stdout).not.toContain(
    'destination-secret',
  );
});

/** Checks whose name does not tell that they read v3. */
const readsV3 = (name: string): boolean => name.startsWith('v3-');

test.each([
  ['v2', 'accounts: { a: { name: A } }\n', /^TRUEUP_V3_/],
  [
    'v3',
    'account_authorizations: { a: { user: "1", account: "1", role: no_access } }\n',
    /^TRUEUP_(?:V2|MGR|VND)_/,
  ],
])('runs the checks of %s alone where no other address is set', async (scope, yaml, others) => {
  const { here, asked } = await cloud();
  const env = Object.fromEntries(Object.entries(here.env).filter(([name]) => !others.test(name)));
  const { stdout } = await folder({ 'a.yaml': yaml }).expect(0, ['doctor', '--check-api'], { env });
  const found = [...stdout.matchAll(/^(\w+) +([a-z0-9-]+) +(not checked: .*)?/gm)].filter(
    ([, , name]) => Object.hasOwn(checks, name as string),
  );
  expect(found).toHaveLength(Object.keys(checks).length);
  for (const [, verdict, name = '', left] of found) {
    // Whether v3 names accounts of v2 takes both.
    const runs = name !== 'v3-account-ids' && readsV3(name) === (scope === 'v3');
    const why = scope === 'v2' ? /no v3 address/ : /no v2 address|no collection can be read/;
    expect([name, verdict]).toEqual([name, runs ? 'ok' : 'note']);
    expect(left ?? '').toMatch(runs ? /^$/ : why);
  }
  const paths = asked.filter((one) => one.includes('/api/v3') !== (scope === 'v3'));
  expect([asked.length > 0, paths]).toEqual([true, []]);
});

test('runs no check and asks nothing where no address is set', async () => {
  const { here, asked } = await cloud();
  const env = Object.fromEntries(
    Object.entries(here.env).filter(([name]) => !name.startsWith('TRUEUP_')),
  );
  const { stdout } = await folder().run(['doctor', '--check-api'], { env });
  expect(stdout).not.toMatch(/^(?:ok|BAD) +(?:v2-|v3-)/m);
  expect(asked).toEqual([]);
});
