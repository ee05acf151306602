// What v2 and v3 do differently, as one type: paths, pages, records and bodies.
import type { Collection, JsonObject, Kind, Values, Write } from '../model/index.js';

/** One page as the server gave it. `next`: the query that leads on, null at the end. */
export interface Page {
  readonly records: readonly unknown[];
  readonly next: string | null;
}

export interface Dialect {
  readonly name: 'v2' | 'v3';
  /** Media type of requests and answers. */
  readonly media: string;
  /** Environment names of the address and of the credentials, for messages. */
  readonly address: string;
  readonly credentials: string;
  /** Path of a collection, or of one of its objects, below the path of the base address. */
  path(collection: string, id?: string): string;
  /** Query that asks for a page of `size`, with filters. */
  query(size: number, filters?: Readonly<Record<string, string>>): string;
  /** @throws Malformed */
  page(body: unknown): Page;
  /** The record in an answer about one object. @throws Malformed */
  single(body: unknown): unknown;
  identify(collection: Collection, record: JsonObject): unknown;
  /** The record's attributes under the collection's names, as far as the record has them. */
  flatten(collection: Collection, record: JsonObject): Values;
  /** The body that creates or updates. @throws RangeError for an identifier that cannot be sent without losing digits. */
  body(kind: Kind, write: Write): Values;
  /** Whether a 409 is a request to slow down. */
  throttles(body: string): boolean;
}

/** The query of an address, whatever its host and path: text behind `?`, undefined where there is none. */
export function queryOf(address: string): string | undefined {
  const [, query] = /\?([^#]*)/.exec(address) ?? [];
  return query === '' ? undefined : query;
}
