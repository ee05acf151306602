// Settings of a forge from the command line and the environment: the token, the number of the pull request, the key in
// the marker, the page of the run.
import { refuse, type Secret, type Settings } from '../../model/index.js';
import { wholeNumber, type Context } from '../context.js';
import { secretOf } from '../environment-credentials.js';
import { runAddress } from '../ci-run.js';
import { environmentOf } from '../environment-settings.js';

/** The first of these variables that is set, masked from now on. @throws Refusal where none is */
export function tokenIn(context: Context, names: readonly string[], why?: string): Secret {
  const { environment, masking } = context;
  const name = names.find((one) => environment[one] || environment[`${one}_FILE`]);
  if (name === undefined)
    return refuse('secret-missing', `There is no token: set ${names.join(' or ')}.`, {
      detail: why ?? `A file works, too: ${names[0]}_FILE`,
    });
  const token = secretOf(context, name);
  masking.add(token);
  return token;
}

export const numberGiven = ({ flags: { number } }: Context): string | undefined =>
  number === undefined ? undefined : String(wholeNumber('--number', number, 1, 999_999_999));

/** No `--` at its end: it stands in a comment of HTML. */
const KEY = /^\w(?:[\w.-]{0,98}\w)?$/;

/** The key that distinguishes the posts of several projects and environments: `--key`, else a name from the settings. @throws Refusal */
export async function markerKey(
  context: Context,
  settings: () => Promise<Settings>,
): Promise<string> {
  const key = context.flags.key ?? keyIn(await settings(), environmentOf(context));
  return KEY.test(key)
    ? key
    : refuse('usage', `A marker cannot hold the name ${JSON.stringify(key)}.`, {
        detail:
          '--key takes up to 100 letters, digits, dots, - and _. For example: --key network.prod',
      });
}

const keyIn = ({ state }: Settings, env: string | undefined): string =>
  [state?.project ?? 'default', env].filter((one) => one !== undefined).join('.');

/** The page of the CI run, as Markdown; empty where it is not known. */
export function runLink(context: Context): string {
  const url = runAddress(context.environment);
  if (url === undefined || url.length > 300) return '';
  return `[The run](<${url.replaceAll(/[<>\\`]/g, encodeURIComponent)}>)`;
}
