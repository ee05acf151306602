// The types of variables, as in `map(list(string))`. What has optional members counts as what it is given.
import type { SyntaxNode } from './hcl-parser.js';
import { ANY, BOOL, NUMBER, STRING, type HclType } from './hcl-values.js';

const plain: Readonly<Record<string, HclType>> = { string: STRING, number: NUMBER, bool: BOOL };

export function variableType({ type, meta, children: [inner] }: SyntaxNode): HclType {
  const [word, ...more] = meta?.traversal ?? [];
  if (type === 'scopeTraversal' && more.length === 0) return own(plain, word?.segment) ?? ANY;
  if (type !== 'function' || !inner) return ANY;
  switch (meta?.name) {
    case 'list':
    case 'set':
    case 'map': {
      const of = variableType(inner);
      return of.kind === 'any' ? ANY : { kind: meta.name, of };
    }
    default:
      return ANY;
  }
}

const own = (types: Readonly<Record<string, HclType>>, name = ''): HclType | undefined =>
  Object.hasOwn(types, name) ? types[name] : undefined;
