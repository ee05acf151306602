// Checks of what is assumed of v3, as those of v2.
import {
  isObject,
  type Attribute,
  type Collection,
  type JsonObject,
  type Values,
} from '../model/index.js';
import { parseAnswer } from './response.js';
import {
  aboutForm,
  bad,
  idIn,
  note,
  ok,
  pageSizes,
  unrelatedTo,
  shortText,
  unchecked,
  verdictOn,
  wholePage,
  withOthers,
  type ApiCheck,
  type Facts,
  type CheckResult,
} from './api-check-results.js';

const AUTHORIZATIONS = 'account_authorizations';

const one = (facts: Facts) => facts.page(AUTHORIZATIONS, { 'page[size]': '1' });
const many = (facts: Facts) => facts.page(AUTHORIZATIONS, { 'page[size]': '50' });

/** The first page of the largest size, read as the client does. */
async function authorizations(facts: Facts): Promise<readonly Values[]> {
  const collection = facts.collections.get(AUTHORIZATIONS) as Collection;
  const dialect = facts.dialect(AUTHORIZATIONS);
  return (await many(facts)).records.map((record) => dialect.flatten(collection, record));
}

async function listing(facts: Facts): Promise<CheckResult> {
  const first = await one(facts);
  if (first.next === null) return ok('a listing of one page');
  const second = await facts.page(AUTHORIZATIONS, first.next);
  return shortText(first.records[0]?.['id']) === shortText(second.records[0]?.['id'])
    ? bad('links.next leads to the same record again')
    : ok('links.next leads on');
}

async function media(facts: Facts): Promise<CheckResult> {
  const { headers } = await facts.answer(AUTHORIZATIONS, { 'page[size]': '1' });
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  return type === 'application/vnd.api+json'
    ? ok('answers are of that type')
    : bad(`answers are of the type ${shortText(type)}`);
}

const STATUSES = [200, 400, 403, 404, 405, 410, 422];

async function byPath(facts: Facts): Promise<CheckResult> {
  const ids = (await many(facts)).records.map((record) => idIn(record, 'id'));
  const [id] = ids;
  if (id === undefined) return unchecked('there are no authorizations');
  const read = (one: string) => facts.answer(AUTHORIZATIONS, '', { id: one, statuses: STATUSES });
  const { status } = await read(unrelatedTo(ids));
  if (status !== 404) return bad(`one that does not exist answers ${status}, not 404`);
  const found = await read(id);
  if (found.status !== 200) return bad(`one that is listed answers ${found.status} by its path`);
  const record = facts.dialect(AUTHORIZATIONS).single(parseAnswer(found));
  return isObject(record) && idIn(record as JsonObject, 'id') === id
    ? ok('one that exists, and 404 for one that does not')
    : bad('the answer is about another one');
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

async function accountIds(facts: Facts): Promise<CheckResult> {
  const { records, next } = await wholePage(facts, 'accounts');
  const ids = new Set(records.map((record) => idIn(record, 'id')));
  const named = (await authorizations(facts)).flatMap(({ account }) =>
    typeof account === 'string' || typeof account === 'number' ? [String(account)] : [],
  );
  if (named.length === 0) return unchecked('there are no authorizations');
  const missing = [...new Set(named.filter((id) => !ids.has(id)))];
  if (missing.length === 0)
    return ok(`the accounts of ${named.length} authorizations are accounts of v2`);
  if (next !== null) return unchecked('the accounts do not fit one page');
  const shown = missing.slice(0, 3).map(shortText).join(', ');
  return missing.length === new Set(named).size
    ? bad(`no account of an authorization is listed by v2: ${shown}`)
    : note(`accounts of authorizations that v2 does not list: ${shown}`);
}

export const v3Checks: Readonly<Record<string, ApiCheck>> = {
  'v3-media': media,
  'v3-next': aboutForm(listing),
  'v3-page-size': pageSizes(AUTHORIZATIONS, 'authorizations', 'page[size]', 50),
  'v3-by-path': byPath,
  'v3-one-each': oneEach,
  'v3-roles': roles,
  'v3-account-ids': accountIds,
  'v3-assets': aboutForm(async (facts) => {
    const { records } = await facts.page('asset_endpoints', { 'page[size]': '1' });
    if (records.length > 1) return bad(`page[size]=1 gives ${records.length} asset endpoints`);
    return verdictOn(records, 'asset endpoints', (record) =>
      isObject(record['attributes']) && typeof record['id'] === 'string'
        ? undefined
        : 'a record has no id and attributes',
    );
  }),
};
