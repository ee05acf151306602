// `trueup emulator`: a device cloud on this machine. Prints the variables to export, then serves until a signal.
import { resolve } from 'node:path';
import { durationWords, exits, refuse, tryDuration } from '../../model/index.js';
import { wholeNumber, type Command } from '../context.js';
import { durable } from '../durable-emulator.js';
import { needs } from '../cloud-connection.js';

export const run: Command = async (context) => {
  const { flags, out, err, signal, cwd } = context;
  const port = wholeNumber('--port', flags.port ?? '0', 0, 65_535);
  const { dummyCredentials, parseBehaviours, parseFault, postWebhook, serve } =
    await import('../../emulator/index.js');
  const at = (path: string | undefined): string | undefined =>
    path === undefined ? undefined : resolve(cwd, path);
  const words = [
    ...(flags.behaviour ?? []),
    ...(flags.dialect === undefined ? [] : [`dialect=${flags.dialect}`]),
  ];
  const emulator = await durable(context, {
    data: at(flags.data),
    seed: at(flags.seed),
    faults: (flags.fault ?? []).map(parseFault),
    behaviours: parseBehaviours(words),
    deliveries: {
      send: postWebhook,
      anywhere: flags.deliverAnywhere === true,
      minute: minuteOf(flags.deliveryMinute ?? '1m'),
      signal,
    },
  });
  const served = await serve(emulator, { port });
  const [key] = dummyCredentials.v2;
  const [token = ''] = Object.keys(dummyCredentials.v3);
  const values: Readonly<Record<string, string>> = {
    [needs.v2.address]: `${served.url}/api/v2`,
    ...Object.fromEntries(
      needs.v2.secrets.map((name, index) => [name, Object.values({ ...key })[index] ?? '']),
    ),
    [needs.v3.address]: served.url,
    [needs.v3.secrets[0]]: token,
    ...login('iot', served.url, dummyCredentials.iot),
    ...login('flow', served.url, dummyCredentials.flow),
  };
  out.write(
    Object.entries(values)
      .map(([name, value]) => `export ${name}=${value}\n`)
      .join(''),
  );
  err.write(
    `Serving at ${served.url} until Ctrl-C. Type the lines above into another shell, then: trueup doctor\n`,
  );
  await new Promise<void>((stop) =>
    signal.aborted ? stop() : signal.addEventListener('abort', () => stop(), { once: true }),
  );
  await served.close();
  await emulator.settled();
  return exits.done;
};

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
  { username, password }: { readonly username: string; readonly password: string },
): Readonly<Record<string, string>> {
  const { address, secrets } = needs[surface];
  return { [address]: url, [secrets[0]]: username, [secrets[1]]: password };
}
