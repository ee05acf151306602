// `trueup export`: writes live objects as declarations whose plan has no changes. Changes no state, overwrites no file.
import { join, resolve } from 'node:path';
import {
  compareText,
  exits,
  labelsIn,
  objectsIn,
  Refusal,
  refuse,
  unescapeAll,
  warning,
  type Diagnostic,
  type Kind,
  type LabelOf,
  type Live,
} from '../../model/index.js';
import type * as declarations from '../../declarations/index.js';
import type { Command, Context } from '../context.js';
import { exported, type Exported } from '../export-values.js';
import { settingsHere } from '../project.js';
import { tried, version } from '../version.js';
import { withCloud, type Workplace } from '../working-context.js';

export const run: Command = async (context) => {
  const { flags, out, err, cwd, files } = context;
  const writing = await import('../../declarations/index.js');
  const estate = await withCloud(context, await settingsHere(context), (place) =>
    unmanaged(context, place),
  );
  const texts = written(context, writing, await namedAll(context, estate, writing.declarationName));
  if (texts.size === 0)
    err.write(
      'There is nothing to write: whatever is live is managed already (--all writes that, too).\n',
    );
  if (flags.out === undefined) {
    const shown = [...texts].filter(([name]) => !name.endsWith('.json'));
    out.write(shown.map(([, text]) => text).join('\n'));
    return exits.done;
  }
  const folder = resolve(cwd, flags.out);
  await files.makeFolder(folder);
  const there = (await files.list(folder)).find((name) => texts.has(name));
  if (there !== undefined)
    refuse('exists', `${join(folder, there)} is there already, and nothing is overwritten.`, {
      detail: 'Name another folder: trueup export --out FOLDER',
    });
  for (const [name, text] of texts) {
    await files.create(join(folder, name), text, 0o644);
    out.write(`wrote ${join(flags.out, name)}\n`);
  }
  if (texts.size > 0) err.write(next(flags.format, flags.out));
  return exits.done;
};

/** File texts by name, in the form that was asked for. */
function written(
  { flags: { format }, kinds }: Context,
  { writeCdk, writeDeclarations, writeHcl }: typeof declarations,
  estate: declarations.ExportedObjects,
): ReadonlyMap<string, string> {
  if (format === 'hcl') return writeHcl(kinds, estate, version);
  if (format === 'cdktf' || format === 'cdktn')
    return writeCdk(kinds, estate, format, { ...tried, trueup: version });
  return new Map(
    [...writeDeclarations(kinds, estate)].map(([kind, text]) => [`${kind}.yaml`, text]),
  );
}

/** The commands to run if the files are not enough. */
function next(format: string | undefined, folder: string): string {
  if (format === 'hcl')
    return `To plan it: trueup provider install, then terraform init and terraform plan in ${folder}.\n`;
  if (format === 'cdktf' || format === 'cdktn')
    return `To plan it: npm install in ${folder}, then trueup plan there.\n`;
  return '';
}

/** Live objects by kind; those the state binds are left out unless all were asked for. */
async function unmanaged(
  context: Context,
  { context: planContext, snapshot }: Workplace,
): Promise<ReadonlyMap<Kind, readonly Live[]>> {
  const bound = new Set(
    context.flags.all ? [] : Object.values(snapshot?.state.resources ?? {}).flatMap(objectsIn),
  );
  const found = new Map<Kind, readonly Live[]>();
  const unread: Diagnostic[] = [];
  for (const kind of context.kinds.values()) {
    try {
      const { objects } = await planContext.cloud.list(kind);
      const others = objects.filter(({ id }) => !bound.has(`${kind.name} ${id}`));
      found.set(kind, others);
    } catch (error) {
      if (!(error instanceof Refusal) || error.diagnostics[0]?.code !== 'no-target') throw error;
      unread.push(...error.diagnostics);
    }
  }
  if (found.size === 0) throw new Refusal(unread, exits.error);
  await context.tell(
    unread.map((one) => ({
      ...one,
      severity: 'warning',
      summary: `These are left out: ${one.summary}`,
    })),
  );
  return found;
}

/** Every object that may be written, with unescaped texts; an object that needs a secret is left out, with a warning. */
async function namedAll(
  { masking, tell }: Context,
  estate: ReadonlyMap<Kind, readonly Live[]>,
  nameFor: typeof declarations.declarationName,
): Promise<declarations.ExportedObjects> {
  const withheld: Diagnostic[] = [];
  const kept = new Map(
    [...estate].map(([kind, objects]) => {
      const byId = new Map<string, ExportedObject>();
      for (const { id, values } of objects) {
        const found = exported(kind, unescapeAll(values), masking);
        if (!('secret' in found)) {
          byId.set(id, { id, ...found });
          continue;
        }
        const summary = `The ${kind.singular.replaceAll('_', ' ')} ${id} is left out: its ${found.secret} holds the value of a secret.`;
        const advice = 'Change it where it is live, or declare it by hand.';
        withheld.push(warning('secret-withheld', summary, advice));
      }
      return [kind.name, { kind, byId }] as const;
    }),
  );
  await tell(withheld);
  const others = labelsIn(kept);
  return new Map(
    [...kept].map(([name, { kind, byId }]) => [
      name,
      named(kind, [...byId.values()], { others, nameFor }),
    ]),
  );
}

type ExportedObject = Exported & Pick<Live, 'id'>;

interface Naming {
  readonly others: LabelOf;
  readonly nameFor: typeof declarations.declarationName;
}

/** Named after what people call the objects, or after their kind and identifier. What the kind says of an object stands above it. */
function named(
  kind: Kind,
  objects: readonly ExportedObject[],
  { others, nameFor }: Naming,
): readonly declarations.WrittenObject[] {
  const taken = new Set<string>();
  return objects
    .toSorted((a, b) => compareText(a.id, b.id))
    .map(({ id, values, comments }) => {
      const label = kind.label?.(values, others);
      const own = typeof values['name'] === 'string' ? values['name'] : label;
      const name = nameFor(own ?? `${kind.singular} ${id}`, taken);
      taken.add(name);
      return { name, values, id, comments: label === undefined ? comments : [label, ...comments] };
    });
}
