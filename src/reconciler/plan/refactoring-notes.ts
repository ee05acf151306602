// What a plan says of `moved`, `removed` and `import` blocks: which can be deleted, and which move nothing although the
// state holds something to move.
import {
  didYouMean,
  firstNamed,
  formatAddress,
  isInRange,
  withoutKey,
  type AddressRange,
  type Diagnostic,
  type ImportBlock,
  type MovedBlock,
  type Origin,
  type Refactoring,
  type RemovedBlock,
  type State,
} from '../../model/index.js';
import { movedAddresses, removedBlocks } from './recorded-addresses.js';
import type { PlanInput } from './plan-input.js';

type Noted = Pick<PlanInput, 'project' | 'selection' | 'state' | 'request'>;

/** Codes of notes about what a state holds. */
export const aboutState: ReadonlySet<string> = new Set([
  'finished-block',
  'first-run',
  'foreign-state',
  'imported-nothing',
  'lifecycle-not-recorded',
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

/** What a state holds. */
type Held = ReturnType<typeof heldAt>;

const heldAt = (addresses: readonly string[]) => ({
  addresses: new Set(addresses),
  /** Those without keys. */
  names: new Set(addresses.map(withoutKey)),
});

const meantIn = ({ addresses, names }: Held): ReadonlySet<string> =>
  new Set([...addresses, ...names]);

const isHeld = (range: AddressRange, { addresses, names }: Held): boolean =>
  (range.members ? names : addresses).has(formatAddress(range));

/** Blocks that the state shows to be carried out. Without a state nobody can tell. */
function finishedBlocks(
  { project, selection, state }: Noted,
  isRefused: (block: Refactoring) => boolean,
): readonly Diagnostic[] {
  const { refactorings = [] } = project;
  // A first apply begins with a state that was never written.
  if (refactorings.length === 0 || !state || state.serial === 0) return [];
  const recorded = Object.keys(state.resources);
  const now = heldAt(recorded);
  const { pathOf } = movedAddresses(project);
  const withMoves = heldAt(recorded.flatMap(pathOf));
  const leaving = heldAt(selection.removed.flatMap(([address]) => pathOf(address)));
  return refactorings.flatMap((block): Diagnostic | [] => {
    const summary = finished(block, now, withMoves);
    if (summary === undefined || isRefused(block)) return [];
    const { origin } = block;
    const inVain =
      block.block === 'moved' ? movesNothing(block, refactorings, now, leaving.names) : undefined;
    if (inVain) return inVain;
    const others = block.block === 'import' ? heldOthers(block, project, state) : [];
    if (others.length > 0) return importsNothing(origin, others);
    const meant =
      block.block === 'removed' ? didYouMean(formatAddress(block.from), meantIn(leaving)) : '';
    if (block.block === 'removed' && meant !== '') return removesNothing(block, meant);
    const detail = 'Delete the block once every environment has applied it.';
    return { severity: 'info', code: 'finished-block', summary, detail, origin };
  });
}

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
  { addresses, names }: Held,
): boolean =>
  addresses.has(to) ||
  names.has(to) ||
  blocks.some(
    (other) =>
      other.block === 'moved' && other.sources.some((source) => formatAddress(source) === to),
  );

/**
 * A name of the state that is like the old address is more likely meant than none. If a `removed` block names the new
 * address, the object may be gone since.
 * @param leaving names without keys
 */
function movesNothing(
  block: MovedBlock,
  blocks: readonly Refactoring[],
  now: Held,
  leaving: ReadonlySet<string>,
): Diagnostic | undefined {
  if (hasArrived(block, blocks, now)) return undefined;
  const { from, to, origin } = block;
  const members = [...now.addresses].filter((address) => address.startsWith(`${from}[`));
  if (members.length > 0)
    return {
      severity: 'warning',
      code: 'moved-nothing',
      summary: `The move from ${from} to ${to} moves nothing: ${from} has keys in the state, and ${to} is one address.`,
      detail: `Name one member in \`from\`, such as ${members[0]}, or no key in \`to\`.`,
      origin,
    };
  const isRemoved = blocks.some((one) => one.block === 'removed' && isInRange(to, one.from));
  const meant = didYouMean(from, isRemoved ? leaving : now.names);
  if (isRemoved && meant === '') return undefined;
  return {
    severity: meant === '' ? 'info' : 'warning',
    code: 'moved-nothing',
    summary: `The move from ${from} to ${to} moves nothing: the state holds nothing at either address.${meant}`,
    detail: 'Correct `from`, or delete the block.',
    origin,
  };
}

/** @param withMoves with the addresses that moves lead to */
function finished(block: Refactoring, now: Held, withMoves: Held): string | undefined {
  if (block.block === 'moved') {
    const { from, to, sources } = block;
    return sources.some((source) => isHeld(source, now))
      ? undefined
      : `The move from ${from} to ${to} is finished: the state holds nothing at ${from}.`;
  }
  if (block.block === 'removed') {
    const from = formatAddress(block.from);
    return isHeld(block.from, withMoves)
      ? undefined
      : `The removal of ${from} is finished: the state holds nothing there.`;
  }
  const { to } = block;
  const isDone = to.length > 0 && to.every((address) => now.addresses.has(address));
  return isDone
    ? `The import to ${firstNamed(to, 3)} is finished: the state holds ${to.length === 1 ? 'it' : 'them'}.`
    : undefined;
}

/** Objects that a block would move, whose new address is not declared, and that no block forgets. */
function movesToNowhere({ project, selection }: Noted): readonly Diagnostic[] {
  const isDoubtful = selection.diagnostics.some(({ severity }) => severity === 'error');
  if (project.refactorings === undefined || isDoubtful) return [];
  const { blockOf } = movedAddresses(project);
  const blocksOf = removedBlocks(project);
  return selection.removed.flatMap(([address]): Diagnostic | [] => {
    const block = blockOf(address);
    if (!block || blocksOf(address).length > 0) return [];
    return {
      severity: 'warning',
      code: 'moved-nowhere',
      summary: `${address} is not moved: nothing is declared at its address after the move from ${block.from} to ${block.to}. It counts as removed.`,
      detail: 'Declare it under its new address. If it is to be removed, there is nothing to do.',
      address,
      origin: block.origin,
    };
  });
}
