// A saved plan is what was reviewed, whole, and not older than a day; anything else is refused.
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  digest,
  type Json,
  type PlanDocument,
  type PlanFile,
  type PlanOptions,
} from '../../../src/model/index.js';
import { diskFiles } from '../../../src/platform/files.js';
import { readPlanFile, writePlanFile, type PlanFileOptions } from '../../../src/state/index.js';
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
      'no saved plan',
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
    ['a list', () => [], 'damaged-file', 'no saved plan'],
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
