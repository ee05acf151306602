// What a refused plan says of the values that are others now.
import { expect, test } from 'vitest';
import type { JsonObject, PlanDocument } from '../../../src/model/index.js';
import { staleness, unneeded } from '../../../src/reconciler/plan/stale-plan.js';

interface Side {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly after_unknown?: JsonObject;
}

const plan = (side: Side, fingerprint: string): PlanDocument =>
  ({
    policy: [],
    resource_drift: [],
    resource_changes: [
      {
        address: 'groups.g',
        fingerprint,
        requests: [],
        change: { actions: ['update'], after_unknown: {}, ...side },
      },
    ],
  }) as unknown as PlanDocument;

const mtu = (value: number, ids: readonly number[] = [1]) => ({
  configuration: [{ lan: { main: { mtu: value }, ids } }, []],
});
const long = (text: string) => ({ name: text.repeat(80) });

test.each<[string, Side, Side, readonly string[]]>([
  [
    'a member of a document',
    { before: mtu(1500), after: mtu(1400) },
    { before: mtu(1300), after: mtu(1400) },
    ['Live configuration.0.lan.main.mtu: 1500 when it was planned, 1300 now.'],
  ],
  [
    'a list of plain values as a whole',
    { before: mtu(1, [1, 2]), after: mtu(1, [1]) },
    { before: mtu(1, [1, 3]), after: mtu(1, [1]) },
    ['Live configuration.0.lan.ids: [1,2] when it was planned, [1,3] now.'],
  ],
  [
    'a long value by its name',
    { before: long('a'), after: { name: 'c' } },
    { before: long('b'), after: { name: 'c' } },
    ['Live name is another value now.'],
  ],
  [
    'a secret that was not to change without the mask of the service',
    { before: { psk: '*', n: 1 }, after: { psk: '*', n: 2 } },
    { before: { psk: '*', n: 1 }, after: { psk: '(sensitive)', n: 2 } },
    ['psk was not to change when it was planned, and is to change now.'],
  ],
  [
    'a secret that was not to change and that the service does not show',
    { before: { n: 1 }, after: { n: 2 } },
    { before: { n: 1 }, after: { psk: '(sensitive)', n: 2 } },
    ['psk was not to change when it was planned, and is to change now.'],
  ],
  [
    'a secret that was to change without the mask of the service',
    { before: { psk: '*', n: 1 }, after: { psk: '(sensitive)', n: 2 } },
    { before: { psk: '*', n: 1 }, after: { psk: '*', n: 3 } },
    ['Wanted n: 2 when it was planned, 3 now.'],
  ],
  [
    'a secret in a document that was to change without the mask of the service',
    { before: { c: [{ psk: '*', n: 1 }] }, after: { c: [{ psk: '(sensitive)', n: 1 }] } },
    { before: { c: [{ psk: '*', n: 1 }] }, after: { c: [{ psk: '*', n: 3 }] } },
    [
      'c.0.psk was to change when it was planned, and is not now.',
      'Wanted c.0.n: 1 when it was planned, 3 now.',
    ],
  ],
  [
    'nothing of a value that was not known then',
    { before: { name: 'a', x: 1 }, after: { name: 'b' }, after_unknown: { x: true } },
    { before: { name: 'c', x: 1 }, after: { name: 'b', x: 2 } },
    ['Live name: "a" when it was planned, "c" now.'],
  ],
])('tells %s', (_, then, now, told) => {
  const [one] = staleness(plan(then, 'f'), plan(now, 'g'));
  expect(one?.detail?.split('\n')).toEqual([...told, 'Make a new plan and look at it again.']);
});

test('of a saved plan, what is done is told apart from what nothing manages now', () => {
  const then = plan({ before: { name: 'a' }, after: { name: 'b' } }, 'f');
  const summaries = (now: PlanDocument) => unneeded(then, now).map(({ summary }) => summary);
  const [change] = then.resource_changes;
  const done = { ...change!, change: { ...change!.change, actions: ['no-op'] as const } };
  expect(summaries({ ...then, resource_changes: [done] })).toEqual([
    'groups.g: nothing is left to change of what was planned.',
  ]);
  expect(summaries({ ...then, resource_changes: [] })).toEqual([
    'groups.g is neither declared nor in the state, so nothing is sent for what was planned.',
  ]);
  expect(summaries(then)).toEqual([]);
});

test('of a saved plan, a delete that somebody else has done is said to be forgotten', () => {
  const side = { before: { name: 'a' }, after: {} };
  const acting = (action: 'delete' | 'forget'): PlanDocument => {
    const { resource_changes, ...rest } = plan(side, 'f');
    const [{ change, ...one } = {} as never] = resource_changes;
    return { ...rest, resource_changes: [{ ...one, change: { ...change, actions: [action] } }] };
  };
  const said = (then: PlanDocument, now: PlanDocument) =>
    unneeded(then, now).map(({ summary }) => summary);
  expect(said(acting('delete'), acting('forget'))).toEqual([
    'groups.g no longer exists, so apply only forgets it.',
  ]);
  expect(said(acting('delete'), acting('delete'))).toEqual([]);
  expect(said(acting('forget'), acting('forget'))).toEqual([]);
});
