// A watch of weeks repeats nothing and remembers no more than it has to.
import { expect, test } from 'vitest';
import type { Context } from '../../src/cli/context.js';
import { sayingOnce } from '../../src/cli/saying-once.js';
import type { Diagnostic } from '../../src/model/index.js';

test('says each message once, and forgets the one that came least lately', async () => {
  const said: string[] = [];
  const { tell } = sayingOnce({ tell: (all: readonly Diagnostic[]) => Promise.resolve(void said.push(...all.map(({ summary }) => summary))) } as unknown as Context);
  const say = (...summaries: readonly string[]) => tell(summaries.map((summary) => ({ severity: 'warning', code: 'x', summary })));
  await say('a', 'b', 'a');
  await say('b', 'a');
  expect(said.splice(0)).toEqual(['a', 'b']);
  for (let index = 0; index < 998; index++) await say(`m${index}`);
  await say('a', 'new');
  expect(said.splice(0).slice(-1)).toEqual(['new']);
  await say('a', 'b');
  expect(said).toEqual(['b']);
});
