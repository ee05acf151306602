// The differences between v2, v3 and the IoT platform, as one type: paths, pages, records and bodies.
import type { Collection, JsonObject, Kind, Values, Write, Json } from '../model/index.js';

/** One page as the server gave it. `next`: the query that leads on, null at the end. */
export interface ResponsePage {
  readonly records: readonly Json[];
  readonly next: string | null;
  /** Records that the response itself counts, where it does: of this page, or of the whole listing. */
  readonly size?: number;
}

/** The parts of a request that messages about it name. */
export interface Surface {
  readonly name: 'v2' | 'v3' | 'iot' | 'flow';
  /** Environment names of the address and of the credentials. */
  readonly address: string;
  readonly credentials: string;
  /** Whether a 409 is a request to slow down. */
  throttles(body: string): boolean;
}

export interface Dialect extends Surface {
  readonly name: 'v2' | 'v3' | 'iot';
  /** Media type of requests and responses. */
  readonly media: string;
  /** Path of a collection, or of one of its objects, below the path of the base address. */
  path(collection: string, id?: string): string;
  /** Query that asks for a page of `size`, with filters; references named by `expand` (separated by commas) come as what they point at. */
  query(size: number, filters?: Readonly<Record<string, string>>, expand?: string): string;
  /** @throws Malformed */
  page(body: Json, expand?: string): ResponsePage;
  /** The record in a response about one object. @throws Malformed */
  single(body: Json): Json;
  identify(collection: Collection, record: JsonObject): unknown;
  /** The record's attributes under the collection's names, as far as the record has them. */
  flatten(collection: Collection, record: JsonObject): Values;
  /** The body that creates or updates. @throws RangeError for an identifier that cannot be sent without losing digits. */
  body(kind: Kind, write: Write): Values;
}

/** The query of a URL, after `?`, for any host and path; undefined if there is none. */
export function nextQueryOf(address: string): string | undefined {
  const [, query] = /\?([^#]*)/.exec(address) ?? [];
  return query === '' ? undefined : query;
}
