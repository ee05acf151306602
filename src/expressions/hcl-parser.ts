// Terraform expressions as syntax trees: the parser of the CDK, HashiCorp's own compiled to WebAssembly. It starts in a
// tenth of a second, is loaded only where there is such an expression, and does not survive what nests without end.
import { getExpressionAst } from '@cdktn/hcl2json';
import { HclError } from './hcl-values.js';

export interface TraversalPart {
  readonly type: string;
  readonly segment?: string;
}

/** A node as the parser describes it; parentheses and keys have no type. */
export interface SyntaxNode {
  readonly type: string;
  readonly children: readonly SyntaxNode[];
  readonly range?: {
    readonly start: { readonly byte: number };
    readonly end: { readonly byte: number };
  };
  readonly meta?: {
    readonly value: string;
    readonly type?: string;
    readonly name?: string;
    readonly operator?: string;
    readonly expandedFinalArgument?: unknown;
    readonly traversal?: readonly TraversalPart[];
  };
}

export interface HclExpression {
  readonly source: string;
  readonly root: SyntaxNode;
}

/** The parser takes time and memory that grow with the square of the levels. */
const LONGEST = 20_000;
const DEEPEST = 100;
const MOST_OPERATORS = 200;

const refused = (what: string): HclError => new HclError(what, 'refused');

const TOKEN = /\\[^]|\$\$\{|%%\{|[$%]\{|<<|\/[/*]|[^]/g;
const CLOSING: Readonly<Record<string, readonly string[]>> = {
  ')': ['('],
  ']': ['['],
  '}': ['{', '${'],
};

/** Counts levels and operators. @throws HclError for what the parser must not get */
function measure(source: string): void {
  if (source.length > LONGEST) throw refused(`an expression of more than ${LONGEST} characters`);
  const open: string[] = [];
  let operators = 0;
  for (const [token] of source.matchAll(TOKEN)) {
    const last = open.at(-1) ?? '';
    if (token === '%{') throw refused('a directive `%{…}`');
    if (token === '"' && last === '"') open.pop();
    else if (token === '"' || token === '${') open.push(token);
    else if (last === '"') continue;
    else if (/^[([{]$/.test(token)) open.push(token);
    else if (Object.hasOwn(CLOSING, token)) {
      if (!CLOSING[token]?.includes(last)) throw new HclError('brackets that do not match');
      open.pop();
    } else if (/^(?:[#~]|<<|\/[/*]|\\[^])$/.test(token)) throw refused(`\`${token}\``);
    else if (/^[-+*/%!<>=&|?]$/.test(token)) operators += 1;
    if (open.length > DEEPEST) throw refused(`an expression of more than ${DEEPEST} levels`);
  }
  if (operators > MOST_OPERATORS)
    throw refused(`an expression of more than ${MOST_OPERATORS} operators`);
}

/** @throws HclError */
export async function parsedHcl(source: string): Promise<HclExpression> {
  measure(source);
  let root: SyntaxNode | null;
  try {
    root = await getExpressionAst('expression', source);
  } catch (error) {
    throw syntaxError(error) ?? refused('an expression that the parser does not read');
  }
  if (!root) throw refused('an expression that the parser does not read');
  return { source, root };
}

/** What the parser says, without the expression that it repeats; undefined where it did not come to an end. */
function syntaxError(error: unknown): HclError | undefined {
  const [, words] =
    /: expression:\d+,[\d,-]+: ([^;]+);/.exec(error instanceof Error ? error.message : '') ?? [];
  return words === undefined ? undefined : new HclError(words[0]!.toLowerCase() + words.slice(1));
}

/** The bare name that a key is, which stands in the source only; undefined for a key in quotes or parentheses. */
export function nameAt({ children, range }: SyntaxNode, source: string): string | undefined {
  if (children.length > 0 || !range) return undefined;
  const bytes = Buffer.from(source).subarray(range.start.byte, range.end.byte);
  return bytes.toString().normalize('NFC');
}
