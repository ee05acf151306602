// Errors of `moved` and `removed` blocks about objects that a plan would remove: nothing may be deleted or forgotten
// that a block says otherwise.
import {
  defined,
  shellWord,
  type Diagnostic,
  type Entry,
  type Project,
  type State,
} from '../../model/index.js';
import { movedAddresses, removedBlocks } from './moved-addresses.js';

type Recorded = readonly (readonly [address: string, entry: Entry])[];

interface Removals {
  /** Recorded, and no longer declared. */
  readonly gone: Recorded;
  /** Those of them that the plan is about. */
  readonly removed: Recorded;
  readonly state: State | undefined;
}

export const removalErrors = (
  project: Project,
  { gone, removed, state }: Removals,
): readonly Diagnostic[] => [
  ...boundRemovals(project, gone),
  ...blocksElsewhere(project, removed, state),
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

/** Objects that would be deleted although a block in a file that the PATHs leave out moves or forgets them. */
function blocksElsewhere(
  { refactorings = [], outside_refactorings = [] }: Project,
  removed: Recorded,
  state: State | undefined,
): readonly Diagnostic[] {
  const files = new Set(Object.values(state?.resources ?? {}).map(({ file }) => file));
  const outside = outside_refactorings.flatMap(({ block, declares }) =>
    declares && !files.has(block.origin.file) ? [] : [block],
  );
  if (outside.length === 0) return [];
  const all = { refactorings: [...refactorings, ...outside] };
  const { blockOf } = movedAddresses(all);
  const blocksOf = removedBlocks(all);
  return removed.flatMap(([address]): readonly Diagnostic[] => {
    const blocks = [blockOf(address), ...blocksOf(address).filter(({ forgets }) => forgets)];
    const block = blocks.find((one) => one && outside.includes(one));
    if (!block) return [];
    const { origin } = block;
    return [
      {
        severity: 'error',
        code: 'block-elsewhere',
        summary: `${address} would be removed, and the PATHs leave out the ${block.block} block that names it.`,
        detail: `Add the file of the block to the PATHs: ${origin.file}`,
        address,
        origin,
      },
    ];
  });
}
