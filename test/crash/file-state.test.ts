// Real processes on a real disk: what a SIGKILL leaves, and who wins a race.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/clock.js';
import type { Clock } from '../../src/platform/index.js';
import { diskFiles } from '../../src/platform/files.js';
import { machine } from '../../src/platform/host.js';
import { systemRandom } from '../../src/platform/random.js';
import { fileStore, type Store } from '../../src/state/index.js';
import { TARGET } from '../unit/state/samples.js';

let folder: string;
const children: Child[] = [];

interface Child {
  readonly process: ChildProcess;
  readonly lines: string[];
  line(): Promise<string>;
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** A container of its own: processes and network are counted apart, and end with the one that made it. */
const CONTAINER = ['--user', '--map-root-user', '--pid', '--net', '--fork', '--kill-child'];
const canContain = spawnSync('unshare', [...CONTAINER, 'true']).status === 0;

function start(mode: string, path: string, contained = false): Child {
  const node = [process.execPath, join(folder, 'child.mjs'), mode, path] as const;
  const [command, args] = contained
    ? ['unshare', [...CONTAINER, ...node]]
    : [node[0], node.slice(1)];
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, BEATS: '100' },
  });
  const ended = once(child, 'close');
  child.stdin.on('error', () => undefined);
  const lines: string[] = [];
  const reader = createInterface(child.stdout).on('line', (line) => lines.push(line));
  const one: Child = {
    process: child,
    lines,
    line: async () => lines[0] ?? String((await Promise.race([once(reader, 'line'), ended]))[0]),
    async end(signal) {
      if (signal) child.kill(signal);
      else child.stdin.end('go\n');
      await ended;
    },
  };
  children.push(one);
  return one;
}

async function store(path: string, clock = systemClock()): Promise<Store> {
  return fileStore({
    path,
    files: diskFiles(systemRandom()),
    clock,
    random: systemRandom(),
    lock: await machine(),
    version: '0.1.0',
  });
}

/** Time that goes twenty times as fast, so that a minute takes three seconds. */
function hurried(): Clock {
  const { now, monotonic, boot, sleep } = systemClock();
  return {
    now,
    boot,
    monotonic: () => monotonic() * 20,
    sleep: (milliseconds, signal) => sleep(milliseconds / 20, signal),
  };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trueup-processes-'));
  await build({
    entryPoints: [join(import.meta.dirname, './file-state-child.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile: join(folder, 'child.mjs'),
  });
});
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.end('SIGKILL')));
});
afterAll(() => rm(folder, { recursive: true }));

describe('processes', () => {
  it('free their lock by being killed, and by nothing less', async () => {
    const path = join(folder, 'killed', 'state.json');
    const child = start('hold', path);
    expect(await child.line()).toBe('held');
    const mine = await store(path);
    expect(await mine.holder()).toMatchObject({ pid: child.process.pid, operation: 'hold' });
    await expect(mine.open('apply', TARGET)).rejects.toMatchObject({ exit: 4 });
    await expect(mine.unlock((await mine.holder())?.id ?? '')).rejects.toMatchObject({ exit: 4 });
    await child.end('SIGKILL');
    expect(await mine.holder()).toBeUndefined();
    await (await mine.open('apply', TARGET)).release();
    await (await mine.open('apply', TARGET)).release();
  });

  it('race for a lock, twenty times, and exactly one wins', async () => {
    for (let round = 1; round <= 20; round += 1) {
      const path = join(folder, 'race', 'state.json');
      const pair = [start('race', path), start('race', path)];
      const said = await Promise.all(pair.map((child) => child.line()));
      expect(said.toSorted(), `round ${round}`).toEqual(['held', 'refused 4']);
      // Every other winner is killed, so that the next round has a dead lock to take over.
      await Promise.all(pair.map((child) => child.end(round % 2 === 0 ? 'SIGKILL' : undefined)));
    }
  });

  // Where the system makes no containers (no user namespaces, no util-linux), the simulated machine alone proves this.
  it.runIf(canContain)(
    'of another container keep their lock while they run, and free it by being killed',
    async () => {
      const path = join(folder, 'contained', 'state.json');
      const child = start('hold', path, true);
      expect(await child.line()).toBe('held');
      const mine = await store(path, hurried());
      await expect(mine.open('apply', TARGET)).rejects.toMatchObject({ exit: 4 });
      await child.end('SIGKILL');
      await (await mine.open('apply', TARGET)).release();
    },
  );

  it('lose nothing that was acknowledged, whenever they are killed', async () => {
    const path = join(folder, 'work', 'state.json');
    let acknowledged = 0;
    for (let round = 1; round <= 6; round += 1) {
      const child = start('work', path);
      while (child.lines.length < 3 + round * 2)
        await once(child.process.stdout as NodeJS.ReadableStream, 'data');
      await child.end('SIGKILL');
      acknowledged = Math.max(
        acknowledged,
        ...child.lines.map((line) => Number(/^done (\d+)$/.exec(line)?.[1] ?? 0)),
      );
      const seen = await (await store(path)).read();
      const made = Object.keys(seen?.state.resources ?? {}).length;
      expect(made).toBeGreaterThanOrEqual(acknowledged);
      expect(made).toBeLessThanOrEqual(acknowledged + 1);
      expect(Object.keys(seen?.state.resources ?? {}).toSorted()).toEqual(
        Array.from({ length: made }, (_, index) => `accounts.a${index + 1}`).toSorted(),
      );
    }
  });
});
