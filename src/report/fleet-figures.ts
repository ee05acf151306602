// What the report of a fleet takes from the document of one tenant: how many objects of each kind differ, and which.
import {
  NO_WRITES,
  addedWrites,
  cached,
  compareText,
  groupedBy,
  keysOf,
  own,
  tally,
  tenantStatuses,
  type DriftDocument,
  type FleetDocument,
  type FleetWrites,
  type KindCount,
  type Origin,
  type Outcome,
  type PlanDocument,
  type TenantChange,
  type TenantEntry,
  type WriteCounts,
  tryAddress,
} from '../model/index.js';
import {
  actionOf,
  driftSentence,
  isShown,
  outcomeSentence,
  planSentence,
  plural,
} from './words.js';

type Figures = Pick<TenantEntry, 'summary' | 'kinds' | 'changes' | 'requests'>;

const costOf = ({ api_requests }: PlanDocument | DriftDocument): number =>
  Object.values(api_requests).reduce((sum, count) => sum + count, 0);

const verbs: Readonly<Record<string, keyof WriteCounts>> = {
  POST: 'create',
  PATCH: 'update',
  PUT: 'update',
  DELETE: 'delete',
};

/**
 * The kinds of a tenant with what an apply of its plan would send.
 * @param outcomes of an apply: then it is what was sent
 */
export function withWrites(
  kinds: TenantEntry['kinds'],
  { resource_changes }: PlanDocument,
  outcomes?: readonly Outcome[],
): TenantEntry['kinds'] {
  const sums = new Map<string, WriteCounts>();
  const done = groupedBy(
    (outcomes ?? []).filter(({ outcome }) => outcome === 'done'),
    ({ address }) => address,
  );
  const byAddress = new Map(done.map((some) => [some[0]!.address, some]));
  for (const { address, kind, change, requests, deposed } of resource_changes)
    for (const { method } of requests) {
      const verb = own<keyof WriteCounts>(verbs, method);
      if (verb === undefined) continue;
      // A replacement has two outcomes, one for each request.
      const isSent = byAddress
        .get(address)
        ?.some((one) =>
          change.actions.length === 2
            ? (one.action === 'create') === (verb === 'create')
            : (one.deposed === true) === (deposed !== undefined),
        );
      if (outcomes && isSent !== true) continue;
      sums.set(kind, addedWrites(sums.get(kind) ?? NO_WRITES, { ...NO_WRITES, [verb]: 1 }));
    }
  return Object.fromEntries(
    Object.entries(kinds).map(([kind, counts]) => {
      const writes = sums.get(kind);
      return [kind, writes ? { ...counts, writes } : counts];
    }),
  );
}

/** The kinds of a tenant with the writes of its earlier attempts in the same run. */
export function plusWrites(
  kinds: TenantEntry['kinds'],
  earlier: TenantEntry['kinds'],
): TenantEntry['kinds'] {
  const sums = new Map(Object.entries(kinds));
  for (const [kind, { writes }] of Object.entries(earlier)) {
    if (!writes) continue;
    const counts = sums.get(kind) ?? { changed: 0, objects: 0 };
    sums.set(kind, { ...counts, writes: addedWrites(counts.writes ?? NO_WRITES, writes) });
  }
  return Object.fromEntries(sums);
}

/** As in `create 12, update 40, delete 1 in 7 tenants`. */
export function writesSentence({ writes, tenants }: FleetWrites): string {
  const counts = keysOf(NO_WRITES).flatMap((verb) =>
    writes[verb] > 0 ? [`${verb} ${writes[verb]}`] : [],
  );
  return `${counts.join(', ')} in ${plural(tenants, 'tenant')}`;
}

/** The writes of each kind, by name; none where nothing is written. */
export const writesByKind = ({
  impact,
}: FleetDocument): readonly (readonly [string, FleetWrites])[] =>
  Object.entries(impact?.kinds ?? {}).toSorted(([a], [b]) => compareText(a, b));

interface WarningCount {
  readonly tenant: string;
  readonly code: string;
  readonly count: number;
}

/** How many warnings of each code the tenants have, which come in this order. */
export const warningCounts = (tenants: readonly TenantEntry[]): readonly WarningCount[] =>
  tenants.flatMap(({ tenant, diagnostics }) => {
    const codes = diagnostics.flatMap((one) => (one.severity === 'warning' ? one.code : []));
    return Array.from(tally(codes), ([code, count]) => ({ tenant, code, count }));
  });

/** As in `12 warnings in 3 tenants`. */
export function warningsSentence(counts: readonly WarningCount[]): string {
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  const tenants = new Set(counts.map(({ tenant }) => tenant)).size;
  return `${plural(all, 'warning')} in ${plural(tenants, 'tenant')}`;
}

/** The most that are listed; all are counted. */
const MOST = 500;

export function planFigures(document: PlanDocument, outcomes: readonly Outcome[]): Figures {
  const results = new Map(outcomes.map((one) => [one.address, one.outcome]));
  const shown = document.resource_changes.filter(isShown);
  const changes = shown.map((one): TenantChange => {
    const outcome = results.get(one.address) ?? 'done';
    return {
      address: one.address,
      kind: one.kind,
      action: outcome === 'done' ? actionOf(one) : outcome,
      ...placed(one),
    };
  });
  return {
    summary: outcomes.length > 0 ? outcomeSentence(outcomes) : planSentence(document),
    ...counted(
      changes,
      document.resource_changes.map(({ kind }) => kind),
    ),
    requests: costOf(document),
  };
}

export function driftFigures(document: DriftDocument): Figures {
  const changes = document.drift
    .filter(({ status }) => status !== 'settled')
    .map((one): TenantChange => {
      const { address, kind, status } = one;
      return { address, kind, action: status, ...placed(one) };
    });
  const all = [
    ...document.drift.map(({ kind }) => kind),
    ...document.in_sync.map((address) => tryAddress(address)?.kind ?? 'objects'),
  ];
  return {
    summary: driftSentence(document),
    ...counted(changes, all),
    requests: costOf(document),
  };
}

/** Where it is declared. A report lists it for each tenant, so its path in a program is left out. */
function placed({ origin }: { readonly origin: Origin | null }): Pick<TenantChange, 'origin'> {
  if (!origin) return {};
  const { file, line, column } = origin;
  return { origin: { file, line, column } };
}

function counted(changes: readonly TenantChange[], all: readonly string[]) {
  const kinds = new Map<string, { changed: number; objects: number }>();
  const of = (kind: string) => cached(kinds, kind, () => ({ changed: 0, objects: 0 }));
  for (const kind of all) of(kind).objects += 1;
  for (const { kind } of changes) of(kind).changed += 1;
  const listed: Readonly<Record<string, KindCount>> = Object.fromEntries(kinds);
  return { kinds: listed, changes: changes.slice(0, MOST) };
}

export const changedIn = (kinds: TenantEntry['kinds']): number =>
  Object.values(kinds).reduce((sum, { changed }) => sum + changed, 0);

/** The worst status first, then those with the most changes; equal ones in the order of the fleet. */
export const worstFirst = <T extends Pick<TenantEntry, 'status' | 'kinds'>>(
  tenants: readonly T[],
): readonly T[] =>
  tenants.toSorted(
    (a, b) =>
      tenantStatuses.indexOf(a.status) - tenantStatuses.indexOf(b.status) ||
      changedIn(b.kinds) - changedIn(a.kinds),
  );

/** Every kind of any tenant, by name. */
export const kindsIn = ({ tenants }: FleetDocument): readonly string[] =>
  [...new Set(tenants.flatMap(({ kinds }) => Object.keys(kinds)))].toSorted(compareText);
