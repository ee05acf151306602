// `trueup emulator`: a device cloud on this machine. Prints the variables to export, then serves until a signal.
import { resolve } from 'node:path';
import type { Credentials, Emulator } from '../../emulator/index.js';
import { variableWord } from '../../fleet/tenant.js';
import {
  defined,
  durationWords,
  exits,
  refuse,
  tryDuration,
  type Exit,
} from '../../model/index.js';
import { plural } from '../../report/words.js';
import { wholeNumber, type Command, type Context } from '../context.js';
import { durable } from '../durable-emulator.js';
import { needs } from '../environment-credentials.js';

export const run: Command = async (context) => {
  const { flags, out, err, signal, cwd } = context;
  const port = wholeNumber('--port', flags.port ?? '0', 0, 65_535);
  if (flags.tenant) return severalAccounts(context, port, flags.tenant);
  const { dummyCredentials, parseBehaviours, parseFault, postWebhook, serve } =
    await import('../../emulator/index.js');
  const at = (path: string | undefined): string | undefined =>
    path === undefined ? undefined : resolve(cwd, path);
  const emulator = await durable(context, {
    data: at(flags.data),
    seed: at(flags.seed),
    faults: (flags.fault ?? []).map(parseFault),
    behaviours: parseBehaviours(behaviourWords(context)),
    deliveries: {
      send: postWebhook,
      anywhere: flags.deliverAnywhere === true,
      minute: minuteOf(flags.deliveryMinute ?? '1m'),
      signal,
    },
  });
  const served = await serve(emulator, { port });
  const values: Readonly<Record<string, string>> = {
    ...variablesOf(served.url, dummyCredentials),
    ...login('iot', served.url, dummyCredentials.iot),
    ...login('flow', served.url, dummyCredentials.flow),
  };
  out.write(
    Object.entries(values)
      .map(([name, value]) => `export ${name}=${value}\n`)
      .join(''),
  );
  err.write(
    `Serving at ${served.url} until Ctrl-C. Type the lines above into another shell, then: trueup doctor (with --env NAME in a project that itself uses the emulator)\n`,
  );
  await untilStopped(signal);
  await served.close();
  await emulator.settled();
  return exits.done;
};

const behaviourWords = ({ flags }: Context): readonly string[] => [
  ...(flags.behaviour ?? []),
  ...(flags.dialect === undefined ? [] : [`dialect=${flags.dialect}`]),
];

const untilStopped = (signal: AbortSignal): Promise<void> =>
  new Promise((stop) =>
    signal.aborted ? stop() : signal.addEventListener('abort', () => stop(), { once: true }),
  );

/** The variables that lead to v2 and v3. */
function variablesOf(
  url: string,
  { v2: [key], v3 }: Credentials,
): Readonly<Record<string, string>> {
  const [token = ''] = Object.keys(v3);
  return {
    [needs.v2.address]: `${url}/api/v2`,
    ...Object.fromEntries(
      needs.v2.secrets.map((name, index) => [name, Object.values({ ...key })[index] ?? '']),
    ),
    [needs.v3.address]: url,
    [needs.v3.secrets[0]]: token,
  };
}

const ACCOUNT = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** @throws Refusal for what is no name, and for two names whose variables would be the same */
function checkAccounts(names: readonly string[]): void {
  const byPrefix = new Map<string, string>();
  for (const name of names) {
    if (!ACCOUNT.test(name))
      refuse(
        'usage',
        `--tenant ${JSON.stringify(name)} takes letters, digits, \`.\`, \`-\` and \`_\`.`,
      );
    const prefix = `${variableWord(name)}_`;
    const other = byPrefix.get(prefix);
    if (other !== undefined)
      refuse('usage', `--tenant ${other} and --tenant ${name} have the same prefix, ${prefix}.`, {
        detail: 'Name each account once, and so that letters or digits tell them apart.',
      });
    byPrefix.set(prefix, name);
  }
}

/** One address with an account of its own for each set of credentials. Prints the variables with a prefix for each. */
async function severalAccounts(
  context: Context,
  port: number,
  names: readonly string[],
): Promise<Exit> {
  const { flags, out, err, signal, clock } = context;
  checkAccounts(names);
  if (flags.data !== undefined)
    refuse('usage', '--data cannot be used with --tenant: the data end with the process.');
  const { accountCredentials, byAccount, parseAccountFault, parseBehaviours, serve } =
    await import('../../emulator/index.js');
  const faults = (flags.fault ?? []).map((text) => parseAccountFault(text, names));
  const behaviours = parseBehaviours(behaviourWords(context));
  const accounts = new Map<string, Emulator>();
  for (const name of names) {
    const [like] = accounts.values();
    accounts.set(
      name,
      await durable(context, {
        seed: flags.seed === undefined ? undefined : resolve(context.cwd, flags.seed),
        faults: faults.filter(({ account }) => account === undefined || account === name),
        behaviours,
        credentials: accountCredentials(name),
        ...defined({ like }),
      }),
    );
  }
  const { fetch, calls } = byAccount(accounts, clock);
  const served = await serve({ fetch }, { port });
  for (const name of names)
    for (const [variable, value] of Object.entries(
      variablesOf(served.url, accountCredentials(name)),
    ))
      out.write(`export ${variableWord(name)}_${variable}=${value}\n`);
  err.write(`Serving at ${served.url} until Ctrl-C: ${plural(names.length, 'account')}.\n`);
  await untilStopped(signal);
  await served.close();
  for (const one of accounts.values()) await one.settled();
  for (const [name, { calls: all, most_in_60s, most_at_once }] of calls())
    err.write(
      `${name}: ${plural(all, 'call')}, at most ${most_in_60s} in 60 s and ${most_at_once} at once\n`,
    );
  return exits.done;
}

/** Milliseconds. @throws Refusal */
function minuteOf(text: string): number {
  return (
    tryDuration(text) ??
    refuse('usage', `--delivery-minute ${JSON.stringify(text)}: it has to be ${durationWords}.`)
  );
}

function login(
  surface: 'iot' | 'flow',
  url: string,
  { username, password }: Credentials['iot'],
): Readonly<Record<string, string>> {
  const { address, secrets } = needs[surface];
  return { [address]: url, [secrets[0]]: username, [secrets[1]]: password };
}
