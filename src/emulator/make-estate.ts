// A realistic estate that someone else made: a tree of accounts, destinations, rules that name both, users and their roles.
// The same random numbers and clock give the same estate.
import type { Json, JsonObject } from '../model/index.js';
import type { Clock, Random } from '../ports/index.js';
import type { Estate, User } from './estate.js';
import { timeUuids } from './uuid.js';

export interface EstateSize {
  readonly accounts?: number;
  readonly destinations?: number;
  readonly rules?: number;
  readonly authorizations?: number;
  readonly users?: number;
}

const regions = ['North', 'South', 'East', 'West', 'Central', 'Coast'];
const sites = ['Depot', 'Clinic', 'Warehouse', 'Store', 'Plant', 'Office', 'Terminal', 'Garage', 'Kiosk'];
const firstNames = ['ada', 'ben', 'chloe', 'dana', 'emil', 'fatima', 'gus', 'hana', 'ivan', 'june', 'kofi', 'lena', 'milo', 'nora', 'omar', 'pia', 'quinn', 'rosa', 'sven', 'tara'];
const receivers = ['On-call pager', 'Operations board', 'Ticket desk', 'Security desk', 'Network team', 'Billing watch', 'Field crew', 'Night shift'];
const alertTypes = [
  'ethernet_wan_disconnected',
  'modem_wan_disconnected',
  'wwan_network_unavailable',
  'account_locked',
  'login_success',
  'cpu_utilization',
  'memory_utilization',
  'data_cap_threshold',
  'ipsec_tunnel_down',
  'reboot_status_change',
  'thermal_exceeds_limit',
  'geofence_proximity_change',
  'connection_state',
  'modem_wan_unplugged',
  'sim_door_event',
  'sustained_system_overload',
];
const roles = ['read_only_user', 'read_only_user', 'full_access_user', 'full_access_user', 'administrator', 'no_access'];

const DAY = 86_400_000;
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

/** Every rule has another content, every pair of user and account one authorization at most. @throws RangeError where the pairs do not suffice. */
export function makeEstate({
  accounts = 12,
  destinations = 6,
  rules = 24,
  authorizations = 120,
  users = 30,
  random,
  clock,
}: EstateSize & { readonly random: Random; readonly clock: Clock }): Estate {
  if (accounts < 1 || authorizations > accounts * users) throw new RangeError(`${authorizations} authorizations need more than ${accounts} accounts and ${users} users`);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.fraction() * items.length)] as T;
  let made = clock.now() - 400 * DAY;
  const minutely = { now: () => (made = Math.min(made + 60_000, clock.now())) };
  const uuid = timeUuids(minutely, random);
  const at = (): string => new Date(made).toISOString();

  const tree = accountTree(accounts, pick);
  const ids = tree.map(({ id }) => id as string);
  const root = ids[0] as string;
  const receiversMade = range(destinations).map((index): JsonObject => {
    const name = (receivers[index % receivers.length] as string) + (index < receivers.length ? '' : ` ${Math.floor(index / receivers.length) + 1}`);
    return {
      destination_config_id: uuid(),
      account: root,
      name,
      enabled: index % 5 !== 4,
      endpoint: { url: `https://hooks.example.com/${name.toLowerCase().replaceAll(' ', '-')}` },
      updated_at: at(),
    };
  });
  const hooks = receiversMade.map((one) => one.destination_config_id as string);
  const people = peopleMade(users);
  return {
    version: 1,
    root,
    next_id: 200_000 + authorizations,
    records: {
      accounts: tree,
      alert_push_destinations: receiversMade,
      alert_rules: range(rules).map((index): JsonObject => ({ alert_config_id: uuid(), account: root, ...ruleContent(index, ids, hooks, pick), updated_at: at() })),
      account_authorizations: grants(authorizations, ids, people, pick),
    },
    users: people,
  };
}

/** The first is the root, the next few its regions, all others sites below one of those. */
function accountTree(count: number, pick: <T>(items: readonly T[]) => T): readonly JsonObject[] {
  const branches = Math.min(regions.length, Math.ceil(Math.sqrt(count)) - 1);
  return range(count).map((index) => {
    const id = String(100_001 + index);
    if (index === 0) return { id, account: null, name: 'Headquarters', is_disabled: false };
    if (index <= branches) return { id, account: '100001', name: `${regions[index - 1]} region`, is_disabled: false };
    return { id, account: String(100_002 + ((index - 1) % Math.max(1, branches))), name: `${pick(sites)} ${index - branches}`, is_disabled: index % 23 === 22 };
  });
}

/** The account and, as bits, the alert types follow from the index: no two rules are alike. */
function ruleContent(index: number, accounts: readonly string[], hooks: readonly string[], pick: <T>(items: readonly T[]) => T): JsonObject {
  const round = Math.floor(index / accounts.length) + 1;
  const kept = alertTypes.filter((_, bit) => (round >> bit) % 2 === 1);
  return {
    associated_accounts: [accounts[index % accounts.length] as Json],
    filter_criteria: { alert_type__in: kept },
    http_destinations: hooks.length > 0 ? [pick(hooks)] : [],
    schedule: index % 7 === 6 ? 'daily' : null,
    settings: kept.includes('data_cap_threshold') ? { data_cap_threshold: { percent: 80 } } : null,
  };
}

function peopleMade(count: number): readonly User[] {
  return range(count).map((index) => {
    const round = Math.floor(index / firstNames.length);
    return { id: String(70 + index), email: `${firstNames[index % firstNames.length]}${round === 0 ? '' : round + 1}@example.com` };
  });
}

/** Pairs go round users first; the first user administers the root, so that nobody is locked out. */
function grants(count: number, accounts: readonly string[], users: readonly User[], pick: <T>(items: readonly T[]) => T): readonly JsonObject[] {
  return range(count).map((index) => {
    const user = (users[index % users.length] as User).id;
    const account = accounts[(Math.floor(index / users.length) + (index % users.length)) % accounts.length] as string;
    return { id: String(200_000 + index), user, account, role: index === 0 ? 'administrator' : pick(roles) };
  });
}
