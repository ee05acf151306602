// A realistic estate that someone else made: a tree of accounts, destinations, rules that name both, users and their
// roles, and what a month brought: alerts, changes, the state of devices.
// The same random numbers and clock give the same estate.
import type { Json, JsonObject } from '../../src/model/index.js';
import type { Clock, Random } from '../../src/platform/index.js';
import { coded, loggedObject, system } from '../../src/emulator/activity-log.js';
import { LIVE_MASK } from '../../src/emulator/configuration.js';
import type { Estate, User } from '../../src/emulator/index.js';
import { timeUuids } from '../../src/emulator/uuid.js';

const usualSize = {
  accounts: 12,
  destinations: 6,
  rules: 24,
  authorizations: 120,
  users: 30,
  alerts: 200,
  activities: 60,
  audits: 60,
  /** Each with a configuration manager and an asset endpoint, every third with a battery. */
  routers: 24,
  subscriptions: 40,
};
export type EstateSize = Partial<Readonly<typeof usualSize>>;

const words = (text: string): readonly string[] => text.split(', ');
const regions = words('North, South, East, West, Central, Coast');
const sites = words('Depot, Clinic, Warehouse, Store, Plant, Office, Terminal, Garage, Kiosk');
const firstNames = words(
  'ada, ben, chloe, dana, emil, fatima, gus, hana, ivan, june, kofi, lena, milo, nora, omar, pia, quinn, rosa, sven, tara',
);
const receivers = words(
  'On-call pager, Operations board, Ticket desk, Security desk, Network team, Billing watch, Field crew, Night shift',
);
const alertTypes = [
  ...words('ethernet_wan_disconnected, modem_wan_disconnected, wwan_network_unavailable'),
  ...words('account_locked, login_success, cpu_utilization, memory_utilization'),
  ...words('data_cap_threshold, ipsec_tunnel_down, reboot_status_change, thermal_exceeds_limit'),
  ...words('geofence_proximity_change, connection_state, modem_wan_unplugged, sim_door_event'),
  'sustained_system_overload',
];
const fleets = ['fleet-a', 'fleet-b', ''];
/** As often as a word stands here, so likely it is; so with roles. */
const states = words(
  'ACTIVE, ACTIVE, ACTIVE, ACTIVE, PAUSE, ACTIVE_NO_BILLING, DEACTIVATED, TERMINATED',
);
const roles = words(
  'read_only_user, read_only_user, full_access_user, full_access_user, administrator, no_access',
);

const DAY = 86_400_000;
interface Ports {
  readonly random: Random;
  readonly clock: Clock;
}
type Pick = <T>(items: readonly T[]) => T;
const range = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index);

/** Every rule has another content, every pair of user and account one authorization at most. @throws RangeError where the pairs do not suffice. */
export function makeEstate({ random, clock, ...size }: EstateSize & Ports): Estate {
  const { accounts, authorizations, users, routers, ...counts } = { ...usualSize, ...size };
  if (accounts < 1 || authorizations > accounts * users)
    throw new RangeError(
      `${authorizations} authorizations need more than ${accounts} accounts and ${users} users`,
    );
  const pick: Pick = (items) =>
    items[Math.floor(random.fraction() * items.length)] as (typeof items)[number];
  let made = clock.now() - 400 * DAY;
  const minutely = { now: () => (made = Math.min(made + 60_000, clock.now())) };
  const uuid = timeUuids(minutely, random);
  const at = (): string => new Date(made).toISOString();

  const tree = accountTree(accounts, pick);
  const ids = tree.map(({ id }) => id as string);
  const root = ids[0] as string;
  const receiversMade = range(counts.destinations).map((index): JsonObject => {
    const name =
      (receivers[index % receivers.length] as string) +
      (index < receivers.length ? '' : ` ${Math.floor(index / receivers.length) + 1}`);
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
  const granted = grants(authorizations, ids, people, pick);
  const ruleRecords = range(counts.rules).map((index): JsonObject => ({
    alert_config_id: uuid(),
    account: root,
    ...ruleContent(index, ids, hooks, pick),
    updated_at: at(),
  }));
  const month = (count: number) => moments(count, { random, clock });
  return {
    version: 1,
    root,
    next_id: 200_000 + authorizations,
    records: {
      accounts: tree,
      alert_push_destinations: receiversMade,
      alert_rules: ruleRecords,
      account_authorizations: granted,
      configuration_managers: range(routers).map((index) => managerMade(index, ids)),
      alerts: month(counts.alerts).map((moment, index) =>
        alertMade(moment, index, ids, routers, pick),
      ),
      audit_logs: month(counts.audits).map(({ at: reported_at, id }) => ({
        account_id: pick(ids),
        reported_at,
        reported_at_timeuuid: id,
      })),
      batteries: range(Math.ceil(routers / 3)).map((index) => batteryMade(index, clock)),
      asset_endpoints: range(routers).map((index) => endpointMade(index, root)),
      subscriptions: range(counts.subscriptions).map((index) => subscriptionMade(index, pick)),
    },
    users: people,
    activity_logs: month(counts.activities).map((moment, index) =>
      activityMade(moment, index, granted, people, pick),
    ),
  };
}

/** The first is the root, the next few its regions, all others sites below one of those. */
function accountTree(count: number, pick: Pick): readonly JsonObject[] {
  const branches = Math.min(regions.length, Math.ceil(Math.sqrt(count)) - 1);
  return range(count).map((index) => {
    const id = String(100_001 + index);
    if (index === 0) return { id, account: null, name: 'Headquarters', is_disabled: false };
    if (index <= branches)
      return { id, account: '100001', name: `${regions[index - 1]} region`, is_disabled: false };
    return {
      id,
      account: String(100_002 + ((index - 1) % Math.max(1, branches))),
      name: `${pick(sites)} ${index - branches}`,
      is_disabled: index % 23 === 22,
    };
  });
}

/** The account and, as bits, the alert types follow from the index: no two rules are alike. */
function ruleContent(
  index: number,
  accounts: readonly string[],
  hooks: readonly string[],
  pick: Pick,
): JsonObject {
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
    return {
      id: String(70 + index),
      email: `${firstNames[index % firstNames.length]}${round === 0 ? '' : round + 1}@example.com`,
    };
  });
}

/** Two of three belong to a fleet, and most are active; every identifier follows from the index. */
function subscriptionMade(index: number, pick: Pick): JsonObject {
  const number = String(index + 1);
  const fleet = pick(fleets);
  return {
    imsi: `24001${number.padStart(10, '0')}`,
    iccid: `894601${number.padStart(13, '0')}`,
    msisdn: `4670${number.padStart(8, '0')}`,
    detectedImei: `35${number.padStart(13, '0')}`,
    enterprise: index % 10 === 9 ? '' : 'Example Logistics',
    state: pick(states),
    ...(fleet !== '' && {
      label: fleet,
      customFields: [{ fieldName: 'depot', fieldValue: pick(regions) }],
    }),
    customerNo: '1001',
  };
}

/** Pairs go round users first; the first user administers the root, so that nobody is locked out. */
function grants(
  count: number,
  accounts: readonly string[],
  users: readonly User[],
  pick: Pick,
): readonly JsonObject[] {
  return range(count).map((index) => {
    const user = (users[index % users.length] as User).id;
    const turn = Math.floor(index / users.length) + (index % users.length);
    const account = accounts[turn % accounts.length] as string;
    const role = index === 0 ? 'administrator' : pick(roles);
    return { id: String(200_000 + index), user, account, role };
  });
}

/** `id`: a time-based UUID of the time `at`, which is ISO 8601. */
type Moment = Readonly<Record<'at' | 'id', string>>;

/** So many moments of the last 30 days, the oldest first. */
function moments(count: number, { random, clock }: Ports): readonly Moment[] {
  let time = clock.now() - 30 * DAY;
  const uuid = timeUuids({ now: () => time }, random);
  const step = (30 * DAY) / (count + 1);
  return range(count).map(() => {
    time += step;
    return { at: new Date(time).toISOString(), id: uuid() };
  });
}

const routerOf = (index: number): string => String(5001 + index);

/** Every seventh about an account, all others about a router. */
function alertMade(
  { at, id }: Moment,
  index: number,
  accounts: readonly string[],
  routers: number,
  pick: Pick,
): JsonObject {
  const type = pick(alertTypes);
  const router = index % 7 === 6 || routers === 0 ? null : routerOf(index % routers);
  return {
    created_at_timeuuid: id,
    created_at: at,
    detected_at: new Date(Date.parse(at) - 2000).toISOString(),
    type,
    account: router === null ? pick(accounts) : null,
    router,
    friendly_info: `${type.replaceAll('_', ' ')} on ${router === null ? 'the account' : `router ${router}`}`,
    info: {
      alert_type: type,
      info: { reason: 'seen', uid: `port-${index % 4}` },
      status: 'new',
      time: [at, 'UTC'],
      type,
    },
  };
}

/** Roles given by people in turn with what routers and the service itself did. */
function activityMade(
  { id: entry, at }: Moment,
  index: number,
  authorizations: readonly JsonObject[],
  people: readonly User[],
  pick: Pick,
): JsonObject {
  const granted =
    index % 2 === 0 ? authorizations[index % Math.max(1, authorizations.length)] : undefined;
  const doer = pick(people);
  if (!granted || !doer)
    return {
      account: null,
      action: {
        id: entry,
        timestamp: at,
        ...coded('action', 'register'),
        before: null,
        after: null,
      },
      actor: { id: system.id, ...coded('actor', system.type_name) },
      object: { id: routerOf(index % 24), ...coded('object', 'router') },
    };
  const { account, id, role } = granted as Readonly<Record<string, string>>;
  const users = new Map(people.map((user) => [user.id, user]));
  return {
    account: account as string,
    action: {
      id: entry,
      timestamp: at,
      ...coded('action', 'update'),
      before: { role: 'no_access' },
      after: { role: role as string },
    },
    actor: { ...doer, ...coded('actor', 'sso_user') },
    object: loggedObject('account_authorizations', id as string, granted, users),
  };
}

/** Every eighth has its sync paused, and is behind. */
function managerMade(index: number, accounts: readonly string[]): JsonObject {
  const suspended = index % 8 === 5;
  const tree = (mtu: number): JsonObject => ({
    system: { system_id: `router-${index + 1}`, users: { admin: { password: LIVE_MASK } } },
    lan: { main: { mtu, dhcp: index % 3 !== 2 } },
    wan: { rules: { primary: { priority: 1 }, backup: { priority: 2 } } },
  });
  return {
    id: String(6001 + index),
    account: accounts[index % accounts.length] as string,
    router: routerOf(index),
    suspended,
    synched: !suspended,
    version_number: 3 + (index % 5),
    configuration: [tree(1500), []],
    target: [tree(1500), []],
    actual: [tree(suspended ? 1400 : 1500), []],
    pending: [suspended ? { lan: tree(1500).lan as Json } : {}, []],
  };
}

function batteryMade(index: number, clock: Clock): JsonObject {
  const updated_at = new Date(clock.now() - index * 60_000).toISOString();
  const charge = 100 - ((index * 13) % 90);
  return {
    id: String(7001 + index),
    router: routerOf(index * 3),
    type: 'Li-ion',
    manufacturer: 'Example Cells',
    serial: `BAT-${7001 + index}`,
    status: charge > 20 ? 'charging' : 'low',
    health: 100 - (index % 12),
    rsoc: charge,
    temp: 21 + (index % 9),
    milliamps: 480,
    millivolts: 7400 + charge,
    time_remaining: null,
    created_at: new Date(clock.now() - 200 * DAY).toISOString(),
    updated_at,
  };
}

function endpointMade(index: number, tenant: string): JsonObject {
  const model = index % 3 === 0 ? 'E100' : 'R1900';
  const subscriptions = index % 4 === 0 ? [9001 + index, 9501 + index] : [9001 + index];
  return {
    id: String(8001 + index),
    hardware_series: model,
    hardware_series_key: `c0ffee00-0000-4000-8000-${model.slice(1).padStart(12, '0')}`,
    mac_address: (0x00304400_0000 + index).toString(16).toUpperCase().padStart(12, '0'),
    serial_number: `SN${String(index + 1).padStart(8, '0')}`,
    tenants: tenant,
    subscriptions: index % 5 === 4 ? [] : subscriptions.map(String),
  };
}
