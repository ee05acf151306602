// The encryption of saved plans with age, in the text form that `age --armor` writes. Only commands that encrypt or
// decrypt load this file, because the package takes time to load.
import { armor, Decrypter, Encrypter } from 'age-encryption';
import { refuse, type Secret } from '../model/index.js';
import { damaged } from './disk-errors.js';

/** @throws Refusal for a text that is no recipient. It may be an identity: it is not repeated. */
export function checkRecipients(recipients: readonly string[]): void {
  for (const [index, text] of recipients.entries())
    if (!isTaken(() => new Encrypter().addRecipient(text)))
      refuse('bad-recipient', `--encrypt-to number ${index + 1} is not an age recipient.`, {
        detail:
          'A recipient begins with age1. To see that of an identity, type: age-keygen -y IDENTITY-FILE',
      });
}

export async function encryptPlan(text: string, recipients: readonly string[]): Promise<string> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return armor.encode(await encrypter.encrypt(text));
}

/** @param identity the text of an identity file  @throws Refusal */
export async function decryptPlan(
  path: string,
  source: string,
  identity: Secret | undefined,
): Promise<string> {
  const decrypter = new Decrypter();
  for (const one of identitiesOf(path, identity)) decrypter.addIdentity(one);
  try {
    return await decrypter.decrypt(armor.decode(source), 'text');
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('no identity matched'))
      refuse('wrong-identity', `${path} is encrypted, and to none of the given identities.`, {
        detail:
          'Name the identity that it is for: --identity FILE\nOr make the plan again: trueup plan --out FILE --encrypt-to RECIPIENT',
      });
    return damaged(
      path,
      { line: 1, column: 1 },
      'it cannot be decrypted: it was cut or altered',
      'Nothing was changed. Copy the file again, or make the plan again: trueup plan --out FILE --encrypt-to RECIPIENT',
    );
  }
}

/** The identities of a file as age writes it: one per line, `#` begins a comment. @throws Refusal that quotes none */
function identitiesOf(path: string, identity: Secret | undefined): readonly string[] {
  if (!identity)
    return refuse('plan-encrypted', `${path} is encrypted, and no identity was given.`, {
      detail: 'Add --identity FILE to the command, or set TRUEUP_IDENTITY_FILE.',
    });
  const { source } = identity;
  const text = identity.reveal();
  if (text === undefined)
    return refuse('no-identity', `The file that ${source} names cannot be read.`, {
      detail: 'Name a file that age-keygen wrote: --identity FILE',
    });
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const identities = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (
    identities.length === 0 ||
    !identities.every((one) => isTaken(() => new Decrypter().addIdentity(one)))
  )
    return refuse('no-identity', `${source} holds no identity of age, or something else beside.`, {
      detail:
        'An identity is a line that begins with AGE-SECRET-KEY-. To make one, type: age-keygen -o FILE',
    });
  return identities;
}

function isTaken(take: () => void): boolean {
  try {
    take();
    return true;
  } catch {
    return false;
  }
}
