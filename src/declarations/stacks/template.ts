// The supported part of the template language of synthesised stacks: strings with `${…}`, in which only traversals
// (`TYPE.NAME.attr["k"]`) are interpreted. All other expressions are kept as written.
import { tryJson } from '../../model/index.js';

/** A step of a traversal: a name, a literal index, or an index that `for_each` or `count` fills in. */
export type TraversalStep = string | { readonly key: string | number } | { readonly by: string };

export interface Traversal {
  /** As it was written, `${` and `}` included. */
  readonly text: string;
  readonly steps: readonly [string, ...TraversalStep[]];
}

/** A function, an operator, a condition, a directive: nothing that is evaluated here. */
export interface Unread {
  readonly text: string;
  /** The text between the braces. */
  readonly body: string;
}

export type TemplateExpression = Traversal | Unread;
export type TemplatePart = string | TemplateExpression;

const OPENING = /[$%]\{/g;
const ESCAPED = ['$${', '%%{'];

/** The parts of a text; literals with `$${` and `%%{` undone, never side by side. */
export function templateParts(text: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let literal = '';
  let at = 0;
  for (const { index } of text.matchAll(OPENING)) {
    if (index < at) continue;
    if (index > at && text[index - 1] === text[index]) {
      literal += text.slice(at, index - 1) + text.slice(index, index + 2);
      at = index + 2;
      continue;
    }
    literal += text.slice(at, index);
    if (literal !== '') parts.push(literal);
    literal = '';
    at = closing(text, index + 2);
    parts.push(expression(text.slice(index, at)));
  }
  literal += text.slice(at);
  if (literal !== '' || parts.length === 0) parts.push(literal);
  return parts;
}

/** The template that stands for a text as it is. */
export const asTemplate = (text: string): string => text.replace(/[$%](?=\{)/g, '$&$&');

/** The offset behind the `}` that ends what begins at `from`; the end of the text where nothing does. */
function closing(text: string, from: number): number {
  const open: ('{' | '"')[] = ['{'];
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    const quoted = open.at(-1) === '"';
    if (quoted && character === '\\') at += 1;
    else if (quoted && ESCAPED.some((escape) => text.startsWith(escape, at))) at += 2;
    else if (character === '"') {
      if (quoted) open.pop();
      else open.push('"');
    } else if (character === '{' && (!quoted || text[at - 1] === '$' || text[at - 1] === '%'))
      open.push('{');
    else if (character === '}' && !quoted) {
      open.pop();
      if (open.length === 0) return at + 1;
    }
  }
  return text.length;
}

function expression(text: string): TemplateExpression {
  const body = text.slice(2, -1).trim();
  const steps = text.startsWith('${') && text.endsWith('}') ? stepsOf(body) : undefined;
  return steps && steps.length > 1 ? { text, steps } : { text, body };
}

const NAME = /[A-Za-z_][\w-]*/y;
const NEXT =
  /\.([A-Za-z_][\w-]*)|\.(\d{1,9})(?![\w-])|\[\s*(?:("(?:[^"\\]|\\.)*")|(\d{1,9})|(each\.(?:key|value(?:\.[A-Za-z_][\w-]*)*)|count\.index))\s*\]/y;

/** The steps of `TYPE.NAME.attr[0]["k"]`; undefined for anything else. */
export function stepsOf(body: string): Traversal['steps'] | undefined {
  NAME.lastIndex = 0;
  const [head] = NAME.exec(body) ?? [];
  if (head === undefined) return undefined;
  const steps: [string, ...TraversalStep[]] = [head];
  NEXT.lastIndex = head.length;
  while (NEXT.lastIndex < body.length) {
    const match = NEXT.exec(body);
    const step = match && stepOf(match);
    if (step === null || step === undefined) return undefined;
    steps.push(step);
  }
  return steps;
}

function stepOf([, name, legacy, quoted, index = legacy, by]: RegExpExecArray):
  TraversalStep | undefined {
  if (name !== undefined) return name;
  if (index !== undefined) return { key: Number(index) };
  if (by !== undefined) return { by };
  const key = /[$%]\{/.test(quoted!) ? undefined : tryJson(quoted!);
  return typeof key === 'string' ? { key } : undefined;
}

export const isTraversal = (part: TemplatePart): part is Traversal =>
  typeof part === 'object' && 'steps' in part;
