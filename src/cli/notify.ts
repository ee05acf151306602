// Tells the end of a run to the addresses of --notify and TRUEUP_NOTIFY_URL. The addresses are checked before any work
// is done. One that does not take the message is a warning: the exit code stays the one of the run.
import { basename } from 'node:path';
import {
  exits,
  own,
  refuse,
  Secret,
  warning,
  worst,
  type Diagnostic,
  type DriftDocument,
  type Exit,
} from '../model/index.js';
import { notificationFormats } from '../report/formats.js';
import { driftSentence, place } from '../report/index.js';
import type { Notification } from '../report/notification.js';
import { caughtError } from './caught-error.js';
import { proxyIn } from './cloud-connection.js';
import { secretOf } from './environment-credentials.js';
import { runAddress } from './ci-run.js';
import { withCommands } from './commands-to-type.js';
import type { Context } from './context.js';
import { version } from './version.js';

const URL_VARIABLE = 'TRUEUP_NOTIFY_URL';
const TOKEN_VARIABLE = 'TRUEUP_NOTIFY_TOKEN';

/** The result of a run. */
export interface Ended extends Pick<Notification, 'counts' | 'target'> {
  /** Absent where the run has no result: then the first error stands there. */
  readonly summary?: string;
  /** Those that are errors are told. */
  readonly diagnostics: readonly Diagnostic[];
}

export type Notify = (exit: Exit, ended: Ended) => Promise<void>;

/** Runs a command, and tells its end, also where it throws. */
export async function withNotification(
  context: Context,
  command: string,
  work: (end: (ended: Ended) => void) => Promise<Exit>,
): Promise<Exit> {
  const notify = await notifierOf(context, command);
  let ended: Ended | undefined;
  const result = await work((one) => (ended = one)).then(
    (exit) => ({ exit }),
    (error: unknown) => ({ error }),
  );
  if ('exit' in result) {
    await notify(result.exit, ended ?? failed([]));
    return result.exit;
  }
  const { diagnostics, exit } = caughtError(result.error);
  await notify(exit, failed(diagnostics));
  throw result.error;
}

/** A run that ended before it had a result. */
export const failed = (diagnostics: readonly Diagnostic[]): Ended => ({
  counts: {},
  target: null,
  diagnostics,
});

export const auditEnd = (document: DriftDocument): Ended => ({
  summary: driftSentence(document),
  counts: document.summary,
  target: document.target,
  diagnostics: document.diagnostics,
});

/** @throws Refusal for an address or a token that cannot be used */
export async function notifierOf(context: Context, command: string): Promise<Notify> {
  const addresses = addressesOf(context);
  if (addresses.length === 0) return () => Promise.resolve();
  const { webhookOf } = await import('../client/index.js');
  const { clock, random, environment } = context;
  const isSet = environment[TOKEN_VARIABLE] || environment[`${TOKEN_VARIABLE}_FILE`];
  const hooks = addresses.map(({ format, url, source }) => {
    // The address of a channel is its own key: a token is for other services.
    const token = format === 'generic' && isSet ? secretOf(context, TOKEN_VARIABLE) : undefined;
    return { format, ...webhookOf(url, source, { clock, random, proxy: proxyIn(context), token }) };
  });
  return async (exit, ended) => {
    const { renderNotification } = await import('../report/notification.js');
    const notification = notificationOf(context, command, exit, ended);
    const undelivered = await Promise.all(
      hooks.map(async ({ format, host, post }) => {
        const why = await post(renderNotification(notification, format));
        if (why === undefined) return [];
        return warning(
          'not-notified',
          `The notification to ${host} was not delivered: ${why}.`,
          'The exit code is the one of the run. Check the address, and what it accepts.',
        );
      }),
    );
    await context.tell(undelivered.flat());
  };
}

/** None of them is repeated in a message: an address that may be posted to is a secret. */
function addressesOf(context: Context) {
  const { flags, environment, masking } = context;
  const given = (flags.notify ?? []).map((text, index): readonly [string, string] => [
    text,
    `--notify number ${index + 1}`,
  ]);
  if (environment[URL_VARIABLE] || environment[`${URL_VARIABLE}_FILE`]) {
    const secret = secretOf(context, URL_VARIABLE);
    given.push([secret.reveal() ?? '', secret.source]);
  }
  return given.map(([text, source]) => {
    const [, name = 'generic', url = ''] = /^(?:([a-z]+)=)?(.*)$/s.exec(text) ?? [];
    const format = notificationFormats.find((one) => one === name);
    masking.add(new Secret(source, () => url));
    return format
      ? { format, url, source }
      : refuse('usage', `${source} has no format of that name.`, {
          detail: `Formats: ${notificationFormats.join(', ')}. For example: --notify slack=https://…`,
        });
  });
}

/** By the signal that interrupted the run. */
const signalExits: Readonly<Record<string, readonly Exit[]>> = {
  SIGINT: [exits.interrupted],
  SIGTERM: [exits.terminated],
};

function notificationOf(
  { masking, said, signal, environment, cwd }: Context,
  command: string,
  exit: Exit,
  { summary, counts, target, diagnostics }: Ended,
): Notification {
  const errors = masking
    .said(withCommands(diagnostics, said))
    .filter(({ severity }) => severity === 'error')
    .map(({ summary: error, address, origin }) => {
      const where = address ?? (origin && place(origin));
      return where === undefined || error.includes(where) ? error : `${where}: ${error}`;
    });
  const signalled = signal.reason instanceof Error ? signal.reason.message : '';
  return {
    trueup_version: version,
    command,
    project: masking.text(basename(cwd)),
    target,
    exit: worst([exit, ...(own(signalExits, signalled) ?? [])]),
    summary: summary === undefined ? (errors[0] ?? 'There is no result.') : masking.text(summary),
    counts,
    run_url: runAddress(environment) ?? null,
    errors,
  };
}
