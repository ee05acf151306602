// SIGINT (Ctrl-C) and SIGTERM stop a run.
import { exits, worst, type Exit } from '../model/index.js';

/** The first signal asks the run to end in good order, the second ends it at once. */
export function stopOnSignals(
  process: NodeJS.Process,
  controller: AbortController,
  { first, second }: { readonly first: () => void; readonly second: () => void },
): () => readonly Exit[] {
  const codes: Exit[] = [];
  const on = (signal: NodeJS.Signals, code: Exit) =>
    process.on(signal, () => {
      if (codes.length > 0) {
        second();
        process.exit(worst(codes));
      }
      codes.push(code);
      first();
      controller.abort(new Error(signal));
    });
  on('SIGINT', exits.interrupted);
  on('SIGTERM', exits.terminated);
  return () => codes;
}
