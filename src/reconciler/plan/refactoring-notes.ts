// What a plan says of `moved`, `removed` and `import` blocks: which can be deleted, and which move nothing although the
// state holds something to move.
import {
  didYouMean,
  firstNamed,
  formatAddress,
  isInRange,
  type AddressRange,
  type Diagnostic,
  type ImportBlock,
  type MovedBlock,
  type Origin,
  type Refactoring,
  type RemovedBlock,
  type State,
} from '../../model/index.js';
import type { PlanInput } from './plan-input.js';

type Noted = Pick<PlanInput, 'project' | 'selection' | 'state' | 'request'>;

/** Codes of notes about what a state holds. */
export const aboutState: ReadonlySet<string> = new Set([
  'finished-block',
  'imported-nothing',
  'moved-nothing',
  'removed-nothing',
]);

/** Nothing where all is to be destroyed. @param diagnostics of the plan so far: an import that is an error is not finished */
export function refactoringNotes(
  input: Noted,
  diagnostics: readonly Diagnostic[],
): readonly Diagnostic[] {
  if (input.request.destroy) return [];
  const refused = new Set(
    diagnostics.flatMap(({ severity, address }) => (severity === 'error' ? (address ?? []) : [])),
  );
  const isRefused = (block: Refactoring): boolean =>
    block.block === 'import' && block.to.some((address) => refused.has(address));
  return [...movesToNowhere(input), ...finishedBlocks(input, isRefused)];
}

/** Blocks that the state shows to be carried out. Without a state nobody can tell. */
function finishedBlocks(
  { project, selection, state }: Noted,
  isRefused: (block: Refactoring) => boolean,
): readonly Diagnostic[] {
  const { refactorings = [] } = project;
  if (refactorings.length === 0 || !state) return [];
  const names = namesOf(Object.keys(state.resources));
  const leaving = namesOf(selection.removed.map(([address]) => address));
  return refactorings.flatMap((block): readonly Diagnostic[] => {
    const summary = finished(block, state, names);
    if (summary === undefined || isRefused(block)) return [];
    const { origin } = block;
    if (block.block === 'moved' && !hasArrived(block, refactorings, state, names))
      return [movesNothing(block, names)];
    const others = block.block === 'import' ? heldOthers(block, project, state) : [];
    if (others.length > 0) return [importsNothing(origin, others)];
    const meant = block.block === 'removed' ? didYouMean(formatAddress(block.from), leaving) : '';
    if (block.block === 'removed' && meant !== '') return [removesNothing(block, meant)];
    const detail = 'Delete the block once every environment has applied it.';
    return [{ severity: 'info', code: 'finished-block', summary, detail, origin }];
  });
}

/** Addresses without keys. */
const namesOf = (addresses: readonly string[]): ReadonlySet<string> =>
  new Set(addresses.map((one) => one.replace(/\[.*$/s, '')));

/** What it would forget may be called otherwise: something like it is deleted by this plan. */
const removesNothing = ({ from, origin }: RemovedBlock, meant: string): Diagnostic => ({
  severity: 'warning',
  code: 'removed-nothing',
  summary: `The removal of ${formatAddress(from)} forgets nothing: the state holds nothing there.${meant}`,
  detail: 'Correct `from`, or delete the block.',
  origin,
});

/** Addresses that hold another object than the block names: that one does not exist, or does so no more. */
function heldOthers(
  { to }: ImportBlock,
  { declarations }: Noted['project'],
  { resources }: State,
): readonly string[] {
  const own = new Set(to);
  return declarations.flatMap(({ address, lifecycle: { adopt } }) => {
    const held = resources[address]?.id;
    return own.has(address) && adopt !== undefined && adopt !== held
      ? [`${address} is to adopt ${adopt}, and the state holds ${held} there`]
      : [];
  });
}

const importsNothing = (origin: Origin, others: readonly string[]): Diagnostic => ({
  severity: 'warning',
  code: 'imported-nothing',
  summary: `The import adopts nothing: ${firstNamed(others, 3, '; ')}.`,
  detail: 'Correct `id`, or delete the block if the object was replaced since.',
  origin,
});

/** Whether what a block moved is at its new address, or another block moves it on. */
const hasArrived = (
  { to }: MovedBlock,
  blocks: readonly Refactoring[],
  { resources }: State,
  names: ReadonlySet<string>,
): boolean =>
  resources[to] !== undefined ||
  names.has(to) ||
  blocks.some(
    (other) =>
      other.block === 'moved' && other.sources.some((source) => formatAddress(source) === to),
  );

/** A name of the state that is like the old address is more likely meant than none. */
function movesNothing({ from, to, origin }: MovedBlock, names: ReadonlySet<string>): Diagnostic {
  const meant = didYouMean(from, names);
  return {
    severity: meant === '' ? 'info' : 'warning',
    code: 'moved-nothing',
    summary: `The move from ${from} to ${to} moves nothing: the state holds nothing at either address.${meant}`,
    detail: 'Correct `from`, or delete the block.',
    origin,
  };
}

/** @param names the names in the state, without keys */
function finished(
  block: Refactoring,
  { resources }: State,
  names: ReadonlySet<string>,
): string | undefined {
  const isHeld = (range: AddressRange): boolean => {
    const address = formatAddress(range);
    return range.members ? names.has(address) : resources[address] !== undefined;
  };
  if (block.block === 'moved') {
    const { from, to, sources } = block;
    return sources.some(isHeld)
      ? undefined
      : `The move from ${from} to ${to} is finished: the state holds nothing at ${from}.`;
  }
  if (block.block === 'removed') {
    const from = formatAddress(block.from);
    return isHeld(block.from)
      ? undefined
      : `The removal of ${from} is finished: the state holds nothing there.`;
  }
  const { to } = block;
  const isDone = to.length > 0 && to.every((address) => resources[address] !== undefined);
  return isDone
    ? `The import to ${firstNamed(to, 3)} is finished: the state holds ${to.length === 1 ? 'it' : 'them'}.`
    : undefined;
}

/** Objects that a block would move, and whose new address is not declared. */
function movesToNowhere({
  project: { refactorings = [] },
  selection,
}: Noted): readonly Diagnostic[] {
  const moves = refactorings.flatMap((block) => (block.block === 'moved' ? [block] : []));
  const isDoubtful = selection.diagnostics.some(({ severity }) => severity === 'error');
  if (moves.length === 0 || isDoubtful) return [];
  return selection.removed.flatMap(([address]): readonly Diagnostic[] => {
    const block = moves.find(({ sources: [own] }) => isInRange(address, own));
    if (!block) return [];
    return [
      {
        severity: 'warning',
        code: 'moved-nowhere',
        summary: `${address} is not moved: nothing is declared at its address after the move from ${block.from} to ${block.to}. It counts as removed.`,
        detail: 'Declare it under its new address, or delete the block if it is to be removed.',
        address,
        origin: block.origin,
      },
    ];
  });
}
