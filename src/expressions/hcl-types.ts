// The types of variables, as in `map(list(string))`. Those with `optional`, and with `any` inside of something, are left
// out: what Terraform makes of a value depends there on more than the type.
import { nameAt, type HclExpression, type SyntaxNode } from './hcl-parser.js';
import { ANY, BOOL, NUMBER, STRING, type HclType } from './hcl-values.js';

const plain: Readonly<Record<string, HclType>> = { string: STRING, number: NUMBER, bool: BOOL };

/** The type that a variable has; undefined for one that is not understood. */
export const variableType = ({ root, source }: HclExpression): HclType | undefined =>
  wordIn(root) === 'any' ? ANY : typeOf(root, source);

function wordIn({ type, meta }: SyntaxNode): string | undefined {
  const [word, ...more] = meta?.traversal ?? [];
  return type === 'scopeTraversal' && more.length === 0 ? word?.segment : undefined;
}

function typeOf(node: SyntaxNode, source: string): HclType | undefined {
  const { type, meta, children } = node;
  const word = wordIn(node) ?? '';
  if (type !== 'function') return Object.hasOwn(plain, word) ? plain[word] : undefined;
  const [inner, ...more] = children;
  if (!inner || more.length > 0) return undefined;
  switch (meta?.name) {
    case 'list':
    case 'set':
    case 'map': {
      const of = typeOf(inner, source);
      return of && { kind: meta.name, of };
    }
    case 'tuple': {
      const items = inner.children.map((one) => typeOf(one, source));
      return inner.type === 'tuple' && items.every((one) => one !== undefined)
        ? { kind: 'tuple', items }
        : undefined;
    }
    case 'object':
      return inner.type === 'object' ? objectType(inner.children, source) : undefined;
    default:
      return undefined;
  }
}

/** Names and types by turns. */
function objectType(children: readonly SyntaxNode[], source: string): HclType | undefined {
  const members = new Map<string, HclType>();
  for (let index = 0; index + 1 < children.length; index += 2) {
    const name = nameAt(children[index]!, source);
    const type = typeOf(children[index + 1]!, source);
    if (name === undefined || type === undefined) return undefined;
    members.set(name, type);
  }
  return { kind: 'object', members };
}
