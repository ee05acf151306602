// `trueup validate`: offline, and without any secret.
import { exits, faultsOf, type Diagnostic, type Project, type Values } from '../../model/index.js';
import type { Command, Context } from '../context.js';
import { storeOf } from '../memory.js';
import { chosen, loadProject } from '../project.js';

export const run: Command = async (context, paths) => {
  const { declarations, expectations } = await loadProject(context, paths, chosen(context), async (project) => [
    ...(await references(context, project)),
    ...(await faults(context, project)),
  ]);
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

/** What would never be sent, without its line, which may hold a password. The state is only asked where there is something: what it shows to be live already is a warning. */
async function faults(context: Context, project: Project): Promise<readonly Diagnostic[]> {
  const among = (prior: (address: string) => Values | undefined): readonly Diagnostic[] =>
    project.declarations.flatMap(({ address, kind: name, values, at }) => {
      const kind = context.kinds.get(name);
      const found = kind ? faultsOf(kind, values, prior(address)) : [];
      return found.map((one): Diagnostic => ({ ...one, summary: `${address}: ${one.summary}`, address, frame: '', origin: at(one.attribute ?? '') }));
    });
  const found = among(() => undefined);
  if (found.length === 0) return [];
  const snapshot = await (await storeOf(context, project.settings)).read();
  return snapshot ? among((address) => snapshot.state.resources[address]?.observed) : found;
}
