// What the report of a fleet takes from the document of one tenant: how many objects of each kind differ, and which.
import {
  cached,
  compareText,
  tenantStatuses,
  type DriftDocument,
  type FleetDocument,
  type KindCount,
  type Origin,
  type Outcome,
  type PlanDocument,
  type TenantChange,
  type TenantEntry,
  tryAddress,
} from '../model/index.js';
import { actionOf, driftSentence, isShown, outcomeSentence, planSentence } from './words.js';

type Figures = Pick<TenantEntry, 'summary' | 'kinds' | 'changes' | 'requests'>;

const costOf = ({ api_requests }: PlanDocument | DriftDocument): number =>
  Object.values(api_requests).reduce((sum, count) => sum + count, 0);

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

const changedIn = ({ kinds }: TenantEntry): number =>
  Object.values(kinds).reduce((sum, { changed }) => sum + changed, 0);

/** The worst status first, then those with the most changes; equal ones in the order of the fleet. */
export const worstFirst = ({ tenants }: FleetDocument): readonly TenantEntry[] =>
  tenants.toSorted(
    (a, b) =>
      tenantStatuses.indexOf(a.status) - tenantStatuses.indexOf(b.status) ||
      changedIn(b) - changedIn(a),
  );

/** Every kind of any tenant, by name. */
export const kindsIn = ({ tenants }: FleetDocument): readonly string[] =>
  [...new Set(tenants.flatMap(({ kinds }) => Object.keys(kinds)))].toSorted(compareText);
