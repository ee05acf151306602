// Builds what programs import: the library and the constructs. The constructs of CDK programs are one source, whose
// library is called `#cdk`: it is bundled once for cdktf and once for cdktn; its type declarations are written out for
// both the same way, with the kinds' own words above each class.
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { camel, comment, pascal, withBlockDocs, withPropDocs } from './prop-docs.mjs';

const libraries = ['cdktf', 'cdktn'];
const external = [...libraries, 'constructs'];

/** The type declarations of the classes, below the folder of a front end. */
const CLASSES = join('generated', 'classes.d.ts');

/** What programs import, by the name of its file: the source and, below `types`, its type declarations. */
const entries = {
  index: { source: 'src/index.ts', types: 'index' },
  constructs: { source: 'src/cli/constructs.ts', types: 'cli/constructs' },
  ...Object.fromEntries(
    libraries.map((library) => [
      library,
      {
        source: 'src/constructs/terraform/index.ts',
        types: `constructs/${library}/index`,
        alias: { '#cdk': library },
      },
    ]),
  ),
};

/**
 * Into `made`. The code is there once, as CommonJS, which `jest` and `require` take; the ES module names its exports.
 * So a process that loads both has every class once. Lines stay short: of an error that nobody catches, Node prints the
 * line that threw it.
 */
export async function bundleEntries(packed, made) {
  const common = { ...packed, minifyWhitespace: false, minifySyntax: false, external };
  for (const [name, { source, types, alias = {} }] of Object.entries(entries)) {
    const entry = { ...common, entryPoints: { [name]: source }, outdir: made, alias };
    await build({ ...entry, format: 'cjs', outExtension: { '.js': '.cjs' } });
    const { metafile } = await build({ ...entry, write: false, metafile: true });
    const [{ exports }] = Object.values(metafile.outputs);
    writeFileSync(
      join(made, `${name}.js`),
      `export { ${exports.toSorted().join(', ')} } from './${name}.cjs';\n`,
    );
    writeFileSync(join(made, `${name}.d.ts`), `export * from './types/${types}.js';\n`);
  }
}

/** Turns the one set of type declarations below `types` into one a library. They describe CommonJS, which ES modules may import. */
export async function typeConstructs(common, types) {
  writeFileSync(join(types, 'package.json'), '{ "type": "commonjs" }\n');
  const vocabulary = await vocabularyOf(common);
  const docs = docsOfClasses(vocabulary);
  const written = (path, text) => writeFileSync(path, text);
  const source = join(types, 'constructs', 'terraform');
  for (const library of libraries) {
    const folder = join(types, 'constructs', library);
    cpSync(source, folder, { recursive: true });
    for (const name of readdirSync(folder, { recursive: true })) {
      const path = join(folder, name);
      if (!name.endsWith('.d.ts')) continue;
      const text = readFileSync(path, 'utf8').replaceAll(/(['"])#cdk\1/g, `'${library}'`);
      const door = { whole: `import("${library}").IResolvable`, writeOnly: true };
      if (path === join(folder, CLASSES))
        written(
          path,
          documented(withPropDocs(text, telling(vocabulary, vocabulary.resourceBlock), door), docs),
        );
      else
        written(
          path,
          name === 'provider.d.ts' ? withBlockDocs(text, vocabulary.providerBlock, door) : text,
        );
    }
  }
  rmSync(source, { recursive: true });
  const native = join(types, 'constructs', 'native', CLASSES);
  const door = { whole: 'import("../tokens.js").Reference', writeOnly: false };
  written(
    native,
    documented(withPropDocs(readFileSync(native, 'utf8'), telling(vocabulary), door), docs),
  );
}

const documented = (text, docs) =>
  text.replaceAll(/^export declare class (\w+) /gm, (line, name) =>
    docs.has(name) ? `${docs.get(name)}${line}` : line,
  );

/** The kinds and what stands beside them, out of the sources. */
async function vocabularyOf({ absWorkingDir, ...common }) {
  const outfile = join(
    absWorkingDir,
    'node_modules',
    '.cache',
    'trueup',
    `kinds-${process.pid}.mjs`,
  );
  const contents =
    "export * from './src/resources/index.js'; export { providerBlock, recordsQuery, resourceBlock, withId } from './src/model/index.js';";
  await build({
    ...common,
    absWorkingDir,
    stdin: { contents, resolveDir: absWorkingDir },
    outfile,
  });
  const vocabulary = await import(pathToFileURL(outfile).href);
  rmSync(outfile);
  return vocabulary;
}

/** What the classes of a door are made from, by name. @param beside what a resource takes beside the attributes of its kind */
function telling({ kinds, collections, recordsQuery, withId }, beside = () => ({})) {
  const classes = new Map([
    ...[...collections.values()].map(({ name }) => [
      `Data${pascal(name)}`,
      { form: 'declared', props: recordsQuery, read: recordsQuery },
    ]),
    ...[...kinds.values()].flatMap((kind) => {
      const { singular } = kind;
      const attributes = withId(kind);
      const whole = { ...attributes, ...beside(kind) };
      return [
        [pascal(singular), { form: 'declared', props: whole, read: whole }],
        [`Data${pascal(singular)}`, { form: 'condition', props: attributes, read: attributes }],
      ];
    }),
  ]);
  return (name) => classes.get(name);
}

/** The description of a class for editors, by its name: the doc of its kind, and one line per attribute. */
function docsOfClasses({ kinds, collections }) {
  return new Map(
    [...collections.values()].flatMap((one) => {
      const known = kinds.has(one.name);
      const lines = [
        one.doc,
        ...(known
          ? [
              '',
              ...Object.entries(one.attributes).map(
                ([name, { doc }]) => `- \`${camel(name)}\`: ${doc}`,
              ),
            ]
          : []),
      ];
      const names = known ? [one.singular, `data_${one.singular}`] : [`data_${one.name}`];
      return names.map((name) => [pascal(name), comment(lines)]);
    }),
  );
}
