// A put that another run was faster with: the key shows another version now, and the run looks again. Where it goes on
// showing the version that the place does not replace, such as behind a cache, nothing can be written.
import { refuseInterrupted, refuseUnfit } from '../backend-errors.js';
import { pauseAfter } from '../retried.js';
import type { Registers, Version } from './port.js';
import type { PutTools } from './settled-put.js';

/** Lost puts of one version, also where others are lost in between: two caches can show two old ones in turn. */
const MOST = 5;

interface LossTools extends PutTools {
  readonly signal?: AbortSignal;
}

/** @returns to be called after each lost put, with the version that was to be replaced; pauses @throws Refusal where looking again does not help */
export function lostPuts({ registers, signal, ...pauses }: LossTools) {
  const losses = new Map<Version | undefined, number>();
  return async (version: Version | undefined): Promise<void> => {
    const times = (losses.get(version) ?? 0) + 1;
    losses.set(version, times);
    if (times === MOST) refuseStale(registers, version);
    await pauseAfter(pauses, times, signal).catch(refuseInterrupted);
  };
}

/** @param version what the place shows each time */
export const refuseStale = ({ location }: Registers, version: Version | undefined): never =>
  refuseUnfit(
    location,
    version === undefined
      ? 'it rejects every write of a value that it does not return'
      : 'it rejects every update of the version that it returns',
    'If there is a cache in front of it, use the address of the server itself.',
  );
