// The provider as a process that Terraform starts and ends: it prints its address on stdout, and leaves no files
// behind, however Terraform ends.
import { rmSync } from 'node:fs';
import { Refusal, errorCode } from '../model/index.js';
import { systemClock } from '../platform/clock.js';
import { systemRandom } from '../platform/random.js';
import { selfSigned } from '../terraform/protocol/certificate.js';
import {
  clientCertificate,
  handshakeLine,
  socketPath,
  startedByCore,
  type ListenAddress,
} from '../terraform/protocol/handshake.js';
import { jsonLog, type Log } from '../terraform/core-log.js';
import type { ProviderServer } from '../terraform/protocol/provider-replies.js';
import { grpcServer, type GrpcServer } from '../terraform/protocol/grpc-server.js';
import { makeFolder, socketIn, sweepFolders } from './provider-folder.js';

const clock = systemClock();

/** Milliseconds that running calls, and then the cleanup of the provider, may take after Terraform has ended. */
const LAST_CALLS = 10_000;
const LAST_WORDS = 8_000;
/** Milliseconds between two checks that Terraform still runs; it may be killed before it connects. */
const WATCH = 1_000;

type Load = (log: Log) => Promise<ProviderServer>;

/** Serves the provider of `load` to the Terraform or OpenTofu that started this process. */
export async function serveCore(process: NodeJS.Process, load: Load): Promise<void> {
  const { env, stderr } = process;
  if (!startedByCore(env)) {
    stderr.write(
      'This is a provider for terraform and OpenTofu, which start it themselves. Name its folder under dev_overrides, or install it in a filesystem mirror.\n',
    );
    process.exitCode = 1;
    return;
  }
  // Core that is killed takes the reader of these lines with it; what is under way goes on.
  stderr.on('error', () => undefined);
  const log = jsonLog(clock, env, (line) => stderr.write(line));
  try {
    await listenAndServe(process, log, load);
  } catch (error) {
    // Of what may quote what it choked on, no more than this.
    const name = error instanceof Error ? (errorCode(error) ?? error.name) : 'unforeseen';
    const unforeseen = `The provider could not start (${name}). Reinstall trueup. If that does not help, report the error.`;
    const told =
      error instanceof Refusal
        ? error.diagnostics.map(({ summary, detail }) => `${summary}. ${detail ?? ''}`)
        : [unforeseen];
    stderr.write(`${told.join('\n')}\n`);
    process.exit(1);
  }
}

async function listenAndServe(process: NodeJS.Process, log: Log, load: Load): Promise<void> {
  const core = process.ppid;
  const client = clientCertificate(process.env);
  const own = client === undefined ? undefined : selfSigned(clock.now(), systemRandom().bytes(16));
  // As a process without a word on it would end, but for the folder; once it listens, in good order.
  let terminated = (): void => process.exit(143);
  process.on('SIGTERM', () => terminated());
  const folder = makeFolder(process.pid);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  process.on('SIGINT', () => undefined);
  const provider = await load(log);
  let closed: Promise<void> | undefined;
  /** A journal on a server takes more than the two seconds that core leaves a process after its reply. */
  const close = (): Promise<void> => within(LAST_WORDS, (closed ??= provider.close()));
  let ending = false;
  const end = async (): Promise<void> => {
    if (ending) return;
    ending = true;
    await within(LAST_CALLS, Promise.all([provider.stopProvider(), grpc.drain()]));
    await close();
    process.exit(0);
  };
  const grpc = grpcServer({
    provider,
    log,
    beforeShutdown: close,
    onShutdown: () => void end(),
    ...(own && client !== undefined && { tls: { ...own, client } }),
  });
  terminated = () => void end();
  const address = await listen(grpc, socketPath(socketIn(folder), process.platform));
  // Core that was killed first reads no line, and is not the parent that is watched below.
  process.stdout.write(handshakeLine(address, own?.der), (error) => error && process.exit(1));
  void sweepFolders();
  setInterval(() => process.ppid !== core && void end(), WATCH);
}

/** On a socket where there is a path for one, otherwise on a port of this machine alone. */
async function listen(grpc: GrpcServer, path: string | undefined): Promise<ListenAddress> {
  const host = '127.0.0.1';
  const port = await grpc.listen(path === undefined ? `${host}:0` : `unix:${path}`);
  return path === undefined
    ? { network: 'tcp', address: `${host}:${port}` }
    : { network: 'unix', address: path };
}

/** Waits for work, but no longer than this, and ignores its failure. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work.catch(() => undefined), clock.sleep(milliseconds)]);
}
