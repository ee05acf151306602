// The executable that terraform and OpenTofu start: the provider behind the wire.
import { serveCore } from './provider-process.js';

export async function main(process: NodeJS.Process): Promise<void> {
  await serveCore(process, async (log) => (await import('./provider.js')).providerOf(process, log));
}
