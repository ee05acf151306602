// Errors of `moved` and `removed` blocks about objects that a plan would remove: nothing may be deleted or forgotten
// that a block says otherwise.
import {
  defined,
  shellWord,
  type Diagnostic,
  type Entry,
  type Origin,
  type Project,
} from '../../model/index.js';
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
  ...blocksElsewhere(project, removed, destroy),
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

/** Objects that would be deleted although a block in a file that the PATHs leave out moves or forgets them, or may do so. */
function blocksElsewhere(
  { refactorings = [], outside_refactorings: outside = [], outside_errors = [] }: Project,
  removed: Recorded,
  destroy: boolean,
): readonly Diagnostic[] {
  if (outside.length + outside_errors.length === 0) return [];
  const all = { refactorings: [...refactorings, ...outside] };
  const { blockOf, pathOf } = movedAddresses(all);
  const blocksOf = removedBlocks(all);
  return removed.flatMap(([address]): readonly Diagnostic[] => {
    const path = pathOf(address);
    const moves = path.flatMap((one) => blockOf(one) ?? []);
    const forgets = blocksOf(address).filter((one) => one.forgets);
    const block = [...moves, ...forgets].find((one) => outside.includes(one));
    if (block)
      return [
        blockElsewhere(address, block.origin, {
          summary: `${address} would be removed, and the PATHs leave out the ${block.block} block that names it.`,
          detail: `${destroy ? `To leave it out: trueup destroy --exclude ${shellWord(address)}\nOtherwise, add` : 'Add'} the file of the block to the PATHs: ${block.origin.file}\n${OTHER_PROJECT}`,
        }),
      ];
    const error = outside_errors.find(({ names }) =>
      path.some((one) => names.has(withoutKey(one))),
    );
    if (!error) return [];
    const { origin, summary } = error;
    return [
      blockElsewhere(address, origin, {
        summary: `${address} would be removed, and ${origin.file}, which the PATHs leave out, may hold a block that names it.`,
        detail: `The file has an error. Correct it first: ${summary}\n${OTHER_PROJECT}`,
      }),
    ];
  });
}

const OTHER_PROJECT =
  'If the file is of another project, name the state of that project in its settings: settings.state.';

const blockElsewhere = (
  address: string,
  origin: Origin,
  words: Pick<Diagnostic, 'summary' | 'detail'>,
): Diagnostic => ({ severity: 'error', code: 'block-elsewhere', ...words, address, origin });
