// The executable that terraform and OpenTofu start.
import { serveCore } from './provider-process.js';
import { providerOf } from './provider-tools.js';
import { setV8Flags } from './v8-flags.js';

export function serveProvider(process: NodeJS.Process): Promise<void> {
  setV8Flags();
  return serveCore(process, async (log) => providerOf(process, log));
}
