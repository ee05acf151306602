// The git references that `trueup diff` compares, and the projects that they hold.
import { join, relative, resolve } from 'node:path';
import {
  firstNamed,
  note,
  pathWord,
  refuse,
  Refusal,
  shellWord,
  warning,
  type ComparedReference,
  type Diagnostic,
  type Project,
} from '../model/index.js';
import { declarationFiles } from '../platform/declaration-files.js';
import { gitRepository, type GitRepository } from '../platform/git-files.js';
import type { Context } from './context.js';
import { chosen, projectToPlan, wholeProject } from './project.js';

/** What is compared. Without `after`, the working tree is. */
export interface ReferencePair {
  readonly repository: GitRepository;
  readonly before: ComparedReference;
  readonly after: ComparedReference | undefined;
}

/** @param range one reference, or two as `A..B`, where HEAD can be left out. @throws Refusal before anything is read */
export function referencePair(
  context: Pick<Context, 'cwd' | 'environment' | 'said'>,
  range: string,
  paths: readonly string[],
): ReferencePair {
  if (range.includes('...')) {
    const [one, other] = range.split('...', 2).map((name) => shellWord(name || 'HEAD'));
    refuse('usage', `${shown(range)}: three dots are not supported.`, {
      detail: `To compare with where the two parted: trueup diff $(git merge-base ${one} ${other})..${other}`,
    });
  }
  if (paths.includes('-'))
    refuse('usage', 'A reference has no standard input to compare.', {
      detail: 'Name files or folders as PATHs, or none.',
    });
  const repository = gitRepository(context);
  const [first = '', second] = range.split(/\.\.(.*)/s, 2);
  const before = referenceNamed(repository, first || 'HEAD');
  const after = second === undefined ? undefined : referenceNamed(repository, second || 'HEAD');
  const [path = '.'] = paths;
  const isPath = (): boolean => declarationFiles.stat(resolve(context.cwd, path)) !== undefined;
  if (after === undefined && !isPath() && repository.commitOf(path) !== undefined) {
    context.said = { ...context.said, paths: paths.slice(1) };
    refuse('usage', `${shown(path)} is a reference, not a PATH.`, {
      detail: `To compare two references: trueup diff ${shellWord(`${first}..${path}`)}`,
    });
  }
  return { repository, before, after };
}

const shown = (text: string): string => JSON.stringify(text);

/** @throws Refusal where the repository has no such reference */
export function referenceNamed(repository: GitRepository, reference: string): ComparedReference {
  const commit = repository.commitOf(reference);
  if (commit !== undefined) return { reference, commit };
  return refuse('unknown-reference', `There is no git reference ${shown(reference)} here.`, {
    detail: `To list the references, type: \`git branch --all && git tag\`${fetching(reference)}`,
  });
}

const EARLIER =
  '\nA clone in a CI job may hold the newest commits only. Then fetch the others: `git fetch --unshallow`';

/** How what a clone lacks is fetched. A name of hexadecimal digits may be a commit or a branch. */
function fetching(reference: string): string {
  if (/^-|[\p{Cc}\s:?*[\\]|@\{|\^\{/u.test(reference)) return '';
  const [, base = '', older = ''] = /^([^~^]*)(.*)$/.exec(reference) ?? [];
  if (/^[A-Z]+_HEAD$/.test(base)) return '';
  if (base === 'HEAD') return older === '' ? '\nThe branch may have no commit yet.' : EARLIER;
  const name = base.replace(/^(?:refs\/heads|(?:refs\/)?remotes\/origin|origin)\/(?=.)/, '');
  const isCommit = /^[\da-f]{40}$/i.test(name);
  const there = name.startsWith('refs/') ? name : `refs/remotes/origin/${name}`;
  const command = `git fetch origin ${shellWord(isCommit ? name : `${name}:${there}`)}`;
  const called = (isCommit ? name : there.replace(/^refs\/remotes\//, '')) + older;
  const earlier = older !== '' || /^[\da-f]{7,39}$/i.test(name) ? EARLIER : '';
  return `\nA CI job may have fetched one branch only. To fetch this one: \`${command}\`\nThen its name is ${called}.${earlier}`;
}

/** Errors that say no more than that nothing is declared. */
const nothing: ReadonlySet<string> = new Set(['no-declarations', 'no-environment-file']);

/**
 * The project as a reference has it; undefined where nothing is declared there, which is told. A PATH or a current folder
 * that the reference lacks holds nothing. No program and no command is run, and no state is read.
 * @throws Refusal with what is wrong with it, and at which reference
 */
export async function projectAt(
  context: Context,
  paths: readonly string[],
  pair: ReferencePair,
  { reference, commit }: ComparedReference,
): Promise<Project | undefined> {
  const files = pair.repository.filesOf(commit);
  const isThere = (path: string): boolean => files.stat(resolve(context.cwd, path)) !== undefined;
  const there = paths.filter(isThere);
  await context.tell(submodulesIn(files.submodules, paths, { reference, cwd: context.cwd }));
  if (there.length === 0 && (paths.length > 0 || !isThere('.'))) {
    const missing = firstNamed(paths, FEW) || 'the current folder';
    return nothingAt(context, reference, `${missing} does not exist`);
  }
  const synthesise = async (folder: string): Promise<never> =>
    refuseProgram(context, folder, paths, pair);
  const how = chosen(context);
  try {
    const reading = { checks: 'never', files, synthesise } as const;
    const project = await projectToPlan(context, there, how, reading);
    return await wholeProject(context, project, how, files);
  } catch (error) {
    const errors =
      error instanceof Refusal
        ? error.diagnostics.filter(({ severity }) => severity === 'error')
        : [];
    const [first] = errors;
    if (first && errors.every(({ code }) => nothing.has(code)))
      return nothingAt(context, reference, first.summary);
    throw atReference(error, reference);
  }
}

/** PATHs and submodules that a message names at most. */
const FEW = 3;

async function nothingAt(
  { tell }: Pick<Context, 'tell'>,
  reference: string,
  why: string,
): Promise<undefined> {
  await tell([note('nothing-declared', `Nothing is declared at ${reference}: ${why}.`)]);
}

/** Submodules among the PATHs: the working tree shows their files, a commit does not hold them. */
function submodulesIn(
  submodules: readonly string[],
  paths: readonly string[],
  { reference, cwd }: { readonly reference: string; readonly cwd: string },
): readonly Diagnostic[] {
  const roots = paths.map((path) => relative(cwd, resolve(cwd, path)));
  const meant = submodules.filter((one) =>
    [...roots, ...(roots.length === 0 ? [''] : [])].some(
      (root) => root === '' || `${one}/`.startsWith(`${root}/`) || root.startsWith(`${one}/`),
    ),
  );
  if (meant.length === 0) return [];
  return [
    warning(
      'submodule',
      `At ${reference}: files of submodules are not read, and count as absent: ${firstNamed(meant, FEW)}.`,
      'To compare the declarations of a submodule, go to its folder.',
    ),
  ];
}

/** @param folder of the program, which is one of the PATHs or the current folder */
function refuseProgram(
  { cwd }: Context,
  folder: string,
  paths: readonly string[],
  { before, after }: ReferencePair,
): never {
  const [program, output = ''] = ['cdktf.json', 'cdktf.out'].map((name) =>
    relative(cwd, join(folder, name)),
  );
  const ofProgram = new Set([resolve(folder), resolve(folder, 'cdktf.json')]);
  const named = (paths.length === 0 ? ['.'] : paths).map((path) =>
    ofProgram.has(resolve(cwd, path)) ? output : path,
  );
  const range = [before, ...(after ? [after] : [])].map(({ reference }) => reference).join('..');
  return refuse('program-at-reference', `${program} names a CDK program, and none is run there.`, {
    detail: `If its output is committed, name the output: trueup diff ${[shellWord(range), ...named.map(pathWord)].join(' ')}`,
  });
}

/** An error, and at which reference it was found. */
export function atReference(error: unknown, reference: string): unknown {
  if (!(error instanceof Refusal)) return error;
  const located = error.diagnostics.map((one): Diagnostic => ({
    ...one,
    summary: `At ${reference}: ${one.summary}`,
  }));
  return new Refusal(located, error.exit);
}
