// The IoT platform: flat JSON records, a query of one condition, pages by a cursor, errors as problem+json.
import { isObject } from '../model/index.js';
import { Malformed } from './response.js';
import { nextQueryOf, type Dialect } from './dialect.js';
import { hasErrors, v2 } from './v2.js';

/** As rate a minute and burst, so that no second and no minute sees more than the platform allows: details 10 and 150, tokens 5 and 60. */
export const rates = { details: [143, 7], token: [56, 4] } as const;

export const iot: Dialect = {
  ...v2,
  name: 'iot',
  address: 'TRUEUP_IOT_URL',
  credentials: 'TRUEUP_IOT_USERNAME and TRUEUP_IOT_PASSWORD',
  path: (collection) => `/iot/api/${collection}`,
  page(body) {
    if (!isObject(body) || !Array.isArray(body['subscriptions']))
      throw new Malformed('has no list under subscriptions');
    if (hasErrors(body)) throw new Malformed('reports errors beside its subscriptions');
    const { subscriptions: records, size } = body;
    return { records, next: cursorOf(body['next']), ...(typeof size === 'number' && { size }) };
  },
};

/** The query that leads on: of an address, whose host and path are not looked at, or of a bare cursor. @throws Malformed */
function cursorOf(next: unknown): string | null {
  if (next === undefined || next === null || next === '') return null;
  const query = typeof next === 'string' ? queryOfNext(next) : undefined;
  if (query === undefined) throw new Malformed('has a next that leads nowhere');
  return query;
}

function queryOfNext(next: string): string | undefined {
  if (next.includes('?')) return nextQueryOf(next);
  return /^https?:/i.test(next) ? undefined : new URLSearchParams({ cursor: next }).toString();
}

/** `key==value` that stays one condition. @param value one that `unaskable` says nothing of */
export function condition(key: string, value: string): string {
  if (/^[\w.-]+$/.test(value)) return `${key}==${value}`;
  const quote = value.includes('"') ? "'" : '"';
  return `${key}==${quote}${value}${quote}`;
}
