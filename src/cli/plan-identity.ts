// The age identity that decrypts a saved plan: from the file that --identity names, else from the environment.
import { resolve } from 'node:path';
import { Secret } from '../model/index.js';
import { secretOf } from './environment-credentials.js';
import type { Context } from './context.js';
import { tryFile } from './masked-credentials.js';

const VARIABLE = 'TRUEUP_IDENTITY';

/** What a command that reads the same file repeats. */
export const identityFlag = ({ flags: { identity } }: Pick<Context, 'flags'>): readonly string[] =>
  identity === undefined ? [] : ['--identity', identity];

/** Undefined where none was given. Read when it is needed, and once: it may be a pipe. */
export function identityOf({
  flags,
  environment,
  cwd,
  masking,
}: Pick<Context, 'flags' | 'environment' | 'cwd' | 'masking'>): Secret | undefined {
  const { identity: file } = flags;
  if (file === undefined)
    return environment[VARIABLE] || environment[`${VARIABLE}_FILE`]
      ? secretOf({ environment }, VARIABLE)
      : undefined;
  let text: string | undefined;
  const secret = new Secret(`--identity ${file}`, () => (text ??= tryFile(resolve(cwd, file))));
  masking.add(secret);
  return secret;
}
