// package.json and package-lock.json beside the declarations: CI installs from them, so that it runs the same bytes each
// time and never asks a registry for a name alone.
import { spawn } from 'node:child_process';
import { copyFile, readFile, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isObject, pathWord, refuse, tryJson, urlFrom } from '../../model/index.js';
import { ifThere } from '../../state/disk-errors.js';
import { typed } from '../commands-to-type.js';
import type { Context } from '../context.js';
import { version } from '../version.js';

const MANIFEST = 'package.json';
const LOCK = 'package-lock.json';
/** In the words that a person types. */
const LOCKING = `npm install --package-lock-only --ignore-scripts`;
/** Where a tarball from elsewhere is copied to: CI has the files of the repository alone. */
const VENDOR = 'vendor';

/** @param add writes a file where none is, and says which */
export async function packageFiles(
  context: Context,
  add: (path: string, text: string) => Promise<string>,
): Promise<readonly string[]> {
  const { files, cwd } = context;
  const { dependency, said } = await dependencyOf(context);
  const before = await ifThere(files.read(join(cwd, MANIFEST)));
  if (before !== undefined && !isNamedIn(before))
    return [
      ...said,
      `${MANIFEST} already exists and is not changed. Add this to its dependencies:\n  "trueup": ${JSON.stringify(dependency)}\nThen type: ${LOCKING}`,
    ];
  const manifest = { private: true, dependencies: { trueup: dependency } };
  said.push(await add(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`));
  if ((await files.size(join(cwd, LOCK))) !== undefined)
    return [...said, `${LOCK} already exists and is not changed`];
  const failure = await lock(cwd);
  if (failure === undefined) return [...said, `wrote ${LOCK}`];
  // So that the same command with another package can be typed.
  if (before === undefined) await files.remove(join(cwd, MANIFEST));
  return refuse('no-lock', `npm could not write ${LOCK}, which CI installs from.`, {
    detail: `${failure}\nName a package that can be installed: a tarball (\`npm pack\` in a clone of trueup makes one), its address, or a published version:\n${typed(`trueup init --ci ${context.flags.ci ?? 'github'} --package ./trueup-${version}.tgz`, context.said)}`,
  });
}

function isNamedIn(text: string): boolean {
  const manifest = tryJson(text);
  if (manifest === undefined)
    refuse('unreadable', `${MANIFEST} is not JSON.`, { detail: 'Repair it, and try again.' });
  const { dependencies, devDependencies } = isObject(manifest) ? manifest : {};
  return [dependencies, devDependencies].some((one) => isObject(one) && 'trueup' in one);
}

const EXACT = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/;

/** What stands in package.json, as it can be used by a clone. @throws Refusal */
async function dependencyOf({ flags, cwd, files }: Context) {
  const spec = flags.package ?? version;
  const said: string[] = [];
  if (EXACT.test(spec)) return { dependency: spec, said };
  const url = /^https?:/i.test(spec) ? urlFrom(spec) : undefined;
  if (url && (url.username || url.password))
    refuse('usage', 'The address in --package must not contain a password.', {
      detail: `It would be committed. npm reads credentials from .npmrc and its environment.`,
    });
  if (url) return { dependency: url.href, said };
  const path = resolve(cwd, spec.replace(/^file:/, ''));
  if (!(await stat(path).catch(() => undefined))?.isFile())
    refuse('usage', `--package takes a tarball, its address or an exact version, not ${spec}.`, {
      detail: `As in: --package ./trueup-${version}.tgz. There is no file ${path}.`,
    });
  const inside = relative(cwd, path);
  if (!isAbsolute(inside) && !inside.startsWith('..'))
    return { dependency: `file:${inside.split(sep).join('/')}`, said };
  const copy = `${VENDOR}/${basename(path)}`;
  const there = await readFile(join(cwd, copy)).catch(() => undefined);
  if (there?.equals(await readFile(path))) return { dependency: `file:${copy}`, said };
  if (there)
    refuse('exists', `${copy} is another file than ${spec}, and is not overwritten.`, {
      detail: `To use it, name it: --package ${pathWord(copy)}\nOtherwise delete it and ${LOCK}, and type the same command again.`,
    });
  await files.makeFolder(join(cwd, VENDOR), 0o755);
  await copyFile(path, join(cwd, copy));
  said.push(`copied ${spec} to ${copy}`);
  return { dependency: `file:${copy}`, said };
}

const LONGEST = 4_000;

/** What npm says if it fails. */
function lock(cwd: string): Promise<string | undefined> {
  const [command = '', ...words] = LOCKING.split(' ');
  const child = spawn(command, [...words, '--no-audit', '--no-fund'], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
  });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-LONGEST)));
  return new Promise((done) => {
    child.once('error', () => done('npm is not installed here.'));
    child.once('close', (code) => done(code === 0 ? undefined : linesOf(said)));
  });
}

const linesOf = (said: string): string =>
  said
    .split('\n')
    .filter((line) => line.startsWith('npm error') && !/complete log|\.log$/.test(line))
    .slice(0, 6)
    .join('\n');
