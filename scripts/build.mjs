// Builds `dist`: the command as one set of ES modules cut into chunks, what programs import, the type declarations, and
// the small entry that answers `--help` and `--version` from texts which the real parser wrote here.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, transform } from 'esbuild';
import { commitOf } from './commit.mjs';
import { bundleEntries, typeConstructs } from './constructs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...parts) => join(root, ...parts);
const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  // The second is what the parser of expressions would ask for where there is no global of that name.
  external: ['@aws-sdk/client-s3', 'performance', 'pg-boss'],
  minifyWhitespace: true,
  minifySyntax: true,
  define: {
    BUILD_COMMIT: JSON.stringify(commitOf(root)) ?? 'undefined',
    // Where there is no `navigator`, as in Node 20, pg asks for `Response` instead, which loads all of Node's fetch.
    navigator: JSON.stringify({ userAgent: 'Node.js' }),
  },
};

/** Some packages are CommonJS and ask for Node's modules by `require`; one for a file beside its folder. */
const banner = {
  js: "import { createRequire as nodeRequire } from 'node:module';\nconst require = nodeRequire(import.meta.url), __dirname = import.meta.dirname;",
};

/** The parser of Terraform expressions, compiled. Its package looks for it above the folder of its code, here `chunks`. */
const PARSER = 'main.wasm.gz';

/** The licences of everything that ended up in the bundle travel with it. */
function licences(inputs) {
  const folders = new Set(
    Object.keys(inputs).flatMap(
      (path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? [],
    ),
  );
  return [...folders].toSorted().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(at(folder, 'package.json'), 'utf8'));
    const file = readdirSync(at(folder)).find((entry) => /^licen[sc]e/i.test(entry));
    return `${name} ${version} (${license})\n\n${file ? readFileSync(at(folder, file), 'utf8').trim() : ''}\n`;
  });
}

/** HTTP/2 is never spoken (`allowH2` is off); left in, undici's half of it loads Node's with every plan. */
const withoutHttp2 = {
  name: 'without-http2',
  setup(bundling) {
    bundling.onResolve({ filter: /^node:http2$/ }, ({ importer }) =>
      importer.includes('/undici/') ? { path: 'http2', namespace: 'absent' } : undefined,
    );
    bundling.onLoad({ filter: /.*/, namespace: 'absent' }, () => ({
      contents: 'module.exports = { constants: {} };',
    }));
  },
};

/** The validators are made by a program and read by none but V8, which reads short names faster. */
const shortNames = {
  name: 'short-names',
  setup(bundling) {
    bundling.onLoad({ filter: /generated[/\\]validators\.js$/ }, async ({ path }) => ({
      contents: (await transform(readFileSync(path, 'utf8'), { minify: true, target: 'node20' }))
        .code,
    }));
  },
};

async function entry() {
  const outfile = at('node_modules', '.cache', 'trueup', `program-${process.pid}.mjs`);
  await build({ ...common, entryPoints: ['src/cli/program.ts'], outfile, packages: 'external' });
  const { answers } = await import(pathToFileURL(outfile).href);
  rmSync(outfile);
  return `${beginning}// Questions about the command line are answered without loading anything.
const answers = ${JSON.stringify(answers())};
const words = process.argv.slice(2);
const flag = (words.at(-1) ?? '--help').replace(/^-(?=[a-z]{2})/, '--');
const asked = flag === '--version' || flag === '-v' ? (words.length === 1 ? '--version' : undefined)
  : flag === '--help' || flag === '-h' ? words.slice(0, -1).join(' ')
  : words[0] === 'help' ? words.slice(1).join(' ')
  : undefined;
if (asked !== undefined && Object.hasOwn(answers, asked)) process.stdout.write(answers[asked]);
else import('./main.js').then(({ main }) => main(process));
`;
}

/** What both executables begin with. Node keeps the compiled code of what they load in a folder of its own, where it can (from 22.1 on). */
const beginning = `#!/usr/bin/env node
'use strict';
// Written by scripts/build.mjs.
if (Number(process.versions.node.split('.')[0]) < 20) {
  process.stderr.write('trueup needs Node 20.19 or newer; this is ' + process.versions.node + '.\\n');
  process.exit(1);
}
require('node:module').enableCompileCache?.();
`;

/** A program that asks for it instead of starting it gets nothing. */
const providerEntry = `${beginning}if (require.main === module) {
  if (require('node:fs').existsSync(require('node:path').join(__dirname, 'provider.cjs'))) void require('./provider.cjs').serveProvider(process);
  else {
    process.stderr.write('provider.cjs is missing beside ' + __filename + '. Install trueup again.\\n');
    process.exitCode = 1;
  }
}
`;

// Built beside and put in place at the end, so that nobody meets half a build.
const made = at('node_modules', '.cache', 'trueup', `dist-${process.pid}`);
mkdirSync(made, { recursive: true });
process.once('exit', () => rmSync(made, { recursive: true, force: true }));
const { metafile } = await build({
  ...common,
  entryPoints: { main: 'src/cli/main.ts' },
  outdir: made,
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  metafile: true,
  banner,
  plugins: [withoutHttp2, shortNames],
});
copyFileSync(at('node_modules', '@cdktn', 'hcl2json', PARSER), join(made, PARSER));
// One file, because `provider install` copies it. It reads no stacks.
const provider = await build({
  ...common,
  external: [...common.external, '@cdktn/hcl2json'],
  entryPoints: ['src/cli/provider-main.ts'],
  outfile: join(made, 'provider.cjs'),
  format: 'cjs',
  supported: { 'dynamic-import': false },
  metafile: true,
  plugins: [withoutHttp2, shortNames],
});
await bundleEntries(common, made);
writeFileSync(
  join(made, 'third-party-licences.txt'),
  licences({ ...metafile.inputs, ...provider.metafile.inputs }).join('\n---\n\n'),
);
const types = spawnSync(
  process.execPath,
  [
    at('node_modules', '@typescript', 'native', 'bin', 'tsc'),
    '-p',
    'tsconfig.types.json',
    '--outDir',
    join(made, 'types'),
  ],
  {
    cwd: root,
    stdio: 'inherit',
  },
);
if (types.status !== 0) process.exit(types.status ?? 1);
await typeConstructs(common, join(made, 'types'));
for (const [name, text] of [
  ['trueup.cjs', await entry()],
  ['terraform-provider-devicecloud.cjs', providerEntry],
]) {
  writeFileSync(join(made, name), text);
  chmodSync(join(made, name), 0o755);
}
rmSync(at('dist'), { recursive: true, force: true });
renameSync(made, at('dist'));
