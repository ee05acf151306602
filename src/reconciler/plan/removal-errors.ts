// Errors of `moved` and `removed` blocks about objects that a plan would remove: nothing may be deleted or forgotten
// that a block says otherwise.
import {
  defined,
  pathWord,
  shellWord,
  type Declaration,
  type Diagnostic,
  type Entry,
  type Origin,
  type OutsideFiles,
  type Project,
} from '../../model/index.js';
import { formerAddresses } from './match.js';
import { leaveOut, yamlString } from './plan-errors.js';
import { movedAddresses, removedBlocks, withoutKey } from './moved-addresses.js';

type Recorded = readonly (readonly [address: string, entry: Entry])[];

/** Moves between two addresses that hold an object each, of which nothing is declared: a `removed` block would forget both. */
export function movesBetweenRecorded(project: Project, gone: Recorded): readonly Diagnostic[] {
  const { blockOf, pathOf } = movedAddresses(project);
  const ids = new Map(gone.map(([address, { id }]) => [address, id]));
  return gone.flatMap(([address, { id }]): Diagnostic | [] => {
    const later = pathOf(address).find((one) => (ids.get(one) ?? id) !== id);
    if (later === undefined) return [];
    return {
      severity: 'error',
      code: 'renamed-bound',
      summary: `${address} is moved to ${later}, but both are recorded.`,
      detail: `Delete the moved block, or forget one of them. To keep its object: trueup state rm ${shellWord(later)}`,
      address,
      ...defined({ origin: blockOf(address)?.origin }),
    };
  });
}

/** Objects that would be deleted although a file that the PATHs leave out declares, moves or forgets them, or may do so. */
export function declaredElsewhere(
  project: Project,
  removed: Recorded,
  destroy: boolean,
): readonly Diagnostic[] {
  const { refactorings = [], outside } = project;
  if (!outside) return [];
  const all = { refactorings: [...refactorings, ...outside.blocks] };
  const { blockOf, pathOf } = movedAddresses(all);
  const blocksOf = removedBlocks(all);
  const isConfirmed = removedBlocks(project);
  const own = new Set(project.declarations.map(({ address }) => address));
  const declared = new Map(
    outside.declarations.flatMap((one) =>
      [one.address, ...formerAddresses(one), adoptedBy(one)].map((key) => [key, one] as const),
    ),
  );
  const found = removed.flatMap(([address, { kind, id }]): Elsewhere | [] => {
    // What is destroyed together with its declaration is not moved from there.
    if (own.has(address) || isConfirmed(address).some(({ forgets }) => !forgets)) return [];
    const path = pathOf(address);
    const moves = path.flatMap((one) => blockOf(one) ?? []);
    const forgets = blocksOf(address).filter((one) => one.forgets);
    const block = [...moves, ...forgets].find((one) => outside.blocks.includes(one));
    if (block) return { ...block, address, why: `holds a ${block.block} block that names it` };
    const other = path.flatMap((one) => declared.get(one) ?? [])[0];
    if (other) return { ...other, address, why: 'declares it' };
    const adopts = declared.get(idOf(kind, id));
    if (adopts) return { ...adopts, address, why: `adopts its object as ${adopts.address}` };
    const named = path.flatMap((one) => fileNaming(outside.names, one) ?? [])[0];
    if (named !== undefined) {
      const origin = { file: named, line: 1, column: 1 };
      return { origin, address, why: 'may declare it: it uses this name' };
    }
    const { error } = outside;
    return error
      ? { ...error, address, why: `has an error, and may declare it: ${error.summary}` }
      : [];
  });
  return found.map((one) => elsewhere(one, destroy ? found : []));
}

const idOf = (kind: string, id: string): string => `${kind} ${id}`;

/** The object that a declaration adopts by its id. */
const adoptedBy = ({ kind, lifecycle }: Declaration): string => idOf(kind, lifecycle.adopt ?? '');

/** The file that declares the name of an address, or a use of a template that makes such names. */
function fileNaming(names: OutsideFiles['names'], address: string): string | undefined {
  const whole = withoutKey(address);
  const name = whole.slice(whole.indexOf('.') + 1);
  const ends = [...name.matchAll(/-/g)].map(({ index }) => name.slice(0, index));
  return [whole, ...ends.map((one) => `use.${one}`)].flatMap((one) => names.get(one) ?? [])[0];
}

interface Elsewhere {
  readonly address: string;
  readonly origin: Origin;
  /** Where it is used, if a template or a program makes it. */
  readonly file?: string;
  readonly why: string;
}

/** @param kept what a command that destroys everything has to leave out */
function elsewhere(
  { address, origin, file = origin.file, why }: Elsewhere,
  kept: readonly Elsewhere[],
): Diagnostic {
  return {
    severity: 'error',
    code: 'declared-elsewhere',
    summary: `${address} would be removed, but ${pathWord(file)}, which the PATHs leave out, ${why.replace(/(?<![.?!])$/, '.')}`,
    detail: [
      ...(kept.length > 0 ? [leaveOut(kept.map((one) => one.address))] : []),
      `If the file is of this project, add it to the PATHs: ${pathWord(file)}`,
      'If it is of another one, give that one a state of its own: settings.state',
      `To remove the object all the same, add to a file of the PATHs: removed: [{ from: ${yamlString(address)}, lifecycle: { destroy: true } }]`,
    ].join('\n'),
    address,
    origin: file === origin.file ? origin : { file, line: 1, column: 1 },
  };
}
