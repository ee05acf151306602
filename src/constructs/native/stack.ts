// A stack is one document of declarations. Everything below it is named by its path in the stack.
import { Construct, type IConstruct } from 'constructs';
import type { Camel, Settings } from '../../model/index.js';
import type { Given } from '../props.js';

type Camelled<O> = { readonly [K in keyof O & string as Camel<K>]?: O[K] | undefined };

export type StackSettings = Omit<Camelled<Settings>, 'policy'> & {
  readonly policy?: Camelled<Settings['policy']> | undefined;
};

export interface StackProps {
  /** At most one stack of a project has them. */
  readonly settings?: StackSettings | undefined;
}

/** A registered symbol, like all class marks here: a process may load this library twice, if a test runner resets modules or two packages include it. */
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

/** The name of a construct in the document: its path below the stack, with `-` between the steps. */
export function nameOf(construct: IConstruct): string {
  const below = construct.node.scopes.slice(Stack.of(construct).node.scopes.length);
  return below.map(({ node }) => node.id).join('-');
}

export const writtenSettings = (settings: StackSettings): Given =>
  renamed({ ...settings, policy: settings.policy && renamed(settings.policy) });

/** Members by the names that the document has for them; what is undefined is left out, what is unknown is for the reader to refuse. */
export const renamed = (given: Given): Given =>
  Object.fromEntries(
    Object.entries(given).flatMap(([prop, value]) =>
      value === undefined
        ? []
        : [[prop.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]],
    ),
  );
