// Numbers that no double holds, beside declarations that can only spell them as texts: over whole runs, nothing that was a
// number becomes a text, and no text a number.
import { describe, expect, it } from 'vitest';
import {
  parseJson,
  wireText,
  type Declaration,
  type Value,
  type Values,
} from '../../../src/model/index.js';
import { withNumbers } from '../../../src/reconciler/plan/text-numbers.js';
import { renderPlan } from '../../../src/report/render.js';
import { patched } from '../../../src/report/patch.js';
import { readPlanFile, writePlanFile } from '../../../src/state/plan-file.js';
import { declare, kindOf } from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const BIG = '9007199254740993';
const LONG = '1735689600.123456789';

describe('what a text of digits means', () => {
  it.each<[string, Value, string, string]>([
    ['the number that is live', { a: BIG }, `{"a":${BIG}}`, `{"a":${BIG}}`],
    [
      'another number where one is',
      { a: '9007199254740995' },
      `{"a":${BIG}}`,
      '{"a":9007199254740995}',
    ],
    ['a number where a small one is', { a: '1e400' }, '{"a":5}', '{"a":1e400}'],
    ['a text where one is', { a: BIG }, `{"a":"${BIG}"}`, `{"a":"${BIG}"}`],
    ['a text where another one is', { a: BIG }, '{"a":"x"}', `{"a":"${BIG}"}`],
    ['a text where nothing is', { a: BIG }, '{}', `{"a":"${BIG}"}`],
    ['a text, if a double held it', { a: '12' }, `{"a":${BIG}}`, '{"a":"12"}'],
    ['a text that is not a number', { a: '007' }, '{"a":5}', '{"a":"007"}'],
    [
      'a number in a list whose neighbours move',
      { l: ['x', BIG] },
      `{"l":[${BIG}]}`,
      `{"l":["x",${BIG}]}`,
    ],
    [
      'a number in an item that moves',
      { l: [{ n: 2 }, { n: 1, at: LONG }] },
      `{"l":[{"n":1,"at":${LONG}}]}`,
      `{"l":[{"n":2},{"n":1,"at":${LONG}}]}`,
    ],
    [
      'one more number in a list of numbers',
      { l: [BIG, LONG] },
      `{"l":[${BIG},7]}`,
      `{"l":[${BIG},${LONG}]}`,
    ],
    [
      'text and number side by side',
      { l: [BIG, BIG] },
      `{"l":["${BIG}",${BIG}]}`,
      `{"l":["${BIG}",${BIG}]}`,
    ],
    ['a text in a list of texts', { l: [BIG] }, '{"l":["x"]}', `{"l":["${BIG}"]}`],
    ['nothing that is inherited', { constructor: BIG }, '{}', `{"constructor":"${BIG}"}`],
  ])('%s', (_, declared, live, sent) => {
    const settings = parseJson(live) as Value;
    expect(
      wireText(
        withNumbers(kindOf('alert_rules'), { settings: declared }, { settings })['settings'],
      ),
    ).toBe(sent);
    const configuration = [settings, []] as const;
    expect(
      wireText(
        withNumbers(
          kindOf('configuration_managers'),
          { configuration: [declared, []] },
          { configuration },
        )['configuration'],
      ),
    ).toBe(`[${sent},[]]`);
  });

  it('is a text in an attribute that is one', () => {
    const values: Values = { name: BIG };
    expect(withNumbers(kindOf('accounts'), values, { name: 5 })).toBe(values);
  });
});

/** One record behind the API, whose document is exact text: what is sent replaces it. */
function holding(
  kind: string,
  path: string,
  record: (document: string) => string,
  document: string,
) {
  const box = { document, sent: [] as string[] };
  const cloud: Rig = rig({
    intercept: ({ method, path: asked, body = '' }, proceed) => {
      if (!asked.includes(kind)) return proceed();
      if (method === 'GET') {
        const page = `{"data":[${record(box.document)}],"meta":{"limit":500,"next":null,"offset":0,"previous":null}}`;
        return Promise.resolve({
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: page,
        });
      }
      box.sent.push(body);
      box.document = body.slice(body.indexOf(path) + path.length, -1);
      return Promise.resolve({ status: 200, headers: {}, body: '' });
    },
  });
  return { box, cloud };
}

const ID = '22222222-2222-11f0-8000-000000000001';
const rule = (settings: string): string =>
  `{"alert_config_id":"${ID}","account":"/api/v2/accounts/1/","schedule":null,"associated_accounts":[2],"associated_groups":[],"filter_criteria":{"alert_type__in":["account_locked"]},"email_destinations":[],"http_destinations":[],"external_rules":null,"settings":${settings}}`;
const manager = (configuration: string): string =>
  `{"id":"30","router":"/api/v2/routers/12/","account":"/api/v2/accounts/2/","suspended":false,"configuration":${configuration},"target":[{},[]],"actual":[{},[]]}`;
const ruleWith = (settings: Value): Declaration =>
  declare(
    'alert_rules.r',
    {
      associated_accounts: ['2'],
      filter_criteria: { alert_type__in: ['account_locked'] },
      settings,
    },
    { adopt: ID },
  );
const managerWith = (tree: Value): Declaration =>
  declare('configuration_managers.r', { router: '12', configuration: [tree] }, { adopt: '30' });

describe('over whole runs', () => {
  it('a number of a plain document goes back as it is where its neighbour changes', async () => {
    const { box, cloud } = holding(
      'alert_rules',
      '"settings":',
      rule,
      `{"usage":{"limit":${BIG},"pct":80}}`,
    );
    const project = (pct: number) => desire(ruleWith({ usage: { limit: BIG, pct } }));
    expect((await cloud.plan(project(80))).exit).toBe(0);
    expect((await cloud.apply(project(90))).exit).toBe(0);
    expect(box.document).toBe(`{"usage":{"limit":${BIG},"pct":90}}`);
    expect((await cloud.plan(project(90))).exit).toBe(0);
  });

  it('a plan shows what is sent, and is read again as it was saved', async () => {
    const { cloud } = holding(
      'alert_rules',
      '"settings":',
      rule,
      `{"usage":{"limit":${BIG},"pct":80}}`,
    );
    const document = cloud.document(
      await cloud.plan(desire(ruleWith({ usage: { limit: BIG, pct: 90 } }))),
    );
    const text = renderPlan(document, 'json', { color: false, width: 100 });
    expect(text).toMatch(
      new RegExp(
        `"body": \\{\\s+"settings": \\{\\s+"usage": \\{\\s+"limit": ${BIG},\\s+"pct": 90\\s`,
      ),
    );
    for (const format of ['text', 'markdown'] as const)
      expect(renderPlan(document, format, { color: false, width: 100, requests: true })).toContain(
        `{"settings":{"usage":{"limit":${BIG}, "pct":90}}}`,
      );
    const at = { path: '/sim/plan.json', files: cloud.files, clock: cloud.clock };
    await writePlanFile(at, document, {
      targets: [],
      excludes: [],
      allow: [],
      destroy: false,
      variables: {},
    });
    const saved = await readPlanFile(at);
    expect(renderPlan(saved.document, 'json', { color: false, width: 100 })).toBe(text);
    expect(
      patched(
        document.resource_changes[0]?.change.before ?? null,
        document.resource_changes[0]?.patch ?? [],
      ),
    ).toEqual(document.resource_changes[0]?.change.after);
    const applied = await cloud.apply(desire(ruleWith({ usage: { limit: BIG, pct: 90 } })), {
      saved: saved.document,
    });
    expect(applied.exit).toBe(0);
  });

  it('a declaration stays quiet when another hand takes its neighbours away', async () => {
    const { box, cloud } = holding(
      'configuration_managers',
      '"configuration":',
      manager,
      `[{"gps":${LONG},"big":${BIG}},[]]`,
    );
    const project = desire(managerWith({ gps: LONG }));
    expect([(await cloud.apply(project)).exit, (await cloud.plan(project)).exit]).toEqual([0, 0]);
    box.document = `[{"gps":${LONG}},[]]`;
    const { plan, exit } = await cloud.plan(project);
    expect([exit, plan.drift, box.sent]).toEqual([0, [], []]);
  });

  it('a number of a merged document stays one when it is declared anew, and when others change', async () => {
    const { box, cloud } = holding(
      'configuration_managers',
      '"configuration":',
      manager,
      `[{"l":[${BIG}],"mtu":1},[]]`,
    );
    await cloud.apply(desire(managerWith({ l: [BIG], mtu: 2 })));
    await cloud.apply(desire(managerWith({ l: [{}, LONG, BIG], mtu: 2 })));
    expect(box.sent).toEqual([
      `{"configuration":[{"l":[${BIG}],"mtu":2},[]]}`,
      `{"configuration":[{"l":[{},"${LONG}",${BIG}],"mtu":2},[]]}`.replace(`"${LONG}"`, LONG),
    ]);
  });
});
