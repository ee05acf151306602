// Secrets that a command prints: `settings.secrets.<name>.command`, the client of a secret manager. A command runs when
// its secret is fetched, once for each run of trueup, and never while declarations are loaded.
import {
  cached,
  isObject,
  isOwnCredential,
  keptMembers,
  Secret,
  shellWord,
  tryJson,
  type JsonObject,
  type Obtained,
  type SecretCommand,
} from '../model/index.js';
import type { CommandOutput } from '../platform/index.js';
import type { Environment } from './environment.js';

export interface CommandPlaces {
  readonly environment: Environment;
  /** Absolute: the folder of the project. Commands run there. */
  readonly cwd: string;
  /** `settings.secrets` */
  readonly commands: Readonly<Record<string, SecretCommand>>;
  readonly output: CommandOutput;
}

/** A word of a command that stands for the key; without it, the command prints a JSON object with all keys. */
const KEY = '{key}';

/** The secret of a key, from the command of that name. */
export function commandSecrets({
  environment,
  cwd,
  commands,
  output,
}: CommandPlaces): (name: string, key: string) => Secret {
  const results = new Map<string, Promise<Obtained<string>>>();
  const objects = new Map<string, Promise<Obtained<JsonObject>>>();
  const secrets = new Map<string, Secret>();
  const run = (words: readonly string[], signal: AbortSignal): Promise<Obtained<string>> =>
    cached(results, JSON.stringify(words), () => {
      // Without the credentials of trueup, which no other program needs.
      const visible = keptMembers(environment, (_, name) => !isOwnCredential(name));
      return output(words, { cwd, environment: visible, signal });
    });
  const lookUp = async (
    command: readonly string[],
    key: string,
    signal: AbortSignal,
  ): Promise<Obtained<string>> => {
    if (command.some((word) => word.includes(KEY)))
      return textIn(await run(wordsFor(command, key), signal));
    const read = async (): Promise<Obtained<JsonObject>> => objectIn(await run(command, signal));
    return memberOf(await cached(objects, JSON.stringify(command), read), key);
  };
  return (name, key) =>
    cached(secrets, `${name}.${key}`, () => {
      const { command } = commands[name]!;
      const typed = wordsFor(command, key).map(shellWord).join(' ');
      let value: string | undefined;
      return new Secret(`${name}.${key}`, () => value, {
        advice: `Its command has to print it: ${typed}`,
        async fetch(signal) {
          const result = await lookUp(command, key, signal);
          if ('problem' in result)
            return {
              ...result,
              problem: `\`settings.secrets.${name}\` returned no value: ${result.problem}. To see why, run its command: ${typed}`,
            };
          ({ value } = result);
          return undefined;
        },
      });
    });
}

const wordsFor = (command: readonly string[], key: string): readonly string[] =>
  command.map((word) => word.replaceAll(KEY, () => key));

function textIn(result: Obtained<string>): Obtained<string> {
  if ('problem' in result) return result;
  const value = result.value.replace(/\r?\n$/, '');
  return value === '' ? { problem: 'it printed nothing' } : { value };
}

function objectIn(result: Obtained<string>): Obtained<JsonObject> {
  if ('problem' in result) return result;
  const value = tryJson(result.value);
  return isObject(value)
    ? { value }
    : {
        problem:
          'it printed no JSON object (if it prints one value, write {key} where it takes the key)',
      };
}

function memberOf(result: Obtained<JsonObject>, key: string): Obtained<string> {
  if ('problem' in result) return result;
  const { value: printed } = result;
  const value = Object.hasOwn(printed, key) ? printed[key] : undefined;
  if (typeof value === 'string' && value !== '') return { value };
  const others = Object.keys(printed).toSorted().join(', ');
  return {
    problem:
      value === undefined
        ? `it printed no member \`${key}\`, but ${others || 'none at all'}`
        : `its member \`${key}\` is ${value === '' ? 'an empty string' : 'not a string'}`,
  };
}
