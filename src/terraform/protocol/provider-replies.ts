// The replies of a provider to Terraform, as plain objects: one method per call of protocol 6, with values already
// decoded by the schema. Other files decode requests, check and encode replies, and turn thrown errors into
// diagnostics, so that a handler contains only the meaning.
import type { CtyType, CtyValue, Path } from './cty.js';

/** `path` makes core print the file, the line and the snippet of the configuration. Never holds a secret. */
export interface WireDiagnostic {
  readonly severity: 'error' | 'warning';
  readonly summary: string;
  readonly detail?: string;
  readonly path?: Path;
}

/** An attribute has a `type`, or is an object (or a collection of objects) with attributes of its own: `nested`. A `block` is such an object, and is written without `=`. */
export interface SchemaAttribute {
  readonly name: string;
  readonly type?: CtyType;
  readonly nested?: {
    readonly nesting: 'SINGLE' | 'LIST' | 'SET' | 'MAP';
    readonly attributes: readonly SchemaAttribute[];
  };
  readonly block?: true;
  readonly description: string;
  readonly required?: true;
  readonly optional?: true;
  readonly computed?: true;
  readonly sensitive?: true;
  readonly write_only?: true;
}

export interface Schema {
  readonly version: number;
  readonly description: string;
  readonly attributes: readonly SchemaAttribute[];
}

type Plain = Required<Pick<SchemaAttribute, 'name' | 'type' | 'description'>>;

export interface IdentitySchema {
  readonly version: number;
  /** Named as the attributes of the resource that hold them: replies take identities from their states. */
  readonly attributes: readonly (Plain & { readonly required_for_import: true })[];
}

export interface FunctionSchema {
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Plain[];
  readonly returns: CtyType;
}

/** Everything that is known before anything is asked, by terraform's names. */
export interface ProviderSchema {
  readonly provider: Schema;
  readonly resources: Readonly<Record<string, Schema>>;
  readonly dataSources: Readonly<Record<string, Schema>>;
  /** By resource type: what its objects are selected by where they are listed. */
  readonly lists: Readonly<Record<string, Schema>>;
  /** By resource type; a type that is absent has no identity. */
  readonly identities: Readonly<Record<string, IdentitySchema>>;
  readonly functions: Readonly<Record<string, FunctionSchema>>;
}

/** Values of a type. Objects hold every attribute of their schema; what is not set is null, what is not known yet an `Unknown`. */
type Typed<Values extends string = never> = Readonly<
  Record<'type_name', string> & Record<Values, CtyValue>
>;
/** `raw` is JSON as it lies in terraform's state, numbers exact, of the schema version `version`. */
type UpgradeRequest = Typed & { readonly version: number; readonly raw: unknown };

export interface DiagnosticsReply {
  readonly diagnostics?: readonly WireDiagnostic[];
}
/** A state that is absent becomes null, or where core would lose an object, the one it holds already. */
type Replied<Members> = Promise<DiagnosticsReply & Partial<Readonly<Members>>>;
export interface ReadReply extends DiagnosticsReply {
  /** Null: the object is provably gone. Absent (with an error): what core holds stands. */
  readonly new_state?: CtyValue;
  /** Absent: as it was. */
  readonly private?: Uint8Array;
}
export interface PlanReply extends DiagnosticsReply {
  readonly planned_state?: CtyValue;
  readonly requires_replace?: readonly Path[];
}
export interface ApplyReply extends DiagnosticsReply {
  /** With an error: what is known of the object that exists now, null where none does. Absent: as it was before. */
  readonly new_state?: CtyValue;
  /** Absent: as planned. */
  readonly private?: Uint8Array;
}
/** A result, or what is wrong, with the index of the argument where it is one of them. */
interface FunctionReply {
  readonly result?: CtyValue;
  readonly error?: { readonly text: string; readonly argument?: number };
}

/** A `Refusal` that a method throws becomes its diagnostics; anything else that is thrown, one that says so. */
export interface ProviderServer {
  readonly schema: ProviderSchema;
  validateProviderConfig(request: { readonly config: CtyValue }): Promise<DiagnosticsReply>;
  /** `write_only_attributes_allowed` is false for terraform before 1.11: a write-only value would end up in its state. */
  validateResourceConfig(
    request: Typed<'config'> & {
      readonly client_capabilities: { readonly write_only_attributes_allowed: boolean };
    },
  ): Promise<DiagnosticsReply>;
  validateDataResourceConfig(request: Typed<'config'>): Promise<DiagnosticsReply>;
  configureProvider(request: { readonly config: CtyValue }): Promise<DiagnosticsReply>;
  upgradeResourceState(request: UpgradeRequest): Replied<{ upgraded: CtyValue }>;
  upgradeResourceIdentity(request: UpgradeRequest): Replied<{ upgraded: CtyValue }>;
  readResource(
    request: Typed<'current_state'> & { readonly private: Uint8Array },
  ): Promise<ReadReply>;
  /** `prior_state` is null for a create, `proposed_new_state` and `config` for a destroy. */
  planResourceChange(
    request: Typed<'prior_state' | 'proposed_new_state' | 'config'>,
  ): Promise<PlanReply>;
  /** `planned_state` and `config` are null for a destroy. */
  applyResourceChange(
    request: Typed<'prior_state' | 'planned_state' | 'config'> & {
      readonly planned_private: Uint8Array;
    },
  ): Promise<ApplyReply>;
  /** `id` is empty where `identity` says what to import; null where core gives none. */
  importResourceState(
    request: Typed<'identity'> & { readonly id: string },
  ): Replied<{ imported_resources: readonly Typed<'state'>[] }>;
  /** `raw` is JSON as terraform's state has it of another type, or of a type of another provider. */
  moveResourceState(
    request: UpgradeRequest & {
      readonly source: { readonly type: string; readonly provider: string };
    },
  ): Replied<{ target: CtyValue }>;
  /** At most `limit` objects, if that is above zero. */
  listResource(
    request: Typed<'config'> & { readonly limit: number },
  ): Replied<{ objects: readonly { readonly name: string; readonly state: CtyValue }[] }>;
  /** Every argument is known and not null. Called before anything is configured. */
  callFunction(request: {
    readonly name: string;
    readonly values: readonly CtyValue[];
  }): Promise<FunctionReply>;
  readDataSource(request: Typed<'config'>): Replied<{ state: CtyValue }>;
  /** Core was interrupted: end what is under way in good order. */
  stopProvider(): Promise<void>;
  /** The process ends: what has to be put in order, within a second. */
  close(): Promise<void>;
}
