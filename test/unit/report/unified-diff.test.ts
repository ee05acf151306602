// The diff of a file is one that `git apply` takes, and it leads to the other text.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { unifiedDiff } from '../../../src/report/unified-diff.js';
import { drawn } from '../../support/drawn.js';
import { freshFolder } from '../../support/in-process.js';

it('has three lines around a change, and the names of git', () => {
  expect(unifiedDiff('x.yaml', 'a\nb\nc\nd\ne\nf', 'a\nb\nc\nd\nE\nf')).toBe(`--- a/x.yaml
+++ b/x.yaml
@@ -2,5 +2,5 @@
 b
 c
 d
-e
+E
 f
\\ No newline at end of file
`);
  expect(unifiedDiff('x.yaml', 'a\n', 'a\n')).toBe('');
});

const text = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'b', '', '  c: d # e', 'f\r'), { maxLength: 30 }),
    fc.boolean(),
  )
  .map(([lines, isOpen]) => lines.map((line) => `${line}\n`).join('') + (isOpen ? 'end' : ''));

it('leads to the other text', () => {
  const cwd = freshFolder();
  const path = join(cwd, 'x.yaml');
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(after !== before && after !== '' && before !== '');
      writeFileSync(path, before);
      execFileSync('git', ['apply', '--whitespace=nowarn'], {
        cwd,
        input: unifiedDiff('x.yaml', before, after),
        env: { PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: cwd, HOME: cwd },
      });
      expect(readFileSync(path, 'utf8')).toBe(after);
    }),
    { numRuns: drawn(40) },
  );
});
