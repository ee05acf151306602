// What the executable begins with, small enough to say within milliseconds where it listens.
import { serveCore, type Loaded } from './provider-process.js';
import type { Log } from '../terraform/log.js';

/** @param load the large rest */
export async function main(process: NodeJS.Process, load: (process: NodeJS.Process, log: Log) => Promise<Loaded>): Promise<void> {
  await serveCore(process, async (log) => load(process, log));
}
