// What a watch says of an audit that failed: a line for each cycle, and each error once, with its place.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failedCycle } from '../../../src/cli/audit-cycle.js';
import { run as watch } from '../../../src/cli/commands/watch.js';
import type { Command } from '../../../src/cli/context.js';
import { Refusal, warning } from '../../../src/model/index.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

test('declarations that cannot be loaded are told with their places, once', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), 'accounts: { a: { nam: A }, b: { name: 7 } }\n');
  const ending = new AbortController();
  let cycles = 0;
  const twice: Command = (context, args) =>
    watch(
      {
        ...context,
        signal: ending.signal,
        clock: {
          ...context.clock,
          async sleep() {
            cycles += 1;
            if (cycles === 2) ending.abort();
          },
        },
      },
      args,
    );
  const { code, stdout, stderr } = await inProcess(twice, ['watch'], { cwd, env: {} });
  expect([code, stdout.match(/Z failed: /g)]).toEqual([0, ['Z failed: ', 'Z failed: ']]);
  expect(stderr.match(/trueup\.yaml:1:\d+ · accounts\.[ab] /g)).toEqual([
    'trueup.yaml:1:13 · accounts.a ',
    'trueup.yaml:1:18 · accounts.a ',
    'trueup.yaml:1:33 · accounts.b ',
  ]);
});

test('the line of a cycle gives the first error as the reason', async () => {
  const later = { severity: 'error', code: 'x', summary: 'it cannot be read' } as const;
  const tell = () => Promise.resolve();
  const words = async (error: Refusal): Promise<string> =>
    (await failedCycle({ tell }, error)).words;
  expect(await words(new Refusal([warning('w', 'it is not known'), later]))).toBe(
    'failed: it cannot be read',
  );
  expect(await words(new Refusal([warning('w', 'it is not known')]))).toBe(
    'failed: it is not known',
  );
  expect(await words(new Refusal([]))).toBe('failed: no reason was reported');
});
