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
  type UnknownFile,
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
 * Objects of a file that is left out, as one is whose only section lost its colon. Its file may have another name now, or
 * the object may stand in another file: a file that holds something like its declaration counts, too. What destroys
 * everything needs no file.
 */
export function unknownFileErrors(project: Project, removed: Recorded): readonly Diagnostic[] {
  const { unknown_files: unknown = [] } = project;
  if (unknown.length === 0) return [];
  const blocksOf = removedBlocks(project);
  const declared = removed.flatMap(([address, { kind, file }]): readonly LeftOut[] => {
    if (blocksOf(address).length > 0) return [];
    const { name = '' } = tryAddress(address) ?? {};
    const own = unknown.find((one) => one.file === file);
    for (const one of own ? [own] : unknown) {
      const key = one.keyFor(kind, name) ?? (own && kind);
      if (key !== undefined) return [{ address, unknown: one, key, isItsFile: one === own }];
    }
    return [];
  });
  return groupedBy(declared, (one) => `${one.isItsFile} ${one.unknown.file}`).map(fileLeftOut);
}

interface LeftOut {
  readonly address: string;
  readonly unknown: UnknownFile;
  /** The top-level key that it would need. */
  readonly key: string;
  /** Whether the state says that the object was declared in the file. */
  readonly isItsFile: boolean;
}

function fileLeftOut(objects: readonly LeftOut[]): Diagnostic {
  const { unknown, isItsFile } = objects[0]!;
  const { file, ofEnvironment } = unknown;
  const addresses = objects.map(({ address }) => address).toSorted(compareText);
  const keys = [...new Set(objects.map(({ key }) => `\`${key}:\``))].toSorted(compareText);
  const [they, each] = addresses.length > 1 ? ['them', ' for each of them'] : ['it', ''];
  const why = isItsFile
    ? `because trueup knows none of the top-level keys of ${file}.`
    : `but ${file} may declare ${they}: it is left out, because trueup knows none of its top-level keys.`;
  return {
    severity: 'error',
    code: 'file-left-out',
    summary: `${firstNamed(addresses, FEW)} would be removed, ${why}`,
    detail: [
      `If the file declares ${they}, ${ofEnvironment ? 'give the file another name, and ' : ''}write at its top level, with the colon: ${firstNamed(keys, FEW)}`,
      `If no file declares ${they} any more, ${isItsFile ? `delete ${file}, or ` : ''}add${each}: ${removedBlock(addresses[0]!)}`,
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
