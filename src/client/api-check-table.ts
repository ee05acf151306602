// The checks of assumptions about v2 and v3, named after the entries of the ledger in docs/explanation/api.md. First what
// they share: readings, and verdicts over all records of a page or of a filtered listing.
import {
  idOf,
  isKind,
  isObject,
  isTree,
  unescapeAll,
  urlFrom,
  uuidTicks,
  valueAt,
  walk,
  type Attribute,
  type Collections,
  type Json,
  type JsonObject,
  type Kind,
  type Values,
  isList,
  writable,
} from '../model/index.js';
import type { Dialect } from './dialect.js';
import { Malformed, parseResponse } from './response.js';
import { httpDate } from './retry.js';
import type { HttpResponse } from './transport.js';

export interface CheckResult {
  /** `unchecked`: this account has no objects or no right to check it with. */
  readonly verdict: 'ok' | 'note' | 'bad' | 'unchecked';
  readonly detail: string;
}

interface Records {
  readonly records: readonly JsonObject[];
  /** The query of the next page; null at the end. */
  readonly next: string | null;
}

/** The readings of checks. Equal requests are sent once. */
export interface Facts {
  readonly collections: Collections;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The raw response. @throws Refusal for a status that is not in `statuses` */
  readonly response: (
    collection: string,
    query: Readonly<Record<string, string>> | string,
    how?: { readonly id?: string; readonly statuses?: readonly number[] },
  ) => Promise<HttpResponse>;
  /** A page as the client reads it. @throws Malformed, Refusal */
  readonly page: (
    collection: string,
    query: Readonly<Record<string, string>> | string,
  ) => Promise<Records>;
  readonly dialect: (collection: string) => Dialect;
}

type ApiCheck = (facts: Facts) => Promise<CheckResult>;

const ok = (detail: string): CheckResult => ({ verdict: 'ok', detail });
const note = (detail: string): CheckResult => ({ verdict: 'note', detail });
const bad = (detail: string): CheckResult => ({ verdict: 'bad', detail });
const unchecked = (detail: string): CheckResult => ({ verdict: 'unchecked', detail });

/** Bad if `wrong` finds an error in an item; unchecked if there are no items. `what`: a plural noun. */
function verdictOn<T>(
  items: readonly T[],
  what: string,
  wrong: (item: T) => string | readonly string[] | undefined,
): CheckResult {
  if (items.length === 0) return unchecked(`there are no ${what}`);
  const found = items.flatMap((item) => wrong(item) ?? []);
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  return found.length === 0 ? ok(`${items.length} ${what}`) : bad(`${found[0]}${more}`);
}

/** The check whether anything is wrong with any of what `read` gives. */
const eachOf =
  <T>(
    what: string,
    read: (facts: Facts) => Promise<readonly T[]>,
    wrong: (item: T, facts: Facts) => string | readonly string[] | undefined,
  ): ApiCheck =>
  async (facts) =>
    verdictOn(await read(facts), what, (item) => wrong(item, facts));

/** Bad if something is wrong. */
const okUnless = (wrong: string | undefined, detail: string): CheckResult =>
  wrong === undefined ? ok(detail) : bad(wrong);

/** A finding that is fine but for values nobody has described. */
const withOthers = (found: CheckResult, others: readonly unknown[]): CheckResult =>
  found.verdict === 'ok' && others.length > 0
    ? note(`there are others: ${others.map(shortText).join(', ')}`)
    : found;

/** A check that is about the form of the response: a malformed one is bad, and not merely unseen. */
const aboutForm =
  (check: ApiCheck): ApiCheck =>
  (facts) =>
    check(facts).catch((error: unknown) => {
      if (error instanceof Malformed) return bad(`the response ${error.message}`);
      throw error;
    });

/** Whether pages have the size that is asked for: 1, and the largest there is. `what`: a plural. */
const pageSizes =
  (name: string, what: string, parameter: string, largest: number): ApiCheck =>
  async (facts) => {
    const small = await facts.page(name, { [parameter]: '1' });
    const large = await facts.page(name, { [parameter]: String(largest) });
    if (small.records.length > 1)
      return bad(`${parameter}=1 gives ${small.records.length} ${what}`);
    if (large.records.length < 2) return unchecked(`there are not two ${what}`);
    if (small.next === null) return bad(`${parameter}=1 gives one of several ${what}, and no next`);
    return large.next !== null && large.records.length < largest
      ? bad(`${parameter}=${largest} gives ${large.records.length} ${what}, and more follow`)
      : ok(`1 and ${largest}`);
  };

const pluralName = (name: string): string => name.replaceAll('_', ' ');

const shortText = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value ?? null)).slice(0, 100);

/** An id as a filter or path takes it. */
const idIn = (record: JsonObject, name: string): string =>
  isObject(record[name]) ? '' : String(record[name] ?? '');

/** An identifier of the form that `known` have and that none of them is. */
function unrelatedTo(known: readonly string[]): string {
  if (known.some((id) => !/^\d+$/.test(id))) return '00000000-0000-1000-8000-000000000000';
  const taken = new Set(known);
  let id = 2_147_483_646;
  while (taken.has(String(id))) id -= 1;
  return String(id);
}

/** First page of the largest size. */
const wholePage = (facts: Facts, name: string) => facts.page(name, { limit: '500' });

/** The fault of a response to a filter that nothing meets; undefined if it is empty. */
async function notEmpty(
  facts: Facts,
  name: string,
  filter: string,
  value: string,
): Promise<string | undefined> {
  const { records } = await facts.page(name, { [filter]: value, limit: '1' });
  return records.length === 0
    ? undefined
    : `${pluralName(name)}: ${filter} of something that does not exist gives records, as if it were ignored`;
}

const isInteger = (value: Json | undefined): boolean =>
  (typeof value === 'number' && Number.isSafeInteger(value)) ||
  (typeof value === 'string' && /^\d+$/.test(value));

const kindsOf = ({ collections }: Facts): readonly Kind[] =>
  [...collections.values()].filter(isKind).filter(({ operations }) => operations.dialect === 'v2');

/** Records of several collections, each with the name of its own. */
async function recordsOf(facts: Facts, names: readonly string[], limit = '500') {
  const lists = names.map(async (name) => {
    const { records } = await facts.page(name, { limit });
    return records.map((record) => [name, record] as const);
  });
  return (await Promise.all(lists)).flat();
}

const MANAGERS = 'configuration_managers';
const DESTINATIONS = 'alert_push_destinations';

const whole = (name: string) => async (facts: Facts) => (await wholePage(facts, name)).records;
const some = (name: string) => async (facts: Facts) =>
  (await facts.page(name, { limit: '20' })).records;

/** Managers without those records that stand for nothing. */
const managersIn = async (facts: Facts): Promise<readonly JsonObject[]> =>
  (await whole(MANAGERS)(facts)).filter(({ id }) => id !== '');

const inDestinations = (path: string) => async (facts: Facts) =>
  (await whole(DESTINATIONS)(facts)).flatMap((record) => valueAt(record, path) ?? []);

/** The listing of accounts if it fits one page; undefined if more follows. */
async function allAccounts(facts: Facts): Promise<readonly JsonObject[] | undefined> {
  const { records, next } = await wholePage(facts, 'accounts');
  return next === null ? records : undefined;
}

const TOO_MANY = 'the accounts do not fit one page';

async function listings(facts: Facts): Promise<CheckResult> {
  const names = [...facts.collections.values()].flatMap(({ name, operations }) =>
    operations.dialect === 'v2' && !operations.needs ? [name] : [],
  );
  const [read, unread]: [string[], string[]] = [[], []];
  for (const name of names) {
    try {
      await facts.page(name, { limit: '1' });
      read.push(name);
    } catch (error) {
      if (error instanceof Malformed)
        return bad(`${pluralName(name)}: the response ${error.message}`);
      unread.push(pluralName(name));
    }
  }
  if (read.length === 0) return unchecked('no collection can be read');
  return ok(
    `${read.length} collections${unread.length > 0 ? `; not checked: ${unread.join(', ')}` : ''}`,
  );
}

async function offset(facts: Facts): Promise<CheckResult> {
  const first = await facts.page('accounts', { limit: '1' });
  if (first.next === null) return unchecked('there are not two accounts');
  const led = await facts.page('accounts', first.next);
  const skipped = await facts.page('accounts', { limit: '1', offset: '1' });
  const ids = [first, led, skipped].map(({ records }) => shortText(records[0]?.['id']));
  if (ids[0] === ids[2]) return bad('offset=1 gives the first account again');
  return ids[1] === ids[2]
    ? ok('offset=1 gives what next leads to')
    : bad('offset=1 gives another account than next leads to');
}

/** The check of one kind after the other. @param none why nothing could be checked @param check what is wrong of a kind, or whether it could be checked */
const ofKinds =
  (none: string, check: (facts: Facts, kind: Kind) => Promise<string | boolean>): ApiCheck =>
  async (facts) => {
    const checked: string[] = [];
    for (const kind of kindsOf(facts)) {
      const found = await check(facts, kind);
      if (typeof found === 'string') return bad(found);
      if (found) checked.push(pluralName(kind.name));
    }
    return checked.length > 0 ? ok(checked.join(', ')) : unchecked(none);
  };

async function cursor(facts: Facts, { name, id, operations }: Kind): Promise<string | boolean> {
  if (operations.paging !== 'next') return false;
  const first = await facts.page(name, { limit: '1' });
  if (first.next === null) return false;
  const second = await facts.page(name, first.next);
  return (
    shortText(first.records[0]?.[id]) !== shortText(second.records[0]?.[id]) ||
    `${pluralName(name)}: next leads to the same record again`
  );
}

async function idsOf(facts: Facts, { name, id }: Kind): Promise<readonly string[]> {
  return (await whole(name)(facts)).map((record) => idIn(record, id)).filter(Boolean);
}

async function filterIn(facts: Facts, kind: Kind): Promise<string | boolean> {
  const { name, id, operations } = kind;
  const { by_ids: filter } = operations;
  if (filter === undefined) return false;
  const ids = await idsOf(facts, kind);
  // Fewer than there are: a filter that is ignored has to show.
  const some = ids.slice(0, Math.min(2, ids.length - 1));
  if (some.length === 0) return false;
  const asked = { [filter]: [...some, unrelatedTo(ids)].join(','), limit: '500' };
  const { records } = await facts.page(name, asked);
  const found = records.map((record) => idIn(record, id));
  return (
    (found.length === some.length && some.every((one) => found.includes(one))) ||
    `${pluralName(name)}: ${filter} of ${some.length} that exist and one that does not gives ${found.length}`
  );
}

async function filterUnknown(facts: Facts, kind: Kind): Promise<string | boolean> {
  const ids = await idsOf(facts, kind);
  if (ids.length === 0) return false;
  return (await notEmpty(facts, kind.name, kind.operations.by_id, unrelatedTo(ids))) ?? true;
}

async function filterName(facts: Facts): Promise<CheckResult> {
  const records = await whole('accounts')(facts);
  const one = records.find(({ name }) => typeof name === 'string' && name !== '');
  if (!one) return unchecked('there are no accounts with a name');
  const unknown = `no account of this name ${unrelatedTo([])}`;
  const wrong = await notEmpty(facts, 'accounts', 'name', unknown);
  if (wrong !== undefined) return bad(wrong);
  const name = String(unescapeAll(one['name']!));
  const named = (await facts.page('accounts', { name, limit: '500' })).records;
  if (!named.some((record) => idIn(record, 'id') === idIn(one, 'id')))
    return bad('name= of an account that is listed does not give it');
  return named.every((record) => unescapeAll(record['name'] ?? null) === name)
    ? ok('one that exists, and one that does not')
    : bad('name= gives accounts of other names');
}

async function roots(facts: Facts): Promise<CheckResult> {
  const accounts = await allAccounts(facts);
  if (!accounts) return unchecked(TOO_MANY);
  const ids = new Set(accounts.map((record) => idIn(record, 'id')));
  const count = accounts.filter(({ account }) => !ids.has(idOf(account) ?? '')).length;
  return count === 1
    ? ok(`${accounts.length} accounts below one`)
    : bad(`${count} of ${accounts.length} accounts have a parent that is not listed`);
}

/** Milliseconds since 1970 of a UUID of version 1; undefined for anything else. */
function timeOf(id: unknown): number | undefined {
  const ticks = typeof id === 'string' ? uuidTicks(id) : undefined;
  return ticks === undefined ? undefined : Number(ticks / 10_000n) - 12_219_292_800_000;
}

const DAY = 86_400_000;

async function references(facts: Facts): Promise<CheckResult> {
  const accounts = await allAccounts(facts);
  if (!accounts) return unchecked(TOO_MANY);
  const ids = new Set(accounts.map((record) => idIn(record, 'id')));
  const records = await recordsOf(facts, ['alert_rules', DESTINATIONS, MANAGERS]);
  const naming = records.filter(
    ([, { id, account }]) => id !== '' && account !== null && account !== undefined,
  );
  return verdictOn(naming, 'references', ([name, { account }]) => {
    const id = idOf(account);
    return id !== null && ids.has(id)
      ? undefined
      : `${pluralName(name)}: the account ${shortText(account)} is not listed`;
  });
}

async function timestamps(facts: Facts): Promise<CheckResult> {
  const records = [
    ...(await recordsOf(facts, ['alert_rules', DESTINATIONS])),
    ...(await recordsOf(facts, ['alerts', 'activity_logs'], '20')),
  ];
  const times = records.flatMap(([name, record]) =>
    [...walk(facts.collections.get(name)?.attributes ?? {})].flatMap(([path, { wire }]) => {
      const value = wire === 'timestamp' ? (valueAt(record, path) ?? null) : null;
      return value === null ? [] : [{ what: `${pluralName(name)}: ${path}`, value }];
    }),
  );
  return verdictOn(times, 'times', ({ what, value }) =>
    typeof value === 'string' && /(?:Z|\+00:00)$/.test(value) && !Number.isNaN(Date.parse(value))
      ? undefined
      : `${what} is ${shortText(value)}`,
  );
}

async function schedules(facts: Facts): Promise<CheckResult> {
  const records = await whole('alert_rules')(facts);
  const found = verdictOn(records, 'rules', ({ schedule = null }) =>
    schedule === null || typeof schedule === 'string'
      ? undefined
      : `schedule is ${shortText(schedule)}`,
  );
  const others = new Set(records.map(({ schedule }) => schedule ?? 'daily'));
  others.delete('daily');
  return withOthers(found, [...others]);
}

const isDocument = (value: Json | undefined): boolean =>
  isList(value) && value.length === 2 && isTree(value[0]) && Array.isArray(value[1]);

async function managerOfRouter(facts: Facts): Promise<CheckResult> {
  const managers = await managersIn(facts);
  const routers = managers.map(({ router }) => idOf(router) ?? '');
  const [router = ''] = routers;
  if (router === '') return unchecked('there are no configuration managers with a router');
  const { records } = await facts.page(MANAGERS, { router, limit: '500' });
  if (records.length !== 1 || idOf(records[0]?.['router']) !== router)
    return bad(`router= gives ${records.length} configuration managers, not the one of the router`);
  const wrong = await notEmpty(facts, MANAGERS, 'router', unrelatedTo(routers));
  return okUnless(wrong, 'a router that exists, and one that does not');
}

const tomorrow = ({ now }: Facts): string => new Date(now() + DAY).toISOString();

async function activityFilters(facts: Facts): Promise<CheckResult> {
  const records = await some('activity_logs')(facts);
  if (records.length === 0) return unchecked('the activity log is empty');
  const ids = records.map((record) => shortText(valueAt(record, 'object.id')));
  const wrong =
    (await notEmpty(facts, 'activity_logs', 'action__timestamp__gte', tomorrow(facts))) ??
    (await notEmpty(facts, 'activity_logs', 'object__id', unrelatedTo(ids)));
  return okUnless(wrong, 'a time to come, and an object that does not exist, give nothing');
}

async function auditRecords(facts: Facts): Promise<CheckResult> {
  const { records } = await facts.page('audit_logs', { limit: '1' });
  if (records.length === 0) return unchecked('the audit log is empty');
  const wrong = await notEmpty(facts, 'audit_logs', 'reported_at__gt', tomorrow(facts));
  return okUnless(wrong, 'a time to come gives nothing');
}

async function batteries(facts: Facts): Promise<CheckResult> {
  const router = (await managersIn(facts)).flatMap((record) => idOf(record['router']) ?? [])[0];
  if (router === undefined) return unchecked('no router is known');
  return aboutForm(async () => {
    const { records } = await facts.page('batteries', { router, limit: '20' });
    return verdictOn(records, 'batteries', (record) =>
      idOf(record['router']) === router
        ? undefined
        : `router= gives a battery of ${shortText(record['router'])}`,
    );
  })(facts);
}

/** Clocks further apart than this (milliseconds) confuse recovery. */
const SKEW = 60_000;

async function serverDate(facts: Facts): Promise<CheckResult> {
  const { headers } = await facts.response('accounts', { limit: '1' });
  const at = httpDate(headers['date']);
  if (at === undefined) return bad('responses have no Date header');
  const apart = Math.round(Math.abs(at - facts.now()) / 1000);
  return apart * 1000 > SKEW
    ? bad(`the clocks are ${apart} s apart`)
    : ok('by a clock that agrees with ours to a minute');
}

/** A record of the activity log has to name each of these, by one of its paths. */
const NAMED = [
  ['action.timestamp'],
  ['action.type_name', 'action.type'],
  ['object.id'],
  ['actor.id', 'actor.email'],
];

const AUTHORIZATIONS = 'account_authorizations';

const one = (facts: Facts) => facts.page(AUTHORIZATIONS, { 'page[size]': '1' });
const many = (facts: Facts) => facts.page(AUTHORIZATIONS, { 'page[size]': '50' });

/** The first page of the largest size, read as the client does. */
async function authorizations(facts: Facts): Promise<readonly Values[]> {
  const collection = facts.collections.get(AUTHORIZATIONS)!;
  const dialect = facts.dialect(AUTHORIZATIONS);
  return (await many(facts)).records.map((record) => dialect.flatten(collection, record));
}

async function v3Listing(facts: Facts): Promise<CheckResult> {
  const first = await one(facts);
  if (first.next === null) return ok('a listing of one page');
  const second = await facts.page(AUTHORIZATIONS, first.next);
  return shortText(first.records[0]?.['id']) === shortText(second.records[0]?.['id'])
    ? bad('links.next leads to the same record again')
    : ok('links.next leads on');
}

async function media(facts: Facts): Promise<CheckResult> {
  const { headers } = await facts.response(AUTHORIZATIONS, { 'page[size]': '1' });
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  return type === 'application/vnd.api+json'
    ? ok('responses are of that type')
    : bad(`responses are of the type ${shortText(type)}`);
}

const STATUSES = [200, 400, 403, 404, 405, 410, 422];

async function byPath(facts: Facts): Promise<CheckResult> {
  const ids = (await many(facts)).records.map((record) => idIn(record, 'id'));
  const [id] = ids;
  if (id === undefined) return unchecked('there are no authorizations');
  const read = (one: string) => facts.response(AUTHORIZATIONS, '', { id: one, statuses: STATUSES });
  const { status } = await read(unrelatedTo(ids));
  if (status !== 404 && status !== 410)
    return bad(`one that does not exist returns ${status}, not 404 or 410`);
  const found = await read(id);
  if (found.status !== 200) return bad(`one that is listed returns ${found.status} by its path`);
  const record = facts.dialect(AUTHORIZATIONS).single(parseResponse(found));
  return isObject(record) && idIn(record, 'id') === id
    ? ok(`one that exists, and ${status} for one that does not`)
    : bad('the response is about another one');
}

async function oneEach(facts: Facts): Promise<CheckResult> {
  const seen = new Set<string>();
  return verdictOn(await authorizations(facts), 'authorizations', ({ user, account }) => {
    const key = JSON.stringify([user, account]);
    return seen.size === seen.add(key).size
      ? `user ${shortText(user)} has several in account ${shortText(account)}`
      : undefined;
  });
}

async function roles(facts: Facts): Promise<CheckResult> {
  const all = await authorizations(facts);
  const found = verdictOn(all, 'authorizations', ({ role }) =>
    typeof role === 'string' && role !== '' ? undefined : `a role is ${shortText(role)}`,
  );
  const attribute: Attribute | undefined =
    facts.collections.get(AUTHORIZATIONS)?.attributes['role'];
  const known: readonly string[] = attribute?.word === 'choice' ? attribute.values : [];
  const given = new Set(all.map(({ role }) => shortText(role)));
  return withOthers(
    found,
    [...given].filter((role) => !known.includes(role)),
  );
}

async function v3AccountIds(facts: Facts): Promise<CheckResult> {
  const { records, next } = await wholePage(facts, 'accounts');
  const ids = new Set(records.map((record) => idIn(record, 'id')));
  const named = (await authorizations(facts)).flatMap(({ account }) =>
    typeof account === 'string' || typeof account === 'number' ? [String(account)] : [],
  );
  if (named.length === 0) return unchecked('there are no authorizations');
  const missing = [...new Set(named.filter((id) => !ids.has(id)))];
  if (missing.length === 0)
    return ok(`the accounts of ${named.length} authorizations are accounts of v2`);
  if (next !== null) return unchecked(TOO_MANY);
  const shown = missing.slice(0, 3).map(shortText).join(', ');
  return missing.length === new Set(named).size
    ? bad(`no account of an authorization is listed by v2: ${shown}`)
    : note(`accounts of authorizations that v2 does not list: ${shown}`);
}

/** The checks that need reading alone, in the order of the ledger. */
export const checks: Readonly<Record<string, ApiCheck>> = {
  'v2-next': listings,
  'v2-limit': pageSizes('accounts', 'accounts', 'limit', 500),
  'v2-offset': offset,
  'v2-cursor': ofKinds('there are not two rules, nor two destinations', cursor),
  'v2-filter-in': ofKinds('there are not two accounts', filterIn),
  'v2-filter-unknown': ofKinds('there are no objects', filterUnknown),
  'v2-filter-name': filterName,
  'v2-descendants': roots,
  'account-ids': eachOf(
    'ids',
    async (facts) => [...(await whole('accounts')(facts)), ...(await managersIn(facts))],
    ({ id }) => (isInteger(id) ? undefined : `the id ${shortText(id)} is not a number`),
  ),
  'time-based-ids': eachOf(
    'ids',
    async (facts) => [
      ...(await recordsOf(facts, ['alert_rules', DESTINATIONS])),
      ...(await recordsOf(facts, ['alerts'], '20')),
    ],
    ([name, record], { collections, now }) => {
      const id = record[collections.get(name)?.id ?? ''];
      const at = timeOf(id);
      if (at === undefined) return `${pluralName(name)}: ${shortText(id)} is not a time-based UUID`;
      return at < Date.UTC(2000) || at > now() + DAY
        ? `${pluralName(name)}: ${shortText(id)} has the time ${new Date(at).toISOString()}`
        : undefined;
    },
  ),
  references,
  'integer-lists': eachOf('rules', whole('alert_rules'), (record) =>
    ['associated_accounts', 'associated_groups', 'email_destinations'].flatMap((name) => {
      const list = record[name];
      return Array.isArray(list) && list.every((item: Json) => isInteger(item))
        ? []
        : [`${name} holds ${shortText(list)}`];
    }),
  ),
  timestamps,
  'whole-records': eachOf(
    'records',
    async (facts) => {
      const names = kindsOf(facts).map(({ name }) => name);
      return (await recordsOf(facts, names)).filter(([, { id }]) => id !== '');
    },
    ([name, record], { collections }) =>
      Object.entries(collections.get(name)!.attributes)
        .filter(([attribute, one]) => writable(one) && !Object.hasOwn(record, attribute))
        .map(([attribute]) => `${pluralName(name)}: a record does not show \`${attribute}\``),
  ),
  'rule-alert-types': eachOf('rules', whole('alert_rules'), ({ filter_criteria: criteria }) => {
    const types = (isObject(criteria) ? criteria['alert_type__in'] : undefined) ?? [];
    return Array.isArray(types) && types.every((one) => typeof one === 'string')
      ? undefined
      : `filter_criteria.alert_type__in is ${shortText(types)}`;
  }),
  'rule-schedule': schedules,
  'rule-settings': eachOf('rules', whole('alert_rules'), ({ settings = null }) =>
    settings === null || isObject(settings)
      ? undefined
      : `settings is of the type ${Array.isArray(settings) ? 'list' : typeof settings}`,
  ),
  // The value is never printed: it may be the secret.
  'destination-secret': eachOf('secrets', inDestinations('authentication.secret'), (secret) =>
    secret === '*' ? undefined : 'a secret reads back as something else than *',
  ),
  'destination-url': eachOf('destinations', inDestinations('endpoint.url'), (url) => {
    const { protocol, port } = urlFrom(String(url)) ?? { protocol: 'no URL', port: '' };
    return protocol === 'https:' && (port === '' || port === '8443')
      ? undefined
      : `a destination has an address with ${protocol}${port && ` and port ${port}`}`;
  }),
  'manager-documents': eachOf('configuration managers', managersIn, (record) =>
    ['configuration', 'target', 'actual', 'pending']
      .filter((name) => !isDocument(record[name]))
      .map((name) => `${name} is not [object, list]`),
  ),
  'manager-of-router': managerOfRouter,
  'manager-version': eachOf('configuration managers', managersIn, ({ version_number: version }) =>
    Number.isSafeInteger(version) ? undefined : `version_number is ${shortText(version)}`,
  ),
  'v3-media': media,
  'v3-next': aboutForm(v3Listing),
  'v3-page-size': pageSizes(AUTHORIZATIONS, 'authorizations', 'page[size]', 50),
  'v3-by-path': byPath,
  'v3-one-each': oneEach,
  'v3-roles': roles,
  'v3-account-ids': v3AccountIds,
  'v3-assets': aboutForm(async (facts) => {
    const { records } = await facts.page('asset_endpoints', { 'page[size]': '1' });
    if (records.length > 1) return bad(`page[size]=1 gives ${records.length} asset endpoints`);
    return verdictOn(records, 'asset endpoints', (record) =>
      isObject(record['attributes']) && typeof record['id'] === 'string'
        ? undefined
        : 'a record has no id and attributes',
    );
  }),
  'activity-filters': activityFilters,
  'activity-records': eachOf('records', some('activity_logs'), (record) =>
    NAMED.filter(
      (paths) => !paths.some((path) => ['string', 'number'].includes(typeof valueAt(record, path))),
    ).map((paths) => `a record does not name ${paths.join(' or ')}`),
  ),
  'alert-records': eachOf('alerts', some('alerts'), ({ account = null, router = null }) =>
    (account === null) === (router === null)
      ? `an alert names ${account === null ? 'neither an account nor a router' : 'both an account and a router'}`
      : undefined,
  ),
  'audit-records': auditRecords,
  'battery-router': batteries,
  'server-date': serverDate,
};
