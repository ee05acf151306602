// `trueup import ADDRESS ID`: puts an existing object under the address of a declaration. Sends nothing.
import {
  canonicalAddress,
  exits,
  namedId,
  notAnId,
  refuse,
  tryAddress,
  type Kind,
} from '../../model/index.js';
import { advice } from '../../report/diagnostics-text.js';
import { screenOf } from '../../report/style.js';
import { typed } from '../commands-to-type.js';
import type { Command } from '../context.js';
import { requestOf, tellWarnings, underLock, withProject } from '../working-context.js';

export const run: Command = (context, [address = '', said = '', ...paths]) =>
  withProject(context, paths, async ({ store, context: planContext, project }) => {
    const [{ importObject }, { select }] = await Promise.all([
      import('../../reconciler/apply/import.js'),
      import('../../reconciler/plan/target-selection.js'),
    ]);
    const name = canonicalAddress(address);
    const kind = context.kinds.get(tryAddress(name)?.kind ?? '');
    const id = kind ? idOf(kind, said) : said;
    const outcome = await underLock(store, 'import', planContext, async (session) => {
      const { state } = session.snapshot;
      const request = { ...requestOf(context), targets: [name] };
      const { diagnostics } = select(context.kinds, project, state, request);
      const foreign = diagnostics.filter(({ code }) => code === 'foreign-state');
      await tellWarnings(context, { project });
      await context.tell(foreign);
      return importObject({ ...planContext, session }, project, name, id);
    });
    const done = `Imported ${outcome.id} as ${outcome.address}. To see the differences: ${typed('trueup plan', context.said)}`;
    const lines = advice(done, screenOf(context.out.style), { lead: '' });
    context.out.write([...lines, ''].join('\n'));
    return exits.done;
  });

function idOf(kind: Kind, said: string): string {
  const { code, ...words } = notAnId(kind, said);
  return namedId(kind, said) ?? refuse(code, words.summary, words);
}
