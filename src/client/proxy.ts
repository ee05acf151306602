// The way to an origin through a proxy, loaded where one is named. The names are taken statically, because a bundler
// cannot give them to a dynamic import of a CommonJS package.
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
