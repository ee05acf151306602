// A stack is one document of declarations. Everything below it is named by its path in the stack.
import { Construct, type IConstruct } from 'constructs';
import { camel, type Camel, type Settings } from '../../model/index.js';
import type { Given } from '../props.js';

type Camelled<O> = { readonly [K in keyof O & string as Camel<K>]?: O[K] | undefined };

export type StackSettings = Omit<Camelled<Settings>, 'policy'> & {
  readonly policy?: Camelled<Settings['policy']> | undefined;
};

export interface StackProps {
  /** At most one stack of a project has them. */
  readonly settings?: StackSettings | undefined;
}

/** Registered, as every mark of a class here: a process may hold this library twice, because a test runner resets modules or two packages bring it. */
const STACK = Symbol.for('trueup.stack');

export class Stack extends Construct {
  readonly settings: StackSettings | undefined;
  readonly [STACK] = true;

  constructor(scope: Construct, id: string, { settings }: StackProps = {}) {
    super(scope, id);
    this.settings = settings;
    leaveTrace(this);
  }

  /** Whether it is a stack, whichever copy of this library made it. */
  static isStack(this: void, one: object): one is Stack {
    return STACK in one;
  }

  /** The stack that the construct is in. @throws where it is in none */
  static of(construct: IConstruct): Stack {
    for (const scope of construct.node.scopes.toReversed()) if (Stack.isStack(scope)) return scope;
    throw new Error(
      `${construct.node.path} is in no Stack: give it one as its scope, or something below one.`,
    );
  }
}

const TRACE = 'trueup:trace';

export const leaveTrace = ({ node }: IConstruct): void =>
  node.addMetadata(TRACE, true, { stackTrace: true });

/** The lines of the trace that led to a construct. */
export const traceOf = ({ node }: IConstruct): readonly string[] =>
  node.metadata.find(({ type }) => type === TRACE)?.trace ?? [];

/** What a construct is called in the document: its path below the stack, with `-` between the steps. */
export function nameOf(construct: IConstruct): string {
  const below = construct.node.scopes.slice(Stack.of(construct).node.scopes.length);
  return below.map(({ node }) => node.id).join('-');
}

const settingNames = [
  'target',
  'state',
  'policy',
  'requests_per_minute',
  'v2_headers',
  'configuration_writes',
  'roles',
  'allow_env',
  'secret_roots',
] as const satisfies readonly (keyof Settings)[];
const policyNames = [
  'max_deletes',
  'max_changed_percent',
] as const satisfies readonly (keyof Settings['policy'])[];

export function writtenSettings(settings: StackSettings): Given {
  return renamed(
    { ...settings, policy: settings.policy && renamed(settings.policy, policyNames) },
    settingNames,
  );
}

/** Members by the names that the document has for them; what is undefined is left out, what is unknown stays as it is, for the reader to refuse. */
export function renamed(given: Given, names: readonly string[]): Given {
  const right = (prop: string): string => names.find((name) => camel(name) === prop) ?? prop;
  return Object.fromEntries(
    Object.entries(given).flatMap(([prop, value]) =>
      value === undefined ? [] : [[right(prop), value]],
    ),
  );
}
