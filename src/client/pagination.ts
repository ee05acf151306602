// Follows a listing to its proven end. Only `next` determines which page follows; a page fetched ahead saves time if
// `next` leads to it, and is ignored otherwise.
import type { ClientSession, Endpoint } from './client-session.js';
import type { ResponsePage } from './dialect.js';
import { Malformed, parseResponse } from './response.js';
import type { HttpResponse } from './transport.js';

/** Reads what a query asks for. */
type Read<T> = (query: string, signal?: AbortSignal) => Promise<T>;

/** More records than any account has; a listing that passes it is endless. */
const maxRecords = 1_000_000;
export const maxEmptyPages = 10;
/** Statuses of a response about one id: it is there, or it is not. */
export const PRESENT_OR_ABSENT: readonly number[] = [200, 404, 410];

/** Every page from `first` on, the last of which said so. @throws Malformed for loops and listings without end. */
export async function* pages(
  read: Read<ResponsePage>,
  first: string,
): AsyncGenerator<ResponsePage> {
  const seen = new Set<string>();
  let records = 0;
  let empty = 0;
  for (let query: string | null = first; query !== null;) {
    const key = new URLSearchParams(query);
    key.sort();
    if (seen.has(key.toString())) throw new Malformed('leads back to a page that was already read');
    seen.add(key.toString());
    const page: ResponsePage = await read(query);
    records += page.records.length;
    empty = page.records.length === 0 ? empty + 1 : 0;
    if (records > maxRecords || empty > maxEmptyPages)
      throw new Malformed('belongs to a listing without end');
    yield page;
    query = page.next;
  }
}

interface Listed {
  readonly endpoint: Endpoint;
  /** Its requests are counted under this name. */
  readonly name: string;
  readonly path: string;
  readonly first: string;
  /** Set if offsets allow pages to be fetched ahead: the number of records, and the size of a page. */
  readonly ahead?: { readonly size: number; readonly expected: number } | undefined;
  readonly expand?: string | undefined;
  /** Sees each response as it comes. */
  readonly heed?: (response: HttpResponse) => void;
}

/** The pages of one listing: what was fetched ahead and waits its turn is text, which is small. `next` may forget `expand`: it is asked for with every page. */
export async function* pagesOf(
  session: ClientSession,
  { endpoint, name, path, first, ahead, expand, heed }: Listed,
): AsyncGenerator<ResponsePage> {
  const plain: Read<HttpResponse> = async (query, signal) => {
    const response = await session.read(endpoint, name, path, { query, signal });
    heed?.(response);
    return response;
  };
  const guesses = ahead && readAhead(plain, first, ahead.size, ahead.expected);
  const read = guesses?.read ?? plain;
  const lasting = new URLSearchParams(first).get('expand');
  const asked = (query: string): string => (lasting === null ? query : kept(query, lasting));
  try {
    yield* pages(
      async (query) => endpoint.dialect.page(parseResponse(await read(asked(query))), expand),
      first,
    );
  } finally {
    guesses?.stop();
  }
}

function kept(query: string, expand: string): string {
  const whole = new URLSearchParams(query);
  whole.set('expand', expand);
  return whole.toString();
}

const maxAtOnce = 8;

/**
 * A reader that, asked for a page of the listing that `first` begins by `offset`, fetches the following ones too: all that `expected`
 * records fill, and beyond them at most two that no page has promised yet. `stop` gives up what is under way.
 */
function readAhead<T>(
  read: Read<T>,
  first: string,
  size: number,
  expected: number,
): { readonly read: Read<T>; stop(): void } {
  const trusted = Math.max(1, Math.ceil(expected / size));
  const ended = new AbortController();
  const started = new Map<number, Promise<T>>();
  let guessing = true;
  /** @param signal absent for a page that is waited for, which nothing gives up */
  const start = (index: number, signal: AbortSignal | undefined): void => {
    const query = new URLSearchParams(first);
    if (index > 0) query.set('offset', `${index * size}`);
    const page = read(query.toString(), signal);
    page.catch(() => undefined);
    started.set(index, page);
  };
  return {
    stop: () => ended.abort(new Error('not needed')),
    async read(query) {
      const index = guessing ? pageNumber(query, first, size) : undefined;
      if (index === undefined) {
        guessing = false;
        return read(query);
      }
      const promised = Math.max(trusted, index + 1 + Math.max(0, Math.min(2, index - trusted + 1)));
      for (let ahead = index; ahead < Math.min(promised, index + maxAtOnce); ahead += 1)
        if (!started.has(ahead)) start(ahead, ahead > index ? ended.signal : undefined);
      const page = started.get(index)!;
      started.delete(index);
      return page;
    },
  };
}

/** Which page of `size` records a query asks for, if it asks for what `first` does and nothing else. */
function pageNumber(query: string, first: string, size: number): number | undefined {
  const offset = Number(new URLSearchParams(query).get('offset') ?? 0);
  return withoutOffset(query) === withoutOffset(first) && Number.isSafeInteger(offset / size)
    ? offset / size
    : undefined;
}

function withoutOffset(query: string): string {
  const rest = new URLSearchParams(query);
  rest.delete('offset');
  rest.sort();
  return rest.toString();
}

/** Requests of one sort beside one another, but not all at once. */
const atOnce = 10;

/** Values that the API takes in one `__in` filter. */
export const valuesPerQuery = 100;

export const chunks = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

/** Results in order, at most `atOnce` under way; after a failure nothing new begins. */
export async function each<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      try {
        results[index] = await work(items[index]!);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
