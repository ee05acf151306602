// Rules of single collections in the API reference beyond their attributes: filters, and conditions that forbid a
// change. A kind that is not named here has the general rules.
import type { Collection, Json, Kind } from '../model/index.js';
import { mergedInto, settled } from './configuration.js';
import type { Behaviours } from './behaviours.js';
import { filterTypeOf, type Filter } from './filter-comparison.js';
import type { StoredRecord } from './records.js';
import type { RecordEdit, RecordStore } from './record-store.js';

export interface Specifics {
  /** Filters of the listing: in v2 its query parameters (`__in` takes several values), in v3 the names inside `filter[…]`. Absent: as the kind says. */
  readonly filters?: readonly string[];
  /** Values `expand` takes. */
  readonly expand?: readonly string[];
  /** Whether a POST may leave out what the kind requires ("any of"). */
  readonly anyOf?: true;
  /** Only the response to a create carries `resource_url`; listings have none. */
  readonly hidesUrl?: true;
  /** Completes the record once `after` was written over it. */
  readonly settled?: typeof settled;
  /** Whether PATCH is taken beside PUT. */
  readonly patched?: (behaviours: Behaviours) => boolean;
  /** The required reference of a record: the record is deleted with the object it refers to. */
  readonly belongsTo?: string;
  /** Changes of other records that follow from this one. */
  readonly follow?: typeof managersOf;
  /** Completes a new record. */
  readonly made?: (record: StoredRecord) => StoredRecord;
  /** Why the record may not become `after`: the field at fault and the reason. */
  readonly hindersUpdate?: typeof moveHindrance;
  /** Clients of others delete it, although its kind has no verb for that. */
  readonly deletable?: true;
  /** Why the record may not be deleted. */
  readonly hindersDelete?: typeof groupHindrance;
}

const named: Readonly<Record<string, Specifics>> = {
  accounts: {
    filters: ['account', 'account__in', 'id', 'id__in', 'name', 'name__in'],
    expand: ['account'],
    hindersUpdate: moveHindrance,
    hindersDelete: accountHindrance,
  },
  alert_push_destinations: { filters: ['destination_config_id'], anyOf: true, hidesUrl: true },
  alert_rules: {
    filters: [
      'alert_config_id',
      'account',
      'schedule',
      'associated_accounts',
      'associated_groups',
      'filter_criteria',
      'email_destinations',
      'http_destinations',
      'updated_at',
      'settings',
    ],
    anyOf: true,
    hidesUrl: true,
  },
  account_authorizations: { filters: ['role', 'user'], hidesUrl: true },
  configuration_managers: {
    filters: [
      'account',
      'account__in',
      'id',
      'id__in',
      'router',
      'router__in',
      'synched',
      'suspended',
    ],
    expand: ['account', 'router'],
    settled,
    patched: ({ dialect, patching_configuration }) =>
      dialect === 'public' || patching_configuration,
    belongsTo: 'router',
  },
  groups: {
    settled: (before, after, how) =>
      how === 'merge' && after.configuration !== before.configuration
        ? { ...after, configuration: mergedInto(before, after) }
        : after,
    hindersDelete: groupHindrance,
  },
  routers: { deletable: true, follow: managersOf },
  users: { made: (record) => ({ ...record, user_id: record.id ?? null }) },
};

export const specificsOf = ({ name }: Kind): Specifics => named[name] ?? {};

/** Filters of the listing of a kind, by query parameter. */
export function filtersOf({
  name,
  attributes,
  operations,
}: Collection): Readonly<Record<string, Filter>> {
  const { by_id = 'path', by_ids, filters = [], dialect } = operations;
  const plain = [by_id === 'path' ? [] : by_id, by_ids ?? [], filters].flat();
  const made = (named[name]?.filters ?? plain).map((parameter): readonly [string, Filter] => {
    const [, field = parameter] = /^(?:filter\[)?(.+?)(?:__in|\])?$/.exec(parameter) ?? [];
    const shape = dialect === 'v2' ? filterTypeOf(attributes[field]!) : 'text';
    const test = parameter.endsWith('__in') ? 'among' : 'is';
    return [dialect === 'v3' ? `filter[${field}]` : parameter, { field, shape, test }];
  });
  return Object.fromEntries(made);
}

const accountsOf = (store: RecordStore): Kind => store.kinds.get('accounts')!;

function moveHindrance(
  store: RecordStore,
  before: StoredRecord,
  after: StoredRecord,
): { readonly path: string; readonly why: string } | undefined {
  if (before.account === after.account) return undefined;
  if (before.id === store.root)
    return { path: 'account', why: 'the account of the keys cannot be moved' };
  return accountLineage(store, after.account).has(before.id ?? null)
    ? { path: 'account', why: 'an account cannot be moved below itself' }
    : undefined;
}

/** The account and all above it. */
export function accountLineage(store: RecordStore, account: Json | undefined): ReadonlySet<Json> {
  const found = new Set<Json>();
  for (let id = account; typeof id === 'string' && !found.has(id);) {
    found.add(id);
    id = store.get(accountsOf(store), id)?.account;
  }
  return found;
}

function accountHindrance(store: RecordStore, { id }: StoredRecord): string | undefined {
  if (id === store.root) return 'the account of the keys cannot be deleted';
  if (store.all(accountsOf(store)).some(({ account }) => account === id))
    return 'the account still has sub-accounts';
  const held = ['groups', 'routers'].find((name) =>
    store.records(name).some(({ account }) => account === id),
  );
  const holds = held ?? store.occupied[String(id)];
  return holds === undefined ? undefined : `the account still has ${holds}`;
}

function groupHindrance(
  store: RecordStore,
  { id }: StoredRecord,
  { dangling_references }: Behaviours,
): string | undefined {
  return !dangling_references && store.records('routers').some(({ group }) => group === id)
    ? 'the group still has routers'
    : undefined;
}

/** The configuration managers of a router, in the account that it is in now. */
function managersOf(
  store: RecordStore,
  { id, account = null }: StoredRecord,
): readonly RecordEdit[] {
  const kind = store.kinds.get('configuration_managers');
  const moved = store
    .records('configuration_managers')
    .filter((one) => one.router === id && one.account !== account);
  return kind ? moved.map((before) => ({ kind, before, after: { ...before, account } })) : [];
}

/** Whether some record names `record` in a set or field of plain ids, as a rule names its destinations; accounts that rules select do not count. */
export function isNamed(store: RecordStore, kind: Kind, record: StoredRecord): boolean {
  const id = record[kind.id]!;
  return [...store.kinds.values()].some((other) => {
    const fields = Object.keys(other.attributes).filter((name) => {
      const attribute = other.attributes[name]!;
      const inner =
        attribute.word === 'set' || attribute.word === 'list' ? attribute.of : attribute;
      return inner.word === 'ref' && inner.to === kind.name && inner.wire === undefined;
    });
    const names = (one: StoredRecord): boolean =>
      fields.some((name) => [one[name]].flat().includes(id));
    return fields.length > 0 && store.all(other).some(names);
  });
}
