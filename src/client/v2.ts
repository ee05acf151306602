// The v2 API: flat JSON records, `data` and `meta`, a slash at the end of every path.
import { defined, isObject, toWire, valueAt, type JsonObject } from '../model/index.js';
import { Malformed, segment } from './response.js';
import { nextQueryOf, type Dialect } from './dialect.js';

export const v2: Dialect = {
  name: 'v2',
  media: 'application/json',
  address: 'TRUEUP_V2_URL',
  credentials: 'TRUEUP_MGR_API_ID, TRUEUP_MGR_API_KEY, TRUEUP_VND_API_ID and TRUEUP_VND_API_KEY',
  path: (collection, id) => `/${collection}/${id === undefined ? '' : `${segment(id)}/`}`,
  query: (size, filters = {}, expand) =>
    new URLSearchParams({ ...filters, ...defined({ expand }), limit: String(size) }).toString(),
  page(body) {
    if (!isObject(body) || !Array.isArray(body['data']))
      throw new Malformed('has no list of records under data');
    if (body['exception'] || hasErrors(body))
      throw new Malformed('reports errors beside its records');
    const meta = body['meta'];
    if (!isObject(meta) || !Object.hasOwn(meta, 'next'))
      throw new Malformed('does not say under meta.next whether more follows');
    return { records: body['data'], next: nextQuery(meta['next'], 'meta.next') };
  },
  single: (body) => body,
  identify: ({ id }, record) => (id === undefined ? undefined : valueAt(record, id)),
  flatten: (_, record: JsonObject) => record,
  body(kind, { verb, fields }) {
    const sent = Object.entries(fields).filter(
      ([name]) => verb !== 'create' || kind.attributes[name]?.only_false !== true,
    );
    return Object.fromEntries(
      sent.map(([name, value]) => [name, toWire(kind.attributes[name]!, value)]),
    );
  },
  throttles: () => false,
};

/** A response with errors may contain only a part of the records. */
export const hasErrors = ({ errors }: Readonly<Record<string, unknown>>): boolean =>
  Array.isArray(errors) && errors.length > 0;

/** @throws Malformed for a next that is neither null nor an address with a query. */
export function nextQuery(next: unknown, where: string): string | null {
  if (next === null) return null;
  const query = typeof next === 'string' ? nextQueryOf(next) : undefined;
  if (query === undefined) throw new Malformed(`has a ${where} that leads nowhere`);
  return query;
}
