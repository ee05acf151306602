// What a plan means for alerts, in every form.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { Impact, PlanDocument, RuleImpact } from '../../../src/model/index.js';
import { ndjson, planDocument } from '../../../src/report/index.js';
import { renderPlan } from '../../../src/report/render.js';
import { kinds } from '../../../src/resources/index.js';
import { expectGolden, ownPart } from './golden.js';
import { impact, meta, quiet } from './plans.js';

const plain = { color: false, width: 80 };
const clock = { now: () => Date.UTC(2026, 0, 2), monotonic: () => 0 };
const documentOf = (one: Impact): PlanDocument =>
  planDocument({ plan: quiet, kinds, meta, keeps: 'count', impact: one });
const textOf = (one: Impact): string => renderPlan(documentOf(one), 'text', plain);
const nothing: Impact = {
  ...impact,
  rules: [],
  unheard: [],
  through_sub_accounts: 0,
  unjudged: { groups: 0, routers: 0 },
};
const still: RuleImpact = {
  rule: 'alert_rules.still',
  id: 'r-9',
  before: 44,
  after: 44,
  unjudged: { before: 0, after: 0 },
  destinations: { before: ['2 by e-mail'], after: ['2 by e-mail'] },
  noisy: false,
};

test('the same in every form, and as its schema says', () => {
  const document = documentOf({ ...impact, rules: [...impact.rules, still] });
  expectGolden('impact.txt', renderPlan(document, 'text', plain));
  expectGolden('impact.md', renderPlan(document, 'markdown', plain));
  expectGolden('impact.html', ownPart(renderPlan(document, 'html', plain)));
  expectGolden('impact.json', renderPlan(document, 'json', plain));
  expectGolden('impact.ndjson', ndjson({ version: '0.1.0', clock }).plan(document));
  const schema = JSON.parse(
    readFileSync(new URL('../../../schemas/plan.schema.json', import.meta.url), 'utf8'),
  ) as object;
  const validate = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true }).compile(
    schema,
  );
  validate(JSON.parse(renderPlan(document, 'json', plain)));
  expect(validate.errors ?? []).toEqual([]);
});

describe('rules that share their destinations are read at once', () => {
  const pager = 'alert_push_destinations.pager';
  const silenced = (rule: string, before: number, more: Partial<RuleImpact> = {}): RuleImpact => ({
    ...still,
    rule,
    before,
    after: 0,
    destinations: { before: [pager], after: [] },
    ...more,
  });
  const rules = Array.from({ length: 40 }, (_, at) => silenced(`alert_rules.r["${at}"]`, at + 1));

  test('with the sums of what they send', () => {
    const some = { ...nothing, rules };
    const said = 'alert_rules.r["0"…"39"] (40): 820 notifications before, 0 after by all of them';
    const text = textOf(some).replaceAll(/\n {4}/g, ' ');
    expect(text).toContain(`  ${said} no longer to ${pager}\n`);
    expect(renderPlan(documentOf(some), 'markdown', plain)).toContain(
      '| `alert_rules.r["0"…"39"] (40)` | 820 notifications before, 0 after by all of them |',
    );
    for (const format of ['text', 'markdown'] as const)
      expect(renderPlan(documentOf(some), format, { ...plain, verbose: true })).toContain(
        'alert_rules.r["17"]',
      );
  });

  test('those that are not managed by their labels', () => {
    const live = ['a', 'b', 'c', 'd'].map((label) => silenced(`alert_rules ${label} (1)`, 2));
    expect(textOf({ ...nothing, rules: live })).toContain(
      '  alert_rules a (1), alert_rules b (1), alert_rules c (1) and 1 more: 8',
    );
  });

  test.each<[what: string, others: Partial<RuleImpact>]>([
    ['other destinations', { destinations: { before: [], after: [pager] } }],
    ['more instead of less', { after: 99 }],
    ['much more', { noisy: true }],
    ['alerts that are not judged', { unjudged: { before: 1, after: 0 } }],
  ])('but not with %s', (_, others) => {
    const odd = silenced('alert_rules.odd', 7, others);
    const text = textOf({ ...nothing, rules: [...rules.slice(0, 3), odd] });
    expect(text).toContain('alert_rules.r["0", "1", "2"]: 6 notifications');
    expect(text).toContain('alert_rules.odd: 7 notifications');
  });

  test('two are shown one by one', () =>
    expect(textOf({ ...nothing, rules: rules.slice(0, 2) })).toContain(
      'alert_rules.r["1"]: 2 notifications before, 0 after\n',
    ));
});

describe('the text', () => {
  test('says nothing where nobody asked', () => {
    expect(renderPlan(planDocument({ plan: quiet, kinds, meta }), 'text', plain)).not.toContain(
      'alerts',
    );
  });

  test.each<readonly [string, Partial<Impact>, string]>([
    [
      'alerts alone',
      {},
      'Judged by 1204 alerts from 2025-12-26T03:04:05.000Z to\n  2026-01-02T03:04:05.000Z.\n',
    ],
    ['rules that stay', { rules: [still] }, 'Every rule would send as before: 1.'],
    [
      'a rule beside those that stay',
      { rules: [still, { ...still, after: 45 }] },
      '44 notifications before, 45 after\n    to 2 by e-mail\n  1 other rule would send as before.',
    ],
    [
      'a destination that is exchanged',
      { rules: [{ ...still, destinations: { before: ['one'], after: ['two'] } }] },
      '    to two\n    no longer to one\n',
    ],
    [
      'what cannot be judged',
      { rules: [{ ...still, unjudged: { before: 1, after: 3 } }] },
      '44 after; not judged: 1 alert\n    before, 3 after\n',
    ],
    ['noise', { rules: [{ ...still, after: 440, noisy: true }] }, '440 after, MUCH MORE\n'],
    [
      'a type without a name',
      { unheard: [{ type: '', alerts: 3, before: 1, after: 2 }] },
      'Nobody would hear of\n    (no type): 2 of 3 alerts, 1 before\n',
    ],
    [
      'what rests on accounts reaching down',
      { through_sub_accounts: 3 },
      'Rules are taken to hear of the accounts below those they name',
    ],
    ['groups', { unjudged: { groups: 3, routers: 0 } }, 'Who is in a group cannot be read'],
    ['routers', { unjudged: { groups: 0, routers: 3 } }, 'The account of 3 alerts is not known'],
  ])('of %s', (_, more, shown) => expect(textOf({ ...nothing, ...more })).toContain(shown));
});
