// The location of the state, and the fingerprints of its secrets.
import { availableParallelism } from 'node:os';
import { defined, defaultSettings, refuse, NAME, type Settings } from '../model/index.js';
import type { Fingerprints } from '../platform/index.js';
import { machine } from '../platform/host.js';
import type { Store } from '../state/index.js';
import type { Context } from './context.js';
import { secretOf } from './cloud-connection.js';
import { version } from './version.js';

/** The environment of `--env` or TRUEUP_ENV. @throws Refusal for an invalid name. */
export function environmentOf({ flags, environment }: Context): string | undefined {
  const name = flags.env ?? (environment['TRUEUP_ENV'] || undefined);
  if (name !== undefined && !NAME.test(name))
    refuse('usage', 'An environment is named by a letter, then letters, digits, - and _.', {
      detail: 'Type it as in: --env prod',
    });
  return name;
}

/** @throws Refusal for a store of a sort that does not exist. */
export async function storeOf(
  context: Context,
  settings: Settings = defaultSettings,
  env = environmentOf(context),
): Promise<Store> {
  const { storeFor } = await import('../state/index.js');
  const { files, clock, random, masking, signal } = context;
  const location =
    settings.state ?? (env === undefined ? '.trueup/state.json' : `.trueup/state.${env}.json`);
  return storeFor(location, {
    folder: context.cwd,
    files,
    clock,
    random,
    lock: await machine(),
    version,
    masking,
    signal,
    notify: (one) => void context.tell([one]),
  });
}

export async function fingerprintsOf(context: Context): Promise<Fingerprints> {
  const { scryptFingerprints } = await import('../state/index.js');
  const secret = secretOf(context, 'TRUEUP_FINGERPRINT_KEY');
  const key = secret.reveal();
  if (key === undefined && context.environment[secret.source])
    refuse('secret-missing', `The file that ${secret.source} names cannot be read.`);
  return scryptFingerprints({ atOnce: availableParallelism(), ...defined({ key }) });
}

/** How long a create without a response may still take effect. @throws Refusal */
export function settleMilliseconds({ environment }: Context): number {
  const text = environment['TRUEUP_SETTLE_SECONDS'];
  if (text === undefined || text === '') return 60_000;
  const seconds = Number(text);
  if (seconds >= 0 && seconds <= 86_400) return seconds * 1000;
  return refuse('usage', 'TRUEUP_SETTLE_SECONDS takes seconds, from 0 to 86400.');
}
