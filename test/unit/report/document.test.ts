// What the published document of a plan says, and that its schema holds for every plan.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import jsonPatch from 'fast-json-patch';
import { describe, expect, test } from 'vitest';
import {
  Reference,
  SENSITIVE,
  type Change,
  type JsonObject,
  type Plan,
  type ResourceChange,
  type Values,
} from '../../../src/model/index.js';
import { planDocument } from '../../../src/report/index.js';
import { patched } from '../../../src/report/patch.js';
import { renderPlan } from '../../../src/report/render.js';
import { kinds } from '../../../src/resources/index.js';
import { arbitraryPlan } from './arbitrary.js';
import { canary, keep, meta, mixed, plans, quiet, secret } from './plans.js';
import { drawn } from '../../support/drawn.js';
import { everyRule } from '../../support/rule-names.js';

const schema = JSON.parse(
  readFileSync(new URL('../../../schemas/plan.schema.json', import.meta.url), 'utf8'),
) as {
  readonly definitions: {
    readonly verdict: {
      readonly properties: {
        readonly rule: { readonly anyOf: readonly { readonly enum?: readonly string[] }[] };
      };
    };
  };
};
const validate = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true }).compile(schema);
const style = { color: false, width: 80 };
const documentOf = (plan: Plan) => planDocument({ plan, kinds, meta });
const one = (change: Change): ResourceChange =>
  documentOf({ ...quiet, changes: [change] }).resource_changes[0] as ResourceChange;
const find = (address: string): ResourceChange =>
  documentOf(mixed).resource_changes.find((change) => change.address === address) as ResourceChange;

describe('each action', () => {
  test.each([
    ['accounts.field-ops', ['create'], false],
    ['accounts.hq', ['no-op'], true],
    ['account_authorizations.dana', ['update'], true],
    ['alert_rules.busy', ['update'], false],
    ['alert_push_destinations.old-pager', ['delete'], false],
    ['account_authorizations.lee', ['forget'], false],
    ['alert_rules.rule-60', ['no-op'], false],
  ])('%s is %j, importing: %s', (address, actions, importing) => {
    const { change } = find(address);
    expect(change.actions).toEqual(actions);
    expect(change.importing !== undefined).toBe(importing);
  });

  test('summary counts them all, whether or not the unchanged are listed', () => {
    const counted = planDocument({ plan: mixed, kinds, meta, keeps: 'count' });
    expect(counted.summary).toEqual({
      create: 3,
      update: 2,
      replace: 0,
      delete: 1,
      adopt: 2,
      forget: 1,
      keep: 25,
      writes: { create: 3, update: 3, delete: 1 },
    });
    expect(documentOf(mixed).summary).toEqual(counted.summary);
    expect(documentOf(mixed).resource_changes).toHaveLength(34);
    expect(counted.resource_changes).toHaveLength(9);
  });

  test('a create has no before, a delete and a forget no after', () => {
    expect(find('accounts.field-ops').change).toMatchObject({
      before: null,
      after: { name: 'Field operations', account: '5001' },
    });
    expect(find('accounts.field-ops').fingerprint).toBeNull();
    expect(find('alert_push_destinations.old-pager').change.after).toBeNull();
    expect(find('account_authorizations.lee').change.after).toBeNull();
  });

  test('what is kept is the same before and after, without patch and requests', () => {
    const { change, patch, requests } = find('alert_rules.rule-60');
    expect(change.after).toEqual(change.before);
    expect([patch, requests]).toEqual([[], []]);
  });

  test('server fields are left out, the previous address is named', () => {
    expect(Object.keys(find('alert_rules.busy').change.before as JsonObject)).toEqual([
      'associated_accounts',
      'filter_criteria',
      'http_destinations',
      'schedule',
      'settings',
    ]);
    expect(find('alert_rules.busy').previous_address).toBe('alert_rules.overloaded');
    expect(find('accounts.hq')).not.toHaveProperty('previous_address');
  });
});

describe('values', () => {
  test('travel as the API spells them: account ids as integers, other references as text', () => {
    const { change } = find('alert_rules.rule-60');
    expect(change.before).toMatchObject({
      associated_accounts: [60],
      http_destinations: ['0b0e8400-e29b-11d4-a716-446655440000'],
    });
  });

  test('an id beyond what a JSON number holds stays text', () => {
    const before: Values = { associated_accounts: ['99999999999999999999'] };
    expect(one({ ...keep(1), before }).change.before).toEqual({
      associated_accounts: ['99999999999999999999'],
    });
  });

  test('an array with an unknown member is left out and marked', () => {
    const { change } = find('alert_rules.wan-down["north"]');
    expect(change.after).toStrictEqual({
      filter_criteria: { alert_type__in: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
    });
    expect(change.after_unknown).toEqual({ associated_accounts: true, http_destinations: true });
  });

  test('an unknown member of an object is mirrored', () => {
    const url = new Reference('lookup', 'hook', 'url');
    const { change } = one({
      ...(mixed.changes[4] as Change & { action: 'update' }),
      changes: [{ path: 'endpoint.url', before: 'x', after: url, drifted: false }],
    });
    expect(change.after).toMatchObject({ endpoint: {}, name: 'Mail room' });
    expect(change.after_unknown).toEqual({ endpoint: { url: true } });
  });

  test('secrets stand at their place, flagged, whichever side they are on', () => {
    const { change, requests, patch } = find('alert_push_destinations.mail-room');
    expect([change.before_sensitive, change.after_sensitive]).toEqual([
      { authentication: { secret: true } },
      { authentication: { secret: true } },
    ]);
    expect([change.before, change.after]).toMatchObject([
      { authentication: { secret: SENSITIVE } },
      { authentication: { secret: SENSITIVE } },
    ]);
    expect(requests[0]?.body).toMatchObject({ authentication: { secret: SENSITIVE } });
    expect(patch).toContainEqual({
      op: 'replace',
      path: '/authentication/secret',
      value: SENSITIVE,
    });
  });

  test('a secret where none was, and one inside a document', () => {
    const base = mixed.changes[4] as Change & { action: 'update' };
    const added = one({
      ...base,
      before: { name: 'x' },
      changes: [
        { path: 'authentication.secret', before: undefined, after: secret, drifted: false },
      ],
    });
    expect(added.patch).toEqual([
      { op: 'add', path: '/authentication', value: { secret: SENSITIVE } },
    ]);
    const inside = one({
      ...keep(1),
      action: 'update',
      changes: [
        { path: 'settings', before: null, after: { a: [secret], b: secret }, drifted: false },
      ],
      write: { verb: 'update', fields: {} },
      request: { method: 'PATCH', path: '/x' },
    });
    expect(inside.change.after).toMatchObject({ settings: { a: [SENSITIVE], b: SENSITIVE } });
    expect(inside.change.after_sensitive).toEqual({ settings: { a: true, b: true } });
  });

  test('requests hold references as their text, and no body where there is none', () => {
    expect(find('alert_rules.wan-down["north"]').requests).toEqual([
      {
        method: 'POST',
        path: '/api/v2/alert_rules/',
        body: {
          associated_accounts: [5001, '${accounts.field-ops.id}'],
          filter_criteria: {
            alert_type__in: ['ethernet_wan_disconnected', 'modem_wan_disconnected'],
          },
          http_destinations: ['${alert_push_destinations.pager.destination_config_id}'],
        },
      },
    ]);
    expect(find('alert_push_destinations.old-pager').requests[0]?.body).toBeNull();
  });

  test('an attribute that is set free is removed', () => {
    const change = one({
      ...keep(1),
      action: 'update',
      changes: [{ path: 'schedule', before: null, after: undefined, drifted: false }],
      write: { verb: 'update', fields: {} },
      request: { method: 'PATCH', path: '/x' },
    });
    expect(change.change.after).not.toHaveProperty('schedule');
    expect(change.patch).toEqual([
      { op: 'test', path: '/schedule', value: null },
      { op: 'remove', path: '/schedule' },
    ]);
  });

  test('drift shows what was applied and what is live', () => {
    expect(documentOf(mixed).resource_drift).toEqual([
      {
        address: 'alert_rules.busy',
        kind: 'alert_rules',
        id: '6d1e8a2c-1111-11f0-8000-000000000002',
        actions: ['update'],
        changes: [{ path: 'schedule', applied: 'weekly', live: null }],
      },
      {
        address: 'alert_rules.gone',
        kind: 'alert_rules',
        id: '6d1e8a2c-1111-11f0-8000-000000000008',
        actions: ['delete'],
        changes: [],
      },
    ]);
  });

  test('a kind nobody knows is a bug', () =>
    expect(() => documentOf({ ...quiet, changes: [{ ...keep(1), kind: 'nothing' }] })).toThrow(
      'nothing',
    ));
});

/** `value` without what is marked. */
function known(value: JsonObject | null, marks: JsonObject): JsonObject | null {
  if (value === null) return null;
  const left = Object.entries(value).filter(
    ([key]) => !Object.hasOwn(marks, key) || marks[key] !== true,
  );
  return Object.fromEntries(
    left.map(([key, inner]) => [
      key,
      Object.hasOwn(marks, key) ? known(inner as JsonObject, marks[key] as JsonObject) : inner,
    ]),
  );
}

const isTree = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every object inside. */
function* trees(value: unknown): Generator<object> {
  if (isTree(value)) yield value;
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) yield* trees(inner);
}

describe('for every plan', () => {
  test('the schema holds', () => {
    const holds = (plan: Plan) => {
      const document = JSON.parse(renderPlan(documentOf(plan), 'json', style)) as unknown;
      validate(document);
      expect(validate.errors ?? []).toEqual([]);
    };
    Object.values(plans).forEach(holds);
    fc.assert(fc.property(arbitraryPlan, holds), { numRuns: drawn(150) });
    expect(schema.definitions.verdict.properties.rule.anyOf[0]?.enum).toEqual(everyRule);
  });

  test('the schema refuses what is not a plan', () => {
    const good = JSON.parse(renderPlan(documentOf(mixed), 'json', style)) as {
      resource_changes: { change: object }[];
    };
    expect(validate({ ...good, extra: 1 })).toBe(false);
    expect(validate({ ...good, summary: undefined })).toBe(false);
    expect(
      validate({
        ...good,
        resource_changes: [
          {
            ...good.resource_changes[0],
            change: { ...good.resource_changes[0]?.change, actions: ['replace'] },
          },
        ],
      }),
    ).toBe(false);
  });

  test('the patch leads from before to after, and every replace and remove is tested first', () => {
    fc.assert(
      fc.property(arbitraryPlan, (plan) => {
        for (const { change, patch } of documentOf(plan).resource_changes) {
          const untested = patch.filter(
            ({ op, path }, index) =>
              (op === 'replace' || op === 'remove') &&
              (patch[index - 1]?.op !== 'test' || patch[index - 1]?.path !== path),
          );
          expect(untested).toEqual([]);
          const results = [patched(change.before, patch)];
          // The library fails on these names.
          if (!/hasOwnProperty|__proto__/.test(JSON.stringify([change, patch])))
            results.push(
              jsonPatch.applyPatch(
                change.before,
                structuredClone(patch) as jsonPatch.Operation[],
                true,
                false,
                false,
              ).newDocument,
            );
          for (const result of results)
            expect(known(result, change.after_unknown)).toEqual(
              change.actions[0] === 'forget' ? change.before : change.after,
            );
        }
      }),
      { numRuns: drawn(200) },
    );
  });

  test('equal inputs give equal bytes, the time aside', () => {
    fc.assert(
      fc.property(arbitraryPlan, (plan) => {
        const later = planDocument({
          plan,
          kinds,
          meta: { ...meta, generated_at: '2030-01-01T00:00:00.000Z' },
        });
        expect(renderPlan({ ...later, generated_at: meta.generated_at }, 'json', style)).toBe(
          renderPlan(documentOf(plan), 'json', style),
        );
      }),
      { numRuns: drawn(50) },
    );
  });

  test('keys are sorted at every level', () => {
    const all = [...trees(JSON.parse(renderPlan(documentOf(mixed), 'json', style)))].map(
      Object.keys,
    );
    expect(all.length).toBeGreaterThan(100);
    expect(all).toEqual(all.map((keys) => keys.toSorted()));
  });

  test('no secret is in any rendering', () => {
    fc.assert(
      fc.property(arbitraryPlan, (plan) => {
        const document = documentOf(plan);
        expect(JSON.stringify(document)).not.toContain(canary);
        for (const format of ['text', 'markdown', 'json'] as const)
          expect(renderPlan(document, format, style)).not.toContain(canary);
      }),
      { numRuns: drawn(100) },
    );
  });
});
