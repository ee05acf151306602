// Errors of `moved` and `removed` blocks about objects that a plan would remove: nothing may be deleted or forgotten
// that a block says otherwise.
import {
  defined,
  pathWord,
  shellWord,
  type Diagnostic,
  type Entry,
  type Origin,
  type Project,
} from '../../model/index.js';
import { formerAddresses } from './match.js';
import { movedAddresses, removedBlocks, withoutKey } from './moved-addresses.js';

type Recorded = readonly (readonly [address: string, entry: Entry])[];

interface Removals {
  /** Recorded, and no longer declared. */
  readonly gone: Recorded;
  /** Those of them that the plan is about. */
  readonly removed: Recorded;
  /** Of a plan that destroys everything. */
  readonly destroy: boolean;
}

export const removalErrors = (
  project: Project,
  { gone, removed, destroy }: Removals,
): readonly Diagnostic[] => [
  ...(destroy ? [] : boundRemovals(project, gone)),
  ...spokenFor(project, removed, destroy),
];

/** Moves between two addresses that hold an object each, of which nothing is declared: a `removed` block would forget both. */
function boundRemovals(project: Project, gone: Recorded): readonly Diagnostic[] {
  const { blockOf, pathOf } = movedAddresses(project);
  const ids = new Map(gone.map(([address, { id }]) => [address, id]));
  return gone.flatMap(([address, { id }]): readonly Diagnostic[] => {
    const later = pathOf(address).find((one) => (ids.get(one) ?? id) !== id);
    if (later === undefined) return [];
    return [
      {
        severity: 'error',
        code: 'renamed-bound',
        summary: `${address} is moved to ${later}, but both are recorded.`,
        detail: `Delete the moved block, or forget one of them. To keep its object: trueup state rm ${shellWord(later)}`,
        address,
        ...defined({ origin: blockOf(address)?.origin }),
      },
    ];
  });
}

/** Objects that would be deleted although a file that the PATHs leave out declares, moves or forgets them, or may do so. */
function spokenFor(project: Project, removed: Recorded, destroy: boolean): readonly Diagnostic[] {
  const { refactorings = [], outside } = project;
  if (!outside) return [];
  const all = { refactorings: [...refactorings, ...outside.blocks] };
  const { blockOf, pathOf } = movedAddresses(all);
  const blocksOf = removedBlocks(all);
  const isConfirmed = removedBlocks(project);
  const declared = new Map(
    outside.declarations.flatMap((one) =>
      [one.address, ...formerAddresses(one)].map((address) => [address, one.origin] as const),
    ),
  );
  return removed.flatMap(([address]): readonly Diagnostic[] => {
    if (isConfirmed(address).some(({ forgets }) => !forgets)) return [];
    const path = pathOf(address);
    const moves = path.flatMap((one) => blockOf(one) ?? []);
    const forgets = blocksOf(address).filter((one) => one.forgets);
    const block = [...moves, ...forgets].find((one) => outside.blocks.includes(one));
    if (block)
      return [
        elsewhere(address, block.origin, `holds a ${block.block} block that names it`, destroy),
      ];
    const origin = path.flatMap((one) => declared.get(one) ?? [])[0];
    if (origin) return [elsewhere(address, origin, 'declares it', destroy)];
    const error = outside.errors.find(({ names }) =>
      path.some((one) => names.has(withoutKey(one)) || names.has(withoutName(one))),
    );
    if (!error) return [];
    const why = `has an error, and may hold a block that names it: ${error.summary}`;
    return [elsewhere(address, error.origin, why, destroy)];
  });
}

/** The kind of an address, and the dot. */
const withoutName = (address: string): string => address.slice(0, address.indexOf('.') + 1);

const elsewhere = (address: string, origin: Origin, why: string, destroy: boolean): Diagnostic => ({
  severity: 'error',
  code: 'declared-elsewhere',
  summary: `${address} would be removed, but ${origin.file}, which the PATHs leave out, ${why}.`,
  detail: [
    ...(destroy ? [`To leave it out: trueup destroy --exclude ${shellWord(address)}`] : []),
    `If the file is of this project, add it to the PATHs: ${pathWord(origin.file)}`,
    `To remove the object all the same, add to a file of the PATHs: removed: [{ from: ${JSON.stringify(address)}, lifecycle: { destroy: true } }]`,
  ].join('\n'),
  address,
  origin,
});
