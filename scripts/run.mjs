// Runs one TypeScript script of this project: bundles it (packages stay outside) and hands it the remaining arguments.
import { mkdirSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const [script, ...rest] = process.argv.slice(2);
if (script === undefined) {
  console.error('Which script? Type: node scripts/run.mjs scripts/<name>.ts');
  process.exit(1);
}

const folder = join(root, 'node_modules', '.cache', 'trueup');
mkdirSync(folder, { recursive: true });
const outfile = join(folder, `${basename(script, '.ts')}-${process.pid}.mjs`);
process.once('exit', () => rmSync(outfile, { force: true }));
await build({
  entryPoints: [resolve(script)],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  logLevel: 'error',
});
process.argv = [process.execPath, resolve(script), ...rest];
await import(pathToFileURL(outfile).href);
