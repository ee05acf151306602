// The connection through a proxy, loaded only if one is configured. The imports are static, because a bundler cannot
// resolve the names of a dynamic import of a CommonJS package.
import { defined } from '../model/index.js';
import { EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { dispatcherSettings } from './dispatcher.js';
import type { Proxy } from './endpoint.js';

export function proxied({ url, authorization }: Proxy, noProxy: string): Dispatcher {
  return new EnvHttpProxyAgent({
    ...dispatcherSettings,
    httpProxy: '',
    httpsProxy: url,
    noProxy,
    ...defined({ token: authorization }),
  });
}
