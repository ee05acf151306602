// What is read to judge a plan by the alerts that came, and what becomes of the judgement where it cannot be read.
import { describe, expect, it } from 'vitest';
import {
  exits,
  Refusal,
  type CloudReader,
  type Exit,
  type Found,
  type Live,
  type Query,
  type Values,
} from '../../../../src/model/index.js';
import { assess, type Assessment } from '../../../../src/resources/rules/impact-data.js';
import type { AuditContext } from '../../../../src/reconciler/audit/drift.js';
import type { Proposal } from '../../../../src/reconciler/plan/plan.js';
import { collections, kinds } from '../../../../src/resources/index.js';
import { live, planScene } from '../../../support/planning.js';

const SINCE = '2026-01-01T00:00:00.000Z';
const objects: Readonly<Record<string, readonly Live[]>> = {
  accounts: [live('accounts', '1', { name: 'Root', account: null })],
  alert_push_destinations: [live('alert_push_destinations', 'd1', { name: 'One' })],
  alert_rules: [
    live('alert_rules', 'r', {
      associated_accounts: [1],
      filter_criteria: { alert_type__in: ['account_locked'] },
      http_destinations: ['d1'],
    }),
  ],
};
const managers = [live('configuration_managers', '70', { router: '5', account: '1' })];
const alertOf = (place: Values): Found => ({
  record: {},
  values: { type: 'account_locked', created_at: '2026-01-02T00:00:00.000Z', ...place },
});
const came: readonly Found[] = [
  alertOf({ account: '1' }),
  alertOf({ router: '5' }),
  alertOf({ router: '5' }),
];

interface Scene {
  /** Names of what cannot be read, and how that ends. */
  readonly fails?: Readonly<Record<string, Error>>;
  readonly alerts?: readonly Found[];
  /** What the plan has read already. */
  readonly known?: Readonly<Record<string, readonly Live[]>>;
  readonly proposal?: Partial<Proposal['plan']>;
}

async function judged({
  fails = {},
  alerts = came,
  known = {},
  proposal = {},
}: Scene = {}): Promise<Assessment & { readonly asked: readonly (string | [string, Query])[] }> {
  const asked: (string | [string, Query])[] = [];
  const check = (name: string): void => {
    if (fails[name]) throw fails[name];
  };
  const cloud: Partial<CloudReader> = {
    skew: () => undefined,
    list: async (kind) => {
      asked.push(kind.name);
      check(kind.name);
      return { kind: kind.name, objects: objects[kind.name] ?? [] };
    },
    async *records({ name }, query) {
      asked.push([name, query]);
      if (name === 'alerts') yield alerts;
      if (name === 'configuration_managers')
        yield managers.map(({ values }) => ({ record: {}, values }));
      check(name);
    },
  };
  const desk: Partial<AuditContext> = {
    cloud: cloud as CloudReader,
    kinds,
    collections,
    emit: () => undefined,
    clock: {
      now: () => Date.parse('2026-01-08T00:00:00.000Z'),
      boot: () => ({ id: 'b', milliseconds: 0 }),
    } as AuditContext['clock'],
  };
  const { plan, liveObjects: world, ...rest } = planScene({ live: known });
  const narrow = new Map([...world].filter(([name]) => Object.hasOwn(known, name)));
  return {
    ...(await assess(desk as AuditContext, {
      proposal: { ...rest, liveObjects: narrow, plan: { ...plan, ...proposal } },
      state: undefined,
      since: SINCE,
    })),
    asked,
  };
}

const refusal = (exit: Exit = exits.error): Refusal =>
  new Refusal([{ severity: 'error', code: 'forbidden', summary: 'it cannot be read' }], exit);

describe('what is read', () => {
  it('is what the plan did not read, the alerts since then, and where routers are', async () => {
    const { impact, diagnostics, asked } = await judged();
    expect(asked).toEqual([
      'accounts',
      'alert_push_destinations',
      'alert_rules',
      ['alerts', { filters: {}, since: SINCE }],
      ['configuration_managers', { filters: {} }],
    ]);
    expect(impact).toMatchObject({
      since: SINCE,
      until: '2026-01-08T00:00:00.000Z',
      alerts: 3,
      rules: [{ before: 3, after: 3 }],
    });
    expect(diagnostics).toEqual([]);
  });

  it('is nothing that is known', async () => {
    const { impact, asked } = await judged({
      known: { ...objects, configuration_managers: managers },
    });
    expect(asked).toEqual([['alerts', { filters: {}, since: SINCE }]]);
    expect(impact?.rules).toMatchObject([{ before: 3 }]);
  });

  it('is not where routers are, while no alert is about one', async () => {
    const { impact, asked } = await judged({ known: objects, alerts: [alertOf({ account: '1' })] });
    expect([impact?.rules[0]?.before, asked.length]).toEqual([1, 1]);
  });

  it('is nothing for a plan with errors', async () => {
    const { asked, ...rest } = await judged({
      proposal: { diagnostics: [{ severity: 'error', code: 'cycle', summary: 'a cycle' }] },
    });
    expect([asked, rest]).toEqual([[], { diagnostics: [] }]);
  });
});

describe('what cannot be read', () => {
  it.each(['alerts', 'alert_rules', 'alert_push_destinations', 'accounts'])(
    'leaves nothing to judge by: %s',
    async (name) => {
      const { impact, diagnostics } = await judged({ fails: { [name]: refusal() } });
      expect(impact).toBeUndefined();
      expect(diagnostics).toEqual([
        {
          severity: 'warning',
          code: 'forbidden',
          summary: 'What the plan means for alerts is not known. it cannot be read',
        },
      ]);
    },
  );

  it('leaves alerts of routers unjudged, even those that were read of', async () => {
    const { impact, diagnostics } = await judged({ fails: { configuration_managers: refusal() } });
    expect(impact).toMatchObject({
      alerts: 3,
      unjudged: { groups: 0, routers: 2 },
      rules: [{ before: 1, unjudged: { before: 2, after: 2 } }],
    });
    expect(diagnostics).toMatchObject([
      {
        severity: 'warning',
        summary: expect.stringMatching(/^Which account a router belongs to is not known/) as string,
      },
    ]);
  });

  it.each(['alerts', 'configuration_managers'])(
    'ends the run where somebody ended it, and for bugs: %s',
    async (name) => {
      await expect(judged({ fails: { [name]: refusal(exits.interrupted) } })).rejects.toMatchObject(
        { exit: exits.interrupted },
      );
      await expect(judged({ fails: { [name]: new TypeError('a bug') } })).rejects.toThrow('a bug');
    },
  );
});
