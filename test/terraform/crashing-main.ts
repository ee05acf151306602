// The provider as core starts it, which kills itself. `TRUEUP_TEST_CRASH` names the call at which, or after whose work
// but before its answer (`after applyResourceChange`); `TRUEUP_TEST_CALLS` a file for what is called.
import { appendFileSync } from 'node:fs';
import { serveCore } from '../../src/cli/provider-process.js';
import { providerOf } from '../../src/cli/provider-tools.js';
import type { ProviderServer } from '../../src/terraform/protocol/provider-replies.js';

const { TRUEUP_TEST_CALLS: file, TRUEUP_TEST_CRASH: crash } = process.env;

function passed(call: string): void {
  if (file !== undefined) appendFileSync(file, `${process.pid} ${call}\n`);
  if (crash === call) process.kill(process.pid, 'SIGKILL');
}

type Method = (request: unknown) => Promise<unknown>;

/** The first look at the schema of the provider block is what GetProviderSchema asks for. */
function crashing(provider: ProviderServer): ProviderServer {
  const schema = Object.create(provider.schema, {
    provider: {
      get() {
        passed('getProviderSchema');
        return provider.schema.provider;
      },
    },
  }) as ProviderServer['schema'];
  const methods = Object.entries(provider).filter(
    (entry): entry is [string, Method] => typeof entry[1] === 'function',
  );
  const watched = methods.map(([name, work]): [string, Method] => [
    name,
    async (request) => {
      passed(name);
      const reply = await work(request);
      passed(`after ${name}`);
      return reply;
    },
  ]);
  return { ...(Object.fromEntries(watched) as unknown as ProviderServer), schema };
}

void serveCore(process, async (log) => crashing(await providerOf(process, log)));
