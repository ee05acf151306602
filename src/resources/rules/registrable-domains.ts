// The only file that loads the list of public suffixes: it takes 20 ms and 8 MiB, and few plans need it.
import { getDomain } from 'tldts';
import { hostOf } from '../../model/index.js';

/** The registrable domain of a URL (`example.co.uk` for `a.b.example.co.uk`, `a.github.io` for itself), by the host that WHATWG reads; that host where it has none. */
export function registrableDomain(url: string): string | undefined {
  const host = hostOf(url);
  return host === undefined ? undefined : (getDomain(host, { allowPrivateDomains: true }) ?? host);
}
