// The provider's block: its values take precedence over the environment, and are passed on under the environment's
// names, so that there is one way to read addresses and credentials.
import {
  defaultSettings,
  addressMistyped,
  isAddress,
  MOST_SETTLE,
  providerBlock,
  Refusal,
  refuse,
  stringsIn,
  type Settings,
} from '../model/index.js';
import { roleLadder } from '../resources/role-ladder.js';
import { isRecord } from './convert.js';
import { Unknown, type CtyObject, type CtyValue } from './protocol/cty.js';
import type { WireDiagnostic } from './protocol/provider-replies.js';
import { wireError } from './wire-diagnostics.js';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export type Configuration = ReturnType<typeof configurationOf>;

/** Addresses and credentials: what the environment can say as well. */
const fallbacks = Object.entries(providerBlock).flatMap(([name, { word }]) =>
  word === 'text' && name !== 'journal' ? [name] : [],
);
const addresses = fallbacks.filter((name) => name.endsWith('_url'));
const headers = ['X-MGR-API-ID', 'X-MGR-API-KEY', 'X-VND-API-ID', 'X-VND-API-KEY'];
const JOURNAL = '.trueup/terraform';

/** A file that `TRUEUP_STATE` names is the state of the command. A mistyped address is none: it is refused later. */
function usualJournal({ TRUEUP_STATE: state = '' }: EnvironmentVariables): string {
  return isAddress(state) || addressMistyped('', state) ? state : JOURNAL;
}

const variable = (name: string): string => `TRUEUP_${name.toUpperCase()}`;
const attribute = (name: string): string => name.replace('TRUEUP_', '').toLowerCase();

/** @param allowable names of the rules that can be allowed */
export function configurationOf(
  block: CtyObject,
  environment: EnvironmentVariables,
  allowable: readonly string[],
) {
  const overlaid: Record<string, string | undefined> = { ...environment };
  for (const name of [...fallbacks, 'settle_seconds']) {
    const value = block[name] ?? null;
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    overlaid[variable(name)] = String(value);
    // A secret of the block and one in a file would be two.
    overlaid[`${variable(name)}_FILE`] = undefined;
  }
  const { requests_per_minute: rate, configuration_writes: writes, allow, journal } = block;
  return {
    environment: overlaid as EnvironmentVariables,
    settings: {
      ...defaultSettings,
      ...(typeof rate === 'number' && { requests_per_minute: rate }),
      ...((writes === 'put' || writes === 'patch') && { configuration_writes: writes }),
      v2_headers: textsByName(block['v2_headers']),
      roles: textsByName(block['roles']),
    } as Settings,
    allow: stringsIn(allow).filter((rule) => allowable.includes(rule)),
    /** Folder or address of the journal. */
    journal: typeof journal === 'string' && journal !== '' ? journal : usualJournal(environment),
    /** Attributes whose values are not known yet. */
    unknown: Object.entries(block).flatMap(([name, value]) =>
      value instanceof Unknown ? [name] : [],
    ),
  };
}

const textsByName = (value: CtyValue | undefined): Readonly<Record<string, string>> =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).filter(
          (entry): entry is [string, string] => typeof entry[1] === 'string',
        ),
      )
    : {};

/** Rejects with a Refusal for an address that must not be used; `source` names it. */
export type CheckAddress = (address: string, source: string) => Promise<unknown>;

/** Every complaint about the block. */
export async function blockComplaints(
  block: CtyObject,
  allowable: readonly string[],
  checkAddress: CheckAddress,
): Promise<readonly WireDiagnostic[]> {
  const out: WireDiagnostic[] = [];
  const complain = (...error: Parameters<typeof wireError>): unknown =>
    out.push(wireError(...error));
  for (const name of addresses) {
    const value = block[name];
    if (typeof value !== 'string') continue;
    try {
      await checkAddress(value, `\`${name}\``);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      for (const { summary, detail } of error.diagnostics) complain([name], summary, detail);
    }
  }
  for (const rule of stringsIn(block['allow']))
    if (!allowable.includes(rule))
      complain(['allow'], `\`${rule}\` is not a policy rule`, `Rules: ${allowable.join(', ')}.`);
  const named = block['v2_headers'] ?? null;
  for (const name of isRecord(named) ? Object.keys(named) : [])
    if (!headers.includes(name))
      complain(
        ['v2_headers', { key: name }],
        `\`${name}\` is none of the v2 headers`,
        `Headers: ${headers.join(', ')}.`,
      );
  for (const [name, like] of Object.entries(textsByName(block['roles']))) {
    const [known, fits] = [name, like].map((role) => roleLadder.some((one) => one === role));
    if (known)
      complain(
        ['roles', { key: name }],
        `\`${name}\` is a known role, which has its rank already`,
        'Rank custom roles alone.',
      );
    else if (!fits)
      complain(
        ['roles', { key: name }],
        `\`${like}\` is not a known role`,
        `Known roles: ${roleLadder.join(', ')}.`,
      );
  }
  const { requests_per_minute: rate, settle_seconds: settle, configuration_writes: writes } = block;
  if (typeof writes === 'string' && writes !== 'put' && writes !== 'patch')
    complain(
      ['configuration_writes'],
      `\`${writes}\` is not a way to write a configuration`,
      'It takes put (the default) or patch.',
    );
  if (typeof rate === 'number' && !(Number.isInteger(rate) && rate >= 1))
    complain(
      ['requests_per_minute'],
      '`requests_per_minute` takes a whole number from 1',
      'Leave it out for 450.',
    );
  if (typeof settle === 'number' && !(settle >= 0 && settle <= MOST_SETTLE / 1000))
    complain(
      ['settle_seconds'],
      `\`settle_seconds\` takes seconds, from 0 to ${MOST_SETTLE / 1000}`,
      'Leave it out for 60.',
    );
  return out;
}

/** A warning that is given once, not for each object: without an address nothing can be reached. */
export function unaddressed({ environment, unknown }: Configuration): readonly WireDiagnostic[] {
  if (
    addresses.some((name) => unknown.includes(name) || (environment[variable(name)] ?? '') !== '')
  )
    return [];
  const detail = `Set ${addresses.map(variable).join(', ')} as far as your kinds need them, or the attributes of the provider block: ${addresses.join(', ')}. To try it without a cloud: trueup emulator`;
  return [wireError([], 'No address of a service is configured', detail)];
}

/** A service with an address: the variables of its address and of its credentials. */
export interface ProviderEndpoint {
  readonly address: string;
  /** `source` is the variable that was looked at: `variable` itself, or the one that names a file. */
  readonly credentials: readonly {
    readonly variable: string;
    readonly source: string;
    readonly given: boolean;
  }[];
}

/**
 * The diagnostics, once per run, for missing credentials: if there are none at all, or if those of a service are
 * incomplete. A service without any credentials may be one that no resource needs.
 */
export function keyless(
  { unknown }: Configuration,
  endpoints: readonly ProviderEndpoint[],
): readonly WireDiagnostic[] {
  const known = endpoints.filter(
    ({ address, credentials }) =>
      ![address, ...credentials.map((one) => one.variable)].some((one) =>
        unknown.includes(attribute(one)),
      ),
  );
  const lacking = known.map((endpoint) => ({
    ...endpoint,
    missing: endpoint.credentials.filter(({ given }) => !given),
  }));
  const usable = unknown.length > 0 || lacking.some(({ missing }) => missing.length === 0);
  const told = lacking.filter(
    ({ missing, credentials }) =>
      missing.length > 0 && !(usable && missing.length === credentials.length),
  );
  return told.map(({ address, missing }) => {
    const unset = missing.filter(({ source, variable }) => source === variable);
    const names = unset.map(({ variable }) => attribute(variable)).join(', ');
    const ways = [
      ...(unset.length > 0
        ? [`Set ${listed(unset)} where terraform runs, or ${names} in the provider block.`]
        : []),
      ...missing
        .filter((one) => !unset.includes(one))
        .map(({ source }) => `The file that ${source} names cannot be read, or is empty.`),
    ];
    return wireError(
      [attribute(missing[0]!.variable)],
      `${address} is configured, and ${listed(missing)} ${missing.length === 1 ? 'has' : 'have'} no value`,
      ways.join('\n'),
    );
  });
}

const listed = (credentials: ProviderEndpoint['credentials']): string =>
  credentials.map(({ variable }) => variable).join(', ');

/** @throws Refusal where something is needed that is not known yet */
export function assertKnown({ unknown }: Configuration): void {
  if (unknown.length === 0) return;
  refuse(
    'provider-unknown',
    `The provider cannot be used before ${unknown.join(', ')} of its block ${unknown.length === 1 ? 'is' : 'are'} known.`,
    {
      detail:
        'Create what they come from first (terraform apply -target=…), or give them by variable or environment.',
    },
  );
}
