// `trueup import ADDRESS ID`: puts an existing object under the address of a declaration. Sends nothing.
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
      `Imported ${outcome.id} as ${outcome.address}. To see the differences: ${typed('trueup plan', context.said)}\n`,
    );
    return exits.done;
  });
