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

/** A text, the members of a JSON object, or why there is nothing: part of a sentence. */
type Answer<T> = { readonly value: T } | { readonly problem: string };

/** The secret of a key, from the command of that name. */
export function commandSecrets({
  environment,
  cwd,
  commands,
  output,
}: CommandPlaces): (name: string, key: string) => Secret {
  const answers = new Map<string, Promise<Answer<string>>>();
  const objects = new Map<string, Promise<Answer<JsonObject>>>();
  const secrets = new Map<string, Secret>();
  const run = (words: readonly string[], signal: AbortSignal): Promise<Answer<string>> =>
    cached(answers, JSON.stringify(words), async () => {
      // Without the credentials of trueup, which no other program needs.
      const visible = keptMembers(environment, (_, name) => !isOwnCredential(name));
      const printed = await output(words, { cwd, environment: visible, signal });
      return 'problem' in printed ? printed : { value: printed.text };
    });
  const lookUp = async (
    command: readonly string[],
    key: string,
    signal: AbortSignal,
  ): Promise<Answer<string>> => {
    if (command.some((word) => word.includes(KEY)))
      return textIn(await run(wordsFor(command, key), signal));
    const read = async (): Promise<Answer<JsonObject>> => objectIn(await run(command, signal));
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
          const answer = await lookUp(command, key, signal);
          if ('problem' in answer)
            return `\`settings.secrets.${name}\` returned no value: ${answer.problem}. To see why, run its command: ${typed}`;
          ({ value } = answer);
          return undefined;
        },
      });
    });
}

const wordsFor = (command: readonly string[], key: string): readonly string[] =>
  command.map((word) => word.replaceAll(KEY, () => key));

function textIn(answer: Answer<string>): Answer<string> {
  if ('problem' in answer) return answer;
  const value = answer.value.replace(/\r?\n$/, '');
  return value === '' ? { problem: 'it printed nothing' } : { value };
}

function objectIn(answer: Answer<string>): Answer<JsonObject> {
  if ('problem' in answer) return answer;
  const value = tryJson(answer.value);
  return isObject(value)
    ? { value }
    : {
        problem:
          'it printed no JSON object (if it prints one value, write {key} where it takes the key)',
      };
}

function memberOf(answer: Answer<JsonObject>, key: string): Answer<string> {
  if ('problem' in answer) return answer;
  const { value: printed } = answer;
  const value = Object.hasOwn(printed, key) ? printed[key] : undefined;
  if (typeof value === 'string' && value !== '') return { value };
  const others = Object.keys(printed).toSorted().join(', ');
  return {
    problem:
      value === undefined
        ? `it printed no member \`${key}\`, but ${others || 'none at all'}`
        : `its member \`${key}\` is not a string`,
  };
}
