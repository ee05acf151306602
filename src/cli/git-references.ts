// The git references that `trueup diff` compares, and the projects that they hold.
import { join, relative, resolve } from 'node:path';
import {
  refuse,
  Refusal,
  shellWord,
  type ComparedReference,
  type Diagnostic,
  type Project,
} from '../model/index.js';
import { declarationFiles } from '../platform/declaration-files.js';
import { gitRepository, type GitRepository } from '../platform/git-files.js';
import type { Context } from './context.js';
import { chosen, loadProject, withOutsidePaths } from './project.js';

/** What is compared. Without `after`, the working tree is. */
export interface ReferencePair {
  readonly repository: GitRepository;
  readonly before: ComparedReference;
  readonly after: ComparedReference | undefined;
}

/** @param range one reference, or two as `A..B`, where HEAD can be left out. @throws Refusal before anything is read */
export function referencePair(
  context: Pick<Context, 'cwd' | 'environment'>,
  range: string,
  paths: readonly string[],
): ReferencePair {
  if (range.includes('...'))
    refuse('usage', `${shown(range)}: three dots are not read.`, {
      detail: `To compare with where two branches parted, type: trueup diff $(git merge-base A B)..B`,
    });
  if (paths.includes('-'))
    refuse('usage', 'A reference has no standard input to compare.', {
      detail: 'Name files or folders as PATHs, or none.',
    });
  const repository = gitRepository(context);
  const [first = '', second] = range.split(/\.\.(.*)/s, 2);
  const before = referenceNamed(repository, first || 'HEAD');
  const after = second === undefined ? undefined : referenceNamed(repository, second || 'HEAD');
  const [path = '.'] = paths;
  if (after === undefined && isReference(context, repository, path))
    refuse('usage', `${shown(path)} is a reference, and no PATH.`, {
      detail: `To compare two references, type: trueup diff ${shellWord(`${first}..${path}`)}`,
    });
  return { repository, before, after };
}

const shown = (text: string): string => JSON.stringify(text);

const isReference = ({ cwd }: Pick<Context, 'cwd'>, repository: GitRepository, path: string) =>
  declarationFiles.stat(resolve(cwd, path)) === undefined &&
  repository.commitOf(path) !== undefined;

function referenceNamed(repository: GitRepository, reference: string): ComparedReference {
  const commit = repository.commitOf(reference);
  if (commit !== undefined) return { reference, commit };
  const isName = !/^-|[\p{Cc}\s]/u.test(reference);
  return refuse('unknown-reference', `There is no git reference ${shown(reference)} here.`, {
    detail: `To list the references, type: git branch --all && git tag${isName ? `\nA CI job may have fetched one branch only. To fetch this one: git fetch origin ${shellWord(reference)}` : ''}`,
  });
}

/**
 * The project as a reference has it. No program and no command is run, and no state is read.
 * @throws Refusal with what is wrong with it, and at which reference
 */
export async function projectAt(
  context: Context,
  paths: readonly string[],
  { repository }: ReferencePair,
  { reference, commit }: ComparedReference,
): Promise<Project> {
  const files = repository.filesOf(commit);
  // Warnings about what was declared earlier help nobody.
  const quiet: Context = { ...context, tell: async () => undefined };
  const synthesise = async (folder: string): Promise<never> =>
    refuseProgram(context, folder, reference);
  const how = chosen(context);
  try {
    const reading = { checks: 'never', files, synthesise } as const;
    const project = await loadProject(quiet, paths, how, reading);
    return await withOutsidePaths(quiet, project, how, files);
  } catch (error) {
    throw atReference(error, reference);
  }
}

function refuseProgram({ cwd }: Context, folder: string, reference: string): never {
  const [program, output] = ['cdktf.json', 'cdktf.out'].map((name) =>
    relative(cwd, join(folder, name)),
  );
  return refuse('program-at-reference', `${program} names a CDK program, and none is run there.`, {
    detail: `If its output is committed, name the output: trueup diff ${shellWord(reference)} ${shellWord(output!)}`,
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
