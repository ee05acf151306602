// `node scripts/image-files.mjs DIR`: the files of the container image, below a new folder. The build has bundled what the
// command depends on, so there is no node_modules, and nothing that is only for programs which import trueup.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Where to? Type: node scripts/image-files.mjs DIR');
  process.exit(1);
}
execFileSync(process.execPath, [join(root, 'scripts', 'ensure.mjs')], { stdio: 'inherit' });

/** Modules that programs import, and their types. */
const forPrograms = /^(index|constructs|cdktf|cdktn)\.|^types$/;

mkdirSync(folder);
for (const name of ['package.json', 'LICENSE', 'dist'])
  cpSync(join(root, name), join(folder, name), {
    recursive: true,
    filter: (path) => !forPrograms.test(basename(path)),
  });
