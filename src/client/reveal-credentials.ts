// Adds credentials to requests: each is revealed only for its request, and masked in every message from then on.
import { refuse, type Secret } from '../model/index.js';
import { tidier } from './errors.js';

export type ApiCredentials = ReturnType<typeof credentialsOf>;

export function credentialsOf() {
  const revealed = new Set<string>();
  return {
    /** Text of the service without any of the values. */
    tidy: tidier(() => revealed),
    /** @throws Refusal where the value cannot be had, or cannot travel in a header. */
    reveal(this: void, secret: Secret, inHeader = false): string {
      const value = secret.reveal();
      const { source } = secret;
      if (value === undefined || value === '')
        return source.endsWith('_FILE')
          ? refuse('secret-missing', `The file that ${source} names cannot be read, or is empty`, {
              detail: 'A path that does not begin with / is relative to the current folder.',
            })
          : refuse('secret-missing', `${source} has no value`, {
              detail: `Set ${source} where this command runs.`,
            });
      revealed.add(value);
      if (inHeader && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value))
        return refuse('secret-unusable', `${source} holds characters that no header can carry`, {
          detail: 'Look for a line break or a space at its end.',
        });
      return value;
    },
  };
}
