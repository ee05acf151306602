// Makes any npm script work as the first command on a fresh clone: installs what the lock file names and builds
// `dist` where they are missing or stale, and says nothing where they are not. `install` stops before the build.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...parts) => join(root, ...parts);

/** Whether node_modules holds exactly the versions of the lock file (packages for other platforms may be absent). */
function installed() {
  try {
    const wanted = JSON.parse(readFileSync(at('package-lock.json'), 'utf8')).packages;
    const found = JSON.parse(
      readFileSync(at('node_modules', '.package-lock.json'), 'utf8'),
    ).packages;
    return Object.entries(wanted).every(
      ([path, { version, optional }]) =>
        path === '' || (found[path] ? found[path].version === version : optional === true),
    );
  } catch {
    return false;
  }
}

function newest(path) {
  const stat = statSync(path);
  return stat.isDirectory()
    ? Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
    : stat.mtimeMs;
}

function built() {
  const product = at('dist', 'trueup.cjs');
  return (
    existsSync(product) &&
    Math.max(
      ...[
        'src',
        'package.json',
        'scripts/build.mjs',
        'scripts/constructs.mjs',
        'scripts/commit.mjs',
      ].map((path) => newest(at(path))),
    ) <= statSync(product).mtimeMs
  );
}

function run(what, command, args) {
  process.stderr.write(`${what}…\n`);
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) {
    process.stderr.write(
      `${what}: failed. To see it alone, type: ${[command, ...args].join(' ')}\n`,
    );
    process.exit(status ?? 1);
  }
}

/** One at a time for each checkout; a lock whose owner is gone is taken over. */
function exclusively(work) {
  const lock = join(
    tmpdir(),
    `trueup-ensure-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`,
  );
  for (;;) {
    try {
      const file = openSync(lock, 'wx');
      writeSync(file, String(process.pid));
      closeSync(file);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (!alive(lock)) rmSync(lock, { force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
  process.once('exit', () => rmSync(lock, { force: true }));
  work();
}

function alive(lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    if (pid === 0) return Date.now() - statSync(lock).mtimeMs < 5_000;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

const build = process.argv[2] !== 'install';
if (!installed() || (build && !built()))
  exclusively(() => {
    if (!installed())
      run('Installing what package-lock.json names', 'npm', [
        'ci',
        '--include=dev',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        '--loglevel=error',
      ]);
    if (build && !built()) run('Building dist', process.execPath, [at('scripts', 'build.mjs')]);
  });
