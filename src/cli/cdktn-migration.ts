// The migration from cdktf to its maintained fork cdktn: edits of texts, and a comparison of stacks. Writes no file.
import { isObject, mapMembers, type Json, type JsonObject } from '../model/index.js';
import { patchBetween, pointerSteps } from '../report/patch.js';
import type { WrittenFiles } from './cdk-program.js';

/** The packages that a project names instead, in versions that were tried together. */
const packages: Readonly<Record<string, readonly [name: string, version: string]>> = {
  cdktf: ['cdktn', '0.24.0'],
  'cdktf-cli': ['cdktn-cli', '0.24.0'],
};

const SPECIFIER =
  /(\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.resolve)?\s*\(\s*|\bmock\s*\(\s*|\bmodule\s+)(['"])(trueup\/cdktf|cdktf)((?:\/[^'"\n]*)?)\2/g;

/** The text of a program with its imports changed. */
export function migratedSource(text: string): string {
  return text.replaceAll(SPECIFIER, (found) => found.replace('cdktf', 'cdktn'));
}

const SECTION =
  /"(dependencies|devDependencies|peerDependencies|optionalDependencies|scripts)"\s*:\s*\{[^{}]*\}/g;

/** The text of a package.json with its dependencies changed, and with them the commands its scripts call. */
export function migratedPackage(text: string): string {
  return text.replaceAll(SECTION, (section, name: string) =>
    name === 'scripts'
      ? section.replaceAll(/((?::\s*"|&&\s*|\|\|\s*|;\s*|npx\s+)\s*)cdktf(?=[\s"])/g, '$1cdktn')
      : section.replaceAll(/"([\w-]+)"(\s*:\s*)"[^"]*"/g, (entry, key: string, colon: string) => {
          const right = Object.hasOwn(packages, key) ? packages[key] : undefined;
          return right ? `"${right[0]}"${colon}"${right[1]}"` : entry;
        }),
  );
}

/** Packages of classes that are bound to cdktf: beside cdktn they crash. */
export function boundToCdktf(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/"(@cdktf\/[\w.-]+)"\s*:/g)].map(([, name]) => name!))];
}

/** The lines that differ, one for one: what is changed never spans lines. */
export function changedLines(
  before: string,
  after: string,
): readonly { readonly line: number; readonly before: string; readonly after: string }[] {
  const old = before.split('\n');
  return after.split('\n').flatMap((text, index) => {
    const { [index]: was = '' } = old;
    return text === was ? [] : [{ line: index + 1, before: was.trim(), after: text.trim() }];
  });
}

/** The stacks that a run wrote, by the path of their file. */
export interface SynthOutput {
  readonly version: string;
  readonly stacks: Readonly<Record<string, Json>>;
}

/** @param text reads a file below the output folder */
export async function outputOf(
  written: WrittenFiles,
  text: (path: string) => Promise<string>,
): Promise<SynthOutput> {
  const treeOf = async (path: string) => {
    const tree: Json = JSON.parse(await text(path));
    return [path, withoutMaker(tree)] as const;
  };
  const trees = await Promise.all(written.map(treeOf));
  const { version }: { readonly version?: unknown } = JSON.parse(await text('manifest.json'));
  return { version: String(version), stacks: Object.fromEntries(trees) };
}

/** A stack without the data that depends on the library: its version, and the places in its own code. */
function withoutMaker(tree: Json): Json {
  if (Array.isArray(tree)) return (tree as readonly Json[]).map(withoutMaker);
  if (!isObject(tree)) return tree;
  return mapMembers(tree, (value, key) => (key === '//' ? madeBy(value) : withoutMaker(value)));
}

function madeBy(comment: Json): Json {
  if (!isObject(comment) || !isObject(comment['metadata'])) return comment;
  const { version: _, stackTrace: __, ...metadata } = comment['metadata'];
  return { ...comment, metadata };
}

const MOST = 10;

/** Paths at which two runs differ, as in `stacks/base/cdk.tf.json: resource.devicecloud_account.a.name`; no values. */
export function jsonDifferences(before: JsonObject, after: JsonObject): readonly string[] {
  const places = patchBetween(before, after).map(({ path }) => {
    const [file, ...rest] = pointerSteps(path);
    return rest.length === 0 ? String(file) : `${file}: ${rest.join('.')}`;
  });
  return [...new Set(places)].slice(0, MOST);
}
