// Which addresses can hold a state, and which are refused before anything is sent there.
import { holdsPassword, isLoopback, refuse, urlFrom } from '../model/index.js';

const SCHEMES = ['postgres', 'postgresql', 's3', 'https', 'http'] as const;
export type StateScheme = (typeof SCHEMES)[number];

const EXAMPLES =
  'postgres://host/database, s3://bucket/prefix, https://gitlab.example.com/api/v4/projects/1/terraform/state/NAME';

/** Backends that cannot hold a lock, and why. */
const unfit: Readonly<Record<string, string>> = {
  redis: 'it acknowledges writes before they are replicated, so that a failover can lose a lock',
  rediss: 'it acknowledges writes before they are replicated, so that a failover can lose a lock',
  nats: 'it acknowledges writes before they are on a disk',
};

export const schemeOf = (location: string): string =>
  location.slice(0, location.indexOf(':')).toLowerCase();

/** @param location an address; it may hold a password and is not repeated @throws Refusal where it cannot hold a state */
export function checkedAddress(location: string): {
  readonly scheme: StateScheme;
  readonly url: URL;
} {
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
  return url.host === '' ? refuseAddress('names no host or bucket') : { scheme, url };
}

export const refuseAddress = (problem: string, detail = 'As in s3://bucket/prefix'): never =>
  refuse('bad-address', `the address of the state ${problem}`, {
    detail,
    attribute: 'settings.state',
  });
