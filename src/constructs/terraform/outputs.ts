// Getters of attributes: tokens of the type that the attribute has.
import { ComplexList, type IInterpolatingParent, type IResolvable } from '#cdk';
import type { Attribute, Attributes } from '../../model/index.js';
import { camel, type Camel } from '../names.js';
import type { Flat, OnlySecrets, ReadableKeys, SecretKeys } from '../props.js';

type Output<A> = A extends { readonly word: 'text' | 'choice' | 'ref' | 'document' }
  ? string
  : A extends { readonly word: 'integer' | 'number' }
    ? number
    : A extends { readonly word: 'flag' }
      ? IResolvable
      : A extends { readonly word: 'list' | 'set'; readonly of: infer O }
        ? Output<O>[]
        : A extends { readonly word: 'map'; readonly of: infer O }
          ? { [key: string]: Output<O> }
          : A extends { readonly word: 'object'; readonly attributes: infer M }
            ? Outputs<M>
            : never;

/** What can be read of the attributes `M`. */
export type Outputs<M> = Flat<
  { readonly [K in Exclude<ReadableKeys<M>, OnlySecrets<M>> as Camel<K>]: Output<M[K]> } & { readonly [K in OnlySecrets<M> & string as Camel<K>]: VersionsOf<M[K]> }
>;
type VersionsOf<A> = A extends { readonly attributes: infer M } ? { readonly [K in SecretKeys<M> as `${Camel<K>}WoVersion`]: number } : never;

/** What every resource and data source of the library can do. */
export interface Readable extends IInterpolatingParent {
  getStringAttribute(name: string): string;
  getNumberAttribute(name: string): number;
  getListAttribute(name: string): string[];
  getNumberListAttribute(name: string): number[];
  getStringMapAttribute(name: string): { [key: string]: string };
  getAnyMapAttribute(name: string): { [key: string]: unknown };
}

/** Properties that read the attributes of `self`; `path` is where they stand in it, with a dot at its end. */
export function getters(attributes: Attributes, self: (instance: object) => Readable, path = ''): PropertyDescriptorMap {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => {
      const [prop, at, shown]: [string, string, Attribute] = attribute.secret
        ? [`${camel(name)}WoVersion`, `${path}${name}_wo_version`, { word: 'number', doc: '' }]
        : [camel(name), path + name, attribute];
      return [
        prop,
        {
          get: function (this: object): unknown {
            return read(self(this), at, shown);
          },
          enumerable: true,
          configurable: true,
        },
      ];
    }),
  );
}

function read(owner: Readable, path: string, attribute: Attribute): unknown {
  switch (attribute.word) {
    case 'integer':
    case 'number':
      return owner.getNumberAttribute(path);
    case 'flag':
      return owner.interpolationForAttribute(path);
    case 'list':
    case 'set':
      return attribute.of.word === 'integer' || attribute.of.word === 'number' ? owner.getNumberListAttribute(path) : owner.getListAttribute(path);
    case 'map':
      return attribute.of.word === 'text' ? owner.getStringMapAttribute(path) : owner.getAnyMapAttribute(path);
    case 'object':
      return Object.defineProperties(
        {},
        getters(attribute.attributes, () => owner, `${path}.`),
      );
    default:
      return owner.getStringAttribute(path);
  }
}

/** The records of a collection: `records.get(0).type`, and a whole that iterators take. */
export class Records<M> extends ComplexList {
  readonly #owner: Readable;
  readonly #attributes: Attributes;

  constructor(owner: Readable, attributes: Attributes) {
    super(owner, 'records', false);
    this.#owner = owner;
    this.#attributes = attributes;
  }

  get(index: number): Outputs<M> {
    return Object.defineProperties(
      {},
      getters(this.#attributes, () => this.#owner, `records[${index}].`),
    ) as Outputs<M>;
  }
}
