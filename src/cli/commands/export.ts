// `trueup export`: writes what is live as declarations that plan empty. Touches no state, overwrites no file.
import { join, resolve } from 'node:path';
import { compareText, exits, Refusal, refuse, type Diagnostic, type Kind, type Live } from '../../model/index.js';
import type { declarationName, Written } from '../../declarations/index.js';
import type { Command, Context } from '../context.js';
import { settingsHere } from '../project.js';
import { withCloud, type Workplace } from '../workplace.js';

export const run: Command = async (context) => {
  const { flags, out, err, cwd, files, kinds } = context;
  const { declarationName: nameFor, writeDeclarations } = await import('../../declarations/index.js');
  const estate = await withCloud(context, await settingsHere(context), (place) => unmanaged(context, place));
  const texts = writeDeclarations(kinds, new Map([...estate].map(([kind, objects]) => [kind.name, named(kind, objects, nameFor)])));
  if (texts.size === 0) err.write('There is nothing to write: whatever is live is managed already (--all writes that, too).\n');
  if (flags.out === undefined) {
    out.write([...texts.values()].join('\n'));
    return exits.done;
  }
  const folder = resolve(cwd, flags.out);
  await files.makeFolder(folder);
  const there = (await files.list(folder)).find((name) => texts.has(name.replace(/\.yaml$/, '')));
  if (there !== undefined) refuse('exists', `${join(folder, there)} is there already, and nothing is overwritten.`, { detail: 'Name another folder: trueup export --out FOLDER' });
  for (const [kind, text] of texts) {
    await files.create(join(folder, `${kind}.yaml`), text, 0o644);
    out.write(`wrote ${join(flags.out, `${kind}.yaml`)}\n`);
  }
  return exits.done;
};

/** Live objects by kind; those the state binds are left out unless all were asked for. */
async function unmanaged(context: Context, { desk, snapshot }: Workplace): Promise<ReadonlyMap<Kind, readonly Live[]>> {
  const bound = new Set(context.flags.all ? [] : Object.values(snapshot?.state.resources ?? {}).map(({ kind, id }) => `${kind} ${id}`));
  const found = new Map<Kind, readonly Live[]>();
  const unread: Diagnostic[] = [];
  for (const kind of context.kinds.values()) {
    try {
      const { objects } = await desk.cloud.list(kind);
      found.set(
        kind,
        objects.filter(({ id }) => !bound.has(`${kind.name} ${id}`)),
      );
    } catch (error) {
      if (!(error instanceof Refusal) || error.diagnostics[0]?.code !== 'no-target') throw error;
      unread.push(...error.diagnostics);
    }
  }
  if (found.size === 0) throw new Refusal(unread, exits.error);
  await context.tell(unread.map((one) => ({ ...one, severity: 'warning', summary: `These are left out: ${one.summary}` })));
  return found;
}

/** Named after what people call the objects, or after their kind and identifier. */
function named(kind: Kind, objects: readonly Live[], nameFor: typeof declarationName): readonly Written[] {
  const taken = new Set<string>();
  return objects
    .toSorted((a, b) => compareText(a.id, b.id))
    .map(({ id, values }) => {
      const name = nameFor(typeof values['name'] === 'string' ? values['name'] : `${kind.singular} ${id}`, taken);
      taken.add(name);
      return { name, values, id };
    });
}
