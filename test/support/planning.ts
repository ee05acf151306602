// Short words for planning tests: declarations, entries and live objects without files or servers.
import {
  defaultSettings,
  emptyState,
  normalAll,
  type Declaration,
  type Entry,
  type Json,
  type Kind,
  type Lifecycle,
  type Live,
  type PlanRequest,
  type Project,
  type Request,
  type Settings,
  type State,
  type Values,
  type Write,
} from '../../src/model/index.js';
import { nothingRecent } from '../../src/reconciler/recent-writes.js';
import { plan, type Proposal } from '../../src/reconciler/plan/plan.js';
import type { PlanInput } from '../../src/reconciler/plan/plan-input.js';
import { select } from '../../src/reconciler/plan/target-selection.js';
import { kinds } from '../../src/resources/index.js';
import { policyRules } from '../../src/resources/rules/index.js';
import { replaceable } from './fifth-kind.js';

export const kindOf = (name: string): Kind => replaceable.get(name) as Kind;

export function declare(
  address: string,
  values: Values,
  lifecycle: Lifecycle = {},
  file = 'a.yaml',
): Declaration {
  const kind = address.slice(0, address.indexOf('.'));
  const origin = { file, line: 1, column: 1 };
  return {
    address,
    kind,
    name: address.slice(kind.length + 1),
    values: normalAll(kindOf(kind).attributes, values),
    lifecycle,
    origin,
    at: () => origin,
  };
}

export function live(kind: string, id: string, values: Record<string, Json>): Live {
  return { id, values: normalAll(kindOf(kind).attributes, { ...values, [kindOf(kind).id]: id }) };
}

export function entry(
  kind: string,
  id: string,
  applied: Record<string, Json>,
  more: Partial<Entry> = {},
): Entry {
  const values = normalAll(kindOf(kind).attributes, applied) as Entry['applied'];
  return {
    kind,
    id,
    file: 'a.yaml',
    applied: values,
    observed: { ...values, [kindOf(kind).id]: id },
    depends_on: [],
    applied_at: '2026-01-01T00:00:00.000Z',
    ...more,
  };
}

export function project(
  declarations: readonly Declaration[],
  settings: Partial<Settings> = {},
): Project {
  return {
    settings: { ...defaultSettings, ...settings },
    lookups: [],
    declarations,
    expectations: [],
    paths: ['.'],
    digest: () => 'digest',
    variables: {},
  };
}

export function stateWith(resources: Record<string, Entry>, spent: State['spent'] = []): State {
  return { ...emptyState('lineage', 'emulator'), serial: 1, resources, spent };
}

const compose = (kind: Kind, { verb, id, fields }: Write): Request => ({
  method:
    verb === 'create' ? 'POST' : verb === 'delete' ? 'DELETE' : (kind.operations.update ?? 'PATCH'),
  path: `/${kind.operations.collection}/${id === undefined ? '' : `${id}/`}`,
  ...(verb === 'delete' ? {} : { body: fields }),
});

/** The rules as a run applies them in the end. */
const exactly = await Promise.all(
  policyRules.map(async (rule) => (rule.exact ? { ...rule, judge: await rule.exact() } : rule)),
);

export interface Scene {
  readonly declared?: readonly Declaration[];
  readonly state?: Record<string, Entry>;
  readonly spent?: State['spent'];
  /** Live objects by kind; kinds not named are read and empty. */
  readonly live?: Record<string, readonly Live[]>;
  readonly request?: Partial<PlanRequest>;
  readonly settings?: Partial<Settings>;
  readonly more?: Partial<PlanInput> & { readonly project?: Project };
}

export function planScene({
  declared = [],
  state,
  spent,
  live: objects = {},
  request = {},
  settings = {},
  more = {},
}: Scene): Proposal {
  const input = {
    kinds,
    rules: exactly,
    project: project(declared, settings),
    state: state ? stateWith(state, spent) : undefined,
    liveObjects: new Map(
      [...(more.kinds ?? kinds).values()].map((kind) => {
        const byId = new Map((objects[kind.name] ?? []).map((one) => [one.id, one]));
        const missing = Object.values(state ?? {}).flatMap((one) =>
          one.kind === kind.name && !byId.has(one.id) ? [one.id] : [],
        );
        return [kind.name, { kind, byId, missing: new Set(missing) }];
      }),
    ),
    secrets: new Map(),
    compose,
    request: { targets: [], excludes: [], allow: [], destroy: false, ...request },
    visibility: nothingRecent,
    now: { boot: { id: null, milliseconds: 0 }, wall: Date.parse('2026-01-02T00:00:00Z') },
    ...more,
  };
  return plan({
    ...input,
    selection: select(input.kinds, input.project, input.state, input.request),
  });
}

/** `action address` of each change, in order. */
export const steps = (proposal: Proposal): readonly string[] =>
  proposal.plan.changes.map((change) => `${change.action} ${change.address}`);
export const codes = (proposal: Proposal): readonly string[] =>
  proposal.plan.diagnostics.map((one) => one.code);
export const blocked = (proposal: Proposal): readonly string[] => [
  ...new Set(
    proposal.plan.verdicts.filter((one) => one.verdict === 'blocked').map((one) => one.rule),
  ),
];
