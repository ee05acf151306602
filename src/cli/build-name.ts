// The output of `--version`: version and commit. The provider contains only the version, because its checksum in lock
// files would otherwise change with every commit.
import { version } from './version.js';

/** The commit that was built, such as `0d7e993`. scripts/build.mjs defines it; tests run the sources without it. */
declare const BUILD_COMMIT: string | undefined;

const commit = typeof BUILD_COMMIT === 'undefined' ? '' : ` (${BUILD_COMMIT})`;

export const buildName = `trueup ${version}${commit}`;
