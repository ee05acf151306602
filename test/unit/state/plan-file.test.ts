// A saved plan is what was reviewed, whole, and not older than a day; anything else is refused.
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  digest,
  Secret,
  type Json,
  type PlanDocument,
  type PlanFile,
  type PlanContent,
  type PlanOptions,
} from '../../../src/model/index.js';
import { diskFiles } from '../../../src/platform/files.js';
import { checkRecipients } from '../../../src/state/plan-encryption.js';
import { readPlanFile, writePlanFile, type PlanFileOptions } from '../../../src/state/plan-file.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import { refusal } from './conformance.js';

const options: PlanOptions = {
  targets: [],
  excludes: [],
  allow: ['max-deletes'],
  destroy: false,
  variables: { region: 'north' },
};
const document: PlanDocument = {
  format_version: '1.0',
  trueup_version: '0.1.0',
  generated_at: '2026-01-01T00:00:00.000Z',
  generated_from: { paths: ['.'], digest: 'd' },
  target: 'https://cloud.example.com/api/v2',
  state: { lineage: '', serial: 0 },
  resource_changes: [
    {
      address: 'accounts.hq',
      kind: 'accounts',
      name: 'hq',
      origin: { file: 'a.yaml', line: 1, column: 1 },
      change: {
        actions: ['create'],
        before: null,
        after: { name: 'HQ' },
        after_unknown: { id: true },
        before_sensitive: {},
        after_sensitive: {},
      },
      reason: 'declared, and not there',
      depends_on: [],
      fingerprint: null,
      patch: [],
      requests: [{ method: 'POST', path: '/api/v2/accounts/', body: { name: 'HQ' } }],
    },
  ],
  resource_drift: [],
  unmanaged: { accounts: 3 },
  policy: [],
  summary: {
    create: 1,
    update: 0,
    delete: 0,
    adopt: 0,
    replace: 0,
    forget: 0,
    keep: 0,
    writes: { create: 1, update: 0, delete: 0 },
  },
  api_requests: { accounts: 1 },
  diagnostics: [],
};

let folder: string;
let at: PlanFileOptions;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trueup-plan-'));
  at = {
    path: join(folder, 'plan.json'),
    files: diskFiles(seededRandom(1)),
    clock: simulatedClock(),
  };
});
afterEach(() => rm(folder, { recursive: true }));

/** Writes the plan with something else in it; with a digest that fits, unless told otherwise. */
async function forge(
  change: (file: Record<string, unknown>) => unknown,
  fit = true,
): Promise<void> {
  const { digest: _, ...content } = JSON.parse(await readFile(at.path, 'utf8')) as PlanFile &
    Record<string, unknown>;
  const changed = (change(content) ?? content) as Json;
  await writeFile(
    at.path,
    JSON.stringify({ ...(changed as object), ...(fit && { digest: digest(changed) }) }),
  );
}

describe('a plan file', () => {
  it('comes back as it was written, for the eyes of its owner', async () => {
    const saving = { ...options, valid_for: '7d', encrypt_to: ['age1a'] };
    const whole = await writePlanFile(at, document, saving);
    expect(await readPlanFile(at)).toEqual(whole);
    const written = await writePlanFile(at, document, options);
    expect(await readPlanFile(at)).toEqual(written);
    expect(written).toMatchObject({ plan_file_version: 1, document, options });
    expect((await stat(at.path)).mode & 0o777).toBe(0o600);
  });

  it('holds for 24 hours and not a millisecond more', async () => {
    await writePlanFile(at, document, options);
    await at.clock.sleep(24 * 60 * 60 * 1000 - 1);
    await readPlanFile(at);
    await at.clock.sleep(1);
    expect(await refusal(readPlanFile(at))).toMatchObject({ code: 'plan-expired', exit: 6 });
  });

  it('holds for as long as it was told, and says when it ended and what to type', async () => {
    await writePlanFile(at, document, options, { lifetime: 1000 });
    await at.clock.sleep(999);
    const { expires_at } = await readPlanFile(at);
    await at.clock.sleep(1);
    const refused = await refusal(readPlanFile(at));
    expect(refused).toMatchObject({ code: 'plan-expired', exit: 6 });
    expect(refused.words).toContain(`expired at ${expires_at}`);
    expect(refused.words).toContain(`trueup plan --out ${at.path}`);
    const again = (file: PlanContent) => () => `again: ${file.options.allow.join()}`;
    expect((await refusal(readPlanFile(at, undefined, again))).words).toContain(
      'Make the plan again: max-deletes\n',
    );
  });

  it('is refused wherever it is cut, with the place', async () => {
    await writePlanFile(at, document, options);
    const whole = await readFile(at.path, 'utf8');
    for (let length = 0; length < whole.length - 2; length += 10) {
      await writeFile(at.path, whole.slice(0, length));
      const refused = await refusal(readPlanFile(at));
      expect(refused).toMatchObject({ code: 'damaged-file', exit: 1 });
      expect(refused.words).toContain(`line ${whole.slice(0, length).split('\n').length}, column`);
    }
  });

  it.each<readonly [string, (file: Record<string, unknown>) => unknown, string, string]>([
    [
      'a newer version',
      (file) => ({ ...file, plan_file_version: 2 }),
      'newer-format',
      'newer trueup',
    ],
    [
      'no version',
      (file) => ({ ...file, plan_file_version: undefined }),
      'damaged-file',
      'not a saved plan',
    ],
    [
      'a stranger among its members',
      (file) => ({ ...file, extra: 1 }),
      'damaged-file',
      'extra is not a member',
    ],
    [
      'a member missing',
      (file) => ({ ...file, options: undefined }),
      'damaged-file',
      'options is missing',
    ],
    [
      'a wrong type deep inside',
      (file) => ({ ...file, options: { ...options, targets: 'all' } }),
      'damaged-file',
      'options.targets must be a list',
    ],
    ['a list', () => [], 'damaged-file', 'not a saved plan'],
    ['declarations', () => ({ accounts: {} }), 'damaged-file', 'a name that ends in .yaml'],
  ])('with %s is refused, though its digest fits', async (_, change, code, words) => {
    await writePlanFile(at, document, options);
    await forge(change);
    const refused = await refusal(readPlanFile(at));
    expect(refused).toMatchObject({ code, exit: 1 });
    expect(refused.words).toContain(words);
  });

  it('that was edited is refused, and says nothing of what it holds', async () => {
    await writePlanFile(at, document, options);
    const text = await readFile(at.path, 'utf8');
    await writeFile(at.path, text.replace('"north"', '"south"'));
    const refused = await refusal(readPlanFile(at));
    expect(refused).toMatchObject({ code: 'damaged-file', exit: 1 });
    expect(refused.words).toContain('digest');
    expect(refused.words).not.toContain('south');
  });

  it('that is not there is told as that, with what makes one', async () => {
    const refused = await refusal(readPlanFile(at));
    expect(refused).toMatchObject({ code: 'no-such-file', exit: 1 });
    expect(refused.words).toContain(`there is no file ${at.path}`);
    expect(refused.words).toContain('trueup plan --out FILE');
    expect(refused.words).not.toContain('changed');
  });
});

describe('an encrypted plan file', () => {
  const secret = (text: string | undefined): Secret => new Secret('--identity key.txt', () => text);
  let [mine, recipient]: [string, string] = ['', ''];
  beforeEach(async () => {
    mine = await generateIdentity();
    recipient = await identityToRecipient(mine);
  });
  const write = (...recipients: readonly string[]) =>
    writePlanFile(at, document, options, { recipients });
  const refused = async (identity?: Secret) => refusal(readPlanFile(at, identity));

  it('comes back with the identity of any recipient, and shows nothing without', async () => {
    const other = await generateIdentity();
    const written = await write(await identityToRecipient(other), recipient);
    const text = await readFile(at.path, 'utf8');
    expect(text).toMatch(
      /^-----BEGIN AGE ENCRYPTED FILE-----\n[\w+/=\n]+-----END AGE ENCRYPTED FILE-----\n$/,
    );
    expect(Buffer.from(text.split('\n').slice(1, -2).join(''), 'base64').toString()).not.toContain(
      'north',
    );
    expect((await stat(at.path)).mode & 0o777).toBe(0o600);
    for (const identity of [other, `# a comment\r\n\r\n  ${mine}\r\n`])
      expect(await readPlanFile(at, secret(identity))).toEqual(written);
    await at.clock.sleep(24 * 60 * 60 * 1000);
    expect(await refused(secret(mine))).toMatchObject({ code: 'plan-expired', exit: 6 });
  });

  it('is refused without its identity, and no message quotes one', async () => {
    await write(recipient);
    const other = await generateIdentity();
    for (const [text, code] of [
      [other, 'wrong-identity'],
      [undefined, 'no-identity'],
      ['# nothing\n', 'no-identity'],
      [recipient, 'no-identity'],
      [`${mine}\nsomething else`, 'no-identity'],
      [mine.slice(0, -1), 'no-identity'],
    ] as const) {
      const { words, ...more } = await refused(secret(text));
      expect([text, more]).toMatchObject([text, { code, exit: 1 }]);
      expect(words).not.toMatch(/AGE-SECRET-KEY-\w/);
    }
    expect(await refused()).toMatchObject({ code: 'plan-encrypted', exit: 1 });
  });

  it('is refused wherever it is cut, and whatever is altered in it', async () => {
    await write(recipient);
    const whole = await readFile(at.path, 'utf8');
    const lines = whole.split('\n');
    const begin = whole.indexOf('\n') + 1;
    for (let length = begin; length < whole.length - 2; length += 97) {
      await writeFile(at.path, whole.slice(0, length));
      expect(await refused(secret(mine))).toMatchObject({ code: 'damaged-file', exit: 1 });
    }
    for (let index = 1; index < lines.length - 2; index += 1) {
      const changed = lines.with(
        index,
        (lines[index]![0] === 'A' ? 'B' : 'A') + lines[index]!.slice(1),
      );
      await writeFile(at.path, changed.join('\n'));
      const { code } = await refused(secret(mine));
      expect([index, code]).toEqual([
        index,
        expect.stringMatching(/^(?:damaged-file|wrong-identity)$/),
      ]);
      await writeFile(at.path, lines.toSpliced(index, 1).join('\n'));
      expect([index, (await refused(secret(mine))).exit]).toEqual([index, 1]);
    }
  });

  it('asks for no identity where it is plain', async () => {
    const written = await writePlanFile(at, document, options);
    const unread = new Secret('--identity', () => {
      throw new Error('it was read');
    });
    expect(await readPlanFile(at, unread)).toEqual(written);
  });

  it('takes recipients only, and repeats no identity that stands in their place', async () => {
    checkRecipients([recipient]);
    for (const wrong of ['', 'age1', 'x', mine, recipient.slice(0, -1), recipient.toUpperCase()]) {
      const check = Promise.resolve().then(() => checkRecipients([recipient, wrong]));
      const { words, ...more } = await refusal(check);
      expect([wrong, more]).toMatchObject([wrong, { code: 'bad-recipient', exit: 1 }]);
      expect(words).toContain('--encrypt-to number 2');
      expect(words).not.toContain('SECRET');
    }
  });
});
