// Names that mark their value as secret: names of environment variables, and of members of documents.

const CREDENTIAL = new Set([
  'TOKEN',
  'KEY',
  'APIKEY',
  'SECRET',
  'PASSWORD',
  'PASSWD',
  'CREDENTIAL',
  'CREDENTIALS',
]);

/** Whether an environment variable is named like a credential: one of its parts between underscores is in the list, in any case. */
export const isCredentialName = (name: string): boolean =>
  name.split('_').some((part) => CREDENTIAL.has(part.toUpperCase()));

/** The name of one of trueup's own variables after its prefix; undefined for other names, and for values of variables (`TRUEUP_VAR_…`). */
const ownName = (name: string): string | undefined =>
  /(?:^|_)TRUEUP_(?!VAR_)(.*)$/is.exec(name)?.[1];

/** Variables of trueup that hold a secret and are not named like one: an identity, an address that anybody may post to, and the address of a queue with its password. */
const UNNAMED = /^(?:IDENTITY|NOTIFY_URL|QUEUE)(?:_FILE)?$/i;

/** Whether an environment variable holds a key, a token or a password of trueup, also as the name of a file (`…_FILE`) and below a prefix. */
export const isOwnSecret = (name: string): boolean => {
  const own = ownName(name) ?? '';
  return isCredentialName(own) || UNNAMED.test(own);
};

/** Whether an environment variable holds a credential of trueup: a secret, or the id or user name that goes with it. */
export const isOwnCredential = (name: string): boolean =>
  isOwnSecret(name) || /(?:^|_)(?:ID|USERNAME)(?:_FILE)?$/i.test(ownName(name) ?? '');

const SECRET = /(?:password|passwd|passphrase|secret|psk|token|privatekey|sharedkey|apikey)$/;

/** Whether a member of a document is named as a secret is: by the end of its name, whatever its case and its separators. */
export const isSecretName = (name: string): boolean =>
  SECRET.test(name.toLowerCase().replace(/[-_\s.]/g, ''));
