// `trueup validate`: checks declarations without network and without secrets.
import { exits } from '../../model/index.js';
import { plural } from '../../report/words.js';
import type { Command } from '../context.js';
import { policiesHere } from '../project-policies.js';
import { chosen, loadProject } from '../project.js';

export const run: Command = async (context, paths) => {
  const { declarations, expectations } = await loadProject(context, paths, chosen(context), {
    checks: 'always',
  });
  const policies = await policiesHere(context);
  const counts = [
    plural(declarations.length, 'declaration'),
    ...(expectations.length > 0 ? [plural(expectations.length, 'expectation')] : []),
    ...(policies.length > 0
      ? [`${policies.length} ${policies.length === 1 ? 'policy' : 'policies'}`]
      : []),
  ];
  context.out.write(`Valid: ${counts.join(', ')}.\n`);
  return exits.done;
};
