// The writes of a fleet: exact for every plan, of an apply only what was sent, and shown in every format for people.
import { describe, expect, test } from 'vitest';
import { fleetImpact } from '../../../src/fleet/merge.js';
import {
  addedWrites,
  NO_WRITES,
  type Outcome,
  type TenantEntry,
  type WriteCounts,
} from '../../../src/model/index.js';
import { planFigures, withWrites } from '../../../src/report/fleet-figures.js';
import { planDocument } from '../../../src/report/index.js';
import { renderFleet } from '../../../src/report/render.js';
import { kinds as known } from '../../../src/resources/index.js';
import { fleetOf, plannedFleet as planned } from './fleets.js';
import { expectGolden, ownPart } from './golden.js';
import { meta, mixed, plans, replaced } from './plans.js';

const style = { color: false, width: 80 };
const documents = Object.entries(plans).map(
  ([name, plan]) => [name, planDocument({ plan, kinds: known, meta })] as const,
);
const kindsOf = (name: keyof typeof plans, outcomes?: readonly Outcome[]): TenantEntry['kinds'] => {
  const document = planDocument({ plan: plans[name], kinds: known, meta });
  return withWrites(planFigures(document, outcomes ?? []).kinds, document, outcomes);
};
const sumOf = (kinds: TenantEntry['kinds']): WriteCounts =>
  Object.values(kinds).reduce(
    (sum, { writes }) => addedWrites(sum, writes ?? NO_WRITES),
    NO_WRITES,
  );

test.each(documents)('of the plan %s are those that the plan counts', (_, document) => {
  const { kinds } = planFigures(document, []);
  expect(sumOf(withWrites(kinds, document))).toEqual(document.summary.writes);
});

describe('of an apply', () => {
  const outcomesOf = (plan: typeof mixed, outcome: Outcome['outcome']): readonly Outcome[] =>
    plan.changes.map((change) => ({
      address: change.address,
      kind: change.kind,
      action: change.action,
      outcome,
      ...('deposed' in change && change.deposed && { deposed: true as const }),
    }));
  const counts = planDocument({ plan: replaced, kinds: known, meta }).summary.writes;

  test('are all of the plan, where all is done', () => {
    expect(counts.create).toBeGreaterThan(0);
    expect(sumOf(kindsOf('replaced', outcomesOf(replaced, 'done')))).toEqual(counts);
    const { writes } = planDocument({ plan: mixed, kinds: known, meta }).summary;
    expect(sumOf(kindsOf('mixed', outcomesOf(mixed, 'done')))).toEqual(writes);
  });

  test.each(['failed', 'skipped', 'unknown'] as const)('are none, where all is %s', (outcome) =>
    expect(sumOf(kindsOf('replaced', outcomesOf(replaced, outcome)))).toEqual(NO_WRITES),
  );

  test('are none without an outcome', () => expect(sumOf(kindsOf('mixed', []))).toEqual(NO_WRITES));

  test('hold the new object of a replacement whose old one is still there', () => {
    const half = outcomesOf(replaced, 'done').map((one): Outcome =>
      one.action === 'delete' ? { ...one, outcome: 'failed' } : one,
    );
    expect(sumOf(kindsOf('replaced', half))).toEqual({ ...counts, delete: 0 });
  });
});

const writes = (create: number, update: number, gone: number): WriteCounts => ({
  create,
  update,
  delete: gone,
});

test('are summed by kind and over tenants', () =>
  expect(planned.impact).toEqual({
    writes: writes(602, 100, 1),
    tenants: 2,
    kinds: {
      accounts: { writes: writes(2, 0, 0), tenants: 1 },
      alert_rules: { writes: writes(600, 100, 1), tenants: 2 },
    },
  }));

test.each([
  ['text', 'txt'],
  ['json', 'json'],
  ['markdown', 'md'],
  ['html', 'html'],
] as const)('are in the %s of the report', (format, ending) => {
  const text = renderFleet(planned, format, style);
  expectGolden(`fleet-writes.${ending}`, format === 'html' ? ownPart(text) : text);
});

test('there is nothing to say where nothing is written', () => {
  const [, , none] = planned.tenants;
  const quiet = { ...fleetOf([none!]), command: 'plan' as const, impact: fleetImpact([none!]) };
  for (const format of ['text', 'markdown', 'html'] as const)
    expect(renderFleet(quiet, format, style)).not.toMatch(/To write|create \d/);
  expect(renderFleet({ ...planned, command: 'apply' }, 'text', style)).toContain(
    'Written: create 602',
  );
});
