// The connection pool of an origin, loaded with the first request. Only the pool of undici is imported, by its own
// path, because the whole package includes fetch, sockets and caches, and takes 30 ms longer. The version is pinned.
import type { Dispatcher } from 'undici';
import Pool from 'undici/lib/dispatcher/pool.js';

/** undici's own timers are off: the caller's deadline is by the wall clock, theirs would restart with every chunk. */
export const dispatcherSettings = {
  allowH2: false,
  headersTimeout: 0,
  bodyTimeout: 0,
  connect: { timeout: 10_000 },
};

export function direct(origin: string): Dispatcher {
  return new Pool(origin, dispatcherSettings);
}
