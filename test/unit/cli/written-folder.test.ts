// Files of an export: all or none, below a real folder, and nothing in the place of what is there.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeTogether } from '../../../src/cli/written-folder.js';
import { diskFiles } from '../../../src/platform/files.js';
import { systemRandom } from '../../../src/platform/random.js';
import type { Files } from '../../../src/platform/index.js';
import { freshFolder } from '../../support/in-process.js';

const random = systemRandom();
const disk = diskFiles(random);
const texts = new Map([
  ['shared.yaml', 'shared'],
  ['acme/account.yaml', 'acme'],
  ['bravo/account.yaml', 'bravo'],
]);
const write = (folder: string, files: Files = disk): Promise<void> =>
  writeTogether({ files, random }, folder, texts);

/** The names of a folder and of all below it, the hidden ones too. */
const namesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();

const all = ['acme', 'acme/account.yaml', 'bravo', 'bravo/account.yaml', 'shared.yaml'];

describe('writeTogether', () => {
  it('makes the folder', async () => {
    const home = freshFolder();
    await write(join(home, 'in', 'live'));
    expect(namesIn(join(home, 'in'))).toEqual(['live', ...all.map((name) => `live/${name}`)]);
    expect(readFileSync(join(home, 'in/live/acme/account.yaml'), 'utf8')).toBe('acme');
  });

  it('adds to a folder', async () => {
    const home = freshFolder();
    writeFileSync(join(home, 'trueup.yaml'), 'mine');
    await write(home);
    expect(namesIn(home)).toEqual([...all, 'trueup.yaml']);
  });

  it('names a file that stands in the place of the folder', async () => {
    const home = freshFolder();
    writeFileSync(join(home, 'live'), 'mine');
    await expect(write(join(home, 'live'))).rejects.toThrow('already exists');
    expect(namesIn(home)).toEqual(['live']);
  });

  it.each(['shared.yaml', 'SHARED.yaml', 'acme', 'Bravo'])(
    'writes nothing beside %s, which some disk takes for the same name',
    async (name) => {
      const home = freshFolder();
      mkdirSync(join(home, name));
      await expect(write(home)).rejects.toThrow(`${join(home, name)} already exists`);
      expect(namesIn(home)).toEqual([name]);
    },
  );

  it.each([
    [true, 0],
    [true, 2],
    [true, 3],
    [false, 0],
    [false, 2],
  ])(
    'leaves nothing where the disk fails (folder there: %s, after %i files)',
    async (there, count) => {
      const home = freshFolder();
      let left = count;
      const failing: Files = {
        ...disk,
        create: (path, text, mode) =>
          left-- > 0
            ? disk.create(path, text, mode)
            : Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })),
      };
      await expect(write(there ? home : join(home, 'live'), failing)).rejects.toThrow('full');
      expect(namesIn(home)).toEqual([]);
    },
  );

  it('overwrites nothing that came meanwhile, and takes back what it moved', async () => {
    for (const late of ['shared.yaml', 'bravo']) {
      const home = freshFolder();
      const slow: Files = {
        ...disk,
        async makeFolder(path) {
          await disk.makeFolder(path);
          if (!path.endsWith('bravo')) return;
          mkdirSync(join(home, 'bravo'), { recursive: true });
          writeFileSync(join(home, late === 'bravo' ? 'bravo/mine' : late), 'mine');
        },
      };
      await expect(write(home, slow)).rejects.toThrow(/EEXIST|ENOTEMPTY/);
      expect(existsSync(join(home, 'acme'))).toBe(false);
      expect(readFileSync(join(home, late === 'bravo' ? 'bravo/mine' : late), 'utf8')).toBe('mine');
    }
  });
});
