// `trueup validate`: offline, and without any secret.
import { exits, type Diagnostic, type Project } from '../../model/index.js';
import type { Command, Context } from '../context.js';
import { storeOf } from '../memory.js';
import { chosen, loadProject } from '../project.js';

export const run: Command = async (context, paths) => {
  const { declarations, expectations } = await loadProject(context, paths, chosen(context), (project) => references(context, project));
  const counts = [counted(declarations, 'declaration'), ...(expectations.length > 0 ? [counted(expectations, 'expectation')] : [])];
  context.out.write(`Valid: ${counts.join(', ')}.\n`);
  return exits.done;
};

const counted = ({ length }: readonly unknown[], word: string): string => `${length} ${length === 1 ? word : `${word}s`}`;

/** The state is only asked where a reference leads out of what was loaded: it knows what other PATHs declare. */
async function references(context: Context, project: Project): Promise<readonly Diagnostic[]> {
  const { brokenReferences } = await import('../../reconciler/references.js');
  const broken = brokenReferences(context.kinds, project, undefined);
  if (!broken.some(({ code }) => code === 'unknown-reference')) return broken;
  const snapshot = await (await storeOf(context, project.settings)).read();
  return snapshot ? brokenReferences(context.kinds, project, snapshot.state) : broken;
}
