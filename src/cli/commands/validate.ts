// `trueup validate`: offline, and without any secret.
import { exits } from '../../model/index.js';
import type { Command } from '../context.js';
import { chosen, loadProject } from '../project.js';

export const run: Command = async (context, paths) => {
  const { declarations, expectations } = await loadProject(
    context,
    paths,
    chosen(context),
    'always',
  );
  const counts = [
    counted(declarations, 'declaration'),
    ...(expectations.length > 0 ? [counted(expectations, 'expectation')] : []),
  ];
  context.out.write(`Valid: ${counts.join(', ')}.\n`);
  return exits.done;
};

const counted = ({ length }: readonly unknown[], word: string): string =>
  `${length} ${length === 1 ? word : `${word}s`}`;
