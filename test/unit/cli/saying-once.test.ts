// A watch of weeks repeats nothing and remembers no more than it has to.
import { expect, test } from 'vitest';
import type { Context } from '../../../src/cli/context.js';
import { sayingOnce } from '../../../src/cli/repeated-messages.js';
import type { Diagnostic } from '../../../src/model/index.js';

test('shortens what is left, so that one that comes later is shown', async () => {
  const said: string[] = [];
  const context = {
    flags: {},
    toSeeAll: 'trueup x',
    tell: (all: readonly Diagnostic[]) =>
      Promise.resolve(void said.push(...all.map(({ summary }) => summary))),
  };
  const { tell } = sayingOnce(context as unknown as Context);
  const all = ['a', 'b', 'c', 'd', 'e'].map(
    (summary) => ({ severity: 'warning', code: 'x', summary }) as const,
  );
  await tell(all);
  expect(said.splice(0)).toEqual(['a', 'b', 'c', 'and 2 more like this']);
  await tell([...all, { severity: 'warning', code: 'x', summary: 'f' }]);
  expect(said).toEqual(['f']);
});

test('says each message once, and forgets the one that came least lately', async () => {
  const said: string[] = [];
  const { tell } = sayingOnce({
    flags: {},
    tell: (all: readonly Diagnostic[]) =>
      Promise.resolve(void said.push(...all.map(({ summary }) => summary))),
  } as unknown as Context);
  const say = (...summaries: readonly string[]) =>
    tell(summaries.map((summary) => ({ severity: 'warning', code: 'x', summary })));
  await say('answered 400: request 12 at 18:02:34', 'answered 400: request 4f3a at 18:02:35');
  expect(said.splice(0)).toHaveLength(1);
  const at = (line: number): Diagnostic => ({
    severity: 'warning',
    code: 'x',
    summary: 'line 1',
    origin: { file: 'a.yaml', line, column: 1 },
  });
  await tell([at(1), at(2), at(1)]);
  expect(said.splice(0)).toHaveLength(2);
  await say('a', 'b', 'a');
  await say('b', 'a');
  expect(said.splice(0)).toEqual(['a', 'b']);
  for (let index = 0; index < 998; index++) await say('m'.repeat(index + 1));
  await say('a', 'new');
  expect(said.splice(0).slice(-1)).toEqual(['new']);
  await say('a', 'b');
  expect(said).toEqual(['b']);
});
