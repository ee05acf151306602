// The sources of secrets: the environment, files below some folders, and commands. Nothing is read before it is needed.
// The path of a file is checked after links are resolved, so that no link leads out, and checked again when it is read.
import { isUtf8 } from 'node:buffer';
import { dirname, resolve, sep } from 'node:path';
import {
  NOT_UTF8,
  Secret,
  didYouMean,
  isOwnCredential,
  type Obtained,
  type Unobtained,
} from '../model/index.js';
import { variableIn } from './environment.js';
import type { DeclarationFiles } from '../platform/index.js';
import { realPath } from './paths.js';
import { commandSecrets, type CommandPlaces } from './secret-commands.js';
import type { Violation } from './validation.js';

export interface SecretPlaces extends CommandPlaces {
  readonly files: DeclarationFiles;
  /** `settings.secret_roots` */
  readonly roots: readonly string[];
  /** Names of an environment variable, the first that is set counts. */
  readonly namesOf: (name: string) => readonly string[];
  /** Told of each secret. */
  readonly found: (secret: Secret) => void;
}

/** The secret that an expression names, or why it cannot be one. */
export type SecretSource = (source: string, name: string) => Secret | Omit<Violation, 'path'>;

const LONGEST = 65_536;
/** Beside the project and `settings.secret_roots`. */
const MOUNTED = '/run/secrets';
/** Files of the system: the environment and the memory of processes are among them. */
const NEVER = ['/proc', '/sys', '/dev'];

export function secretSource(places: SecretPlaces): SecretSource {
  const { environment, files, cwd, roots, commands, namesOf, found } = places;
  const told = (secret: Secret): Secret => {
    found(secret);
    return secret;
  };
  const allowed = [cwd, MOUNTED, ...roots.map((root) => resolve(cwd, root))].map((root) =>
    realPath(files, root),
  );
  const printed = commandSecrets(places);
  return (source, name) => {
    if (source === 'env') {
      if (isOwnCredential(name)) return ownCredential(`\${secret.env.${name}}`, name);
      const names = namesOf(name);
      const value = (): string | undefined =>
        names.map((one) => variableIn(environment, one)).find(Boolean);
      return told(new Secret(`env.${name}`, value, { advice: `Set ${name} in the environment.` }));
    }
    if (source !== 'file')
      return Object.hasOwn(commands, source)
        ? printed(source, name)
        : unknownManager(source, name, Object.keys(commands));
    const path = resolve(cwd, name);
    const read = (): Obtained<string> | undefined =>
      outside(files, allowed, path, name) ? undefined : textOf(files, realPath(files, path));
    const value = (): string | undefined => {
      const result = read();
      return result && 'value' in result ? result.value : undefined;
    };
    const fetch = async (): Promise<Unobtained | undefined> => {
      const result = read();
      if (!result || 'value' in result) return undefined;
      return { ...result, problem: `\${secret.file.${name}}: ${result.problem}` };
    };
    const advice = `Write the value into the file ${name}, and make it readable.`;
    const made = new Secret(`file.${name}`, value, { advice, fetch });
    return outside(files, allowed, path, name) ?? told(made);
  };
}

/** The secrets of the environment and of files that a text names, whatever else it says, as `secretSource` takes them. */
export const secretsNamedIn = (text: string): readonly (readonly [string, string])[] =>
  [...text.matchAll(/\$\{\s*secret\.(env|file)\.([^}"'\n]+?)\s*\}/g)].map(([, source, name]) => [
    source!,
    name!,
  ]);

const unknownManager = (
  source: string,
  name: string,
  known: readonly string[],
): Omit<Violation, 'path'> => ({
  names: ['secrets', source],
  code: 'unknown-secret-manager',
  summary: `\${secret.${source}.${name}}: \`settings.secrets\` holds no \`${source}\`.${didYouMean(source, ['env', 'file', ...known])}`,
  detail: `Write its command down, as in: settings: { secrets: { vault: { command: [vault, kv, get, "-field={key}", secret/network] } } }`,
});

/** The complaint about a declaration that names a credential of trueup. */
export const ownCredential = (text: string, name: string): Omit<Violation, 'path'> => ({
  code: 'own-credential',
  summary: `${text}: ${name} is a credential of trueup, which no declaration may use`,
  detail: 'Keep the secret that is meant in a variable of its own: `${secret.env.NAME}`.',
});

function outside(
  files: DeclarationFiles,
  allowed: readonly string[],
  path: string,
  name: string,
): Omit<Violation, 'path'> | undefined {
  const real = realPath(files, path);
  const leads = real === path ? '' : `, which leads to ${real},`;
  const refused = (why: string, detail: string): Omit<Violation, 'path'> => ({
    code: 'secret-outside',
    summary: `\${secret.file.${name}}${leads} ${why}`,
    detail,
  });
  if (NEVER.some((folder) => isBelow(folder, path) || isBelow(folder, real)))
    return refused(
      `is a file of the system: nothing below ${NEVER.join(', ')} is read`,
      'Keep the secret in a file of its own.',
    );
  if (allowed.some((root) => isBelow(root, real))) return undefined;
  return refused(
    'lies outside of the folders that secrets are read from',
    `Those are the current folder, ${MOUNTED} and \`settings.secret_roots\`. To add this one: \`settings: { secret_roots: [${JSON.stringify(dirname(real))}] }\`.`,
  );
}

const isBelow = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** The text of a file; undefined where it is empty or cannot be read. */
function textOf(files: DeclarationFiles, path: string): Obtained<string> | undefined {
  try {
    if (files.stat(path)?.kind !== 'file') return undefined;
    const bytes = files.read(path, LONGEST);
    if (!isUtf8(bytes)) return NOT_UTF8;
    const value = new TextDecoder().decode(bytes).replace(/\r?\n$/, '');
    return value === '' ? undefined : { value };
  } catch {
    return undefined;
  }
}
