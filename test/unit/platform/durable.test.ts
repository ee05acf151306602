// Durability can be seen only where power is cut. What can be seen here is that the medium is forced at the right
// moments: each is shown as what lay in the folder when it came.
import { mkdtemp, open, readdir, readFile, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { diskFiles } from '../../../src/platform/files.js';
import { systemRandom } from '../../../src/platform/random.js';

const files = diskFiles(systemRandom());
let folder: string;
let moments: string[];
const at = (name: string): string => join(folder, name);

async function moment(handle: FileHandle): Promise<string> {
  const about = await handle.stat();
  const names = (await readdir(folder)).filter((name) => !name.endsWith('.tmp')).toSorted();
  const lying = await Promise.all(
    names.map(async (name) => `${name}=${await readFile(at(name), 'utf8')}`),
  );
  return `${about.isDirectory() ? 'folder' : `file of ${about.size}`} forced: ${lying.join(' ')}`;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trueup-durable-'));
  await writeFile(at('a'), 'one');
  moments = [];
  const probe = await open(at('a'));
  const prototype = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  for (const verb of ['sync', 'datasync'] as const) {
    const real = prototype[verb];
    vi.spyOn(prototype, verb).mockImplementation(async function (this: FileHandle) {
      moments.push(await moment(this));
      await real.call(this);
    });
  }
});
afterEach(() => rm(folder, { recursive: true }));

it.each<readonly [string, () => Promise<unknown>, readonly string[]]>([
  [
    'replace: the text, then its name',
    () => files.replace(at('a'), 'four', 0o600),
    ['file of 4 forced: a=one', 'folder forced: a=four'],
  ],
  [
    'create: the text, then its name',
    () => files.create(at('b'), 'xy', 0o600),
    ['file of 2 forced: a=one', 'folder forced: a=one b=xy'],
  ],
  [
    'append: the name, then each text',
    async () => {
      const appender = await files.append(at('log'), 0o600);
      for (const text of ['x', 'yz']) await appender.write(text);
      await appender.close();
    },
    [
      'folder forced: a=one log=',
      'file of 1 forced: a=one log=x',
      'file of 3 forced: a=one log=xyz',
    ],
  ],
  ['rename: the names', () => files.rename(at('a'), at('c')), ['folder forced: c=one']],
  ['remove: the names', () => files.remove(at('a')), ['folder forced: ']],
])('%s', async (_, act, forced) => {
  await act();
  expect(moments).toEqual(forced);
});
