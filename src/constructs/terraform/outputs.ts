// Getters of attributes: tokens with the type of the attribute.
import { ComplexList, type IInterpolatingParent, type IResolvable } from '#cdk';
import {
  camel,
  holdsOnlySecrets,
  type Attribute,
  type Attributes,
  type Camel,
} from '../../model/index.js';
import { getterOf } from '../prop-checks.js';
import type { Flat, OnlySecrets, ReadableKeys, SecretKeys } from '../props.js';

type Output<A, V extends boolean> = A extends {
  readonly word: 'text' | 'choice' | 'ref' | 'document';
}
  ? string
  : A extends { readonly word: 'integer' | 'number' }
    ? number
    : A extends { readonly word: 'flag' }
      ? IResolvable
      : A extends { readonly word: 'list' | 'set'; readonly of: infer O }
        ? Output<O, V>[]
        : A extends { readonly word: 'map'; readonly of: infer O }
          ? { [key: string]: Output<O, V> }
          : A extends { readonly word: 'object'; readonly attributes: infer M }
            ? Outputs<M, V>
            : never;

/** The readable attributes of `M`. Of a secret, a resource has the version (`V`), and everything else nothing. */
export type Outputs<M, V extends boolean> = Flat<
  {
    readonly [
      K in Exclude<ReadableKeys<M>, V extends true ? never : OnlySecrets<M>> as Camel<K>
    ]: Output<M[K], V>;
  } & {
    readonly [K in V extends true ? SecretKeys<M> : never as `${Camel<K>}WoVersion`]: number;
  }
>;

export interface Readable extends IInterpolatingParent {
  getStringAttribute(name: string): string;
  getNumberAttribute(name: string): number;
  getListAttribute(name: string): string[];
  getNumberListAttribute(name: string): number[];
  getStringMapAttribute(name: string): { [key: string]: string };
  getAnyMapAttribute(name: string): { [key: string]: unknown };
}

/** Properties that read the attributes of `self`; `path` is where they stand in it, with a dot at its end. */
export function getters(
  attributes: Attributes,
  self: (instance: object) => Readable,
  versions: boolean,
  path = '',
): PropertyDescriptorMap {
  const shown = Object.entries(attributes).flatMap(
    ([name, attribute]): readonly [prop: string, at: string, shown: Attribute][] => {
      if (attribute.secret)
        return versions
          ? [[`${camel(name)}WoVersion`, `${path}${name}_wo_version`, { word: 'number', doc: '' }]]
          : [];
      return versions || !holdsOnlySecrets(attribute)
        ? [[camel(name), path + name, attribute]]
        : [];
    },
  );
  return Object.fromEntries(
    shown.map(([prop, at, attribute]) => [
      prop,
      getterOf((instance: object) => read(self(instance), at, attribute, versions)),
    ]),
  );
}

function read(owner: Readable, path: string, attribute: Attribute, versions: boolean): unknown {
  switch (attribute.word) {
    case 'integer':
    case 'number':
      return owner.getNumberAttribute(path);
    case 'flag':
      return owner.interpolationForAttribute(path);
    case 'list':
    case 'set':
      return attribute.of.word === 'integer' || attribute.of.word === 'number'
        ? owner.getNumberListAttribute(path)
        : owner.getListAttribute(path);
    case 'map':
      return attribute.of.word === 'text'
        ? owner.getStringMapAttribute(path)
        : owner.getAnyMapAttribute(path);
    case 'object':
      return Object.defineProperties(
        {},
        getters(attribute.attributes, () => owner, versions, `${path}.`),
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

  get(index: number): Outputs<M, false> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the getters are defined here
    return Object.defineProperties(
      {},
      getters(this.#attributes, () => this.#owner, false, `records[${index}].`),
    ) as Outputs<M, false>;
  }
}
