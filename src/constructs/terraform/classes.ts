// Makes the class of a resource or data source from its kind: a block with typed props, checks and getters.
import { TerraformDataSource, TerraformResource, Token, type TerraformMetaArguments } from '#cdk';
import type { Construct } from 'constructs';
import {
  asCondition,
  isObject,
  keptMembers,
  mapMembers,
  recordsQuery,
  resourceBlock,
  wholeRecord,
  type Attributes,
  type Collection,
  type Kind,
  type ResourceBlock,
  type Stored,
  type WithId,
} from '../../model/index.js';
import { complaints, getterOf, readOf, written } from '../prop-checks.js';
import type { ClassOf, Condition, Flat, Given, Props } from '../props.js';
import { libraryAdapterAt, type CdkTokens } from './library-adapter.js';
import { getters, Records, type Outputs, type Readable } from './outputs.js';

type Meta = Partial<TerraformMetaArguments>;

type Typed = { readonly tfResourceType: string };

type Read<K extends Kind> = WithId<Stored<K['attributes']>>;
type Whole<K extends Kind> = Read<K> & ResourceBlock<K>;
export type ResourceClass<K extends Kind> = ClassOf<
  TerraformResource,
  Flat<Props<Whole<K>, CdkTokens> & Meta>,
  Outputs<Whole<K>, true>
> &
  Typed;
export type LookupClass<K extends Kind> = ClassOf<
  TerraformDataSource,
  Flat<Condition<Read<K>, CdkTokens> & Meta>,
  Outputs<Read<K>, false>
> &
  Typed;
export type RecordsClass<C extends Collection> = ClassOf<
  TerraformDataSource,
  Flat<Props<typeof recordsQuery, CdkTokens> & Meta>,
  Outputs<typeof recordsQuery, false> & {
    readonly records: Records<{} extends C['attributes'] ? typeof wholeRecord : C['attributes']>;
  }
> &
  Typed;

const typeName = (name: string): string => `devicecloud_${name}`;

export function resourceClass<const K extends Kind>(kind: K): ResourceClass<K> {
  const attributes: Attributes = { ...readOf(kind), ...resourceBlock(kind) };
  class Resource extends blockClass(TerraformResource, typeName(kind.singular), attributes) {}
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its getters are defined at run time
  return reading(Resource, getters(attributes, itself, true)) as unknown as ResourceClass<K>;
}

/** Finds one live object by attributes that it has. */
export function lookupClass<const K extends Kind>(kind: K): LookupClass<K> {
  const attributes = readOf(kind);
  const made = blockClass(DataSource, typeName(kind.singular), asCondition(attributes));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its getters are defined at run time
  return reading(made, getters(attributes, itself, false)) as unknown as LookupClass<K>;
}

/** The records of a collection that is only read. */
export function recordsClass<const C extends Collection>({ name, attributes }: C): RecordsClass<C> {
  const known = Object.keys(attributes).length === 0 ? wholeRecord : attributes;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its getters are defined at run time
  return reading(blockClass(DataSource, typeName(name), recordsQuery), {
    ...getters(recordsQuery, itself, false),
    records: getterOf((self: Readable) => new Records(self, known)),
  }) as unknown as RecordsClass<C>;
}

/** It writes itself as a resource does. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only its constructor and two methods are used
const DataSource = TerraformDataSource as unknown as typeof TerraformResource;

function blockClass(Base: typeof TerraformResource, type: string, attributes: Attributes) {
  return class extends Base {
    static readonly tfResourceType = type;
    readonly #block: Block;

    constructor(scope: Construct, id: string, props: Given = {}) {
      const { meta, given } = parted(props);
      super(scope, id, {
        ...meta,
        terraformResourceType: type,
        terraformGeneratorMetadata: { providerName: 'devicecloud' },
      });
      this.#block = blockOf(this, attributes, given);
    }

    protected override synthesizeAttributes(): Given {
      return this.#block.json();
    }

    protected override synthesizeHclAttributes(): Given {
      return this.#block.hcl();
    }
  };
}

/** A class once its prototype has the getters. */
function reading<Made extends { readonly prototype: object }>(
  made: Made,
  properties: PropertyDescriptorMap,
): Made {
  Object.defineProperties(made.prototype, properties);
  return made;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- getters are defined on classes of elements alone
const itself = (instance: object): Readable => instance as Readable;

const metaNames: readonly string[] = [
  'dependsOn',
  'count',
  'provider',
  'lifecycle',
  'forEach',
  'provisioners',
  'connection',
] satisfies readonly (keyof TerraformMetaArguments)[];

function parted(props: Given): { readonly meta: Meta; readonly given: Given } {
  const pick = (isMeta: boolean): Given =>
    keptMembers(props, (_, name) => metaNames.includes(name) === isMeta);
  return { meta: pick(true), given: pick(false) };
}

export type Block = ReturnType<typeof blockOf>;

/** What the library asks a construct for while it writes a stack; and what is wrong with the props, said by the construct's path. */
export function blockOf(
  construct: Construct,
  attributes: Attributes,
  given: Given,
  endpoint = libraryAdapterAt(construct),
) {
  const json = (): Given => written(attributes, given, endpoint);
  construct.node.addValidation({
    validate: () =>
      complaints(attributes, given, endpoint).map((one) => `${construct.node.path}: ${one}`),
  });
  const hcl = (): Given =>
    mapMembers(json(), (value, name) =>
      attributes[name]?.block && isObject(value)
        ? { value: hclOfAll(value), isBlock: true, type: 'struct', storageClassType: 'struct' }
        : hclOf(value),
    );
  return { json, hcl };
}

export const hclOfAll = (values: Given): Given => mapMembers(values, (value) => hclOf(value));

/** The library's renderer takes text that looks like JSON for a value, unless it is told to be text, and escapes none that holds a token. */
function hclOf(value: unknown): object {
  if (typeof value !== 'string') return { value, type: 'any' };
  return {
    value: Token.isUnresolved(value) ? JSON.stringify(value).slice(1, -1) : value,
    type: 'simple',
    storageClassType: 'string',
  };
}
