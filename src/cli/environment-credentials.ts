// Addresses and credentials of the APIs, from the environment or from the files that it names. Missing ones are not an
// error here; a kind that needs one refuses with its name.
import type { ConnectOptions, FlowOptions } from '../client/index.js';
import { refuse, Secret, type Settings } from '../model/index.js';
import type { ProviderEndpoint } from '../terraform/provider-block.js';
import type { Context } from './context.js';
import { headerNames, v2Headers } from './header-names.js';
import { tryFile } from './masked-credentials.js';

/** The environment variables that each API needs. */
export const needs = {
  v2: { address: 'TRUEUP_V2_URL', secrets: Object.values(v2Headers) },
  v3: { address: 'TRUEUP_V3_URL', secrets: ['TRUEUP_V3_TOKEN'] },
  iot: { address: 'TRUEUP_IOT_URL', secrets: ['TRUEUP_IOT_USERNAME', 'TRUEUP_IOT_PASSWORD'] },
  flow: { address: 'TRUEUP_FLOW_URL', secrets: ['TRUEUP_FLOW_USERNAME', 'TRUEUP_FLOW_PASSWORD'] },
} as const;

/** A secret from the environment, or from the file that `<name>_FILE` names; it is read when it is needed. */
export function secretOf({ environment }: Pick<Context, 'environment'>, name: string): Secret {
  const file = environment[`${name}_FILE`];
  if (file === undefined || file === '')
    return new Secret(name, () => environment[name] || undefined);
  if (environment[name])
    refuse('ambiguous-secret', `${name} and ${name}_FILE are both set.`, {
      detail: 'Unset one of them.',
    });
  let text: string | undefined;
  return new Secret(`${name}_FILE`, () => (text ??= tryFile(file)));
}

/** The services that the environment names, and whether their credentials can be had. */
export function endpointsIn(context: Pick<Context, 'environment'>): readonly ProviderEndpoint[] {
  const named = Object.values(needs).filter(({ address }) => context.environment[address]);
  return named.map(({ address, secrets }) => ({
    address,
    credentials: secrets.map((variable) => {
      const secret = secretOf(context, variable);
      return { variable, source: secret.source, given: Boolean(secret.reveal()) };
    }),
  }));
}

export type Endpoints = Pick<ConnectOptions, 'v2' | 'v3' | 'iot'> &
  Partial<Pick<FlowOptions, 'flow'>>;

export function endpointsOf(context: Context, settings: Settings): Endpoints {
  const { [needs.v2.address]: two, [needs.v3.address]: three } = context.environment;
  const login = (surface: 'iot' | 'flow') => {
    const { address, secrets } = needs[surface];
    const url = context.environment[address];
    if (!url) return {};
    const [username, password] = [secretOf(context, secrets[0]), secretOf(context, secrets[1])];
    return { [surface]: { url, username, password } };
  };
  const headers = (): Readonly<Record<string, Secret>> => {
    const names = headerNames(context.environment, settings.v2_headers);
    return Object.fromEntries(
      Object.entries(v2Headers).map(([name, variable]) => [
        names[name]!,
        secretOf(context, variable),
      ]),
    );
  };
  return {
    ...(two && { v2: { url: two, headers: headers() } }),
    ...(three && { v3: { url: three, token: secretOf(context, needs.v3.secrets[0]) } }),
    ...login('iot'),
    ...login('flow'),
  };
}
