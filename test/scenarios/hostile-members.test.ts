// Members named as what every object inherits something under, wherever a member can stand: in declarations, documents
// and answers. They are names like any other; only `__proto__` is refused where it is written, and not read where it is answered.
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Estate } from '../../src/emulator/index.js';
import { canonical, parseJson, type JsonObject, type Values } from '../../src/model/index.js';
import { planFormats } from '../../src/report/formats.js';
import { planDocument } from '../../src/report/index.js';
import { patchBetween, patched } from '../../src/report/patch.js';
import { renderPlan } from '../../src/report/render.js';
import { kinds } from '../../src/resources/index.js';
import { box, type Box } from '../support/box.js';
import { declare } from '../support/planning.js';
import { desire, rig } from '../support/rig.js';
import { folder } from '../support/cli.js';
import { arbitraryPlan, inherited, treesWith } from '../unit/report/arbitrary.js';
import { meta } from '../unit/report/plans.js';
import { drawn } from '../support/drawn.js';

const boxes: Box[] = [];
afterEach(async () => {
  for (const one of boxes.splice(0)) await one.close();
});

const leaf = fc.oneof(
  fc.integer({ min: 0, max: 2 }),
  fc.constant(null),
  fc.constantFrom('x', '', 'toString'),
);
const trees = treesWith(leaf) as fc.Arbitrary<JsonObject>;
/** Without the name that no file may hold. */
const declarable = treesWith(
  leaf,
  inherited.filter((name) => name !== '__proto__'),
) as fc.Arbitrary<JsonObject>;
const style = { color: false, width: 80 };

test('what a patch leads to is what it was made of', () => {
  fc.assert(
    fc.property(fc.option(trees), fc.option(trees), (before, after) => {
      expect(canonical(patched(before, patchBetween(before, after)))).toBe(canonical(after));
    }),
    { numRuns: drawn(2000) },
  );
});

test('an insertion moves what follows', () => {
  expect(patched({ a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }])).toEqual({ a: [1, 2, 3] });
});

test('a plan renders in every form, and a saved one as it did', () => {
  fc.assert(
    fc.property(arbitraryPlan, (plan) => {
      const document = planDocument({ plan, kinds, meta });
      const saved = parseJson(renderPlan(document, 'json', style)) as unknown as typeof document;
      if (renderPlan(document, 'json', style).includes('__proto__')) return;
      for (const format of planFormats)
        expect(renderPlan(saved, format, style)).toBe(renderPlan(document, format, style));
    }),
    { numRuns: drawn(150) },
  );
});

test('a document keeps every member, whatever its name', () => {
  fc.assert(
    fc.property(trees, (settings) => {
      const address = 'alert_rules.r';
      const declaredObject = { declared: { settings } as Values, file: 'a.yaml', protect: false };
      const create = {
        action: 'create' as const,
        address,
        kind: 'alert_rules',
        name: 'r',
        reason: 'r',
        depends_on: [],
        declaredObject,
      };
      const write = { verb: 'create' as const, fields: { settings } as Values };
      const plan = {
        changes: [
          {
            ...create,
            write,
            request: { method: 'POST' as const, path: '/x', body: write.fields },
          },
        ],
        drift: [],
        unmanaged: {},
        verdicts: [],
        diagnostics: [],
      };
      const text = renderPlan(planDocument({ plan, kinds, meta }), 'json', style);
      const [{ change, requests }] = (
        JSON.parse(text) as {
          resource_changes: [{ change: { after: JsonObject }; requests: [{ body: JsonObject }] }];
        }
      ).resource_changes;
      expect(canonical(change.after['settings'])).toBe(canonical(settings));
      expect(canonical(requests[0].body['settings'])).toBe(canonical(settings));
    }),
    { numRuns: drawn(500) },
  );
});

test('a plan after an apply is empty, and the service holds what was declared', async () => {
  await fc.assert(
    fc.asyncProperty(declarable, declarable, declarable, async (first, second, configuration) => {
      const cloud = rig({ estate: routers });
      const rule = (settings: JsonObject, tree: JsonObject) =>
        desire(
          declare('alert_rules.r', { filter_criteria: { alert_type__in: ['t1'] }, settings }),
          declare('configuration_managers.m', { router: '7', configuration: [{ system: tree }] }),
        );
      for (const wanted of [rule(first, {}), rule(second, configuration)]) {
        expect(
          (await cloud.apply(wanted, { allow: ['rule-without-destination', 'max-changed'] })).exit,
        ).toBe(0);
        const proposal = await cloud.plan(wanted);
        expect(proposal.exit).toBe(0);
        for (const format of planFormats) renderPlan(cloud.document(proposal), format, style);
        await cloud.drift(wanted);
      }
      const held = cloud.objects('alert_rules')[0]?.['settings'];
      expect(canonical(held ?? {})).toBe(canonical(second));
    }),
    { numRuns: drawn(60) },
  );
});

const routers: Estate = {
  version: 1,
  root: '1',
  records: {
    accounts: [{ id: '1', name: 'Headquarters', account: null }],
    configuration_managers: [{ id: '17', router: '7', account: '1', configuration: [{}, []] }],
  },
};

const timeless = (text: string): string =>
  text.replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z| UTC)/g, 'TIME');

describe('through the command', () => {
  const rule = (settings: string): string =>
    `alert_rules:\n  r:\n    filter_criteria: { alert_type__in: [ethernet_wan_disconnected] }\n    settings: ${settings}\n    associated_accounts: ["1"]\n`;
  const hostile =
    '{ a: { hasOwnProperty: 1, constructor: { prototype: { x: 1 } } }, toString: [{ valueOf: 1 }], hasOwnProperty: { hasOwnProperty: 2 } }';

  test('as YAML: made, changed, taken out', async () => {
    const home = folder({ 'trueup.yaml': `settings: { target: emulator }\n${rule(hostile)}` });
    await home.expect(0, ['apply', '--auto-approve']);
    for (const settings of [hostile.replace('x: 1', 'x: 2'), '{ hasOwnProperty: 1 }', '{}']) {
      home.write('trueup.yaml', `settings: { target: emulator }\n${rule(settings)}`);
      await home.expect(0, ['plan', '--out', 'saved']);
      for (const format of settings === '{}' ? planFormats : []) {
        const [shown, planned] = await Promise.all([
          home.expect(0, ['show', 'saved', '--format', format]),
          home.expect(0, ['plan', '--format', format]),
        ]);
        expect(timeless(shown.stdout)).toBe(timeless(planned.stdout));
      }
      await home.expect(0, ['apply', 'saved']);
      await home.expect(0, ['plan', '--detailed-exitcode']);
    }
    await home.expect(0, ['drift']);
  });

  test('as JSON, in a stack; and exported in every language', async () => {
    const settings = JSON.stringify({
      hasOwnProperty: { toString: 1 },
      constructor: { prototype: { valueOf: [{ toJSON: 1 }] } },
    });
    const stack = {
      resource: {
        devicecloud_alert_rule: {
          r: { filter_criteria: { alert_type__in: ['ethernet_wan_disconnected'] }, settings },
        },
      },
    };
    const home = folder({ 'cdk.tf.json': JSON.stringify(stack) });
    const there = await open();
    await home.expect(0, ['apply', 'cdk.tf.json', '--auto-approve'], there);
    await home.expect(0, ['plan', 'cdk.tf.json', '--detailed-exitcode'], there);
    for (const format of ['hcl', 'cdktf', 'cdktn'])
      await home.expect(0, ['export', '--format', format, '--out', format], there);
    await home.expect(0, ['export', '--all', '--out', 'live'], there);
    const fresh = folder({ 'alert_rules.yaml': home.read('live/alert_rules.yaml') });
    await fresh.expect(0, ['plan', '--detailed-exitcode'], there);
  });

  test.each(['"__proto__"', '"\\u005f_proto__"', '"__pr\\x6fto__"', '__proto__'])(
    '%s is refused where it is written, with its place',
    async (name) => {
      const home = folder({
        'trueup.yaml': `settings: { target: emulator }\n${rule(`{ ${name}: 1 }`)}`,
      });
      const { stderr } = await home.expect(1, ['validate']);
      expect(stderr).toContain('the key `__proto__` is not allowed');
      expect(stderr).toContain('trueup.yaml:5:17');
    },
  );

  test.each([
    '__proto__',
    '\\u005f_proto__',
    '__pr\\u006fto__',
    '\\u005F\\u005F\\u0070\\u0072\\u006F\\u0074\\u006F__',
  ])('%s in an answer changes nothing', async (name) => {
    const home = folder({ 'trueup.yaml': rule('{ a: 1 }') });
    const there = await open();
    await home.expect(0, ['apply', '--auto-approve'], there);
    there.intercept = async (request, proceed) => {
      const answer = await proceed();
      if (request.method !== 'GET') return answer;
      const body = (await answer.text()).replaceAll(
        '"settings":{"a":1}',
        `"settings":{"a":1,"hasOwnProperty":{"${name}":{"polluted":true}},"${name}":{"polluted":true}}`,
      );
      return new Response(body, { headers: { 'content-type': 'application/json' } });
    };
    const { stdout } = await home.expect(2, ['plan', '--detailed-exitcode'], there);
    expect(stdout).toContain('settings.hasOwnProperty');
    for (const format of planFormats)
      expect((await home.expect(0, ['plan', '--format', format], there)).stdout).not.toContain(
        'polluted',
      );
    await home.expect(0, ['drift'], there);
    await home.expect(0, ['get', 'alert_rules', '-o', 'yaml'], there);
  });
});

async function open(): Promise<Box> {
  const one = await box(routers);
  boxes.push(one);
  return one;
}
