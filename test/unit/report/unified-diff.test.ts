// The diff of edits is one that `git apply` takes, and it leads to the edited text.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { edited } from '../../../src/declarations/yaml/edit.js';
import { unifiedDiff } from '../../../src/report/unified-diff.js';
import { drawn } from '../../support/drawn.js';
import { freshFolder } from '../../support/in-process.js';

it('is exact', () => {
  const text = 'a\nb\nc\nd\ne\nf\ng\nh';
  const splices = [
    { start: 0, end: 1, text: 'A' },
    { start: 15, end: 15, text: '\ni' },
  ];
  expect(unifiedDiff('x.yaml', text, splices)).toBe(`--- a/x.yaml
+++ b/x.yaml
@@ -1,8 +1,9 @@
-a
+A
 b
 c
 d
 e
 f
 g
-h
\\ No newline at end of file
+h
+i
\\ No newline at end of file
`);
});

const lines = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', '', '  c: d # e'), { maxLength: 30 }), fc.boolean())
  .map(([some, isOpen]) => some.map((line) => `${line}\n`).join('') + (isOpen ? 'end' : ''));

it('leads to the edited text', () => {
  const cwd = freshFolder();
  const path = join(cwd, 'x.yaml');
  fc.assert(
    fc.property(
      lines,
      fc.array(fc.tuple(fc.nat(200), fc.nat(4), fc.constantFrom('', 'x', 'x\ny\n', '\nz')), {
        maxLength: 5,
      }),
      (text, drafts) => {
        let at = 0;
        const splices = drafts
          .toSorted(([a], [b]) => a - b)
          .flatMap(([from, size, more]) => {
            const start = Math.max(at, from);
            const end = Math.min(start + size, text.length);
            if (start > text.length || text.slice(start, end) === more) return [];
            at = end + 1;
            return [{ start, end, text: more }];
          });
        const after = edited(text, splices);
        fc.pre(after !== text && after !== '' && text !== '');
        writeFileSync(path, text);
        const diff = unifiedDiff('x.yaml', text, splices);
        execFileSync('git', ['apply', '--unidiff-zero', '--whitespace=nowarn'], {
          cwd,
          input: diff,
          env: { PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: cwd, HOME: cwd },
        });
        expect(readFileSync(path, 'utf8')).toBe(after);
      },
    ),
    { numRuns: drawn(60) },
  );
});
