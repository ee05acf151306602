// Keys of mappings hold no expressions: `${` in one is refused, and `$${` stands for these characters, as in a value.
import { isList, isObject, type Diagnostic, type Json } from '../model/index.js';
import { escapeText, literalOf } from './reference-syntax.js';
import { isMap, type Raw } from './yaml/raw-values.js';

type Refuse = (
  path: readonly string[],
  said: Pick<Diagnostic, 'code' | 'summary' | 'detail'>,
) => void;

/** A value of a file with `$${` undone in its keys. @param path where the value stands in its document @param refuse told of each key that holds an expression, with its path */
export function literalKeys(raw: Raw, path: readonly string[], refuse: Refuse): Raw {
  if (isList(raw))
    return raw.map((item, index) => literalKeys(item, [...path, String(index)], refuse));
  if (!isMap(raw)) return raw;
  return Object.fromEntries(
    Object.entries(raw).map(([key, value]) => {
      const at = [...path, key];
      const literal = literalKey(key);
      if (literal === undefined) refuse(at, refusal(path, key));
      return [literal ?? key, literalKeys(value, at, refuse)];
    }),
  );
}

/** Undefined for a key with an expression, also with one that stands for a text, such as `${""}`. */
function literalKey(key: string): string | undefined {
  if (!key.includes('${')) return key;
  const literal = literalOf(key);
  return literal !== undefined && escapeText(literal) === key ? literal : undefined;
}

const refusal = (path: readonly string[], key: string) => ({
  code: 'expression-in-key',
  summary: `the key \`${key.slice(0, 80)}\` holds \`\${\`, and expressions in keys are not evaluated`,
  detail: `${insteadIn(path)} For the characters \`\${\` themselves, write \`$\${\`.`,
});

/** How to write the mapping at a path whose keys have to be evaluated. */
function insteadIn(path: readonly string[]): string {
  if (path[0] === 'variables') return 'A variable holds a plain value.';
  return path.at(-1) === 'for_each'
    ? 'Write a list, as in `for_each: [{ name: "${var.site}", title: North }]`: the name is the key.'
    : 'Where the value may be an expression, write the whole mapping as one, as in `\'${ {var.member: "value"} }\'`.';
}

/** A tree as a file holds it: the reverse of `literalKeys`. */
export function withEscapedKeys(tree: Json): Json {
  if (isList(tree)) return tree.map(withEscapedKeys);
  if (!isObject(tree)) return tree;
  return Object.fromEntries(
    Object.entries(tree).map(([key, value]) => [escapeText(key), withEscapedKeys(value)]),
  );
}
