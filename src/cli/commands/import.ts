// `trueup import ADDRESS ID`: binds a declaration to an object that exists. Sends nothing.
import { canonicalAddress, exits } from '../../model/index.js';
import { typed } from '../commands-to-type.js';
import type { Command } from '../context.js';
import { underLock, withProject } from '../working-context.js';

export const run: Command = (context, [address = '', id = '', ...paths]) =>
  withProject(context, paths, async ({ store, context: planContext, project }) => {
    const { bind } = await import('../../reconciler/apply/import.js');
    const outcome = await underLock(store, 'import', planContext, (session) =>
      bind({ ...planContext, session }, project, canonicalAddress(address), id),
    );
    context.out.write(
      `${outcome.address} is bound to ${outcome.id}. What differs: ${typed('trueup plan', context.said)}\n`,
    );
    return exits.done;
  });
