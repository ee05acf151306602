// The types of props and getters, derived from the attributes of a kind. The tokens that a library accepts in place of
// a value are the second type argument everywhere.
import type { Construct } from 'constructs';
import type { Camel } from '../model/index.js';

/** What a library adapter takes in place of a value that is only known later, and how it takes documents and secrets. */
export interface Tokens {
  readonly choice: unknown;
  readonly number: unknown;
  readonly flag: unknown;
  /** In place of a list, set, map or object. */
  readonly whole: unknown;
  readonly document: unknown;
  /** `never`: a secret `x` is given as `xWo` and `xWoVersion`. */
  readonly secret: unknown;
}

/** Props, or an object among them. */
export type Given = Readonly<Record<string, unknown>>;

type PropOf<A, T extends Tokens> = A extends { readonly word: 'text' | 'ref' }
  ? string
  : A extends {
        readonly word: 'choice';
        readonly values: readonly (infer V)[];
        readonly open: infer O;
      }
    ? V | (O extends true ? string & {} : T['choice'])
    : A extends { readonly word: 'integer' | 'number' }
      ? number | T['number']
      : A extends { readonly word: 'flag'; readonly only_false: true }
        ? false | T['flag']
        : A extends { readonly word: 'flag' }
          ? boolean | T['flag']
          : A extends { readonly word: 'list' | 'set'; readonly of: infer O }
            ? readonly PropOf<O, T>[] | T['whole']
            : A extends { readonly word: 'map'; readonly of: infer O }
              ? Readonly<Record<string, PropOf<O, T>>> | T['whole']
              : A extends { readonly word: 'object'; readonly attributes: infer M }
                ? Props<M, T> | (A extends { readonly block: true } ? never : T['whole'])
                : A extends { readonly word: 'document'; readonly wire: 'merge' }
                  ? | Given
                    | readonly [
                        merged: Given,
                        removed?: readonly (string | readonly (string | number)[])[],
                      ]
                    | T['document']
                  : Given | null | T['document'];

/** Names of the attributes that have a trait. */
export type KeysWith<M, Trait> = { [K in keyof M]: M[K] extends Trait ? K : never }[keyof M];
export type SecretKeys<M> = KeysWith<M, { readonly secret: true }> & string;
type ComputedKeys<M> = KeysWith<M, { readonly computed: true }>;
type OptionalKeys<M> = KeysWith<M, { readonly optional: true }>;
type PlainKeys<M> = Exclude<keyof M, SecretKeys<M> | ComputedKeys<M>> & string;

type Secrets<M, T extends Tokens> = [T['secret']] extends [never]
  ? { readonly [K in SecretKeys<M> as `${Camel<K>}Wo`]?: string | undefined } & {
      readonly [K in SecretKeys<M> as `${Camel<K>}WoVersion`]?: number | undefined;
    }
  : { readonly [K in Exclude<SecretKeys<M>, OptionalKeys<M>> as Camel<K>]: T['secret'] } & {
      readonly [K in SecretKeys<M> & OptionalKeys<M> as Camel<K>]?: T['secret'] | undefined;
    };

/** One level of types, so that an editor shows members and not how they were made. */
export type Flat<O> = { [K in keyof O]: O[K] };

/** What a person gives for the attributes `M`: computed ones cannot be given, optional ones may be left out. */
export type Props<M, T extends Tokens> = Flat<
  { readonly [K in Exclude<PlainKeys<M>, OptionalKeys<M>> as Camel<K>]: PropOf<M[K], T> } & {
    readonly [K in PlainKeys<M> & OptionalKeys<M> as Camel<K>]?: PropOf<M[K], T> | undefined;
  } & Secrets<M, T>
>;

/** What an object is found by: attributes with one plain value, the service's own included. */
export type Condition<M, T extends Tokens> = {
  readonly [K in PlainValues<M> & string as Camel<K>]?: PropOf<M[K], T> | undefined;
};
type PlainWord = 'text' | 'choice' | 'ref' | 'integer' | 'number' | 'flag';
type PlainValues<M> = Exclude<KeysWith<M, { readonly word: PlainWord }>, SecretKeys<M>>;

/** Objects of which nothing can be read. */
export type OnlySecrets<M> = {
  [K in keyof M]: M[K] extends { readonly word: 'object'; readonly attributes: infer I }
    ? Exclude<keyof I, SecretKeys<I>> extends never
      ? K
      : never
    : never;
}[keyof M];

export type ReadableKeys<M> = Exclude<keyof M, SecretKeys<M>> & string;

/** A class whose objects are given as `P` and read as `O`. Props may be left out altogether where none of them is required. */
export interface ClassOf<Base, P, O> {
  new (
    scope: Construct,
    id: string,
    ...props: Partial<P> extends P ? [props?: P] : [props: P]
  ): Base & O;
}

/** The props of a class, as in `PropsOf<typeof AlertRule>`. */
export type PropsOf<C> = C extends ClassOf<infer _Base, infer P, infer _Output> ? P : never;
