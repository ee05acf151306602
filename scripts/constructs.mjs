// Builds the doors for CDK programs. One source, whose library is called `#cdk`, is bundled once for cdktf and once for
// cdktn; its type declarations are written out for both the same way, with the kinds' own words above each class.
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const libraries = ['cdktf', 'cdktn'];
const external = [...libraries, 'constructs'];

/** Into `made`, before the types are there. */
export async function bundleConstructs(common, made) {
  await build({ ...common, entryPoints: { constructs: 'src/cli/constructs.ts' }, outdir: made, external });
  for (const library of libraries) {
    await build({ ...common, entryPoints: { [library]: 'src/constructs/terraform/index.ts' }, outdir: made, external, alias: { '#cdk': library } });
  }
}

/** Turns the one set of type declarations below `types` into one a library. */
export async function typeConstructs(common, types) {
  const docs = await docsOfClasses(common);
  const written = (path, text) => writeFileSync(path, text);
  const source = join(types, 'constructs', 'terraform');
  for (const library of libraries) {
    const folder = join(types, 'constructs', library);
    cpSync(source, folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      written(path, documented(readFileSync(path, 'utf8').replaceAll(/(['"])#cdk\1/g, `'${library}'`), docs));
    }
  }
  rmSync(source, { recursive: true });
  const native = join(types, 'constructs', 'native', 'index.d.ts');
  written(native, documented(readFileSync(native, 'utf8'), docs));
}

const documented = (text, docs) => text.replaceAll(/^export declare class (\w+) /gm, (line, name) => (docs.has(name) ? `${docs.get(name)}${line}` : line));

/** What editors show of a class, by its name: the doc of its kind, and a line an attribute. */
async function docsOfClasses({ absWorkingDir, ...common }) {
  const outfile = join(absWorkingDir, 'node_modules', '.cache', 'trueup', `kinds-${process.pid}.mjs`);
  await build({ ...common, absWorkingDir, entryPoints: ['src/resources/index.ts'], outfile });
  const { kinds, collections } = await import(pathToFileURL(outfile).href);
  rmSync(outfile);
  return new Map(
    [...collections.values()].flatMap((one) => {
      const known = kinds.has(one.name);
      const lines = [one.doc, ...(known ? ['', ...Object.entries(one.attributes).map(([name, { doc }]) => `- \`${camel(name)}\`: ${doc}`)] : [])];
      const comment = `/**\n${lines.map((line) => ` * ${line.replaceAll('*/', '*\\/')}`.trimEnd()).join('\n')}\n */\n`;
      return known
        ? [
            [pascal(one.singular), comment],
            [`Data${pascal(one.singular)}`, comment],
          ]
        : [[`Data${pascal(one.name)}`, comment]];
    }),
  );
}

const camel = (name) => name.replaceAll(/_+([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const pascal = (name) => camel(`_${name}`);
