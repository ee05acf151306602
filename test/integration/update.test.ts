// `trueup export --update` as a person runs it after `trueup drift`, and killed while it writes.
import { mkdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { box, type Box } from '../support/box.js';
import { folder } from '../support/cli.js';

const names = Array.from({ length: 12 }, (_, index) => `shop-${index}`);
const textOf = (name: string, live: string): string =>
  `accounts:\n  ${name}: { name: "${live}", account: "1" } # ${name}\n`;

let service: Box;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  service = await box({
    version: 1,
    root: '1',
    next_id: 100,
    records: { accounts: [{ id: '1', account: null, name: 'Root' }] },
    users: [],
  });
  ({ env } = service);
});
afterAll(() => service.close());

test('drift is accepted; a killed run leaves each file old or new, and is run again', async () => {
  const home = folder({ 'trueup.yaml': 'settings: {}\n' });
  mkdirSync(join(home.path, 'shops'));
  for (const name of names) home.write(`shops/${name}.yaml`, textOf(name, name));
  await home.expect(0, ['apply', '--auto-approve'], { env });
  service.tamper('accounts', (all) =>
    all.map((one) => (one['id'] === '1' ? one : { ...one, name: `${String(one['name'])} new` })),
  );
  const drift = await home.expect(0, ['drift'], { env });
  expect(drift.stderr).toContain('trueup export --update');

  const killed = home.start(['export', '--update'], { env });
  const watcher = watch(join(home.path, 'shops'), (_, name) => {
    if (name?.endsWith('.yaml')) killed.child.kill('SIGKILL');
  });
  await killed.ended;
  watcher.close();
  const states = names.map((name) => {
    const text = home.read(`shops/${name}.yaml`);
    if (text === textOf(name, name)) return 'old';
    return text === textOf(name, `${name} new`) ? 'new' : text;
  });
  expect(new Set(states)).toEqual(new Set(['old', 'new']));

  const { stdout } = await home.expect(0, ['export', '--update'], { env });
  for (const [index, name] of names.entries())
    expect([name, stdout.includes(`+++ b/shops/${name}.yaml`)]).toEqual([
      name,
      states[index] === 'old',
    ]);
  for (const name of names)
    expect(home.read(`shops/${name}.yaml`)).toBe(textOf(name, `${name} new`));
  const plan = await home.expect(0, ['plan', '--detailed-exitcode'], { env });
  expect(plan.stdout).toContain('No changes');
});
