// V8 flags that make a short run cheaper. They differ between V8 versions, so they are set only on versions of Node
// that were measured. `npm run bench` uses them; docs/decisions/0043 has the effect of each.
import { versions } from 'node:process';
import { setFlagsFromString } from 'node:v8';

/** By major version of Node that was measured: how long a function runs before V8 optimises it. A run of half a second gains nothing from most of that work; on Node 24, it costs no more. */
const LATE_OPTIMISATION: Readonly<Record<number, readonly string[]>> = {
  20: ['--interrupt-budget=1000000'],
  22: ['--invocation-count-for-turbofan=45000'],
  24: [],
};

/** undici parses responses by WebAssembly. Optimising it takes 35 MiB. The heap grows in smaller steps: 200 MiB less for 100,000 objects. */
const LESS_MEMORY = ['--liftoff-only', '--heap-growing-percent=50'];

/** @param node its version, as in `20.19.0` */
export function flagsFor(node: string): readonly string[] {
  const late = LATE_OPTIMISATION[Number.parseInt(node)];
  return late === undefined ? [] : [...late, ...LESS_MEMORY];
}

/** Takes effect on what is loaded afterwards. */
export function setV8Flags(): void {
  for (const flag of flagsFor(versions.node)) setFlagsFromString(flag);
}

/** Many tenants leave much garbage, and little of them is kept: a heap of 20 MiB that may grow to 50 is collected a third as often. */
const MANY_TENANTS = '--heap-growing-percent=150';

/** @param node as for `flagsFor` */
export const flagsForFleets = (node: string): readonly string[] =>
  flagsFor(node).length === 0 ? [] : [MANY_TENANTS];

/** For a process that runs tenants one after another. */
export function setFleetFlags(): void {
  for (const flag of flagsForFleets(versions.node)) setFlagsFromString(flag);
}
