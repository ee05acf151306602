// All checks that do not run the code. All steps run; each is printed with its time.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refusedWords } from './refused-words.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const tool = (...path) => [process.execPath, join(root, 'node_modules', ...path)];
const sources = ['src', 'test', 'scripts', 'vitest.config.ts'];

const run = ([command, ...args]) => {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return status === 0 ? undefined : `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`;
};

/** Words for unfinished or disabled code, and folders that exist on one machine only. */
const leftover =
  /\b(TO[D]O|FIX[M]E|X[X]X)\b|\.(onl[y]|ski[p]|tod[o])\(|(?<![\w.])\/(hom[e]|User[s]|wor[k]|roo[t])\/[\w.-]|\/tm[p]\/[a-z]+\//;

/** Tracked files, and new ones; undefined if git does not list them. */
function paths() {
  const { stdout, status } = spawnSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: root, encoding: 'utf8' },
  );
  return status === 0 ? stdout.split('\0').filter(Boolean) : undefined;
}

/** The findings of a search in some files, one per line. */
function searched(isMeant, search) {
  const found = paths()
    ?.filter(isMeant)
    .flatMap((path) => search(path, tryRead(path)));
  if (!found) return 'git does not list the files of this folder';
  return found.length === 0 ? undefined : `${found.join('\n')}\n`;
}

const leftovers = () =>
  searched(
    (path) => path !== 'package-lock.json',
    (path, text) =>
      text
        .split('\n')
        .flatMap((line, index) =>
          leftover.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : [],
        ),
  );

const vocabulary = () =>
  searched(
    (path) =>
      /^(src|docs|scripts)\/|^(README|CONTRIBUTING|CHANGELOG)\.md$/.test(path) &&
      path !== 'scripts/refused-words.mjs',
    refusedWords,
  );

/** Empty for a listed file that does not exist. */
function tryRead(path) {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return '';
  }
}

/** Every way of resolving modules finds the types of the packed package. */
function packedTypes() {
  const folder = mkdtempSync(join(tmpdir(), 'trueup-check-'));
  const pack = ['npm', 'pack', '--ignore-scripts', '--offline', '--pack-destination', folder];
  const attw = tool('@arethetypeswrong', 'cli', 'dist', 'index.js');
  try {
    return run(pack) ?? run([...attw, '--no-color', join(folder, readdirSync(folder)[0])]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const steps = {
  types: () => run([...tool('@typescript', 'native', 'bin', 'tsc'), '-p', '.']),
  lint: () =>
    run([...tool('oxlint', 'bin', 'oxlint'), '--type-aware', '--deny-warnings', ...sources]),
  'import rules': () =>
    run([
      ...tool('dependency-cruiser', 'bin', 'dependency-cruise.mjs'),
      '--config',
      '.dependency-cruiser.cjs',
      'src',
    ]),
  'unused code': () => run([...tool('knip', 'bin', 'knip.js'), '--no-progress']),
  format: () =>
    run([
      ...tool('prettier', 'bin', 'prettier.cjs'),
      '--check',
      '--log-level',
      'warn',
      '*.{json,cjs,ts}',
      '.*.{json,cjs}',
      '{src,test,scripts}/**/*.{ts,mjs}',
    ]),
  generated: () =>
    ['kind-files', 'generate']
      .map((name) => run([process.execPath, 'scripts/run.mjs', `scripts/${name}.ts`, '--check']))
      .find((said) => said !== undefined),
  workflows: () =>
    run([
      ...tool('@tktco', 'node-actionlint', 'bin', 'node-actionlint.js'),
      '.github/workflows/*.yml',
    ]),
  package: () => run([...tool('publint', 'src', 'cli.js'), '--strict']),
  'types of the package': packedTypes,
  vocabulary,
  leftovers,
};

let failed = false;
for (const [name, step] of Object.entries(steps)) {
  const start = performance.now();
  const failure = step();
  console.log(
    `${failure === undefined ? 'ok  ' : 'FAIL'} ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`,
  );
  if (failure !== undefined) console.log(failure);
  failed ||= failure !== undefined;
}
process.exit(failed ? 1 : 0);
