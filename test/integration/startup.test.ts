// What the built command loads for a task, and what it must not load: modules of Node that take longer than the task.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folder } from '../support/cli.js';

const LISTING = `process.on('exit', () =>
  require('node:fs').writeFileSync('loaded.json', JSON.stringify(process.moduleLoadList)));
`;

it("a state in PostgreSQL does not load Node's fetch", async () => {
  const home = folder({
    'trueup.yaml': 'accounts: { a: { name: A } }\n',
    'listing.cjs': LISTING,
  });
  const env = {
    NODE_OPTIONS: `--require ${join(home.path, 'listing.cjs')}`,
    TRUEUP_STATE: 'postgres://nobody@127.0.0.1:1/none',
    TRUEUP_V2_URL: 'http://127.0.0.1:1/api/v2',
  };
  const { stderr } = await home.expect(1, ['plan'], { env });
  expect(stderr).toContain('postgres://127.0.0.1:1/none');
  const loaded: readonly string[] = JSON.parse(
    readFileSync(join(home.path, 'loaded.json'), 'utf8'),
  );
  expect(loaded).toContain('NativeModule net');
  expect(loaded.filter((name) => name.includes('undici'))).toEqual([]);
});
