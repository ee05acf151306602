// Secrets that a command prints: `settings.secrets.<name>.command`, the client of a secret manager. A command runs when
// a value is needed, once for each run of trueup, and never while declarations are only validated.
import {
  Secret,
  isOwnCredential,
  keptMembers,
  tryJson,
  isObject,
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
  /** Told of each secret once its value is known. */
  readonly found: (secret: Secret) => void;
}

/** A word of a command that stands for the key; without it, the command prints a JSON object with all keys. */
const KEY = '{key}';

type Answer = ReturnType<CommandOutput>;

/** The secret of a key, from the command of that name. */
export function commandSecrets(places: CommandPlaces): (name: string, key: string) => Secret {
  const { environment, cwd, commands, output, found } = places;
  const answers = new Map<string, Answer>();
  let visible: Environment | undefined;
  const ask = (words: readonly string[]): Answer => {
    // Without the credentials of trueup, which no other program needs.
    visible ??= keptMembers(environment, (_, name) => !isOwnCredential(name));
    const known = JSON.stringify(words);
    const answer = answers.get(known) ?? output(words, { cwd, environment: visible });
    answers.set(known, answer);
    return answer;
  };
  return (name, key) => {
    const { command } = commands[name]!;
    const perKey = command.some((word) => word.includes(KEY));
    const look = (): Answer =>
      perKey
        ? textIn(ask(command.map((word) => word.replaceAll(KEY, key))))
        : memberOf(ask(command), key);
    const source = `${name}.${key}`;
    return new Secret(
      source,
      () => {
        const answer = look();
        if ('problem' in answer) return undefined;
        found(new Secret(source, () => answer.text));
        return answer.text;
      },
      () => {
        const answer = look();
        return 'problem' in answer
          ? `The command of \`settings.secrets.${name}\` gave no value: ${answer.problem}.`
          : '';
      },
    );
  };
}

function textIn(answer: Answer): Answer {
  if ('problem' in answer) return answer;
  const text = answer.text.replace(/\r?\n$/, '');
  return text === '' ? { problem: 'it printed nothing' } : { text };
}

function memberOf(answer: Answer, key: string): Answer {
  if ('problem' in answer) return answer;
  const printed = tryJson(answer.text);
  if (!isObject(printed))
    return {
      problem: `it printed no JSON object. If it prints one value, write {key} where the command takes the key`,
    };
  const value = Object.hasOwn(printed, key) ? printed[key] : undefined;
  if (typeof value === 'string' && value !== '') return { text: value };
  const others = Object.keys(printed).toSorted();
  return {
    problem:
      value === undefined
        ? `it printed no member \`${key}\`, but ${others.join(', ') || 'none at all'}`
        : `its member \`${key}\` is no text`,
  };
}
