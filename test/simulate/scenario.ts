// What one seed stands for: what is live at first, what is declared run by run, how the service behaves, what other hands
// do, and what becomes of each run. Everything is drawn here, so that the same seed is the same scenario.
import type { Estate, Fault } from '../../src/emulator/index.js';
import {
  defaultSettings,
  Reference,
  type Declaration,
  type JsonObject,
  type Settings,
  type Values,
} from '../../src/model/index.js';
import { declare } from '../support/planning.js';
import { seededRandom } from '../support/simulated.js';
import { allowable } from '../support/rule-names.js';

/** Milliseconds: how long a service may show a write late, and a request without an answer may still land. */
export const SETTLE = 60_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const ACCOUNTS = 'accounts';
export const DESTINATIONS = 'alert_push_destinations';
export const RULES = 'alert_rules';
const AUTHORIZATIONS = 'account_authorizations';
const MANAGERS = 'configuration_managers';
export const ROOT = '1';

/** Something another hand does: `pick` (0 to 1) says to which object. */
export interface Foreign {
  readonly what: 'equal' | 'alike' | 'other' | 'declared' | 'undeclared' | 'delete' | 'replace';
  readonly pick: number;
}

/** What happens when the run sends its nth request (0: before the run). */
export interface Event {
  readonly at: number;
  readonly foreign?: Foreign;
  /** The clock of the machine is set by so many milliseconds. */
  readonly step?: number;
  /** The run stands still: its request waits, or the answer does. */
  readonly freeze?: {
    readonly milliseconds: number;
    readonly asleep: boolean;
    readonly answered: boolean;
  };
}

export type Kill =
  { readonly boundary: number } | { readonly write: number; readonly when: 'before' | 'after' };

export interface Phase {
  /** Which of the versions is applied. */
  readonly version: number;
  /** Milliseconds since the phase before. */
  readonly gap: number;
  readonly place: 'same' | 'boot' | 'host';
  readonly loses: boolean;
  readonly faults: readonly Fault[];
  readonly events: readonly Event[];
  readonly kill?: Kill;
  readonly allow: readonly string[];
  /** Indices into the declarations of the version. */
  readonly targets: readonly number[];
  /** How long the person takes to approve, and what happens meanwhile. */
  readonly approval?: { readonly milliseconds: number; readonly foreign?: Foreign };
}

export interface Scenario {
  readonly seed: number;
  readonly estate: Estate;
  readonly page: number;
  /** Whether listings of accounts go by offset. */
  readonly offsets: boolean;
  readonly lag: {
    readonly POST: number;
    readonly PUT: number;
    readonly PATCH: number;
    readonly DELETE: number;
    readonly flicker: boolean;
  };
  /** Milliseconds by which the clock of the service is ahead; `tells`: whether answers carry it. */
  readonly service: { readonly ahead: number; readonly tells: boolean };
  readonly versions: readonly (readonly Declaration[])[];
  readonly policy: Settings['policy'];
  readonly phases: readonly Phase[];
  readonly parallelism: number;
}

interface Item {
  readonly address: string;
  readonly kind: string;
  values: Values;
  readonly refers: readonly string[];
}

interface Dice {
  chance(share: number): boolean;
  int(least: number, most: number): number;
  pick<T>(items: readonly T[]): T;
  some<T>(items: readonly T[], share: number): readonly T[];
  fraction(): number;
}

function diceOf(seed: number): Dice {
  const { fraction } = seededRandom(seed);
  // Neighbouring seeds begin alike.
  for (let throws = 0; throws < 4; throws += 1) fraction();
  const int = (least: number, most: number): number =>
    least + Math.floor(fraction() * (most - least + 1));
  const chance = (share: number): boolean => fraction() < share;
  return {
    fraction,
    int,
    chance,
    pick: (items) => items[int(0, items.length - 1)] as (typeof items)[number],
    some: (items, share) => items.filter(() => chance(share)),
  };
}

const idOf = (item: Item): Reference =>
  new Reference(
    'declared',
    item.address,
    item.kind === DESTINATIONS ? 'destination_config_id' : 'id',
  );

function drawItems(dice: Dice): Item[] {
  const items: Item[] = [];
  const add = (kind: string, values: Values, refers: readonly Item[] = []): Item => {
    const item = {
      address: `${kind}.x${items.length}`,
      kind,
      values,
      refers: refers.map(({ address }) => address),
    };
    items.push(item);
    return item;
  };
  const many = dice.chance(0.25);
  const accounts: Item[] = [];
  for (let count = dice.int(1, many ? 12 : 4); count > 0; count -= 1) {
    const parent = accounts.length > 0 && dice.chance(0.25) ? dice.pick(accounts) : undefined;
    const account = parent ? { account: idOf(parent) } : dice.chance(0.5) ? { account: ROOT } : {};
    accounts.push(
      add(
        ACCOUNTS,
        {
          name: `Site ${items.length}`,
          ...account,
          ...(dice.chance(0.2) && { is_disabled: false }),
        },
        parent ? [parent] : [],
      ),
    );
  }
  const destinations: Item[] = [];
  for (let count = dice.int(1, many ? 8 : 3); count > 0; count -= 1)
    destinations.push(
      add(DESTINATIONS, {
        name: `Pager ${items.length}`,
        endpoint: { url: `https://hooks.example.com/${items.length}` },
        ...(dice.chance(0.6) && { enabled: true }),
      }),
    );
  for (let count = dice.int(1, many ? 8 : 4); count > 0; count -= 1) {
    const [scope, heard] = [dice.some(accounts, 0.3), dice.some(destinations, 0.4)];
    const number = items.length;
    add(
      RULES,
      {
        associated_accounts: scope.length === 0 ? [ROOT] : scope.map(idOf),
        filter_criteria: { alert_type__in: [`type_${number}`, `more_${number}`] },
        ...(heard.length > 0 && { http_destinations: heard.map(idOf) }),
      },
      [...scope, ...heard],
    );
  }
  if (dice.chance(0.3))
    add(AUTHORIZATIONS, { user: '77', account: ROOT, role: 'full_access_user' });
  if (dice.chance(0.3))
    add(MANAGERS, { router: '12', configuration: [{ lan: { mtu: 1500 } }, []] });
  return items;
}

/** The same object, declared otherwise. */
function changed(dice: Dice, item: Item, version: number): Values {
  const { values } = item;
  switch (item.kind) {
    case ACCOUNTS:
      return dice.chance(0.5)
        ? { ...values, name: `${String(values.name)} v${version}` }
        : { ...values, is_disabled: true };
    case DESTINATIONS:
      return dice.chance(0.5)
        ? { ...values, endpoint: { url: `https://hooks.example.com/v${version}/${item.address}` } }
        : { ...values, enabled: values.enabled !== true };
    case RULES: {
      const types = (values.filter_criteria as { readonly alert_type__in: readonly string[] })
        .alert_type__in;
      return dice.chance(0.5)
        ? { ...values, schedule: 'daily' }
        : {
            ...values,
            filter_criteria: { alert_type__in: [...types, `later_${version}_${types[0]}`] },
          };
    }
    case AUTHORIZATIONS:
      return { ...values, role: 'read_only_user' };
    default:
      return { ...values, configuration: [{ lan: { mtu: 1400 + version } }, []] };
  }
}

/** Two or three versions of the declarations. */
function drawVersions(dice: Dice, first: readonly Item[]): readonly (readonly Declaration[])[] {
  const versions: (readonly Declaration[])[] = [];
  const late = new Set(dice.some(first, 0.15).map(({ address }) => address));
  const usable = (items: readonly Item[]): readonly Item[] =>
    items.filter((item) =>
      item.refers.every((address) => items.some((other) => other.address === address)),
    );
  const settled = (items: readonly Item[]): readonly Item[] => {
    const left = usable(items);
    return left.length === items.length ? left : settled(left);
  };
  let items = settled(first.filter(({ address }) => !late.has(address)));
  if (items.length === 0) items = settled(first);
  for (let version = 1; version <= 3; version += 1) {
    versions.push(items.map(({ address, values }) => declare(address, values)));
    const gone = new Set(dice.some(items, 0.08).map(({ address }) => address));
    const share = dice.pick([0, 0.1, 0.3]);
    const kept = items
      .filter(({ address }) => !gone.has(address))
      .map((item) =>
        dice.chance(share) ? { ...item, values: changed(dice, item, version + 1) } : item,
      );
    const news =
      version === 1
        ? first.filter(
            ({ address }) => late.has(address) && !items.some((one) => one.address === address),
          )
        : [];
    const next = settled([...kept, ...news]);
    if (next.length > 0) items = next;
  }
  return versions;
}

const timeId = (number: number): string =>
  `${number.toString(16).padStart(8, '0')}-1111-11f0-8000-000000000001`;

/** What a declaration is as a record, for live objects of these ids. */
export function recordOf(values: Values, ids: ReadonlyMap<string, string>): JsonObject {
  const plain = (value: unknown): unknown => {
    if (value instanceof Reference) return ids.get(value.target) ?? '0';
    if (Array.isArray(value)) return value.map(plain);
    return typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
      : value;
  };
  return plain(values) as JsonObject;
}

const idNames: Readonly<Record<string, string>> = {
  [DESTINATIONS]: 'destination_config_id',
  [RULES]: 'alert_config_id',
};
export const idNameOf = (kind: string): string => idNames[kind] ?? 'id';

/** Near-equals: most likely the same object, of which nobody remembers that it is ours. */
export function alike(kind: string, record: JsonObject): JsonObject {
  if (kind !== RULES) return { ...record, name: `${String(record.name).toUpperCase()} ` };
  const types = (record.filter_criteria as { readonly alert_type__in: readonly string[] })
    .alert_type__in;
  return { ...record, filter_criteria: { alert_type__in: [...types, `extra_${types[0]}`] } };
}

function drawEstate(dice: Dice, items: readonly Item[]): Estate {
  const records: Record<string, JsonObject[]> = {
    [ACCOUNTS]: [{ id: ROOT, name: 'Headquarters', account: null }],
    [DESTINATIONS]: [],
    [RULES]: [],
    [AUTHORIZATIONS]: [
      {
        id: '9',
        user: '77',
        account: ROOT,
        role: dice.chance(0.7) ? 'full_access_user' : 'administrator',
      },
      { id: '10', user: '78', account: ROOT, role: 'administrator' },
    ],
    [MANAGERS]: [],
  };
  const documents = (mtu: number): JsonObject => ({
    lan: { mtu, dhcp: true },
    wan: { rules: { theirs: { prio: 1 } } },
  });
  const managed = documents(dice.chance(0.5) ? 1500 : 1400);
  records[MANAGERS]?.push({
    id: '30',
    router: '12',
    account: ROOT,
    configuration: [managed, []],
    target: [managed, []],
    actual: [managed, []],
  });
  const ids = new Map<string, string>();
  let number = 100;
  const put = (kind: string, record: JsonObject): string => {
    number += 1;
    const id = idNames[kind] === undefined ? String(number) : timeId(number);
    records[kind]?.push({
      ...(kind === ACCOUNTS && { account: ROOT }),
      ...record,
      [idNameOf(kind)]: id,
    });
    return id;
  };
  const [here, near] = [dice.pick([0, 0.2, 0.6, 1]), dice.pick([0, 0, 0.1])];
  const filler = dice.chance(0.4) ? dice.int(1, 12) : 0;
  for (let count = 0; count < filler; count += 1)
    put(dice.pick([ACCOUNTS, DESTINATIONS]), { name: `Theirs ${count}` });
  for (const item of items) {
    if (
      ![ACCOUNTS, DESTINATIONS, RULES].includes(item.kind) ||
      !item.refers.every((address) => ids.has(address))
    )
      continue;
    const record = recordOf(item.values, ids);
    if (dice.chance(near)) put(item.kind, alike(item.kind, record));
    else if (dice.chance(here)) {
      const differs =
        item.kind === DESTINATIONS && dice.chance(0.15)
          ? { endpoint: { url: 'https://hooks.example.com/other' } }
          : {};
      ids.set(item.address, put(item.kind, { ...record, ...differs }));
    }
  }
  return {
    version: 1,
    root: ROOT,
    next_id: 1000,
    records,
    users: [{ id: '77', email: 'dana@example.com' }],
  };
}

const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

function drawFaults(dice: Dice): readonly Fault[] {
  const faults: Fault[] = [];
  for (let count = dice.chance(0.5) ? 0 : dice.int(1, 3); count > 0; count -= 1) {
    const base = {
      method: dice.pick([...methods, 'POST', 'POST']),
      after: dice.int(0, 4),
      times: dice.pick([1, 1, 2, 5]),
    };
    const name = dice.pick([
      'status',
      'status',
      'reset-before',
      'reset-after',
      'truncate',
      'html',
      'late',
    ] as const);
    if (name === 'status') faults.push({ name, value: dice.pick([500, 429, 503, 400]), ...base });
    // A request lands, and is shown, within the settle time: one delay, not two behind one another.
    else if (name !== 'late') faults.push({ name, ...base });
    else if (faults.every((one) => one.name !== 'late'))
      faults.push({
        name,
        value: dice.int(1, 25_000),
        ...(dice.chance(0.5) && { mode: 'reset' as const }),
        ...base,
      });
  }
  if (dice.chance(0.1))
    faults.push({
      name: dice.pick(['status', 'reset-before'] as const),
      value: 500,
      method: 'GET',
      after: dice.int(0, 8),
      times: dice.pick([1, 2, 9]),
    });
  if (dice.chance(0.15))
    faults.push({
      name: 'page-shift',
      ...(dice.chance(0.6) && { mode: 'remove' as const }),
      method: 'GET',
      path: dice.pick([`/${ACCOUNTS}/`, DESTINATIONS, RULES]),
      after: dice.int(0, 3),
      times: 1,
    });
  return faults;
}

const drawForeign = (dice: Dice): Foreign => ({
  what: dice.pick([
    'equal',
    'equal',
    'alike',
    'other',
    'declared',
    'undeclared',
    'delete',
    'replace',
  ]),
  pick: dice.fraction(),
});

function drawPhases(dice: Dice, versions: Scenario['versions'], others: boolean): readonly Phase[] {
  const phases: Phase[] = [];
  let version = 0;
  for (let count = dice.pick([1, 2, 2, 3]); count > 0; count -= 1) {
    if (phases.length > 0 && dice.chance(0.6)) version = Math.min(version + 1, versions.length - 1);
    const events: Event[] = [];
    if (others && dice.chance(0.4))
      for (let some = dice.int(1, 3); some > 0; some -= 1)
        events.push({ at: dice.pick([0, dice.int(1, 20)]), foreign: drawForeign(dice) });
    if (dice.chance(0.3)) events.push({ at: dice.int(0, 12), step: dice.int(-30, 30) * MINUTE });
    if (dice.chance(0.2))
      events.push({
        at: dice.int(1, 15),
        freeze: {
          milliseconds: dice.pick([dice.int(1, 90_000), dice.int(1, HOUR)]),
          asleep: dice.chance(0.5),
          answered: dice.chance(0.5),
        },
      });
    const slow = dice.chance(0.1);
    const declared = versions[version] ?? [];
    phases.push({
      version,
      gap: dice.pick([0, 0, dice.int(0, 20_000), dice.int(0, 90_000), dice.int(0, HOUR)]),
      place: dice.chance(0.7) ? 'same' : dice.pick(['boot', 'host']),
      loses: phases.length > 0 && dice.chance(0.1),
      faults: drawFaults(dice),
      events,
      ...(dice.chance(0.4) && {
        kill: dice.chance(0.6)
          ? { boundary: dice.int(1, dice.pick([12, 90])) }
          : { write: dice.int(1, 6), when: dice.pick(['before', 'after'] as const) },
      }),
      allow: dice.chance(0.3)
        ? []
        : dice.chance(0.5)
          ? allowable
          : allowable.filter(
              (rule) =>
                rule !== 'possible-duplicate' && rule !== 'first-run' && rule !== 'max-changed',
            ),
      targets: dice.chance(0.1) ? [dice.int(0, declared.length - 1)] : [],
      ...(slow && {
        approval: {
          milliseconds: dice.int(1, HOUR),
          ...(others && { foreign: drawForeign(dice) }),
        },
      }),
    });
  }
  return phases;
}

export function draw(seed: number): Scenario {
  const dice = diceOf(seed);
  const items = drawItems(dice);
  const versions = drawVersions(dice, items);
  const lag = (): number => (dice.chance(0.4) ? 0 : dice.int(1, dice.pick([2000, 30_000])));
  const others = dice.chance(0.6);
  return {
    seed,
    estate: drawEstate(dice, items),
    page: dice.pick([2, 3, 5, 20, 500, 500]),
    offsets: dice.chance(0.5),
    lag: { POST: lag(), PUT: lag(), PATCH: lag(), DELETE: lag(), flicker: dice.chance(0.25) },
    service: {
      ahead: dice.chance(0.6) ? 0 : dice.pick([dice.int(-90, 90) * MINUTE, dice.int(-3, 3) * DAY]),
      tells: dice.chance(0.8),
    },
    versions,
    policy: dice.chance(0.7)
      ? defaultSettings.policy
      : { max_deletes: dice.int(0, 3), max_changed_percent: dice.pick([10, 50, 100]) },
    phases: drawPhases(dice, versions, others),
    parallelism: dice.pick([1, 3, 10]),
  };
}
