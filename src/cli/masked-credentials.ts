// trueup's own credentials in the environment, under any prefix, also as files: they are masked everywhere.
import { readFileSync, statSync } from 'node:fs';
import type { Environment } from '../declarations/environment.js';
import { isOwnSecret, Secret, urlFrom } from '../model/index.js';

export const ownCredentials = (environment: Environment): readonly Secret[] =>
  // `Object.keys` asks for each variable, too.
  Object.getOwnPropertyNames(environment)
    // Most variables are not credentials, and this check is cheap.
    .filter((name) => /TRUEUP_/i.test(name) && isOwnSecret(name))
    .map(
      (name) =>
        new Secret(name, () => {
          const text = /_FILE$/i.test(name) ? unlessPipe(environment[name]!) : environment[name];
          return /_QUEUE(?:_FILE)?$/i.test(name) ? withPassword(text) : text;
        }),
    );

/** An address that holds no password is shown, so that an error says where it happened. */
function withPassword(address: string | undefined): string | undefined {
  const url = urlFrom(address ?? '');
  return url?.password === '' && !url.searchParams.has('password') ? undefined : address;
}

/** A pipe is read once, by the request that needs it. */
const unlessPipe = (path: string): string | undefined =>
  statSync(path, { throwIfNoEntry: false })?.isFile() ? tryFile(path) : undefined;

/** The content of a file without its last line break; undefined if it cannot be read. */
export function tryFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}
