// The real ports: the verbs of the disk as they are promised, a clock that can be interrupted, a machine that tells
// the living from the dead.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.js';
import { diskFiles } from '../../../src/platform/files.js';
import { machine } from '../../../src/platform/host.js';
import { systemRandom } from '../../../src/platform/random.js';

const files = diskFiles(systemRandom());

describe('the disk', () => {
  let folder: string;
  const at = (name: string): string => join(folder, name);
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trueup-disk-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('replaces whole files, with the mode asked for, and leaves nothing beside them', async () => {
    await files.replace(at('a'), 'one', 0o600);
    const before = await stat(at('a'));
    await files.replace(at('a'), 'zwölf', 0o600);
    expect(await files.read(at('a'))).toBe('zwölf');
    expect((await stat(at('a'))).ino).not.toBe(before.ino);
    expect((await stat(at('a'))).mode & 0o777).toBe(0o600);
    await expect(files.replace(at('no/a'), 'x', 0o600)).rejects.toMatchObject({ code: 'ENOENT' });
    await files.makeFolder(at('folder/deep'));
    await expect(files.replace(at('folder'), 'x', 0o600)).rejects.toMatchObject({ code: 'EISDIR' });
    await expect(files.replace('/dev/null', 'x', 0o600)).rejects.toMatchObject({
      code: 'EFTYPE',
      problem: 'is not a regular file',
    });
    expect((await readdir(folder)).toSorted()).toEqual(['a', 'folder']);
    expect((await stat(at('folder/deep'))).mode & 0o777).toBe(0o700);
  });

  it('creates once, whoever else tries', async () => {
    const tries = await Promise.allSettled(
      ['x', 'y', 'z'].map((text) => files.create(at('a'), text, 0o600)),
    );
    expect(tries.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    for (const one of tries)
      expect(
        one.status === 'fulfilled' || (one.reason as NodeJS.ErrnoException).code === 'EEXIST',
      ).toBe(true);
    expect(await files.read(at('a'))).toBe(
      ['x', 'y', 'z'][tries.findIndex((one) => one.status === 'fulfilled')],
    );
    expect(await readdir(folder)).toEqual(['a']);
  });

  it('appends to what is there', async () => {
    for (const text of ['one\n', 'two\n']) {
      const appender = await files.append(at('log'), 0o600);
      await appender.write(text);
      await appender.close();
    }
    expect(await readFile(at('log'), 'utf8')).toBe('one\ntwo\n');
    expect((await stat(at('log'))).mode & 0o777).toBe(0o600);
  });

  it('reads regular files of text and nothing else, and never waits', async () => {
    execFileSync('mkfifo', [at('fifo')]);
    await writeFile(at('bytes'), Buffer.from([0x61, 0x0a, 0xc3, 0x0a]));
    await writeFile(at('large'), '');
    await truncate(at('large'), 256 * 1024 * 1024 + 1);
    await expect(files.read(at('fifo'))).rejects.toMatchObject({ code: 'EFTYPE' });
    await expect(files.read('/dev/zero')).rejects.toMatchObject({ code: 'EFTYPE' });
    await expect(files.read(folder)).rejects.toMatchObject({ code: 'EISDIR' });
    await expect(files.read(at('bytes'))).rejects.toMatchObject({
      code: 'EILSEQ',
      message: expect.stringContaining('first at byte 2') as string,
    });
    await expect(files.read(at('large'))).rejects.toMatchObject({ code: 'EFBIG' });
    await expect(files.read(at('none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('stamps a file anew whenever it is replaced or written, and follows links to it', async () => {
    expect(await files.stamp(at('a'))).toBeUndefined();
    const stamps = new Set<string | undefined>();
    for (const text of ['one', 'two', 'two', 'three']) {
      await files.replace(at('a'), text, 0o600);
      stamps.add(await files.stamp(at('a')));
    }
    await utimes(at('a'), 1, 1);
    stamps.add(await files.stamp(at('a')));
    expect(stamps.size).toBe(5);
    await symlink(at('a'), at('link'));
    expect(await files.stamp(at('link'))).toBe(await files.stamp(at('a')));
    expect(await files.realPath(at('link'))).toBe(await files.realPath(at('a')));
    await files.rename(at('a'), at('b'));
    await files.remove(at('b'));
    expect(await files.list(folder)).toEqual(['link']);
  });
});

describe('the clock', () => {
  it('ends a sleep at once when it is interrupted, with the reason', async () => {
    const [clock, reason] = [systemClock(), new Error('interrupted')];
    await expect(clock.sleep(2 ** 40, AbortSignal.abort(reason))).rejects.toBe(reason);
    const abort = new AbortController();
    const sleeping = clock.sleep(2 ** 40, abort.signal);
    abort.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    const before = clock.monotonic();
    await clock.sleep(5);
    expect(clock.monotonic()).toBeGreaterThan(before);
  });
});

describe('the machine', () => {
  it('finds the living with their start, and nobody for the dead and those that only wait to be reaped', async () => {
    const here = await machine();
    expect(await here.find(process.pid)).toEqual(await here.find(here.pid));
    expect((await here.find(process.pid))?.startTime).toMatch(/^\d+$/);
    expect(here.bootId).toMatch(/^[0-9a-f-]{36}$/);
    const child = spawn('sleep', ['60']);
    expect(await here.find(child.pid ?? 0)).not.toEqual(await here.find(process.pid));
    expect(Number((await here.find(child.pid ?? 0))?.startTime)).toBeGreaterThan(
      Number((await here.find(process.pid))?.startTime),
    );
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(await here.find(child.pid ?? 0)).toBeUndefined();
    // A shell that became another program never reaps the child it had. The child ends only then.
    const parent = spawn('sh', ['-c', 'sleep 61 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const zombie = Number(String(((await once(parent.stdout, 'data')) as [Buffer])[0]));
    while ((await readFile(`/proc/${parent.pid ?? 0}/comm`, 'utf8')) !== 'sleep\n')
      await systemClock().sleep(5);
    process.kill(zombie, 'SIGKILL');
    while (!/\) Z /.test(await readFile(`/proc/${zombie}/stat`, 'utf8')))
      await systemClock().sleep(5);
    expect(await here.find(zombie)).toBeUndefined();
    parent.kill('SIGKILL');
    await once(parent, 'close');
  });

  it('holds a name once', async () => {
    const [here, name] = [await machine(), systemRandom().uuid()];
    const held = await here.hold(name);
    expect(held).toHaveProperty('release');
    expect(await here.hold(name)).toBe('taken');
    await (held as { release(): Promise<void> }).release();
    const again = await here.hold(name);
    await (again as { release(): Promise<void> }).release();
  });
});
