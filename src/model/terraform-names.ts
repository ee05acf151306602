// What terraform's provider has beside the kinds, in the vocabulary of attributes: its block, what every resource takes,
// and what is asked of a collection. The provider's schema and the constructs are both read from it.
import { choice, integer, map, object, set, text } from './attribute.js';
import type { Kind } from './kind.js';

const byDefault = (name: string): string => `Default: \`TRUEUP_${name.toUpperCase()}\`.`;
const fallback = (name: string, doc: string) =>
  text(`${doc} ${byDefault(name)}`, { optional: true });
const secret = (name: string, doc: string) =>
  text(`${doc} ${byDefault(name)}`, { optional: true, secret: true });

export const providerBlock = {
  v2_url: fallback('v2_url', 'Address of the v2 API, with `/api/v2`.'),
  v3_url: fallback('v3_url', 'Address of the v3 API.'),
  iot_url: fallback('iot_url', 'Address of the IoT platform.'),
  flow_url: fallback('flow_url', 'Address of the sample flow.'),
  mgr_api_id: fallback('mgr_api_id', 'First pair of v2 keys: the id.'),
  mgr_api_key: secret('mgr_api_key', 'First pair of v2 keys: the key.'),
  vnd_api_id: fallback('vnd_api_id', 'Second pair of v2 keys: the id.'),
  vnd_api_key: secret('vnd_api_key', 'Second pair of v2 keys: the key.'),
  v3_token: secret('v3_token', 'Token of the v3 API.'),
  iot_username: fallback('iot_username', 'User of the IoT platform.'),
  iot_password: secret('iot_password', "Password of the IoT platform's user."),
  flow_username: fallback('flow_username', 'User of the sample flow.'),
  flow_password: secret('flow_password', "Password of the sample flow's user."),
  v2_headers: map(
    "Names of the four v2 headers, from the reference's to those of this deployment; over those of `TRUEUP_V2_HEADERS`.",
    text('Name.'),
    { optional: true },
  ),
  roles: map('Ranks custom roles: each like the known role that it names.', text('A known role.'), {
    optional: true,
  }),
  requests_per_minute: integer(
    'Requests a minute to one service. Default: 450, none for a loopback address.',
    { optional: true },
  ),
  configuration_writes: choice(
    'How router configurations are written: `put` (the default) sends the whole configuration, `patch` additions alone.',
    ['put', 'patch'],
    {
      optional: true,
    },
  ),
  settle_seconds: integer(
    'Seconds after which a write of unknown outcome can no longer land. Default: `TRUEUP_SETTLE_SECONDS`, otherwise 60.',
    { optional: true },
  ),
  allow: set(
    'Policy rules that may be broken, such as `last-administrator`.',
    text('Name of a rule.'),
    { optional: true },
  ),
  journal: text('Folder of the journal. Default: `.trueup/terraform`.', { optional: true }),
};

const within = (work: string) =>
  text(`How long ${work} may take, as in \`90s\` or \`1h30m\`. Absent: as long as it takes.`, {
    optional: true,
    format: 'duration',
  });
const operations = {
  create: within('making it, or taking what is there,'),
  read: within('reading it'),
  update: within('changing it'),
};
const doc =
  'How long each operation may take, as in `90s` or `1h30m`; absent: as long as it takes. Part of no object: a change of it sends nothing.';

const kept = { timeouts: object(doc, operations, { optional: true }) };
const deleted = {
  timeouts: object(doc, { ...operations, delete: within('deleting it') }, { optional: true }),
};

/** What a resource takes beside the attributes of its kind. */
export type ResourceBlock<K extends Pick<Kind, 'operations'>> = K['operations'] extends {
  readonly delete: 'DELETE';
}
  ? typeof deleted
  : typeof kept;
export const resourceBlock = <K extends Pick<Kind, 'operations'>>({
  operations: verbs,
}: K): ResourceBlock<K> => (verbs.delete ? deleted : kept) as ResourceBlock<K>;

/** What a data source of a collection is asked. */
export const recordsQuery = {
  filter: map("The API's filters, by name.", text('Value.'), { optional: true }),
  since: text('Only records from this time on (ISO 8601).', { optional: true }),
  until: text('Only records up to this time (ISO 8601).', { optional: true }),
  limit: integer('How many records at most.', { optional: true }),
};

/** The attributes of a record of which nothing is known. */
export const wholeRecord = { record: text('The record, as JSON text.', { computed: true }) };
