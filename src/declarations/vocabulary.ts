// The parts of a declaration file that are not kinds, in the same vocabulary: settings and lifecycle are objects like
// any other, so schema, validation, suggestions and conversion need no second language.
import {
  choice,
  document,
  flag,
  integer,
  list,
  map,
  mapMembers,
  object,
  own,
  anyRef,
  removals,
  text,
  writables,
  type Attribute,
  type Attributes,
  type Collections,
  type Kind,
} from '../model/index.js';
import { roleLadder } from '../resources/role-ladder.js';

const optional = { optional: true } as const;

/** Attributes that may all be absent. */
const optionals = (attributes: Attributes): Attributes =>
  mapMembers(attributes, (one) => ({ ...one, ...optional }));

/** Lists of blocks that say what becomes of objects whose address changes, goes or comes, by their top-level key. */
export const blocks = {
  moved: object('Gives an object another address. Nothing is sent.', {
    from: text(
      'The earlier address: `<kind>.<name>`, with `["key"]` for one member of a `for_each`; without a key, all members move.',
    ),
    to: text('The address now.'),
  }),
  removed: object('Says what happens to an object that is no longer declared.', {
    from: text('The earlier address: `<kind>.<name>`; without a key, all members of a `for_each`.'),
    lifecycle: object(
      'What happens to the live object.',
      {
        destroy: flag(
          '`false`: the object stays as it is, and the state forgets it. `true`, the default: what happens without the block.',
          optional,
        ),
      },
      optional,
    ),
  }),
  import: object('Takes over a live object.', {
    to: text('The address, which has to be declared.'),
    id: anyRef('Identifier of the live object.', 'objects'),
  }),
} as const;

export type BlockSection = keyof typeof blocks;

export const isBlockSection = (key: string | undefined): key is BlockSection =>
  key !== undefined && Object.hasOwn(blocks, key);

/** Top-level keys beside the kinds. */
export const sections: readonly string[] = [
  'settings',
  'variables',
  'lookups',
  'expectations',
  'templates',
  'use',
  ...Object.keys(blocks),
];

export const settings = object(
  'How the project is run. At most once in a project.',
  optionals({
    target: choice(
      'Absent, or `cloud`: the environment names the target. `emulator`: the emulator in the same process, with its data in `.trueup/emulator.json`.',
      ['emulator', 'cloud'],
    ),
    state: object(
      'Where the state is kept: an address, or a mapping.',
      optionals({
        url: text(
          'A file, relative to the current folder, or the address of a remote backend: `postgres://…`, `s3://…`, `https://…` (GitLab, Terraform’s http protocol). If absent, `TRUEUP_STATE`.',
        ),
        project: text(
          'Name of this state in its place; `default` if absent. With an environment, `.<environment>` is added.',
        ),
        lock: object(
          'How runs of several machines take turns.',
          optionals({
            lease: text(
              'How long a run may be silent; `30s` by default. After twice as long, another run takes the lock. Not for `https://…`.',
              { format: 'duration' },
            ),
            wait: text(
              'How long a run waits for the lock; `5m` by default for a remote backend where `CI` is set, else not at all.',
            ),
            takeover: flag(
              'Whether a waiting run takes the lock of a run that is silent; true by default.',
            ),
          }),
        ),
        history: object(
          'Which earlier states a remote backend keeps.',
          optionals({
            keep: integer('How many; 30 by default.'),
            days: integer('For how long; 90 by default.'),
          }),
        ),
      }),
    ),
    policy: object(
      'How many objects may be changed within 24 hours.',
      optionals({
        max_deletes: integer('Deletes within 24 hours; 5 by default.'),
        max_changed_percent: integer(
          'Updates and deletes within 24 hours, in per cent of all objects; 30 by default.',
        ),
      }),
    ),
    requests_per_minute: integer(
      'Requests per minute; 450 by default, unlimited for a target on this machine.',
    ),
    v2_headers: object(
      'Names of the four v2 headers, if the deployment has its own.',
      Object.fromEntries(
        ['X-MGR-API-ID', 'X-MGR-API-KEY', 'X-VND-API-ID', 'X-VND-API-KEY'].map((name) => [
          name,
          text(`What this deployment calls ${name}.`, optional),
        ]),
      ),
    ),
    configuration_writes: choice(
      'How router configurations are written: `put` (the default) sends the whole configuration with the declared members in it; `patch`, for deployments that accept it, sends only the members that differ.',
      ['put', 'patch'],
    ),
    kinds: list(
      'Kinds beyond the published API reference that every plan and audit reads: their unmanaged objects are counted, and roles are shown with e-mail addresses.',
      text('Name of a kind.'),
    ),
    roles: map(
      'Maps each custom role to the known role of equal rank. A role without a rank counts as the highest when it is given, and as the lowest when it is taken away.',
      choice('A known role.', roleLadder),
    ),
    allow_env: list(
      'Environment variables that `${env…}` may read although they are named as credentials are: what they hold is shown and stored.',
      text('Name of a variable.'),
    ),
    secret_roots: list(
      'Folders below which `${secret.file…}` may read, beside the current folder and `/run/secrets`. Relative ones begin in the current folder.',
      text('Path of a folder.'),
    ),
    secrets: map(
      'Commands of secret managers, by the name that `${secret.<name>.<key>}` says.',
      object('A secret manager.', {
        command: list(
          'Program and arguments, run without a shell when a value is needed. `{key}` in an argument stands for the key, and the command prints the value. Without `{key}` it prints a JSON object with all keys.',
          text('A word.'),
        ),
      }),
    ),
  }),
);

export function lifecycle(kind: Kind): Attribute {
  return object(
    'How the object is treated, whatever its attributes.',
    optionals({
      protect: flag('Refuses to delete the object.'),
      ignore_changes: list(
        'Attributes that are set at creation and not compared afterwards.',
        text('Name of an attribute.'),
      ),
      adopt: anyRef('Identifier of the live object to adopt.', kind.name),
      renamed_from: text('Name that the declaration had before.'),
      on_removal: choice(
        'What happens to the live object when the declaration is removed. The first is the default.',
        removals(kind).map(String),
      ),
      allow_duplicate: flag(
        'Allows another declaration that would be recognised by the same content or name.',
      ),
      ...(writables(kind).some(([, { wire }]) => wire === 'merge') && {
        clear: flag('Allows `[{}, []]`, which takes everything out of the configuration.'),
      }),
    }),
    optional,
  );
}

/** A declaration of the kind: its attributes, the server's included, and its lifecycle. */
export function declarationBodyOf(kind: Kind): Attributes {
  return { ...kind.attributes, lifecycle: lifecycle(kind) };
}

/** An expectation: which records, what holds of each, and how many there are. */
export const expectation = (collections: Collections): Attributes => ({
  collection: choice('What is read.', [...collections.keys()]),
  where: map(
    'Filters of the collection, as `get --filter` takes them; a list has commas.',
    text('Value.'),
    optional,
  ),
  every: document('JSON Schema that every record has to satisfy, as the API gives it.', optional),
  count: object(
    'How many records there have to be.',
    optionals({
      min: integer('The least number of records.'),
      max: integer('The greatest number of records.'),
    }),
    optional,
  ),
});

/** A policy of the project: a condition, and the message where it holds. */
export const policy: Attributes = {
  name: text('Name of the rule, as `--allow` takes it.'),
  when: text(
    'CEL expression that is true where the policy is violated. Variables: `plan`, `declarations`, and one of `change` and `declaration`, for each of which it is evaluated; or `fleet` alone, once for all tenants.',
  ),
  message: text('Message of a violation; `${…}` holds a CEL expression.'),
  severity: choice(
    '`error` blocks the plan; `warning` is reported only.',
    ['error', 'warning'],
    optional,
  ),
  allow: flag('Whether `--allow` lets it pass. If absent: true.', optional),
};

/** A test of a policy: the input, and the messages that it has to give. */
export const policyTest: Attributes = {
  name: text('What is tested.'),
  policy: text('Name of the policy.'),
  plan: document('The members of a plan document that the policy reads.', optional),
  plan_file: text(
    'Path of a plan document, relative to the current folder, as `trueup plan --format json` prints it.',
    optional,
  ),
  declarations: list('The declarations.', document('One declaration.'), optional),
  fleet: document('The members of `fleet` that the policy reads.', optional),
  violations: list(
    'Messages of the violations, in order; none means that it passes.',
    text('Message.'),
  ),
};

/** The attribute at a path inside `attributes`, where the vocabulary knows one. */
export function attributeAt(
  attributes: Attributes,
  path: readonly string[],
): Attribute | undefined {
  let attribute: Attribute | undefined = object('', attributes);
  for (const step of path) attribute = attribute && inside(attribute, step);
  return attribute;
}

/** Any member of a document that is merged: any value, and secrets. */
export const anything = document('Any value.');

/** The attribute at a step inside a value. */
export function inside(attribute: Attribute, step: string): Attribute | undefined {
  if (attribute.wire === 'merge' || attribute === anything) return anything;
  if (attribute.word === 'object') return own(attribute.attributes, step);
  return 'of' in attribute ? attribute.of : undefined;
}

/** What a value, or each item of a list, refers to. */
export function targetOf(attribute: Attribute | undefined): string | undefined {
  if (attribute?.word === 'set' || attribute?.word === 'list') return targetOf(attribute.of);
  return attribute?.word === 'ref' ? attribute.to : undefined;
}

export const declarable = (kind: Kind): Attributes => Object.fromEntries(writables(kind));

/** Whether the attribute is secret, or something inside it is. */
export function holdsSecret(attribute: Attribute): boolean {
  return attribute.secret === true || inner(attribute).some(([, each]) => holdsSecret(each));
}

/** Names of the attributes that are secret or hold a secret. */
export function secretNames(attributes: Attributes): readonly string[] {
  return Object.entries(attributes).flatMap(([name, attribute]) =>
    holdsSecret(attribute) ? [name, ...secretNames(Object.fromEntries(inner(attribute)))] : [],
  );
}

function inner(attribute: Attribute): readonly (readonly [string, Attribute])[] {
  if (attribute.word === 'object') return Object.entries(attribute.attributes);
  return 'of' in attribute ? inner(attribute.of) : [];
}
