// A short life needs no room to grow and little optimising: left alone, V8 takes a third more memory, and for a
// thousand objects a third more time, spent on code that runs no second time. Its flags come and go with its versions,
// and one that it does not know is a complaint on stderr: a version of Node that nobody tried is left as it is.
import { versions } from 'node:process';
import { setFlagsFromString } from 'node:v8';

/** By major version of Node: how much a function has to run before it is optimised. */
const patience: Readonly<Record<number, string>> = {
  20: '--interrupt-budget=1000000',
  22: '--invocation-count-for-turbofan=45000',
  24: '--invocation-count-for-turbofan=45000',
};

/** `start`: from the start on. `run`: for all but a stream of records or requests, of which few grow old. `wasm`: for undici's parser, whose optimising takes 30 MiB and gains nothing for a few dozen answers. */
export type Occasion = 'start' | 'run' | 'wasm';

export function flagsFor(node: string): Readonly<Record<Occasion, readonly string[]>> {
  const late = patience[Number.parseInt(node)];
  if (late === undefined) return { start: [], run: [], wasm: [] };
  return { start: ['--heap-growing-percent=70', late], run: ['--semi-space-growth-factor=1'], wasm: ['--liftoff-only'] };
}

/** Takes effect on what is loaded after it. */
export function spare(what: Occasion): void {
  for (const flag of flagsFor(versions.node)[what]) setFlagsFromString(flag);
}
