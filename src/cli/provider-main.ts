// The executable that terraform and OpenTofu start: the provider behind the wire.
import { serveCore } from './provider-process.js';
import { spare } from './thrift.js';

export async function main(process: NodeJS.Process): Promise<void> {
  spare('start');
  await serveCore(process, async (log) => (await import('./provider.js')).providerOf(process, log));
}
