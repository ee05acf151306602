// Prints how many lines the sources have: newlines of the tracked TypeScript files of `src` outside `generated/`, after
// prettier at width 100, so that no other line length makes them seem fewer. `--since COMMIT` prints those of a commit too.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { format } from 'prettier';

const root = fileURLToPath(new URL('..', import.meta.url));
const git = (...args) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
const counted = (path) =>
  path.startsWith('src/') && path.endsWith('.ts') && !path.includes('/generated/');
const lines = async (path, text) =>
  (await format(text, { filepath: path, singleQuote: true, printWidth: 100 })).split('\n').length -
  1;

/** What CONTRIBUTING.md asks a new maintainer to read. */
const readingList =
  /^src\/(model\/[^/]+|reconciler\/plan\/plan|reconciler\/apply\/executor|resources\/accounts|client\/v2)\.ts$/;

/** Lines by path. @param read the text of a path */
async function sizes(paths, read) {
  const found = new Map();
  for (const path of paths.filter(counted)) found.set(path, await lines(path, read(path)));
  return found;
}

const sum = (found, match = /./) =>
  [...found].reduce((total, [path, count]) => total + (match.test(path) ? count : 0), 0);
const listed = (...args) =>
  git(...args, '-z', '--', 'src')
    .split('\0')
    .filter(Boolean);

const { values } = parseArgs({ options: { since: { type: 'string' } } });
const now = await sizes(listed('ls-files'), (path) => readFileSync(join(root, path), 'utf8'));
console.log(`src: ${sum(now)} lines`);
console.log(`reading list: ${sum(now, readingList)} lines`);
if (values.since !== undefined) {
  const commit = git('rev-parse', '--verify', `${values.since}^{commit}`).trim();
  const then = await sizes(listed('ls-tree', '-r', '--name-only', commit), (path) =>
    git('show', `${commit}:${path}`),
  );
  const change = ((sum(now) / sum(then) - 1) * 100).toFixed(1);
  console.log(`src at ${commit.slice(0, 12)}: ${sum(then)} lines (since then ${change} %)`);
}
