// Which addresses can hold a state, and which are refused before anything is sent there.
import { didYouMean, holdsPassword, isLoopback, refuse, urlFrom } from '../model/index.js';

const SCHEMES = ['postgres', 'postgresql', 's3', 'https', 'http'] as const;
type StateScheme = (typeof SCHEMES)[number];

const EXAMPLES =
  'postgres://host/database, s3://bucket/prefix, https://gitlab.example.com/api/v4/projects/1/terraform/state/NAME';

/** Backends that cannot hold a lock, and why. */
const unfit: Readonly<Record<string, string>> = {
  redis: 'it acknowledges writes before they are replicated, so that a failover can lose a lock',
  rediss: 'it acknowledges writes before they are replicated, so that a failover can lose a lock',
  nats: 'it acknowledges writes before they are on a disk',
};

const words = (text: string): readonly string[] => text.split(' ');

/** Of trueup, of its client, and those of other clients that services put into the addresses that they give out. */
const ofPostgres = [
  ...words('schema user host port ssl sslmode sslrootcert sslcert sslkey sslnegotiation options'),
  ...words('application_name fallback_application_name client_encoding uselibpqcompat'),
  ...words('statement_timeout lock_timeout idle_in_transaction_session_timeout query_timeout'),
  ...words('connect_timeout channel_binding target_session_attrs gssencmode'),
];
/** A server of Terraform's http backend is sent every parameter. */
const parameters: Readonly<Partial<Record<string, readonly string[]>>> = {
  'postgres:': ofPostgres,
  'postgresql:': ofPostgres,
  's3:': words('region endpoint style'),
};

/**
 * A parameter that nothing reads, and the one that was meant: otherwise the address would name another place. A password
 * that holds a `?` ends up here, and is not repeated. The parameter `password` is for others to judge.
 */
export function unreadParameter({ protocol, search, searchParams }: URL): string | undefined {
  const known = parameters[protocol] ?? [...searchParams.keys()];
  const name = [...searchParams.keys()].find((one) => ![...known, 'password'].includes(one));
  if (name === undefined) return undefined;
  return /^\w{1,64}$/.test(name) && !search.includes('@')
    ? `the unknown parameter \`${name}\`.${didYouMean(name, known)}`
    : 'an unknown parameter.';
}

export const schemeOf = (location: string): string =>
  location.slice(0, location.indexOf(':')).toLowerCase();

/** @param location an address; it may hold a password and is not repeated @throws Refusal where it cannot hold a state */
export function checkedAddress(location: string): URL {
  const named = schemeOf(location);
  if (unfit[named] !== undefined)
    return refuse('unsupported-store', `${named} cannot hold a state: ${unfit[named]}`, {
      detail: `Name PostgreSQL, S3 or a server of Terraform's http backend: ${EXAMPLES}`,
      attribute: 'settings.state',
    });
  const scheme = SCHEMES.find((one) => one === named);
  if (scheme === undefined)
    return refuse('unsupported-store', `a state at ${named}:// is not supported by this version`, {
      detail: `Name a file, PostgreSQL, S3 or a server of Terraform's http backend: .trueup/state.json, ${EXAMPLES}`,
      attribute: 'settings.state',
    });
  const url = urlFrom(location);
  if (!url) return refuseAddress('is not a URL');
  if (holdsPassword(url))
    return refuseAddress(
      'holds a password',
      'Passwords are allowed only in the environment: PGPASSWORD, AWS_SECRET_ACCESS_KEY, TRUEUP_STATE_HTTP_PASSWORD',
    );
  if (scheme === 'http' && !isLoopback(url))
    return refuseAddress('uses plain http', 'Credentials travel over https only.');
  if (url.host === '') return refuseAddress('names no host or bucket');
  const unknown = unreadParameter(url);
  if (unknown !== undefined) return refuseAddress(`has ${unknown}`, AS_IN[scheme]);
  if (scheme === 's3') refuseServer(url);
  return url;
}

const AS_IN: Readonly<Partial<Record<StateScheme, string>>> = {
  postgres: 'As in postgres://host/database?schema=trueup&sslmode=verify-full',
  s3: 'As in s3://bucket/prefix?endpoint=https://s3.example.com&region=us-east-1',
};

/** For what the address of a bucket says about its server. @throws Refusal */
function refuseServer({ searchParams }: URL): void {
  const [text, region] = [searchParams.get('endpoint'), searchParams.get('region')];
  if (region !== null && !/^[\w-]+$/.test(region))
    refuseAddress('names a `region` that is none', AS_IN.s3);
  if (text === null) return;
  const endpoint = urlFrom(text);
  if (!endpoint || !/^https?:$/.test(endpoint.protocol))
    return refuseAddress('names an `endpoint` that is not the address of a server', AS_IN.s3);
  if (holdsPassword(endpoint))
    return refuseAddress('holds a password', 'Set AWS_SECRET_ACCESS_KEY in the environment.');
  if (endpoint.protocol === 'http:' && !isLoopback(endpoint))
    refuseAddress('names an endpoint in plain http', 'Credentials travel over https only.');
}

export const refuseAddress = (problem: string, detail = 'As in s3://bucket/prefix'): never =>
  refuse('bad-address', `the address of the state ${problem}`, {
    detail,
    attribute: 'settings.state',
  });
