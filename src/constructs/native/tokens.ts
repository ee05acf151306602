// Types of values that are known only later. Such a value is a string that names where to find it, so a token is
// written into the document as it is.
import type { Tokens } from '../props.js';
import type { LibraryAdapter } from '../prop-checks.js';

/** `${alert_push_destinations.pager.destination_config_id}`, `${var.site}` and their like. */
export type Reference = `\${${string}}`;

export type SecretReference = `\${secret.${string}.${string}}`;

export interface NativeTokens extends Readonly<Record<Exclude<keyof Tokens, 'secret'>, Reference>> {
  readonly secret: SecretReference;
}

/** Where secrets are kept. They are read when they are sent, and at no other time. */
export const secret = {
  /** The value of an environment variable. */
  env: (name: string): SecretReference => `\${secret.env.${name}}`,
  /** What a file holds. */
  file: (path: string): SecretReference => `\${secret.file.${path}}`,
  /** What the command of `settings.secrets.<manager>` prints for the key. */
  from: (manager: string, key: string): SecretReference => `\${secret.${manager}.${key}}`,
};

export const nativeDoor: LibraryAdapter = {
  isToken: (value) => typeof value === 'string' && value.includes('${'),
  isSecret: (value) =>
    typeof value === 'string' &&
    /^\$\{secret\.(?:env\.[A-Za-z_]\w*|(?!env\.)[A-Za-z][\w-]*\.[^{}]+)\}$/.test(value),
  resolved: (value) => value,
  secretWords: "`secret.env('NAME')`, `secret.file('PATH')` or `secret.from('MANAGER', 'KEY')`",
  writeOnly: false,
  document: (value) => value,
};
