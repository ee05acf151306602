// Errors about objects that a plan would remove although they are meant to stay: they are moved to another object, a file
// that the PATHs leave out mentions them, or trueup no longer knows the keys of the file that declared them.
import {
  compareText,
  defined,
  firstNamed,
  groupedBy,
  pathWord,
  shellWord,
  tryAddress,
  type Diagnostic,
  type Entry,
  type Mention,
  type Project,
} from '../../model/index.js';
import { leaveOut, yamlString } from './plan-errors.js';
import { movedAddresses, removedBlocks } from './recorded-addresses.js';

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

/** Objects that would be deleted although a file that the PATHs leave out mentions them. */
export function declaredElsewhere(
  project: Project,
  removed: Recorded,
  destroy: boolean,
): readonly Diagnostic[] {
  const { outside } = project;
  if (!outside) return [];
  const { pathOf } = movedAddresses(project);
  const blocksOf = removedBlocks(project);
  const own = new Set(project.declarations.map(({ address }) => address));
  const found = removed.flatMap(([address, { kind, id, file }]): Elsewhere | [] => {
    // What is destroyed together with its declaration is not moved from there. A block of the PATHs decides.
    const addresses = pathOf(address);
    if (addresses.some((one) => own.has(one)) || blocksOf(address).length > 0) return [];
    const mention = outside({ addresses, kind, id, file });
    return mention ? { ...mention, address, movedTo: addresses.at(-1)! } : [];
  });
  return found.map((one) => elsewhere(one, destroy ? found : []));
}

/** Objects that one error names. */
const FEW = 3;

/**
 * Objects of a file that is left out, as one is whose only section lost its colon. Where nothing is declared in the file
 * that the state names, it may have been renamed: then a file that holds the name counts. What destroys everything needs
 * no file.
 */
export function unknownFileErrors(project: Project, removed: Recorded): readonly Diagnostic[] {
  const { unknown_files: unknown = [] } = project;
  if (unknown.length === 0) return [];
  const blocksOf = removedBlocks(project);
  const files = new Set(unknown.map(({ file }) => file));
  const declaring = new Set(project.declarations.map(({ file, origin }) => file ?? origin.file));
  const fileOf = (address: string, { kind, file }: Entry): string | undefined => {
    if (files.has(file)) return file;
    const { name = '' } = tryAddress(address) ?? {};
    return declaring.has(file) ? undefined : unknown.find(({ holds }) => holds(kind, name))?.file;
  };
  const declared = removed.flatMap(([address, entry]) => {
    const file = blocksOf(address).length === 0 ? fileOf(address, entry) : undefined;
    return file === undefined ? [] : [{ address, entry, file }];
  });
  return groupedBy(declared, ({ file }) => file).map(fileLeftOut);
}

function fileLeftOut(
  objects: readonly { readonly address: string; readonly entry: Entry; readonly file: string }[],
): Diagnostic {
  const { file } = objects[0]!;
  const addresses = objects.map(({ address }) => address).toSorted(compareText);
  const kinds = [...new Set(objects.map(({ entry }) => entry.kind))].toSorted(compareText);
  const keys = kinds.map((one) => `\`${one}:\``);
  const they = addresses.length > 1 ? 'them' : 'it';
  const isItsFile = objects.every(({ entry }) => entry.file === file);
  const block = `write for each: ${removedBlock(addresses[0]!)}`;
  return {
    severity: 'error',
    code: 'file-left-out',
    summary: `${firstNamed(addresses, FEW)} would be removed, because trueup knows none of the top-level keys of ${file}.`,
    detail: [
      `If the file declares ${they}, write at its top level, with the colon: ${firstNamed(keys, FEW)}`,
      `If no file declares ${they} any more, ${isItsFile ? `delete ${file} or give it another name.` : block}`,
    ].join('\n'),
    origin: { file, line: 1, column: 1 },
  };
}

/** The block that confirms a removal. */
const removedBlock = (address: string): string =>
  `removed: [{ from: ${yamlString(address)}, lifecycle: { destroy: true } }]`;

interface Elsewhere extends Mention {
  readonly address: string;
  /** Where moves of the PATHs lead the address; otherwise the address. */
  readonly movedTo: string;
}

/** @param kept what a command that destroys everything has to leave out */
function elsewhere(
  { address, movedTo, file, origin, why, isFaulty, program }: Elsewhere,
  kept: readonly Elsewhere[],
): Diagnostic {
  const name = pathWord(file);
  return {
    severity: 'error',
    code: 'declared-elsewhere',
    summary: `${address} would be removed, but ${name}, which the PATHs leave out, ${why.replace(/(?<![.?!])$/, '.')}`,
    detail: [
      ...(kept.length > 0 ? [leaveOut(kept.map((one) => one.address))] : []),
      program === undefined
        ? `If the file is of this project, ${isFaulty ? 'correct it, and add' : 'add'} it to the PATHs: ${name}`
        : `If the program is of this project, add it to the PATHs: ${pathWord(program)}`,
      'If it is of another project, give each of the two a state of its own: settings.state',
      `To remove the object all the same, add to a file of the PATHs: ${removedBlock(movedTo)}`,
    ].join('\n'),
    address,
    origin: file === origin.file ? origin : { file, line: 1, column: 1 },
  };
}
