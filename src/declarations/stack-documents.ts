// A document attribute is JSON text in a stack, with references inside the text. It becomes the tree it says, each
// reference where it stood.
import type { Json } from '../model/index.js';
import { isObject } from '../model/index.js';
import type { Raw } from './raw.js';
import { blockAt, quotedValue, rawOf, textValue, type Site } from './stack-values.js';
import { isTraversal, templateParts, type TemplatePart } from './stack-template.js';

/** Stands for the n-th expression while the text around it is parsed. */
const mark = (index: number): string => `\uE000${index}\uE001`;
const MARKS = /\uE000(\d+)\uE001/;
/** Stands before one that is in no quotes: it keeps its type. */
const BARE = '\uE002';

export function documentOf(value: Json, path: readonly string[], site: Site): Raw {
  const text = spelledOut(value, site);
  if (typeof text !== 'string') return bad(site, path, 'JSON text is expected');
  const parts = templateParts(text);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && typeof only !== 'string') return textValue(parts, path, site);
  const expressions: TemplatePart[] = [];
  let quoted = false;
  const marked = parts.map((part) => {
    if (typeof part === 'string') quoted = endsQuoted(part, quoted);
    else expressions.push(part);
    return typeof part === 'string' ? part : quoted ? mark(expressions.length - 1) : `"${BARE}${mark(expressions.length - 1)}"`;
  });
  let tree: Json;
  try {
    tree = JSON.parse(marked.join('')) as Json;
  } catch {
    return bad(site, path, 'this is no JSON text');
  }
  return treeOf(tree, expressions, path, site);
}

function bad({ complain }: Site, path: readonly string[], why: string): Raw {
  complain({ path, code: 'bad-json', summary: `\`${path.join('.')}\`: ${why}`, detail: 'Write `JSON.stringify({ … })` in the program.' });
  return {};
}

/** The text that one local stands for: it is JSON text there, too. */
function spelledOut(value: Json, { stack }: Site): Json {
  const parts = typeof value === 'string' ? templateParts(value) : [];
  const [only] = parts;
  if (only === undefined || parts.length > 1 || typeof only === 'string' || !isTraversal(only)) return value;
  const [head, name, ...more] = only.steps;
  const local = head === 'local' && typeof name === 'string' && more.length === 0 ? blockAt(stack.tree, 'locals')[name] : undefined;
  return typeof local === 'string' ? local : value;
}

/** Whether a JSON text that goes on with `text` is inside of a string. */
function endsQuoted(text: string, before: boolean): boolean {
  let quoted = before;
  for (let at = 0; at < text.length; at += 1) {
    if (quoted && text[at] === '\\') at += 1;
    else if (text[at] === '"') quoted = !quoted;
  }
  return quoted;
}

function treeOf(value: Json, expressions: readonly TemplatePart[], path: readonly string[], site: Site): Raw {
  if (typeof value === 'string') {
    const bare = value.startsWith(BARE);
    const pieces = value
      .slice(bare ? BARE.length : 0)
      .split(MARKS)
      .map((piece, index) => (index % 2 === 0 ? piece : (expressions[Number(piece)] ?? '')));
    const parts = pieces.filter((part) => part !== '');
    const [only] = parts;
    if (!bare && parts.length === 1 && typeof only === 'object') return quotedValue(only, path, site);
    return textValue(parts.length === 0 ? [''] : parts, path, site);
  }
  if (Array.isArray(value)) return (value as readonly Json[]).map((item, index) => treeOf(item, expressions, [...path, String(index)], site));
  if (!isObject(value)) return rawOf(value, path, site);
  return Object.fromEntries(Object.entries(value).flatMap(([key, item]) => (isKey(key, path, site) ? [[key, treeOf(item, expressions, [...path, key], site)]] : [])));
}

function isKey(key: string, path: readonly string[], { complain }: Site): boolean {
  const right = key !== '__proto__' && !MARKS.test(key);
  if (!right) complain({ path, code: 'unsupported-expression', summary: `\`${path.join('.')}\`: a key of a document has to be plain text` });
  return right;
}
