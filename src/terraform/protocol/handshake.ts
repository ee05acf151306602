// The handshake: a cookie in the environment shows that Terraform started the process, one line on stdout names the
// address, and both sides authenticate with certificates made for this one process.
import { X509Certificate } from 'node:crypto';
import { refuse } from '../../model/index.js';

type Environment = Readonly<Record<string, string | undefined>>;

const COOKIE = 'd602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2';

export const startedByCore = (environment: Environment): boolean =>
  environment['TF_PLUGIN_MAGIC_COOKIE'] === COOKIE;

/**
 * The certificate (PEM) that core will show; undefined where it was asked to go without TLS.
 * @throws Refusal
 */
export function clientCertificate(environment: Environment): string | undefined {
  if (environment['TF_DISABLE_PLUGIN_TLS'] === '1') return undefined;
  const given = environment['PLUGIN_CLIENT_CERT'];
  const refused = (problem: string, detail: string): never =>
    refuse('no-client-certificate', `PLUGIN_CLIENT_CERT ${problem}`, { detail });
  if (given === undefined || given === '')
    return refused(
      'is not set',
      'Core sets it before it starts a provider. Set TF_DISABLE_PLUGIN_TLS=1 for both to go without certificates.',
    );
  try {
    return new X509Certificate(given).toString();
  } catch {
    return refused('is not a certificate', 'It holds one in PEM.');
  }
}

export interface ListenAddress {
  readonly network: 'unix' | 'tcp';
  /** The path of a socket, or host and port. */
  readonly address: string;
}

/** The longest path of a socket, in bytes, with the zero behind it. */
const LONGEST_PATH = 107;

/** The path of a socket, or undefined where it would be too long or the system has none. */
export function socketPath(path: string, platform: string): string | undefined {
  return platform !== 'win32' && Buffer.byteLength(path) < LONGEST_PATH ? path : undefined;
}

/** The only line on stdout. Core takes the certificate without padding only. */
export function handshakeLine(
  { network, address }: ListenAddress,
  certificate: Buffer | undefined,
): string {
  const shown =
    certificate === undefined ? '' : `|${certificate.toString('base64').replace(/=+$/, '')}`;
  return `1|6|${network}|${address}|grpc${shown}\n`;
}
