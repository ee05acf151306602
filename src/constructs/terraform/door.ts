// How cdktf and cdktn write what the vocabulary leaves open: tokens of the library, documents as JSON text, secrets as
// write-only arguments.
import { DefaultTokenResolver, StringConcat, Token, Tokenization, type IResolvable } from '#cdk';
import type { IConstruct } from 'constructs';
import type { Door } from '../members.js';
import type { Tokens } from '../props.js';

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
export const doorAt = (scope: IConstruct): Door => ({
  isToken: (value) => isExpression(value) || Token.isUnresolved(value),
  isSecret: (value) =>
    Token.isUnresolved(value) ? isReference(Tokenization.resolve(value, { scope, preparing: false, resolver: new DefaultTokenResolver(new StringConcat()) })) : isReference(value),
  secretWords: 'a reference, as the `stringValue` of a sensitive TerraformVariable is one',
  writeOnly: true,
  document: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
});

/** Terraform's own language, written by hand. */
const isExpression = (value: unknown): boolean => typeof value === 'string' && value.includes('${');

/** One expression that refers to something, and nothing beside it: what only works on quoted texts is as good as a literal. */
function isReference(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\$\{[^{}]+\}$/.test(value) || value.includes('<<')) return false;
  return /[A-Za-z_][\w-]*[.[]/.test(value.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""'));
}
