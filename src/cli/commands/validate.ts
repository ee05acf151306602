// `trueup validate`: offline, and without any secret.
import { exits } from '../../model/index.js';
import type { Command } from '../context.js';
import { loadProject } from '../project.js';

export const run: Command = async (context, paths) => {
  const { declarations } = await loadProject(context, paths);
  context.out.write(`Valid: ${declarations.length} ${declarations.length === 1 ? 'declaration' : 'declarations'}.\n`);
  return exits.done;
};
