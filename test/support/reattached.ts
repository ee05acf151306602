// A provider of the tests' own process, served without TLS to every terraform that is given TF_REATTACH_PROVIDERS: it
// starts none, and ends none.
import type { Log } from '../../src/terraform/core-log.js';
import type { ProviderServer } from '../../src/terraform/protocol/provider-replies.js';
import { grpcServer } from '../../src/terraform/protocol/grpc-server.js';

export interface Reattached {
  /** The value of TF_REATTACH_PROVIDERS. */
  readonly reattach: string;
  close(): Promise<void>;
}

/** `source` as in `registry.terraform.io/trueup/devicecloud`. */
export async function serve(options: {
  readonly provider: ProviderServer;
  readonly log: Log;
  readonly source: string;
  readonly path: string;
  readonly pid: number;
}): Promise<Reattached> {
  const { provider, log, source, path, pid } = options;
  const grpc = grpcServer({ provider, log, onShutdown: () => undefined });
  await grpc.listen(`unix:${path}`);
  const config = {
    Protocol: 'grpc',
    ProtocolVersion: 6,
    Pid: pid,
    Test: true,
    Addr: { Network: 'unix', String: path },
  };
  return {
    reattach: JSON.stringify({ [source]: config }),
    async close() {
      grpc.close();
      await provider.close();
    },
  };
}
