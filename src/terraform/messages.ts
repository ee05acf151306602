// The messages and services of plugin protocol 6, as far as we speak it, in a table of our own: names and numbers are
// the protocol's. Made into descriptors as they are, without parsing a .proto at each start.
import { fromJSON, type PackageDefinition } from '@grpc/proto-loader';

/** `type name number`, with `repeated`, or `map` where the key is a string; the type of a nested message is found from the inside out. */
const plugin: Readonly<Record<string, string>> = {
  DynamicValue: 'bytes msgpack 1, bytes json 2',
  Diagnostic: 'Severity severity 1, string summary 2, string detail 3, AttributePath attribute 4',
  AttributePath: 'repeated Step steps 1',
  'AttributePath.Step': 'string attribute_name 1, string element_key_string 2, int64 element_key_int 3',
  RawState: 'bytes json 1, map string flatmap 2',
  ClientCapabilities: 'bool deferral_allowed 1, bool write_only_attributes_allowed 2',
  ServerCapabilities: 'bool plan_destroy 1, bool get_provider_schema_optional 2, bool move_resource_state 3',
  Schema: 'int64 version 1, Block block 2',
  'Schema.Block': 'int64 version 1, repeated Attribute attributes 2, string description 4',
  'Schema.Attribute':
    'string name 1, bytes type 2, string description 3, bool required 4, bool optional 5, bool computed 6, bool sensitive 7, Object nested_type 10, bool write_only 11',
  'Schema.Object': 'repeated Attribute attributes 1, NestingMode nesting 3',
  ResourceIdentitySchema: 'int64 version 1, repeated IdentityAttribute identity_attributes 2',
  'ResourceIdentitySchema.IdentityAttribute': 'string name 1, bytes type 2, bool required_for_import 3, bool optional_for_import 4, string description 5',
  ResourceIdentityData: 'DynamicValue identity_data 1',
  'GetProviderSchema.Request': '',
  'GetProviderSchema.Response':
    'Schema provider 1, map Schema resource_schemas 2, map Schema data_source_schemas 3, repeated Diagnostic diagnostics 4, ServerCapabilities server_capabilities 6',
  'GetResourceIdentitySchemas.Request': '',
  'GetResourceIdentitySchemas.Response': 'map ResourceIdentitySchema identity_schemas 1, repeated Diagnostic diagnostics 2',
  'ValidateProviderConfig.Request': 'DynamicValue config 1',
  'ValidateProviderConfig.Response': 'repeated Diagnostic diagnostics 2',
  'ConfigureProvider.Request': 'string terraform_version 1, DynamicValue config 2',
  'ConfigureProvider.Response': 'repeated Diagnostic diagnostics 1',
  'ValidateResourceConfig.Request': 'string type_name 1, DynamicValue config 2, ClientCapabilities client_capabilities 3',
  'ValidateResourceConfig.Response': 'repeated Diagnostic diagnostics 1',
  'ValidateDataResourceConfig.Request': 'string type_name 1, DynamicValue config 2',
  'ValidateDataResourceConfig.Response': 'repeated Diagnostic diagnostics 1',
  'UpgradeResourceState.Request': 'string type_name 1, int64 version 2, RawState raw_state 3',
  'UpgradeResourceState.Response': 'DynamicValue upgraded_state 1, repeated Diagnostic diagnostics 2',
  'UpgradeResourceIdentity.Request': 'string type_name 1, int64 version 2, RawState raw_identity 3',
  'UpgradeResourceIdentity.Response': 'ResourceIdentityData upgraded_identity 1, repeated Diagnostic diagnostics 2',
  'ReadResource.Request': 'string type_name 1, DynamicValue current_state 2, bytes private 3',
  'ReadResource.Response': 'DynamicValue new_state 1, repeated Diagnostic diagnostics 2, bytes private 3, ResourceIdentityData new_identity 5',
  'PlanResourceChange.Request': 'string type_name 1, DynamicValue prior_state 2, DynamicValue proposed_new_state 3, DynamicValue config 4, bytes prior_private 5',
  'PlanResourceChange.Response':
    'DynamicValue planned_state 1, repeated AttributePath requires_replace 2, bytes planned_private 3, repeated Diagnostic diagnostics 4, ResourceIdentityData planned_identity 7',
  'ApplyResourceChange.Request': 'string type_name 1, DynamicValue prior_state 2, DynamicValue planned_state 3, DynamicValue config 4, bytes planned_private 5',
  'ApplyResourceChange.Response': 'DynamicValue new_state 1, bytes private 2, repeated Diagnostic diagnostics 3, ResourceIdentityData new_identity 5',
  'ImportResourceState.Request': 'string type_name 1, string id 2, ResourceIdentityData identity 4',
  'ImportResourceState.ImportedResource': 'string type_name 1, DynamicValue state 2, bytes private 3, ResourceIdentityData identity 4',
  'ImportResourceState.Response': 'repeated ImportedResource imported_resources 1, repeated Diagnostic diagnostics 2',
  'ReadDataSource.Request': 'string type_name 1, DynamicValue config 2',
  'ReadDataSource.Response': 'DynamicValue state 1, repeated Diagnostic diagnostics 2',
  'StopProvider.Request': '',
  'StopProvider.Response': 'string Error 1',
};

const enums: Readonly<Record<string, readonly string[]>> = {
  'Diagnostic.Severity': ['INVALID', 'ERROR', 'WARNING'],
  'Schema.Object.NestingMode': ['INVALID', 'SINGLE', 'LIST', 'SET', 'MAP'],
};

/** Steps of a path are a choice: what is not chosen must not be on the wire, not even as zero. */
const oneofs: Readonly<Record<string, { readonly selector: { readonly oneof: readonly string[] } }>> = {
  'AttributePath.Step': { selector: { oneof: ['attribute_name', 'element_key_string', 'element_key_int'] } },
};

type Node = Record<string, unknown> & { nested: Record<string, Node> };

function fields(table: string): Readonly<Record<string, unknown>> {
  const rows = table.split(', ').flatMap((row) => {
    const [, rule, type, name, id] = /^(?:(repeated|map) )?(\w+) (\w+) (\d+)$/.exec(row) ?? [];
    return name === undefined ? [] : [[name, { type, id: Number(id), ...(rule === 'repeated' ? { rule } : rule === 'map' ? { keyType: 'string' } : {}) }] as const];
  });
  return Object.fromEntries(rows);
}

function place(root: Node, path: string, content: Readonly<Record<string, unknown>>): void {
  let node = root;
  for (const name of path.split('.')) node = node.nested[name] ??= { nested: {} };
  Object.assign(node, content);
}

/** The calls of `Provider`: those that have a request. */
const calls = Object.keys(plugin).flatMap((name) => /^(\w+)\.Request$/.exec(name)?.[1] ?? []);

function descriptor(): { readonly nested: Record<string, Node> } {
  const tfplugin6: Node = { nested: {} };
  for (const [name, table] of Object.entries(plugin)) place(tfplugin6, name, { fields: fields(table), ...(oneofs[name] ? { oneofs: oneofs[name] } : {}) });
  for (const [name, values] of Object.entries(enums)) place(tfplugin6, name, { values: Object.fromEntries(values.map((value, index) => [value, index])) });
  const methods = calls.map((call) => [call, { requestType: `${call}.Request`, responseType: `${call}.Response` }]);
  const controller = { methods: { Shutdown: { requestType: 'Empty', responseType: 'Empty' } }, nested: {} };
  return {
    nested: {
      tfplugin6: { nested: { ...tfplugin6.nested, Provider: { methods: Object.fromEntries(methods), nested: {} } } },
      plugin: { nested: { Empty: { fields: {}, nested: {} }, GRPCController: controller } },
    },
  };
}

/** Services by their full names. Messages keep the protocol's names; 64-bit numbers are numbers, enums their words. */
export const definition = (): PackageDefinition => fromJSON(descriptor(), { keepCase: true, longs: Number, enums: String, defaults: true });
