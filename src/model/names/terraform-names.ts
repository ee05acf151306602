// The attributes of the Terraform provider that belong to no kind: those of its block, of every resource, and of the data
// source of a collection. The provider's schema and the construct classes are generated from them.
import { choice, integer, map, object, set, text, type Attributes } from '../attribute.js';
import type { Kind } from '../kind.js';
import { cached } from '../members.js';

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
    'Maps the four v2 header names in the API reference to the names this deployment uses. Overrides `TRUEUP_V2_HEADERS`.',
    text('Name.'),
    { optional: true },
  ),
  roles: map('Maps each custom role to the known role of equal rank.', text('A known role.'), {
    optional: true,
  }),
  requests_per_minute: integer(
    'Requests a minute to one service. Default: 450, none for a loopback address.',
    { optional: true },
  ),
  configuration_writes: choice(
    'How router configurations are written: `put` (the default) sends the whole configuration; `patch` sends only the members that differ and cannot remove any.',
    ['put', 'patch'],
    {
      optional: true,
    },
  ),
  settle_seconds: integer(
    'Seconds after which a write of unknown outcome can no longer take effect. Default: `TRUEUP_SETTLE_SECONDS`, otherwise 60.',
    { optional: true },
  ),
  allow: set('Policy rules to allow, such as `last-administrator`.', text('Name of a rule.'), {
    optional: true,
  }),
  journal: text(
    'Folder or address of the journal. Default: `TRUEUP_STATE` if it is an address, otherwise `.trueup/terraform`.',
    { optional: true },
  ),
};

const within = (work: string) =>
  text(`How long ${work} may take, such as \`90s\` or \`1h30m\`. Default: no limit.`, {
    optional: true,
    format: 'duration',
  });
const operations = {
  create: within('creating or adopting it'),
  read: within('reading it'),
  update: within('updating it'),
};
const doc =
  'How long each operation may take, such as `90s` or `1h30m`. Default: no limit. Changing it sends no request.';

const block = { optional: true, block: true } as const;
const kept = { timeouts: object(doc, operations, block) };
const deleted = {
  timeouts: object(doc, { ...operations, delete: within('deleting it') }, block),
};

/** The attributes that a resource has in addition to those of its kind. */
export type ResourceBlock<K extends Pick<Kind, 'operations'>> = K['operations'] extends {
  readonly delete: 'DELETE';
}
  ? typeof deleted
  : typeof kept;
export const resourceBlock = <K extends Pick<Kind, 'operations'>>({
  operations: verbs,
}: K): ResourceBlock<K> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type asks the same question
  (verbs.delete ? deleted : kept) as ResourceBlock<K>;

const idOf = (name: string) => text(`Same value as \`${name}\`.`, { computed: true });

/** Attributes with the identifier as `id`, too, whatever its name in the API is. */
export type WithId<A> = A & { readonly id: ReturnType<typeof idOf> };

const identified = new WeakMap<Attributes, Attributes>();

/** The attributes of a kind as Terraform has them: `id` stands beside an identifier of another name. */
export const withId = <const A extends Attributes>({
  id,
  attributes,
}: {
  readonly id: string;
  readonly attributes: A;
}): WithId<A> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `id` is there in both cases
  cached(identified, attributes, () => beside(id, attributes)) as WithId<A>;

function beside(id: string, attributes: Attributes): Attributes {
  if (Object.hasOwn(attributes, 'id')) return attributes;
  const members = Object.entries(attributes);
  const at = members.findIndex(([name]) => name === id) + 1;
  return Object.fromEntries(members.toSpliced(at, 0, ['id', idOf(id)]));
}

/** The API's name of an attribute that Terraform calls `name`. */
export const nameInApi = ({ id, attributes }: Pick<Kind, 'id' | 'attributes'>, name: string) =>
  name === 'id' && !Object.hasOwn(attributes, name) ? id : name;

/** The arguments of a data source of a collection. */
export const recordsQuery = {
  filter: map("The API's filters, by name.", text('Value.'), { optional: true }),
  since: text('Only records from this time on (ISO 8601).', { optional: true }),
  until: text('Only records up to this time (ISO 8601).', { optional: true }),
  limit: integer('The highest number of records.', { optional: true }),
};

/** The only attribute of a record whose members are not documented. */
export const wholeRecord = { record: text('The record, as JSON text.', { computed: true }) };
