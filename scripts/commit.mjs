// The commit that a build is made from. The whole hash is cut here, because the length of git's own short form depends
// on the clone.
import { spawnSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';

/**
 * Such as `0d7e993`, or `0d7e993-dirty` if tracked files differ from it; undefined without git, and in a folder that is
 * not the top of a git tree: a package may lie in the repository of another project.
 * @param {string} root
 */
export function commitOf(root) {
  const { status, stdout } = spawnSync(
    'git',
    ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'],
    {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(resolve(root)) },
    },
  );
  const [, hash, dirty] = /^([0-9a-f]{7})[0-9a-f]+(-dirty)?$/m.exec(stdout ?? '') ?? [];
  return status === 0 && hash !== undefined ? `${hash}${dirty ?? ''}` : undefined;
}
