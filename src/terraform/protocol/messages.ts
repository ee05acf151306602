// The messages and services of plugin protocol 6 that trueup uses, in its own table: names and numbers are the
// protocol's. A table needs no parser when the provider starts, and no file beside it.
import protobuf, { type IField } from 'protobufjs/light.js';

/** The largest message that core takes, in bytes; it refuses a larger one, and with it the object inside. */
export const LARGEST_MESSAGE = 64 * 1024 * 1024;

/** `type name number`, with `repeated` for a list; a map is a list of its entries. What is not in the table is passed over. */
const plugin: Readonly<Record<string, string>> = {
  DynamicValue: 'bytes msgpack 1, bytes json 2',
  Diagnostic:
    'Diagnostic.Severity severity 1, string summary 2, string detail 3, AttributePath attribute 4',
  AttributePath: 'repeated AttributePath.Step steps 1',
  'AttributePath.Step':
    'string attribute_name 1, string element_key_string 2, int64 element_key_int 3',
  RawState: 'bytes json 1',
  ClientCapabilities: 'bool deferral_allowed 1, bool write_only_attributes_allowed 2',
  ServerCapabilities:
    'bool plan_destroy 1, bool get_provider_schema_optional 2, bool move_resource_state 3',
  Schema: 'int64 version 1, Schema.Block block 2',
  'Schema.Block':
    'int64 version 1, repeated Schema.Attribute attributes 2, repeated Schema.NestedBlock block_types 3, string description 4',
  'Schema.NestedBlock':
    'string type_name 1, Schema.Block block 2, Schema.NestedBlock.NestingMode nesting 3',
  'Schema.Attribute':
    'string name 1, bytes type 2, string description 3, bool required 4, bool optional 5, bool computed 6, bool sensitive 7, Schema.Object nested_type 10, bool write_only 11',
  'Schema.Object': 'repeated Schema.Attribute attributes 1, Schema.Object.NestingMode nesting 3',
  ResourceIdentitySchema:
    'int64 version 1, repeated ResourceIdentitySchema.IdentityAttribute identity_attributes 2',
  'ResourceIdentitySchema.IdentityAttribute':
    'string name 1, bytes type 2, bool required_for_import 3, bool optional_for_import 4, string description 5',
  ResourceIdentityData: 'DynamicValue identity_data 1',
  SchemaEntry: 'string key 1, Schema value 2',
  IdentityEntry: 'string key 1, ResourceIdentitySchema value 2',
  Function:
    'repeated Function.Parameter parameters 1, Function.Return return 3, string summary 4, string description 5',
  'Function.Parameter':
    'string name 1, bytes type 2, bool allow_null_value 3, bool allow_unknown_values 4, string description 5',
  'Function.Return': 'bytes type 1',
  FunctionEntry: 'string key 1, Function value 2',
  FunctionError: 'string text 1, int64 function_argument 2',
  'GetFunctions.Request': '',
  'GetFunctions.Response': 'repeated FunctionEntry functions 1, repeated Diagnostic diagnostics 2',
  'CallFunction.Request': 'string name 1, repeated DynamicValue arguments 2',
  'CallFunction.Response': 'DynamicValue result 1, FunctionError error 2',
  'MoveResourceState.Request':
    'string source_provider_address 1, string source_type_name 2, int64 source_schema_version 3, RawState source_state 4, string target_type_name 5, bytes source_private 6',
  'MoveResourceState.Response':
    'DynamicValue target_state 1, repeated Diagnostic diagnostics 2, bytes target_private 3, ResourceIdentityData target_identity 4',
  'GetProviderSchema.Request': '',
  'GetProviderSchema.Response':
    'Schema provider 1, repeated SchemaEntry resource_schemas 2, repeated SchemaEntry data_source_schemas 3, repeated Diagnostic diagnostics 4, ServerCapabilities server_capabilities 6, repeated FunctionEntry functions 7, repeated SchemaEntry list_resource_schemas 9',
  'GetResourceIdentitySchemas.Request': '',
  'GetResourceIdentitySchemas.Response':
    'repeated IdentityEntry identity_schemas 1, repeated Diagnostic diagnostics 2',
  'ValidateProviderConfig.Request': 'DynamicValue config 1',
  'ValidateProviderConfig.Response': 'repeated Diagnostic diagnostics 2',
  'ConfigureProvider.Request': 'DynamicValue config 2',
  'ConfigureProvider.Response': 'repeated Diagnostic diagnostics 1',
  'ValidateResourceConfig.Request':
    'string type_name 1, DynamicValue config 2, ClientCapabilities client_capabilities 3',
  'ValidateResourceConfig.Response': 'repeated Diagnostic diagnostics 1',
  'ValidateDataResourceConfig.Request': 'string type_name 1, DynamicValue config 2',
  'ValidateDataResourceConfig.Response': 'repeated Diagnostic diagnostics 1',
  'UpgradeResourceState.Request': 'string type_name 1, int64 version 2, RawState raw_state 3',
  'UpgradeResourceState.Response':
    'DynamicValue upgraded_state 1, repeated Diagnostic diagnostics 2',
  'UpgradeResourceIdentity.Request': 'string type_name 1, int64 version 2, RawState raw_identity 3',
  'UpgradeResourceIdentity.Response':
    'ResourceIdentityData upgraded_identity 1, repeated Diagnostic diagnostics 2',
  'ReadResource.Request': 'string type_name 1, DynamicValue current_state 2, bytes private 3',
  'ReadResource.Response':
    'DynamicValue new_state 1, repeated Diagnostic diagnostics 2, bytes private 3, ResourceIdentityData new_identity 5',
  'PlanResourceChange.Request':
    'string type_name 1, DynamicValue prior_state 2, DynamicValue proposed_new_state 3, DynamicValue config 4, bytes prior_private 5',
  'PlanResourceChange.Response':
    'DynamicValue planned_state 1, repeated AttributePath requires_replace 2, bytes planned_private 3, repeated Diagnostic diagnostics 4, ResourceIdentityData planned_identity 7',
  'ApplyResourceChange.Request':
    'string type_name 1, DynamicValue prior_state 2, DynamicValue planned_state 3, DynamicValue config 4, bytes planned_private 5',
  'ApplyResourceChange.Response':
    'DynamicValue new_state 1, bytes private 2, repeated Diagnostic diagnostics 3, ResourceIdentityData new_identity 5',
  'ImportResourceState.Request': 'string type_name 1, string id 2, ResourceIdentityData identity 4',
  'ImportResourceState.ImportedResource':
    'string type_name 1, DynamicValue state 2, bytes private 3, ResourceIdentityData identity 4',
  'ImportResourceState.Response':
    'repeated ImportResourceState.ImportedResource imported_resources 1, repeated Diagnostic diagnostics 2',
  'ReadDataSource.Request': 'string type_name 1, DynamicValue config 2',
  'ReadDataSource.Response': 'DynamicValue state 1, repeated Diagnostic diagnostics 2',
  'ListResource.Request':
    'string type_name 1, DynamicValue config 2, bool include_resource_object 3, int64 limit 4',
  'ListResource.Event':
    'ResourceIdentityData identity 1, string display_name 2, DynamicValue resource_object 3, repeated Diagnostic diagnostic 4',
  'ValidateListResourceConfig.Request': 'string type_name 1, DynamicValue config 2',
  'ValidateListResourceConfig.Response': 'repeated Diagnostic diagnostics 1',
  'StopProvider.Request': '',
  'StopProvider.Response': 'string Error 1',
};

const enums: Readonly<Record<string, readonly string[]>> = {
  'Diagnostic.Severity': ['INVALID', 'ERROR', 'WARNING'],
  'Schema.NestedBlock.NestingMode': ['INVALID', 'SINGLE', 'LIST', 'SET', 'MAP', 'GROUP'],
  'Schema.Object.NestingMode': ['INVALID', 'SINGLE', 'LIST', 'SET', 'MAP'],
};

/** A message as a plain object by the protocol's names: 64-bit numbers are numbers, enums their words, bytes are Buffers. */
export type WireMessage = Readonly<Record<string, unknown>>;

export interface Method {
  readonly request: ReturnType<typeof codecOf>;
  /** Of each, where a call returns a stream of events. */
  readonly response: ReturnType<typeof codecOf>;
  readonly streams: boolean;
}

/** Names with dots stand for messages inside of messages, which the wire does not know. */
const nameOf = (name: string): string => name.replaceAll('.', '_');

const fieldsOf = (row: string): Record<string, IField> =>
  Object.fromEntries(
    row.split(', ').flatMap((text) => {
      const [, list, type = '', name = '', id] =
        /^(repeated )?([\w.]+) (\w+) (\d+)$/.exec(text) ?? [];
      const rule = list === undefined ? {} : { rule: 'repeated' };
      return id === undefined ? [] : [[name, { type: nameOf(type), id: Number(id), ...rule }]];
    }),
  );

const types = protobuf.Root.fromJSON({
  nested: Object.fromEntries([
    ...Object.entries(plugin).map(([name, row]) => [nameOf(name), { fields: fieldsOf(row) }]),
    ...Object.entries(enums).map(([name, words]) => [
      nameOf(name),
      { values: Object.fromEntries(words.map((word, number) => [word, number])) },
    ]),
  ]),
});

function codecOf(name: string) {
  const type = types.lookupType(nameOf(name));
  return {
    /** Every scalar and list that is absent has its default; messages that are absent are null. @throws Error where the bytes are no such message */
    decode: (bytes: Buffer): WireMessage =>
      type.toObject(type.decode(bytes), { defaults: true, longs: Number, enums: String }),
    /** Undefined and null members are left out. */
    encode: (message: WireMessage): Uint8Array => type.encode(type.fromObject(message)).finish(),
  };
}

/** Every call by the path it is asked under: each has a request. */
export const methods: ReadonlyMap<string, Method> = new Map(
  Object.keys(plugin)
    .filter((name) => name.endsWith('.Request'))
    .map((name) => {
      const call = name.replace('.Request', '');
      const streams = Object.hasOwn(plugin, `${call}.Event`);
      const response = codecOf(`${call}.${streams ? 'Event' : 'Response'}`);
      return [`/tfplugin6.Provider/${call}`, { request: codecOf(name), response, streams }];
    }),
);
