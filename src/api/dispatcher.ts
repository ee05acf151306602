// The only file that loads undici, itself loaded with the first request: it costs some 60 ms. Its named exports are
// taken here, statically, because a bundler cannot give them to a dynamic import of a CommonJS package.
import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';

/** undici's own timers are off: the caller's deadline is by the wall clock, theirs would restart with every chunk. */
const settings = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } };

export function direct(origin: string): Dispatcher {
  return new Pool(origin, settings);
}

export function proxied(httpsProxy: string, noProxy: string): Dispatcher {
  return new EnvHttpProxyAgent({ ...settings, httpProxy: '', httpsProxy, noProxy });
}
