// Makes the class of a resource or lookup from its kind, with `constructs` as the only library.
import { Construct } from 'constructs';
import {
  NAME,
  asCondition,
  camel,
  nameInApi,
  nameWords,
  own,
  type Attributes,
  type Camel,
  type Kind,
  type Stored,
  type WithId,
} from '../../model/index.js';
import { complaints, getterOf, readOf, written } from '../prop-checks.js';
import type {
  ClassOf,
  Condition,
  Flat,
  Given,
  KeysWith,
  OnlySecrets,
  Props,
  ReadableKeys,
} from '../props.js';
import { leaveTrace, nameOf, renamed } from './stack.js';
import { nativeDoor, type NativeTokens, type Reference } from './tokens.js';

/** What can be referred to: every attribute but a secret, what is merged, and free text of the service. */
type References<M> = Flat<{
  readonly [K in Exclude<ReadableKeys<M>, OnlySecrets<M> | MergedKeys<M>> as Camel<K>]: Reference;
}>;
type MergedKeys<M> = KeysWith<M, { readonly wire: 'merge' }>;

type Removals<K extends Kind> =
  | (K['operations'] extends { readonly delete: unknown } ? 'delete' : never)
  | 'forget'
  | (K extends { readonly retire: infer R } ? keyof R & string : never);

/** How the object is treated, whatever its attributes. */
export interface LifecycleProps<P, R extends string> {
  /** Refuses to delete the object. */
  readonly protect?: boolean | undefined;
  /** Props that are set at creation and not compared afterwards. */
  readonly ignoreChanges?: readonly (keyof P & string)[] | undefined;
  /** Identifier of the live object to adopt. */
  readonly adopt?: string | undefined;
  /** Name that the declaration had before. */
  readonly renamedFrom?: string | undefined;
  /** What happens to the live object when the declaration is removed. */
  readonly onRemoval?: R | undefined;
  /** Allows another declaration that would be recognised by the same content or name. */
  readonly allowDuplicate?: boolean | undefined;
}

type PlainProps<K extends Kind> = Props<K['attributes'], NativeTokens>;
export type ResourceClass<K extends Kind> = ClassOf<
  Resource,
  Flat<
    PlainProps<K> & { readonly lifecycle?: LifecycleProps<PlainProps<K>, Removals<K>> | undefined }
  >,
  References<WithId<Stored<K['attributes']>>>
>;
export type LookupClass<K extends Kind> = ClassOf<
  Lookup,
  Condition<WithId<Stored<K['attributes']>>, NativeTokens>,
  References<WithId<Stored<K['attributes']>>>
>;

/** Where and as what a construct stands in the document. No attribute can be called like it. Registered: a process may hold this library twice. */
export const entry = Symbol.for('trueup.entry');

export const isEntry = (one: object): one is Entry => entry in one;

interface Place {
  readonly section: string;
  readonly body: () => unknown;
  readonly attributes: Attributes;
  /** The props. */
  readonly given: Given;
}

/** One named thing of a document. */
export abstract class Entry extends Construct {
  readonly [entry]: Place;

  constructor(scope: Construct, id: string, place: Place) {
    super(scope, id);
    this[entry] = place;
    leaveTrace(this);
    const { node } = this;
    node.addValidation({
      validate: () => {
        const name = nameOf(this);
        return [
          ...(NAME.test(name) ? [] : [`\`${name}\` is not a valid name: it ${nameWords}`]),
          ...(node.dependencies.length === 0 ? [] : [UNORDERED]),
          ...complaints(place.attributes, place.given, nativeDoor),
        ].map((one) => `${node.path}: ${one}`);
      },
    });
  }
}

const UNORDERED = 'a dependency says nothing here: the order follows from references.';

/** A declared object. */
export abstract class Resource extends Entry {}

/** A live object that is not declared in this project: exactly one has to meet the condition. */
export abstract class Lookup extends Entry {}

export function resourceClass<const K extends Kind>(one: K): ResourceClass<K> {
  const { name: kind, attributes } = one;
  const apiNames = Object.fromEntries(Object.keys(attributes).map((name) => [camel(name), name]));
  class Declared extends Resource {
    constructor(
      scope: Construct,
      id: string,
      { lifecycle, ...given }: Given & { readonly lifecycle?: LifecycleProps<Given, string> } = {},
    ) {
      const ignoreChanges = lifecycle?.ignoreChanges?.map((prop) => own(apiNames, prop) ?? prop);
      const treated = lifecycle && { lifecycle: renamed({ ...lifecycle, ignoreChanges }) };
      super(scope, id, {
        section: kind,
        body: () => ({ ...written(attributes, given, nativeDoor), ...treated }),
        attributes,
        given,
      });
    }
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its getters are defined at run time
  return referring(Declared, one, kind) as ResourceClass<K>;
}

/** Finds one live object by attributes that it has. */
export function lookupClass<const K extends Kind>(one: K): LookupClass<K> {
  const kind = one.name;
  const asked = asCondition(readOf(one));
  class LookedUp extends Lookup {
    constructor(scope: Construct, id: string, given: Given = {}) {
      super(scope, id, {
        section: 'lookups',
        body: () => ({
          [kind]: Object.fromEntries(
            Object.entries(written(asked, given, nativeDoor)).map(([name, value]) => [
              nameInApi(one, name),
              value,
            ]),
          ),
        }),
        attributes: asked,
        given,
      });
    }
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- likewise
  return referring(LookedUp, one, 'lookups') as LookupClass<K>;
}

/** A class once its prototype has the getters, which is what its type says from then on. */
function referring(made: { readonly prototype: object }, one: Kind, section: string): unknown {
  const getter = (name: string): PropertyDescriptor =>
    getterOf((self: Entry) => `\${${section}.${nameOf(self)}.${nameInApi(one, name)}}`);
  Object.defineProperties(
    made.prototype,
    Object.fromEntries(Object.keys(readOf(one)).map((name) => [camel(name), getter(name)])),
  );
  return made;
}
