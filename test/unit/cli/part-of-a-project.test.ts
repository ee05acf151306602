// A law of plans with PATHs: they delete nothing that a plan of all files keeps, and refuse no delete of it.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import type { Command } from '../../../src/cli/context.js';
import { drawn } from '../../support/drawn.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

const NAMES = ['a', 'b', 'c', 'd'] as const;
/** Known if it is a PATH, or if the state records it. */
const HIDDEN = '.h/five.yaml';
const FILES = ['one.yaml', 'x/two.yaml', 'x/three.yaml', 'y/four.yaml', HIDDEN] as const;
/** Everything, with the hidden folder. */
const WHOLE = ['.', '.h'];

type Placing = Readonly<Record<(typeof NAMES)[number], string | undefined>>;
interface Moved {
  readonly before: Placing;
  readonly after: Placing;
  readonly paths: readonly string[];
}

const place = fc.constantFrom(...FILES);
const placing = <T>(where: fc.Arbitrary<T>) =>
  fc.record({ a: where, b: where, c: where, d: where });
const moved: fc.Arbitrary<Moved> = fc.record({
  before: placing(place),
  after: placing(fc.option(place, { nil: undefined, freq: 4 })),
  paths: fc.subarray(['one.yaml', 'x', 'x/two.yaml', 'y', 'y/four.yaml', HIDDEN], {
    minLength: 1,
  }),
});

/** Each file stays, so that any of them can be a PATH. */
function write(cwd: string, where: Placing): void {
  for (const file of FILES) {
    const lines = NAMES.flatMap((name) =>
      where[name] === file ? [`  ${name}: { name: ${name} }\n`] : [],
    );
    mkdirSync(dirname(join(cwd, file)), { recursive: true });
    writeFileSync(join(cwd, file), lines.length > 0 ? `accounts:\n${lines.join('')}` : '');
  }
}

test('a plan of a part deletes what a plan of all files deletes, and refuses only the rest', async () => {
  const allowed = ['max-deletes', 'max-changed', 'all-removed'].flatMap((rule) => [
    '--allow',
    rule,
  ]);
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(moved, async ({ before, after, paths }) => {
      const isHidden = (where: Placing): boolean => Object.values(where).includes(HIDDEN);
      fc.pre(!isHidden(after) || isHidden(before) || paths.includes(HIDDEN));
      const cwd = freshFolder();
      const run = (command: Command, ...words: readonly string[]) =>
        inProcess(command, words, { cwd, env: {} });
      writeFileSync(join(cwd, 'trueup.yaml'), 'settings: { target: emulator }\n');
      write(cwd, before);
      expect((await run(apply, 'apply', ...WHOLE, '--auto-approve')).code).toBe(0);
      write(cwd, after);
      const { code, stdout, stderr } = await run(plan, 'plan', 'trueup.yaml', ...paths, ...allowed);
      const deleted = [...stdout.matchAll(/^- DELETE accounts\.(\w)/gm)].map(([, name]) => name);
      const refused = [...stderr.matchAll(/accounts\.(\w) would be removed, but/g)].map(
        ([, name]) => name,
      );
      const gone = NAMES.filter((name) => after[name] === undefined);
      const kept = deleted.filter((name) => !gone.some((one) => one === name));
      expect(new Set(kept)).toEqual(new Set(refused));
      expect(code, stderr).toBe(refused.length > 0 ? 1 : 0);
      if (refused.length > 0) seen.add('refused');
      else if (deleted.length > 0) seen.add('deleted');
      rmSync(cwd, { recursive: true });
    }),
    { numRuns: drawn(40) },
  );
  expect(seen.size).toBe(2);
});
