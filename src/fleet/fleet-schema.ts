// What `trueup.fleet.yaml` may hold, in the vocabulary of declarations: the checks, their messages and the published
// schema are made from it.
import {
  document,
  integer,
  list,
  map,
  object,
  text,
  type Attributes,
  type JsonObject,
} from '../model/index.js';
import { DRAFT, objectSchema } from '../declarations/file-schema.js';

const optional = { optional: true } as const;

const credentials = object(
  'Where the credentials of a tenant come from: one of the two.',
  {
    env_prefix: text(
      'Prefix of the variables of a tenant: with `ACME_`, `ACME_TRUEUP_V2_URL` is its `TRUEUP_V2_URL`. If absent: `${TENANT}_`.',
      optional,
    ),
    command: list(
      'Program and arguments, run without a shell. It prints a JSON object: the usual names of the variables, and their values.',
      text('A word.'),
      optional,
    ),
  },
  optional,
);

const shared = {
  paths: list(
    'PATHs of declarations, relative to this file. Those of `defaults` come first; variables in later PATHs win.',
    text('A file or a folder.'),
    optional,
  ),
  state: text(
    'Where the state of a tenant is kept. If absent: `.trueup/tenants/<name>/state.json`.',
    optional,
  ),
  credentials,
  requests_per_minute: integer(
    'Requests per minute for one credential. If absent: `settings.requests_per_minute`, or 450.',
    optional,
  ),
} as const;

export const tenantAttributes = {
  ...shared,
  variables: map('Values of variables; they override those in files.', text('Value.'), optional),
  labels: map('Words to select tenants by.', text('Value.'), optional),
} as const satisfies Attributes;

export const sourceAttributes = {
  from: text(
    'Pattern of folders, as in `tenants/*`. Each folder is a tenant; the folder is the last PATH of that tenant.',
  ),
  name: text(
    'Name of each tenant. `${folder}` is the part that the last `*` matches. If absent: `${folder}`.',
    optional,
  ),
  labels: map('Labels of every tenant.', text('Value.'), optional),
  each: map(
    'Additional settings of single tenants, by name.',
    object('A tenant.', tenantAttributes),
    optional,
  ),
} as const satisfies Attributes;

export const fleetAttributes = {
  tenants: document('The tenants: folders, or a mapping from names to tenants.'),
  defaults: object(
    'Defaults for all tenants. `${tenant}` is the name, `${TENANT}` the name in upper case, with `_` in place of each character that is not a letter or a digit.',
    shared,
    optional,
  ),
  concurrency: integer('How many tenants run at once; 16 by default.', optional),
  order: list(
    'The stages, one after the other. A tenant belongs to the first stage that selects it; the rest comes last.',
    object('A stage.', {
      select: text('Which tenants: as `--select` takes it, `*` for all.'),
      then_wait: text('Time to wait before the next stage of an apply, as in `30m`.', {
        ...optional,
        format: 'duration',
      }),
    }),
    optional,
  ),
  stop: object(
    'Limits that stop a run.',
    {
      failures: integer('Failed tenants in a row; 5 by default.', optional),
      changed_tenants: integer('The most tenants that one apply may change.', optional),
      blocked: integer('Tenants that a policy blocks.', optional),
    },
    optional,
  ),
} as const satisfies Attributes;

/** `tenants` has two forms, which are checked by themselves. */
export const fleetSectionSchema = (): JsonObject => objectSchema(fleetAttributes, true);
export const tenantSchema = (): JsonObject => objectSchema(tenantAttributes, true);
export const sourceSchema = (): JsonObject => objectSchema(sourceAttributes, true);

/** The published schema of `trueup.fleet.yaml`. */
export function fleetSchema(): JsonObject {
  const fleet = fleetSectionSchema();
  const { properties } = fleet;
  const tenants = {
    description: fleetAttributes.tenants.doc,
    anyOf: [sourceSchema(), { type: 'object', additionalProperties: tenantSchema() }],
  };
  return {
    $schema: DRAFT,
    title: 'trueup fleet',
    type: 'object',
    properties: { fleet: { ...fleet, properties: { ...Object(properties), tenants } } },
    required: ['fleet'],
    additionalProperties: false,
  };
}
