// Our own credentials in the environment, under whatever prefix, also as files: nothing that is shown or stored holds them.
import { readFileSync } from 'node:fs';
import { isOwnCredential, Secret } from '../model/index.js';

export const ownCredentials = (environment: Readonly<Record<string, string | undefined>>): readonly Secret[] =>
  Object.keys(environment)
    // Most are none, and this one question is cheap.
    .filter((name) => /TRUEUP_/i.test(name) && isOwnCredential(name))
    .map((name) => new Secret(name, () => (/_FILE$/i.test(name) ? tryFile(environment[name] as string) : environment[name])));

/** What a file holds, without its last line break; undefined where it cannot be read. */
export function tryFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}
