// The calls of the protocol, from message to message: decode by the schema, ask the provider, check what it answers,
// encode. Whatever goes wrong on the way is a diagnostic, and core keeps what it had or gets what is known.
import { defined, equal, own, Refusal, type Diagnostic } from '../../model/index.js';
import {
  applyReplyError,
  planReplyError,
  readReplyError,
  salvaged,
  stateReplyError,
} from '../reply-checks.js';
import {
  CtyError,
  decode,
  encode,
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
  ProviderServer,
  Schema,
  SchemaAttribute,
  WireDiagnostic,
} from './provider-server.js';
import { RecentStates } from '../state-cache.js';
import { typeOf } from '../terraform-schema.js';

/** A request as it comes off the wire: every scalar is there, messages may be null. */
export interface Message {
  readonly type_name?: string;
  readonly id?: string;
  readonly version?: number;
  readonly terraform_version?: string;
  readonly config?: DynamicValue | null;
  readonly current_state?: DynamicValue | null;
  readonly prior_state?: DynamicValue | null;
  readonly proposed_new_state?: DynamicValue | null;
  readonly planned_state?: DynamicValue | null;
  readonly private?: Uint8Array;
  readonly prior_private?: Uint8Array;
  readonly planned_private?: Uint8Array;
  readonly raw_state?: { readonly json: Uint8Array } | null;
  readonly raw_identity?: { readonly json: Uint8Array } | null;
  readonly identity?: { readonly identity_data: DynamicValue | null } | null;
  readonly client_capabilities?: { readonly write_only_attributes_allowed: boolean } | null;
}
export type Reply = { readonly [name: string]: unknown };
export type Calls = Readonly<Record<string, (message: Message) => Promise<Reply>>>;

interface Wire {
  readonly provider: ProviderServer;
  readonly log: Log;
  readonly states: RecentStates;
  /** By state: what names the object that it is of. */
  readonly identities: WeakMap<object, Reply>;
}

export function callsOf(provider: ProviderServer, log: Log): Calls {
  const wire = {
    provider,
    log,
    states: new RecentStates(),
    identities: new WeakMap<object, Reply>(),
  };
  const told = describe(provider);
  const others = Object.entries(answers).map(([name, answer]): [string, Calls[string]] => [
    name,
    (message) => answer(wire, message),
  ]);
  return {
    GetProviderSchema: async () => told().schema,
    GetResourceIdentitySchemas: async () => told().identities,
    ...Object.fromEntries(others),
  };
}

const answers: Readonly<Record<string, (wire: Wire, message: Message) => Promise<Reply>>> = {
  ValidateProviderConfig: (wire, { config }) =>
    asked(wire, async () =>
      wire.provider.validateProviderConfig({
        config: valueOf(wire.provider.schema.provider, config),
      }),
    ),
  ConfigureProvider: (wire, { config, terraform_version = '' }) =>
    asked(wire, async () =>
      wire.provider.configureProvider({
        terraform_version,
        config: valueOf(wire.provider.schema.provider, config),
      }),
    ),
  ValidateResourceConfig: validateResource,
  ValidateDataResourceConfig: validateDataSource,
  UpgradeResourceState: upgradeState,
  UpgradeResourceIdentity: upgradeIdentity,
  ReadResource: read,
  PlanResourceChange: plan,
  ApplyResourceChange: apply,
  ImportResourceState: importState,
  ReadDataSource: readData,
  StopProvider: stop,
};

/** Asks, and turns what is thrown into diagnostics beside the `safe` reply. `schema` is what their paths lead through. */
async function asked(
  { log }: Wire,
  work: () => Promise<DiagnosticsReply>,
  schema?: Schema,
  safe: Reply = {},
): Promise<Reply> {
  const type = schema ? typeOf(schema.attributes) : 'dynamic';
  try {
    const reply = await work();
    return {
      ...reply,
      diagnostics: (reply.diagnostics ?? []).map((one) => wireDiagnostic(one, type)),
    };
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof CtyError))
      log('error', 'a call failed', { stack: framesOf(error) });
    return { ...safe, diagnostics: callErrorOf(error).map((one) => wireDiagnostic(one, type)) };
  }
}

async function validateResource(
  wire: Wire,
  { type_name = '', config, client_capabilities }: Message,
): Promise<Reply> {
  const { resources } = wire.provider.schema;
  const capabilities = {
    write_only_attributes_allowed: client_capabilities?.write_only_attributes_allowed ?? false,
  };
  const work = async (): Promise<DiagnosticsReply> =>
    wire.provider.validateResourceConfig({
      type_name,
      config: valueOf(schemaOf(resources, type_name), config),
      client_capabilities: capabilities,
    });
  return asked(wire, work, own(resources, type_name));
}

async function validateDataSource(wire: Wire, { type_name = '', config }: Message): Promise<Reply> {
  const { dataSources } = wire.provider.schema;
  return asked(
    wire,
    async () =>
      wire.provider.validateDataResourceConfig({
        type_name,
        config: valueOf(schemaOf(dataSources, type_name), config),
      }),
    own(dataSources, type_name),
  );
}

async function stop(wire: Wire): Promise<Reply> {
  const { diagnostics } = await asked(wire, async () =>
    wire.provider.stopProvider().then(() => ({})),
  );
  return { Error: (diagnostics as readonly Reply[]).map(({ summary }) => summary).join('\n') };
}

async function upgradeState(
  wire: Wire,
  { type_name = '', version = 0, raw_state }: Message,
): Promise<Reply> {
  return asked(
    wire,
    async () => {
      const { attributes } = schemaOf(wire.provider.schema.resources, type_name);
      const raw = rawOf(raw_state);
      const { upgraded = null, diagnostics = [] } = await wire.provider.upgradeResourceState({
        type_name,
        version,
        raw,
      });
      // Nearly always, what lies in terraform's state is of this schema. It goes back in core's own form all the same, which core reads faster.
      const error = equal(upgraded, raw) ? [] : stateReplyError(attributes, upgraded);
      if (error.length > 0) return { diagnostics: [...diagnostics, ...error] };
      const upgraded_state = packed(typeOf(attributes), upgraded);
      wire.states.keep(typeOf(attributes), upgraded_state.msgpack, upgraded);
      return { upgraded_state, diagnostics };
    },
    own(wire.provider.schema.resources, type_name),
  );
}

async function upgradeIdentity(
  wire: Wire,
  { type_name = '', version = 0, raw_identity }: Message,
): Promise<Reply> {
  return asked(wire, async () => {
    const identity = own(wire.provider.schema.identities, type_name);
    if (!identity) throw new CtyError([], `${type_name} has no identity`);
    const { upgraded = null, diagnostics = [] } = await wire.provider.upgradeResourceIdentity({
      type_name,
      version,
      raw: rawOf(raw_identity),
    });
    return {
      upgraded_identity: { identity_data: packed(typeOf(identity.attributes), upgraded) },
      diagnostics,
    };
  });
}

async function read(wire: Wire, message: Message): Promise<Reply> {
  const { type_name = '', current_state, private: kept = new Uint8Array() } = message;
  const safe = { new_state: current_state ?? NULL, private: kept };
  return asked(
    wire,
    async () => {
      const { attributes } = schemaOf(wire.provider.schema.resources, type_name);
      const current = wire.states.decode(typeOf(attributes), current_state ?? NONE);
      const {
        new_state = current,
        private: secret = kept,
        diagnostics = [],
      } = await wire.provider.readResource({ type_name, current_state: current, private: kept });
      const moved = !equal(new_state, current);
      const error = moved ? stateReplyError(attributes, new_state) : [];
      if (error.length > 0) return { ...safe, diagnostics: [...diagnostics, ...error] };
      const state = moved ? packed(typeOf(attributes), new_state) : safe.new_state;
      return {
        new_state: state,
        private: secret,
        ...identityIn(wire, 'new_identity', type_name, moved ? new_state : current),
        diagnostics,
      };
    },
    own(wire.provider.schema.resources, type_name),
    safe,
  );
}

async function plan(wire: Wire, message: Message): Promise<Reply> {
  const { type_name = '', prior_private = new Uint8Array() } = message;
  const safe = { planned_state: message.prior_state ?? NULL, planned_private: prior_private };
  return asked(
    wire,
    async () => {
      const { attributes } = schemaOf(wire.provider.schema.resources, type_name);
      const type = typeOf(attributes);
      const prior_state = wire.states.decode(type, message.prior_state ?? NONE);
      // Core proposes what is there: nothing is planned. A secret that goes again has another version, which is in both.
      if (prior_state !== null && sameBytes(message.prior_state, message.proposed_new_state))
        return {
          ...safe,
          ...identityIn(wire, 'planned_identity', type_name, prior_state),
          diagnostics: [],
        };
      const request = {
        type_name,
        prior_state,
        proposed_new_state: decode(type, message.proposed_new_state ?? NONE),
        config: decode(type, message.config ?? NONE),
        prior_private,
      };
      const {
        planned_state,
        planned_private = prior_private,
        requires_replace = [],
        diagnostics = [],
      } = await wire.provider.planResourceChange(request);
      if (planned_state === undefined) return { ...safe, diagnostics };
      const error = planReplyError(attributes, request.prior_state, request.config, planned_state);
      if (error.length > 0) return { ...safe, diagnostics: [...diagnostics, ...error] };
      const replaced = requires_replace.map((path) => wirePath(type, path));
      return {
        planned_state: packed(type, planned_state),
        planned_private,
        requires_replace: replaced,
        ...identityIn(wire, 'planned_identity', type_name, planned_state),
        diagnostics,
      };
    },
    own(wire.provider.schema.resources, type_name),
    safe,
  );
}

/** From here on an object may exist that nobody but this reply knows of: what cannot be said of it is left out, never the whole. */
async function apply(wire: Wire, message: Message): Promise<Reply> {
  const { type_name = '', planned_private = new Uint8Array() } = message;
  const safe = { new_state: message.prior_state ?? NULL, private: planned_private };
  return asked(
    wire,
    async () => {
      const { attributes } = schemaOf(wire.provider.schema.resources, type_name);
      const type = typeOf(attributes);
      const planned = decode(type, message.planned_state ?? NONE);
      const request = {
        type_name,
        prior_state: decode(type, message.prior_state ?? NONE),
        planned_state: planned,
        config: decode(type, message.config ?? NONE),
        planned_private,
      };
      const {
        new_state = request.prior_state,
        private: secret = planned_private,
        diagnostics = [],
      } = await wire.provider.applyResourceChange(request);
      const failed = diagnostics.some(({ severity }) => severity === 'error');
      const error = failed ? [] : applyReplyError(attributes, planned, new_state);
      const { value, bytes, misfits } = known(attributes, new_state);
      return {
        new_state: bytes,
        private: secret,
        ...identityIn(wire, 'new_identity', type_name, value),
        diagnostics: [...diagnostics, ...error, ...(error.length > 0 ? [] : misfits)],
      };
    },
    own(wire.provider.schema.resources, type_name),
    safe,
  );
}

async function importState(
  wire: Wire,
  { type_name = '', id = '', identity }: Message,
): Promise<Reply> {
  return asked(
    wire,
    async () => {
      schemaOf(wire.provider.schema.resources, type_name);
      const shape = own(wire.provider.schema.identities, type_name);
      const given =
        identity?.identity_data && shape
          ? decode(typeOf(shape.attributes), identity.identity_data)
          : null;
      const { imported_resources = [], diagnostics = [] } = await wire.provider.importResourceState(
        { type_name, id, identity: given },
      );
      const error = imported_resources.flatMap((one) =>
        stateReplyError(
          schemaOf(wire.provider.schema.resources, one.type_name).attributes,
          one.state,
        ),
      );
      if (error.length > 0) return { diagnostics: [...diagnostics, ...error] };
      const imported = imported_resources.map((one) => ({
        type_name: one.type_name,
        state: packed(
          typeOf(schemaOf(wire.provider.schema.resources, one.type_name).attributes),
          one.state,
        ),
        private: one.private ?? new Uint8Array(),
        ...identityIn(wire, 'identity', one.type_name, one.state),
      }));
      return { imported_resources: imported, diagnostics };
    },
    own(wire.provider.schema.resources, type_name),
  );
}

async function readData(wire: Wire, { type_name = '', config }: Message): Promise<Reply> {
  return asked(
    wire,
    async () => {
      const { attributes } = schemaOf(wire.provider.schema.dataSources, type_name);
      const given = decode(typeOf(attributes), config ?? NONE);
      const { state, diagnostics = [] } = await wire.provider.readDataSource({
        type_name,
        config: given,
      });
      if (state === undefined) return { diagnostics };
      const error = readReplyError(attributes, given, state);
      if (error.length > 0) return { diagnostics: [...diagnostics, ...error] };
      return { state: packed(typeOf(attributes), state), diagnostics };
    },
    own(wire.provider.schema.dataSources, type_name),
  );
}

/** The identity that a state holds, where the type has one and all of it is known. */
function identityIn(
  { provider: { schema }, identities }: Wire,
  name: string,
  type_name: string,
  state: CtyValue,
): Reply {
  const identity = own(schema.identities, type_name);
  if (!identity || typeof state !== 'object' || state === null) return {};
  const known = identities.get(state);
  if (known) return { [name]: known };
  const held = identity.attributes.map(({ name }): [string, CtyValue] => [
    name,
    own(state as Readonly<Record<string, CtyValue>>, name) ?? null,
  ]);
  if (held.some(([, value]) => value === null || value instanceof Unknown)) return {};
  const made = { identity_data: packed(typeOf(identity.attributes), Object.fromEntries(held)) };
  identities.set(state, made);
  return { [name]: made };
}

const sameBytes = (
  a: DynamicValue | null | undefined,
  b: DynamicValue | null | undefined,
): boolean =>
  a !== null &&
  a !== undefined &&
  b !== null &&
  b !== undefined &&
  Buffer.compare(a.msgpack, b.msgpack) === 0 &&
  Buffer.compare(a.json, b.json) === 0;

const NONE: DynamicValue = { msgpack: new Uint8Array(), json: new Uint8Array() };
const NULL = { msgpack: Uint8Array.of(0xc0) };

function schemaOf(schemas: Readonly<Record<string, Schema>>, name: string): Schema {
  const found = own(schemas, name);
  if (!found)
    throw new CtyError([], `there is no ${name}: it has ${Object.keys(schemas).join(', ')}`);
  return found;
}

const valueOf = ({ attributes }: Schema, value: DynamicValue | null | undefined): CtyValue =>
  decode(typeOf(attributes), value ?? NONE);

/** A state of terraform before 0.12 comes otherwise; none of ours can be that old. */
function rawOf(raw: { readonly json: Uint8Array } | null | undefined): unknown {
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

interface Known {
  readonly value: CtyValue;
  readonly bytes: { readonly msgpack: Uint8Array };
  readonly misfits: readonly WireDiagnostic[];
}

/** A state as far as it can be told, and what there is to say about the rest. */
function known(attributes: readonly SchemaAttribute[], state: CtyValue): Known {
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
  type: CtyType,
): Reply {
  return {
    severity: severity === 'error' ? 'ERROR' : 'WARNING',
    summary,
    detail,
    ...(path.length > 0 ? { attribute: wirePath(type, shownPath(path)) } : {}),
  };
}

/** Core finds no name inside an attribute, and would show where the resource begins: the path ends before it. */
function shownPath(path: Path): Path {
  const inner = path.findIndex((step, index) => index > 0 && typeof step === 'string');
  return inner < 0 ? path : path.slice(0, inner);
}

/** Core names no elements of sets, so a path ends at one. */
function wirePath(type: CtyType, path: Path): Reply {
  const steps: Reply[] = [];
  let here: CtyType | undefined = type;
  for (const step of path) {
    if (here?.[0] === 'set') break;
    if (typeof step === 'string') steps.push({ attribute_name: step });
    else
      steps.push(
        typeof step === 'number' ? { element_key_int: step } : { element_key_string: step.key },
      );
    here = inside(here, step);
  }
  return { steps };
}

function inside(type: CtyType | undefined, step: Path[number]): CtyType | undefined {
  if (type === undefined || typeof type === 'string') return undefined;
  if (type[0] === 'object') return own(type[1], String(step));
  return type[0] === 'tuple' ? type[1][Number(step)] : type[1];
}

function callErrorOf(error: unknown): readonly WireDiagnostic[] {
  if (error instanceof Refusal) return error.diagnostics.map(fromDiagnostic);
  if (error instanceof CtyError)
    return [
      {
        severity: 'error',
        summary: 'The value does not fit the schema',
        detail: `${wordsOfPath(error.path)}${error.message}.`,
        path: error.path,
      },
    ];
  return [
    {
      severity: 'error',
      summary: 'This should not have happened',
      detail: 'It is a mistake in the provider; please report it with what TF_LOG=error prints.',
    },
  ];
}

const fromDiagnostic = ({ severity, summary, detail, attribute }: Diagnostic): WireDiagnostic => ({
  severity: severity === 'error' ? 'error' : 'warning',
  summary: attribute === undefined ? summary : `${attribute}: ${summary}`,
  ...defined({ detail }),
});

/** Where it was thrown. Not the message, which may quote what it choked on. */
const framesOf = (error: unknown): string =>
  error instanceof Error
    ? `${error.name}${(error.stack ?? '')
        .split('\n')
        .filter((line) => /^\s+at /.test(line))
        .join('\n')}`
    : typeof error;

interface CallError {
  readonly schema: Reply;
  readonly identities: Reply;
}

/** Made when first asked for, and once. */
function describe({ schema }: ProviderServer): () => CallError {
  let told: CallError | undefined;
  return () =>
    (told ??= {
      schema: {
        provider: wireSchema(schema.provider),
        resource_schemas: mapped(schema.resources, wireSchema),
        data_source_schemas: mapped(schema.dataSources, wireSchema),
        server_capabilities: { plan_destroy: true, get_provider_schema_optional: true },
      },
      identities: {
        identity_schemas: mapped(schema.identities, ({ version, attributes }) => ({
          version,
          identity_attributes: attributes.map((one) => ({ ...one, type: typeJson(one.type) })),
        })),
      },
    });
}

const mapped = <T, U>(
  record: Readonly<Record<string, T>>,
  to: (value: T) => U,
): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]));
const typeJson = (type: CtyType | undefined): Buffer => Buffer.from(JSON.stringify(type));

const wireSchema = ({ version, description, attributes }: Schema): Reply => ({
  version,
  block: { version, description, attributes: attributes.map(wireAttribute) },
});

function wireAttribute({ nested, type, ...attribute }: SchemaAttribute): Reply {
  return nested
    ? {
        ...attribute,
        nested_type: { nesting: nested.nesting, attributes: nested.attributes.map(wireAttribute) },
      }
    : { ...attribute, type: typeJson(type) };
}
