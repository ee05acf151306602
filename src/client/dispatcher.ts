// The way to an origin, loaded with the first request. From undici only the pool is taken, by its own path: the whole
// package brings a browser's worth of fetch, sockets and caches, and costs 30 ms more. The version is pinned.
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
