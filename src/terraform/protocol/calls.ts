// The calls of the protocol, from message to message: decode by the schema, call the provider, check its reply, encode.
// Every error becomes a diagnostic, and Terraform keeps the earlier state or gets the known part of the new one.
import { defined, equal, mapMembers, own, Refusal, type Diagnostic } from '../../model/index.js';
import { planReplyError, salvaged, stateReplyError } from '../reply-checks.js';
import {
  CtyError,
  decode,
  encode,
  memberOf,
  parsed,
  Unknown,
  wordsOfPath,
  type CtyType,
  type CtyValue,
  type DynamicValue,
  type Path,
} from './cty.js';
import type { Log } from '../core-log.js';
import { LARGEST_MESSAGE } from './messages.js';
import type {
  DiagnosticsReply,
  ProviderSchema,
  ProviderServer,
  Schema,
  SchemaAttribute,
  WireDiagnostic,
} from './provider-replies.js';
import { typeOf } from '../terraform-schema.js';
import { wireError } from '../wire-diagnostics.js';

/** A decoded request, with the members of all messages: it has every scalar of its own message; nested messages may be null. */
export type Message = Readonly<
  Record<'type_name' | 'id', string> &
    Record<'config' | 'current_state' | 'prior_state' | 'proposed_new_state', DynamicValue | null> &
    Record<'private' | 'prior_private' | 'planned_private', Uint8Array> &
    Record<'raw_state' | 'raw_identity' | 'source_state', RawState | null> &
    Record<'source_provider_address' | 'source_type_name' | 'target_type_name' | 'name', string> &
    Record<'source_private', Uint8Array>
> & {
  readonly source_schema_version: number;
  readonly include_resource_object: boolean;
  readonly limit: number;
  readonly arguments: readonly DynamicValue[];
  readonly version: number;
  readonly planned_state: DynamicValue | null;
  readonly identity: { readonly identity_data: DynamicValue | null } | null;
  readonly client_capabilities: { readonly write_only_attributes_allowed: boolean } | null;
};
type RawState = { readonly json: Uint8Array };
export type Reply = { readonly [name: string]: unknown };
export type Calls = Readonly<Record<string, (message: Partial<Message>) => Promise<Reply>>>;

interface Wire {
  readonly provider: ProviderServer;
  readonly log: Log;
}

export function callsOf(provider: ProviderServer, log: Log): Calls {
  const wire: Wire = { provider, log };
  return {
    GetProviderSchema: async () => schemasOf(provider.schema),
    GetResourceIdentitySchemas: async () => ({
      identity_schemas: entriesOf(provider.schema.identities, ({ version, attributes }) => ({
        version,
        identity_attributes: attributes.map((one) => ({ ...one, type: typeJson(one.type) })),
      })),
    }),
    GetFunctions: async () => ({ functions: functionsOf(provider.schema) }),
    ...mapMembers(handlers, (handler): Calls[string] => async (message) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call reads what its own message has
      return handler(wire, message as Message);
    }),
  };
}

const handlers: Readonly<Record<string, (wire: Wire, message: Message) => Promise<Reply>>> = {
  ValidateProviderConfig: ofProvider('validateProviderConfig'),
  ConfigureProvider: ofProvider('configureProvider'),
  ValidateResourceConfig: (wire, { type_name, config, client_capabilities }) =>
    ofResource(wire, type_name, {}, async (_, type) =>
      wire.provider.validateResourceConfig({
        type_name,
        config: decode(type, config),
        client_capabilities: client_capabilities ?? { write_only_attributes_allowed: false },
      }),
    ),
  ValidateDataResourceConfig: (wire, { type_name, config }) =>
    ofDataSource(wire, type_name, {}, async (_, type) =>
      wire.provider.validateDataResourceConfig({ type_name, config: decode(type, config) }),
    ),
  UpgradeResourceState: upgradeState,
  UpgradeResourceIdentity: upgradeIdentity,
  MoveResourceState: moveState,
  CallFunction: callFunction,
  ListResource: listResources,
  ValidateListResourceConfig: (wire, { type_name, config }) =>
    ofList(wire, type_name, {}, async (_, type) => (decode(type, config), {})),
  ReadResource: read,
  PlanResourceChange: plan,
  ApplyResourceChange: apply,
  ImportResourceState: importState,
  ReadDataSource: readData,
  StopProvider: stop,
};

/** A call that is given the block of the provider. */
function ofProvider(call: 'validateProviderConfig' | 'configureProvider') {
  return (wire: Wire, { config }: Message): Promise<Reply> =>
    asked(wire, undefined, {}, async () => {
      const type = typeOf(wire.provider.schema.provider.attributes);
      return wire.provider[call]({ config: decode(type, config) });
    });
}

type Told = Reply & { readonly diagnostics: readonly Reply[] };

/** Asks, and turns what is thrown into diagnostics beside the `safe` reply. `attributes` are what their paths lead through. */
async function asked(
  { log }: Wire,
  attributes: Schema['attributes'] | undefined,
  safe: Reply,
  work: () => Promise<DiagnosticsReply>,
): Promise<Told> {
  try {
    const reply = await work();
    return {
      ...reply,
      diagnostics: (reply.diagnostics ?? []).map((one) => wireDiagnostic(one, attributes)),
    };
  } catch (error) {
    if (![Refusal, CtyError, BadReply].some((known) => error instanceof known))
      log('error', 'a call failed', { stack: framesOf(error) });
    return {
      ...safe,
      diagnostics: callErrorOf(error).map((one) => wireDiagnostic(one, attributes)),
    };
  }
}

/** A question about a type, by its schema and the type of its values. */
type Work = (attributes: Schema['attributes'], type: CtyType) => Promise<DiagnosticsReply>;

const among =
  (place: 'resources' | 'dataSources' | 'lists') =>
  (wire: Wire, name: string, safe: Reply, work: Work): Promise<Told> => {
    const schemas = wire.provider.schema[place];
    return asked(wire, own(schemas, name)?.attributes, safe, async () => {
      const { attributes } = schemaOf(schemas, name);
      return work(attributes, typeOf(attributes));
    });
  };

const ofResource = among('resources');
const ofDataSource = among('dataSources');
const ofList = among('lists');

/** A response that core would refuse: it gets what is wrong with it instead. */
class BadReply extends Error {
  constructor(readonly diagnostics: readonly WireDiagnostic[]) {
    super();
  }
}

/** @throws BadReply where there are errors */
function assertNone(errors: readonly WireDiagnostic[], beside: readonly WireDiagnostic[]): void {
  if (errors.length > 0) throw new BadReply([...beside, ...errors]);
}

async function stop(wire: Wire): Promise<Reply> {
  const { diagnostics } = await asked(wire, undefined, {}, async () =>
    wire.provider.stopProvider().then(() => ({})),
  );
  return { Error: diagnostics.map(({ summary }) => summary).join('\n') };
}

function upgradeState(wire: Wire, { type_name, version, raw_state }: Message): Promise<Reply> {
  return ofResource(wire, type_name, {}, async (attributes, type) => {
    const raw = rawOf(raw_state);
    const request = { type_name, version, raw };
    const { upgraded = null, diagnostics = [] } = await wire.provider.upgradeResourceState(request);
    // Nearly always, what lies in terraform's state is of this schema. It goes back in core's own form all the same, which core reads faster.
    if (!equal(upgraded, raw)) assertNone(stateReplyError(attributes, upgraded), diagnostics);
    return { upgraded_state: packed(type, upgraded), diagnostics };
  });
}

function upgradeIdentity(wire: Wire, { type_name, version, raw_identity }: Message) {
  return asked(wire, undefined, {}, async () => {
    const identity = own(wire.provider.schema.identities, type_name);
    if (!identity) throw new CtyError([], `${type_name} has no identity`);
    const request = { type_name, version, raw: rawOf(raw_identity) };
    const { upgraded = null, diagnostics = [] } =
      await wire.provider.upgradeResourceIdentity(request);
    return {
      upgraded_identity: { identity_data: packed(typeOf(identity.attributes), upgraded) },
      diagnostics,
    };
  });
}

function moveState(wire: Wire, message: Message): Promise<Reply> {
  const { target_type_name: type_name, source_schema_version: version, source_state } = message;
  return ofResource(wire, type_name, {}, async (attributes, type) => {
    const { target, diagnostics = [] } = await wire.provider.moveResourceState({
      type_name,
      version,
      raw: rawOf(source_state),
      source: { type: message.source_type_name, provider: message.source_provider_address },
    });
    if (target === undefined) return { diagnostics };
    assertNone(stateReplyError(attributes, target), diagnostics);
    return {
      target_state: packed(type, target),
      target_private: message.source_private,
      ...identityIn(wire, 'target_identity', type_name, target),
      diagnostics,
    };
  });
}

/** A stream: an event for each object, or one that says what is wrong. */
async function listResources(wire: Wire, message: Message): Promise<Reply> {
  const { type_name, config, include_resource_object: whole, limit } = message;
  const events: Reply[] = [];
  const { diagnostics } = await ofList(wire, type_name, {}, async (_, listed) => {
    const { attributes } = schemaOf(wire.provider.schema.resources, type_name);
    const request = { type_name, config: decode(listed, config), limit };
    const { objects = [], diagnostics = [] } = await wire.provider.listResource(request);
    for (const { name, state } of objects) {
      assertNone(stateReplyError(attributes, state), diagnostics);
      events.push({
        ...identityIn(wire, 'identity', type_name, state),
        display_name: name,
        ...(whole && { resource_object: packed(typeOf(attributes), state) }),
      });
    }
    return { diagnostics };
  });
  return { events: diagnostics.length > 0 ? [{ diagnostic: diagnostics }] : events };
}

/** An error of a function is no diagnostic; core puts a full stop behind its text. */
const functionError = (text: string, argument?: number): Reply => ({
  error: { text: text.replace(/\.$/, ''), ...defined({ function_argument: argument }) },
});

/** Core calls no function that the schema does not name. */
async function callFunction(wire: Wire, { name, arguments: given }: Message): Promise<Reply> {
  const schema = own(wire.provider.schema.functions, name);
  if (!schema) return functionError(`There is no function ${name}`);
  let argument: number | undefined;
  try {
    const values = schema.parameters.map(({ type }, index) => {
      argument = index;
      return decode(type, given[index] ?? null);
    });
    argument = undefined;
    const { result = null, error } = await wire.provider.callFunction({ name, values });
    return error
      ? functionError(error.text, error.argument)
      : { result: packed(schema.returns, result) };
  } catch (error) {
    const [{ summary, detail = '' } = { summary: '' }] = callErrorOf(error);
    return functionError(`${summary}. ${detail}`, argument);
  }
}

function read(wire: Wire, { type_name, current_state, private: kept }: Message): Promise<Reply> {
  const safe = { new_state: current_state ?? NULL, private: kept };
  return ofResource(wire, type_name, safe, async (attributes, type) => {
    const current = decode(type, current_state);
    const {
      new_state = current,
      private: secret = kept,
      diagnostics = [],
    } = await wire.provider.readResource({ type_name, current_state: current, private: kept });
    const moved = !equal(new_state, current);
    if (moved) assertNone(stateReplyError(attributes, new_state), diagnostics);
    return {
      new_state: moved ? packed(type, new_state) : safe.new_state,
      private: secret,
      ...identityIn(wire, 'new_identity', type_name, moved ? new_state : current),
      diagnostics,
    };
  });
}

function plan(wire: Wire, message: Message): Promise<Reply> {
  const { type_name, prior_private } = message;
  const safe = { planned_state: message.prior_state ?? NULL, planned_private: prior_private };
  return ofResource(wire, type_name, safe, async (attributes, type) => {
    const prior_state = decode(type, message.prior_state);
    // Core proposes what is there: nothing is planned. A secret that goes again has another version, which is in both.
    if (prior_state !== null && sameBytes(message.prior_state, message.proposed_new_state))
      return {
        ...safe,
        ...identityIn(wire, 'planned_identity', type_name, prior_state),
        diagnostics: [],
      };
    const {
      planned_state,
      requires_replace = [],
      diagnostics = [],
    } = await wire.provider.planResourceChange({
      type_name,
      prior_state,
      proposed_new_state: decode(type, message.proposed_new_state),
      config: decode(type, message.config),
    });
    if (planned_state === undefined) return { ...safe, diagnostics };
    assertNone(planReplyError(attributes, planned_state), diagnostics);
    return {
      planned_state: packed(type, planned_state),
      planned_private: prior_private,
      requires_replace: requires_replace.map((path) => wirePath(type, path)),
      ...identityIn(wire, 'planned_identity', type_name, planned_state),
      diagnostics,
    };
  });
}

/** From here on an object may exist that nobody but this reply knows of: what cannot be said of it is left out, never the whole. */
function apply(wire: Wire, message: Message): Promise<Reply> {
  const { type_name, planned_private } = message;
  const safe = { new_state: message.prior_state ?? NULL, private: planned_private };
  return ofResource(wire, type_name, safe, async (attributes, type) => {
    const prior_state = decode(type, message.prior_state);
    const {
      new_state = prior_state,
      private: secret = planned_private,
      diagnostics = [],
    } = await wire.provider.applyResourceChange({
      type_name,
      prior_state,
      planned_state: decode(type, message.planned_state),
      config: decode(type, message.config),
      planned_private,
    });
    const { value, bytes, misfits } = known(attributes, new_state);
    return {
      new_state: bytes,
      private: secret,
      ...identityIn(wire, 'new_identity', type_name, value),
      diagnostics: [...diagnostics, ...misfits],
    };
  });
}

function importState(wire: Wire, { type_name, id, identity }: Message): Promise<Reply> {
  const { resources, identities } = wire.provider.schema;
  return ofResource(wire, type_name, {}, async () => {
    const shape = own(identities, type_name);
    const given =
      identity && shape ? decode(typeOf(shape.attributes), identity.identity_data) : null;
    const request = { type_name, id, identity: given };
    const { imported_resources = [], diagnostics = [] } =
      await wire.provider.importResourceState(request);
    const found = imported_resources.map((one) => ({
      ...one,
      attributes: schemaOf(resources, one.type_name).attributes,
    }));
    const errors = found.flatMap(({ attributes, state }) => stateReplyError(attributes, state));
    assertNone(errors, diagnostics);
    const imported = found.map(({ type_name, state, attributes }) => ({
      type_name,
      state: packed(typeOf(attributes), state),
      ...identityIn(wire, 'identity', type_name, state),
    }));
    return { imported_resources: imported, diagnostics };
  });
}

function readData(wire: Wire, { type_name, config }: Message): Promise<Reply> {
  return ofDataSource(wire, type_name, {}, async (attributes, type) => {
    const given = decode(type, config);
    const request = { type_name, config: given };
    const { state, diagnostics = [] } = await wire.provider.readDataSource(request);
    if (state === undefined) return { diagnostics };
    assertNone(stateReplyError(attributes, state), diagnostics);
    return { state: packed(type, state), diagnostics };
  });
}

/** The identity that a state holds, where the type has one and all of it is known. */
function identityIn(
  { provider: { schema } }: Wire,
  name: string,
  type_name: string,
  state: CtyValue,
): Reply {
  const identity = own(schema.identities, type_name);
  if (!identity || typeof state !== 'object' || state === null) return {};
  const held = identity.attributes.map(({ name }): [string, CtyValue] => [
    name,
    memberOf(state, name),
  ]);
  if (held.some(([, value]) => value === null || value instanceof Unknown)) return {};
  return {
    [name]: { identity_data: packed(typeOf(identity.attributes), Object.fromEntries(held)) },
  };
}

const sameBytes = (a: DynamicValue | null, b: DynamicValue | null): boolean =>
  a !== null &&
  b !== null &&
  Buffer.compare(a.msgpack, b.msgpack) === 0 &&
  Buffer.compare(a.json, b.json) === 0;

const NULL = { msgpack: Uint8Array.of(0xc0) };

function schemaOf(schemas: ProviderSchema['resources'], name: string): Schema {
  const found = own(schemas, name);
  if (!found)
    throw new CtyError([], `there is no ${name}: it has ${Object.keys(schemas).join(', ')}`);
  return found;
}

/** States of Terraform before 0.12 have another form; no state of this provider is that old. */
function rawOf(raw: RawState | null): unknown {
  if (!raw || raw.json.length === 0) throw new CtyError([], 'the state is not in JSON');
  return parsed(raw.json);
}

function packed(type: CtyType, value: CtyValue): { readonly msgpack: Uint8Array } {
  const msgpack = encode(type, value);
  if (msgpack.length > LARGEST_MESSAGE - WIDTH)
    throw new CtyError(
      [],
      `it has ${msgpack.length} bytes, and terraform takes ${LARGEST_MESSAGE - WIDTH} at most`,
    );
  return { msgpack };
}

/** For what else is in a message. */
const WIDTH = 1024 * 1024;

/** A state as far as it can be told, and what there is to say about the rest. */
function known(attributes: readonly SchemaAttribute[], state: CtyValue) {
  const type = typeOf(attributes);
  const misfits = [...stateReplyError(attributes, state)];
  try {
    if (misfits.length === 0) return { value: state, bytes: packed(type, state), misfits };
  } catch (error) {
    misfits.push(...callErrorOf(error));
  }
  const value = salvaged(attributes, state, fits);
  return { value, bytes: { msgpack: encode(type, value) }, misfits };
}

function fits(type: CtyType, value: CtyValue): boolean {
  try {
    return encode(type, value).length < LARGEST_MESSAGE / 64;
  } catch {
    return false;
  }
}

function wireDiagnostic(
  { severity, summary, detail = '', path = [] }: WireDiagnostic,
  attributes: Schema['attributes'] = [],
): Reply {
  return {
    severity: severity === 'error' ? 'ERROR' : 'WARNING',
    summary,
    detail,
    ...(path.length > 0 && {
      attribute: wirePath(typeOf(attributes), shownPath(attributes, path)),
    }),
  };
}

/** Core finds no name inside an attribute, and would show where the resource begins: the path ends before it. In a block it does. */
function shownPath(attributes: Schema['attributes'], path: Path): Path {
  const outer = attributes.some(({ name, block }) => block && name === path[0]) ? 1 : 0;
  const inner = path.findIndex((step, index) => index > outer && typeof step === 'string');
  return inner < 0 ? path : path.slice(0, inner);
}

/** Core names no elements of sets, so a path ends at one. */
function wirePath(type: CtyType | undefined, path: Path): Reply {
  const steps: Reply[] = [];
  let here = type;
  for (const step of path) {
    if (here?.[0] === 'set') break;
    if (typeof step === 'string') steps.push({ attribute_name: step });
    else if (typeof step === 'number') steps.push({ element_key_int: step });
    else steps.push({ element_key_string: step.key });
    here = inside(here, step);
  }
  return { steps };
}

function inside(type: CtyType | undefined, step: Path[number]): CtyType | undefined {
  if (type === undefined || typeof type === 'string') return undefined;
  if (type[0] === 'object') return own(type[1], String(step));
  return type[1];
}

function callErrorOf(error: unknown): readonly WireDiagnostic[] {
  if (error instanceof Refusal) return error.diagnostics.map(fromDiagnostic);
  if (error instanceof BadReply) return error.diagnostics;
  if (error instanceof CtyError) {
    const detail = `${wordsOfPath(error.path)}${error.message}.`;
    return [wireError(error.path, 'The value does not fit the schema', detail)];
  }
  const detail = 'It is a mistake in the provider; please report it with what TF_LOG=error prints.';
  return [wireError([], 'This should not have happened', detail)];
}

const fromDiagnostic = ({ severity, summary, detail, attribute }: Diagnostic): WireDiagnostic => ({
  severity: severity === 'error' ? 'error' : 'warning',
  summary: attribute === undefined ? summary : `${attribute}: ${summary}`,
  ...defined({ detail }),
});

/** The stack frames of an error, without its message, which may quote the input. */
const framesOf = (error: unknown): string =>
  error instanceof Error
    ? `${error.name}${(error.stack ?? '')
        .split('\n')
        .filter((line) => /^\s+at /.test(line))
        .join('\n')}`
    : typeof error;

const schemasOf = (schema: ProviderSchema): Reply => ({
  provider: wireSchema(schema.provider),
  resource_schemas: entriesOf(schema.resources, wireSchema),
  data_source_schemas: entriesOf(schema.dataSources, wireSchema),
  list_resource_schemas: entriesOf(schema.lists, wireSchema),
  functions: functionsOf(schema),
  server_capabilities: {
    plan_destroy: true,
    get_provider_schema_optional: true,
    move_resource_state: true,
  },
});

const functionsOf = ({ functions }: ProviderSchema): readonly Reply[] =>
  entriesOf(functions, ({ parameters, returns, ...one }) => ({
    ...one,
    parameters: parameters.map((each) => ({ ...each, type: typeJson(each.type) })),
    return: { type: typeJson(returns) },
  }));

/** A map, as the wire has it. */
const entriesOf = <T>(all: Readonly<Record<string, T>>, to: (one: T) => Reply): readonly Reply[] =>
  Object.entries(all).map(([key, one]) => ({ key, value: to(one) }));

const typeJson = (type: CtyType | undefined): Buffer => Buffer.from(JSON.stringify(type));

const wireSchema = (schema: Schema): Reply => ({
  version: schema.version,
  block: { version: schema.version, ...wireBlock(schema) },
});

const wireBlock = ({
  description,
  attributes,
}: Pick<Schema, 'description' | 'attributes'>): Reply => ({
  description,
  attributes: attributes.filter((one) => !one.block).map(wireAttribute),
  block_types: attributes.flatMap(({ name, description: doc, nested, block }) =>
    block && nested
      ? {
          type_name: name,
          nesting: nested.nesting,
          block: wireBlock({ description: doc, attributes: nested.attributes }),
        }
      : [],
  ),
});

function wireAttribute({ nested, type, ...attribute }: SchemaAttribute): Reply {
  return nested
    ? {
        ...attribute,
        nested_type: { nesting: nested.nesting, attributes: nested.attributes.map(wireAttribute) },
      }
    : { ...attribute, type: typeJson(type) };
}
