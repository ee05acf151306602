// The base addresses of the cloud, checked once, before credentials are sent to any of them.
import { isLoopback, refuse, urlFrom } from '../model/index.js';

export interface BaseUrl {
  readonly origin: string;
  /** Path of the base address without a slash at its end: `/api/v2`, or nothing. */
  readonly path: string;
}

/**
 * @param whole whether the address is one to send to as it is, with a query
 * @throws Refusal that names the `source` and never quotes the address, which may hold a password.
 */
export function checkedUrl(text: string, source: string, whole = false): URL {
  const wrong = (why: string, fix: string) =>
    refuse('bad-address', `${source} ${why}`, { detail: fix });
  const url = urlFrom(text);
  if (!url)
    return wrong('is not a URL', 'Give a full address, such as https://api.example.com/api/v2');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return wrong('is neither https nor http', 'Give an address that begins with https://');
  if (url.protocol === 'http:' && !isLoopback(url))
    return wrong(
      'is plain http',
      'Credentials travel over https only; plain http is for loopback addresses such as http://127.0.0.1:8080.',
    );
  if (url.username || url.password)
    return wrong(
      'holds a user name or password',
      'Credentials belong in their own environment names.',
    );
  if (!whole && (url.search || url.hash))
    return wrong('holds a query or fragment', 'Give the base address alone.');
  return url;
}

/** A proxy that takes HTTP: its address without credentials, and the header that carries them. */
export interface Proxy {
  readonly url: string;
  readonly authorization?: string;
}

/** `host:port` alone means http. @throws Refusal that never quotes the text, which may hold a password. */
export function proxyOf(text: string): Proxy {
  const wrong = (why: string, fix = 'Give a full address, such as http://proxy.example.com:3128') =>
    refuse('bad-proxy', `HTTPS_PROXY ${why}`, { detail: fix });
  const full = /^[^/]*:\d{1,5}\/?$/.test(text) ? `http://${text}` : text;
  const url = urlFrom(full);
  if (!url) return wrong('is not a URL');
  const { protocol, origin, username, password } = url;
  if (protocol !== 'http:' && protocol !== 'https:')
    return wrong(
      'is neither http nor https',
      'Give the address of an HTTP proxy, such as http://proxy.example.com:3128; other protocols are not supported.',
    );
  if (username === '' && password === '') return { url: origin };
  try {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return { url: origin, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
  } catch {
    return wrong(
      'has a % in its user name or password that does not begin an escape',
      'Write %25 for each literal %.',
    );
  }
}

export function baseUrlOf(text: string, source: string): BaseUrl {
  const url = checkedUrl(text, source);
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}
