// The names of the four v2 headers with credentials: `settings.v2_headers`, else `TRUEUP_V2_HEADERS`, else those of the
// API reference. A wrong name is reported before a credential is sent under it.
import type { Environment } from '../declarations/environment.js';
import { isObject, own, refuse, tryJson } from '../model/index.js';

/** Names of the four v2 headers, as the API reference spells them, with the environment names of their values. */
export const v2Headers = {
  'X-MGR-API-ID': 'TRUEUP_MGR_API_ID',
  'X-MGR-API-KEY': 'TRUEUP_MGR_API_KEY',
  'X-VND-API-ID': 'TRUEUP_VND_API_ID',
  'X-VND-API-KEY': 'TRUEUP_VND_API_KEY',
} as const;

export const HEADERS_VARIABLE = 'TRUEUP_V2_HEADERS';
const known = Object.keys(v2Headers);
const detail = `It is a JSON mapping from names of the API reference to those of this deployment, as in: ${HEADERS_VARIABLE}='{"X-MGR-API-ID":"X-Our-Manager-Id"}'. Names: ${known.join(', ')}.`;

/** From the reference's names to this deployment's, of all four. @throws Refusal */
export function headerNames(
  environment: Environment,
  settings: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const given = fromEnvironment(environment[HEADERS_VARIABLE]);
  const names = Object.fromEntries(
    known.map((name) => [name, own(settings, name) ?? own(given, name) ?? name]),
  );
  const spelled = Object.values(names).map((name) => name.toLowerCase());
  for (const [name, theirs] of Object.entries(names)) {
    const source = Object.hasOwn(settings, name)
      ? `\`settings.v2_headers.${name}\``
      : `${name} of ${HEADERS_VARIABLE}`;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(theirs))
      bad(`${source} is not a valid header name`, 'A name holds letters, digits and hyphens.');
    if (spelled.filter((one) => one === theirs.toLowerCase()).length > 1)
      bad(
        `two of the v2 headers are called ${theirs}`,
        `Give each a name of its own, in settings.v2_headers or ${HEADERS_VARIABLE}.`,
      );
  }
  return names;
}

const bad = (summary: string, detail: string): never => refuse('bad-headers', summary, { detail });

/** @throws Refusal that does not quote what is there: it may be a key in the wrong place. */
function fromEnvironment(text: string | undefined): Readonly<Record<string, string>> {
  if (text === undefined || text === '') return {};
  const mapping = tryJson(text);
  if (!isObject(mapping)) return bad(`${HEADERS_VARIABLE} is not a JSON object`, detail);
  const names: Record<string, string> = {};
  for (const [name, theirs] of Object.entries(mapping)) {
    if (!known.includes(name))
      bad(
        `${HEADERS_VARIABLE} names ${JSON.stringify(name)}, which is none of the v2 headers`,
        detail,
      );
    if (typeof theirs === 'string') names[name] = theirs;
    else bad(`${HEADERS_VARIABLE} gives ${name} something that is not a string`, detail);
  }
  return names;
}
