// A signal for a part of a process that runs for weeks. `AbortSignal.any` will not do: Node.js 20 keeps a record of each
// signal that was derived from another one, directly or not, for as long as that other one lives.
import { setMaxListeners } from 'node:events';

export type OwnController = ReturnType<typeof ownController>;

/** Ends with its parent, until it is released. */
export function ownController(parent: AbortSignal) {
  const own = new AbortController();
  const { signal } = own;
  const end = (): void => own.abort(parent.reason);
  // As many as there are lanes, each of which is removed.
  setMaxListeners(0, parent);
  parent.addEventListener('abort', end);
  if (parent.aborted) end();
  return {
    signal,
    abort: (reason: unknown): void => own.abort(reason),
    release: (): void => parent.removeEventListener('abort', end),
  };
}

/** Gives work a signal of its own. */
export async function withOwnSignal<T>(
  parent: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, release } = ownController(parent);
  try {
    return await work(signal);
  } finally {
    release();
  }
}
