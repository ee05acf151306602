// The executable that terraform and OpenTofu start, but for its beginning: the provider behind the wire.
import type { Log } from '../terraform/log.js';
import { answerOf } from '../terraform/answer.js';
import type { Loaded } from './provider-process.js';
import { providerOf } from './provider.js';
import { spare } from './thrift.js';

export async function load(process: NodeJS.Process, log: Log): Promise<Loaded> {
  // Not before: V8 takes no code that was compiled under other flags.
  spare('start');
  const provider = await providerOf(process, log);
  return { provider, answer: answerOf(provider, log) };
}
