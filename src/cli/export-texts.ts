// The texts of an export: a name for each object, comments on what its declaration does not say, and the files in the
// form that was asked for.
import {
  compareText,
  defined,
  keptMembers,
  labelOf,
  writable,
  type Kind,
  type Kinds,
} from '../model/index.js';
import type * as declarations from '../declarations/writing.js';
import { liveReferences } from '../reconciler/plan/order.js';
import type { Context } from './context.js';
import { splitFiles } from './export-folders.js';
import type { ExportedObject, ExportSelection } from './export-selection.js';
import { tried, version } from './version.js';

/** File texts by name, in the form that was asked for. */
export async function exportedTexts(
  { flags: { format, split }, kinds }: Pick<Context, 'flags' | 'kinds'>,
  selection: ExportSelection,
): Promise<ReadonlyMap<string, string>> {
  const { writeCdk, writeDeclarations, writeHcl } = await import('../declarations/writing.js');
  const { latinName: nameFor } = await import('../declarations/export/latin-names.js');
  const estate = namedAll(kinds, selection, nameFor);
  if (format === 'hcl') return writeHcl(kinds, estate, version);
  if (format === 'cdktf' || format === 'cdktn')
    return writeCdk(kinds, estate, format, { ...tried, trueup: version });
  return writeDeclarations(kinds, estate, {
    labels: selection.labels,
    nameFor,
    taken: selection.taken,
    ...(split !== undefined && { fileOf: splitFiles(selection, nameFor) }),
  });
}

/** Every object with a name, and with comments on what its declaration does not say. */
function namedAll(
  kinds: Kinds,
  { chosen, labels, taken: held }: ExportSelection,
  nameFor: declarations.NameFor,
): declarations.ExportedObjects {
  const there = new Set(
    [...chosen].flatMap(([{ name }, objects]) => objects.map(({ id }) => `${name} ${id}`)),
  );
  /** A comment on an object that is referred to and not written, by its kind and id. */
  const unexported = (key: string): readonly string[] => {
    const [name = '', id = ''] = key.split(/ (.*)/s);
    const label = there.has(key) ? undefined : labels(name, id);
    const word = kinds.get(name)?.singular.replaceAll('_', ' ');
    return label === undefined ? [] : [`${id} is the ${word} ${label}, which is not exported`];
  };
  /** Named after what people call the objects, or after their kind and identifier. */
  const named = (kind: Kind, objects: readonly ExportedObject[]) => {
    const declared = keptMembers(kind.attributes, writable);
    const taken = new Set(held.get(kind.name));
    return objects
      .toSorted((a, b) => compareText(a.id, b.id))
      .map(({ id, values, comments }): declarations.WrittenObject => {
        const label = kind.label?.(values, labels);
        const instead = { kind: kind.singular, id };
        const name = nameFor(labelOf(kind, values, labels) ?? '', taken, instead);
        taken.add(name);
        const referred = new Set(liveReferences(declared, values));
        const more = [...referred].flatMap(unexported);
        return { name, values, id, comments: [...comments, ...more], ...defined({ label }) };
      });
  };
  return new Map([...chosen].map(([kind, objects]) => [kind.name, named(kind, objects)]));
}
