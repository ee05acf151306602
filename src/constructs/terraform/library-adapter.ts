// The vocabulary in the form of cdktf and cdktn: library tokens, documents as JSON text, write-only secrets.
import {
  DefaultTokenResolver,
  StringConcat,
  TerraformLocal,
  TerraformStack,
  TerraformVariable,
  Token,
  Tokenization,
  type IResolvable,
  type TerraformElement,
} from '#cdk';
import type { IConstruct } from 'constructs';
import type { LibraryAdapter } from '../prop-checks.js';
import type { Tokens } from '../props.js';
import { isObject, isList, own } from '../../model/index.js';

export interface CdkTokens extends Tokens {
  readonly choice: IResolvable;
  readonly number: never;
  readonly flag: IResolvable;
  readonly whole: IResolvable;
  /** JSON text. */
  readonly document: string;
  readonly secret: never;
}

/** `scope` is where tokens are resolved, in order to see whether a secret is one. */
export const libraryAdapterAt = (scope: IConstruct): LibraryAdapter => ({
  isToken: (value) => isExpression(value) || Token.isUnresolved(value),
  isSecret: (value) => isKept(value, scope),
  resolved: (value) => resolved(value, scope),
  secretWords:
    'a reference, such as the `stringValue` of a sensitive TerraformVariable without a default',
  writeOnly: true,
  document: (value) => (typeof value === 'string' ? value : jsonOf(value)),
});

/** The libraries write everything before they validate it; if validation is turned off, the reader of the stack refuses this. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return 'no form in JSON';
  }
}

/** Terraform's own language, written by hand. */
const isExpression = (value: unknown): boolean => typeof value === 'string' && value.includes('${');

const resolved = (value: unknown, scope: IConstruct): unknown =>
  Token.isUnresolved(value)
    ? Tokenization.resolve(value, {
        scope,
        preparing: false,
        resolver: new DefaultTokenResolver(new StringConcat()),
      })
    : value;

/** Whether a value is a reference and leads out of the program: locals and the defaults of variables are followed, as they stand in the stack. */
function isKept(value: unknown, scope: IConstruct, inside: readonly string[] = []): boolean {
  const text = resolved(value, scope);
  if (!isReference(text)) return false;
  const mentions = [...text.replaceAll(QUOTED_ALONE, '""').matchAll(MENTION)];
  return (
    mentions.length === 0 ||
    mentions.some(([mention, head = '', name = '', steps = '']) => {
      if (inside.includes(mention)) return false;
      const initial =
        head === 'local' || head === 'var'
          ? resolved(initialOf(head, name, scope), scope)
          : undefined;
      return leadsOut(within(initial, steps), scope, [...inside, mention]);
    })
  );
}

const MENTION = /([A-Za-z_][\w-]*)\.([\w-]+)((?:\.[\w-]+|\[(?:"[^"\\]*"|\d+)\])*)/g;
/** A text in quotes that is no key. */
const QUOTED_ALONE = /(?<!\[)"(?:[^"\\]|\\.)*"/g;

/** Nothing, and nothing said, is what others give a value. Of a whole, one part that leads out is enough: which one is meant, is not known. */
function leadsOut(value: unknown, scope: IConstruct, inside: readonly string[]): boolean {
  const known = resolved(value, scope);
  if (known === undefined || known === null || known === '') return true;
  return typeof known === 'object'
    ? Object.values(known).some((part) => leadsOut(part, scope, inside))
    : isKept(known, scope, inside);
}

/** The part of a value at steps such as `.a["b"][0]`; all of it where they lead nowhere. */
function within(value: unknown, steps: string): unknown {
  let inner = value;
  for (const [, member, key, index] of steps.matchAll(/\.([\w-]+)|\["([^"]*)"\]|\[(\d+)\]/g)) {
    const step = member ?? key ?? index ?? '';
    if (!(isObject(inner) || isList(inner)) || !Object.hasOwn(inner, step)) return value;
    inner = own<unknown>(inner, step);
  }
  return inner;
}

const named = new WeakMap<TerraformStack, ReadonlyMap<string, TerraformElement>>();

/** The value of a local, or the default of a variable. */
function initialOf(head: 'local' | 'var', name: string, scope: IConstruct): unknown {
  const stack = TerraformStack.of(scope);
  const found = named.get(stack)?.get(`${head}.${name}`) ?? allNamed(stack).get(`${head}.${name}`);
  const { locals, variable }: Block = found?.toTerraform() ?? {};
  return locals?.[name] ?? variable?.[name]?.default;
}

interface Block {
  readonly locals?: Readonly<Record<string, unknown>>;
  readonly variable?: Readonly<Record<string, { readonly default?: unknown }>>;
}

function allNamed(stack: TerraformStack): ReadonlyMap<string, TerraformElement> {
  const all = new Map(
    stack.node.findAll().flatMap((one): readonly (readonly [string, TerraformElement])[] => {
      if (one instanceof TerraformLocal) return [[`local.${one.friendlyUniqueId}`, one]];
      return one instanceof TerraformVariable ? [[`var.${one.friendlyUniqueId}`, one]] : [];
    }),
  );
  named.set(stack, all);
  return all;
}

/** One expression that refers to something, and nothing beside it: what only works on quoted texts is as good as a literal. */
function isReference(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\$\{[^{}]+\}$/.test(value) || value.includes('<<'))
    return false;
  return /[A-Za-z_][\w-]*[.[]/.test(value.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""'));
}
