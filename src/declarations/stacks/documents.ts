// A document attribute of a stack is JSON text with references inside. This parses it into a tree with references.
import {
  isList,
  isObject,
  type Attributes,
  type Json,
  type JsonObject,
} from '../../model/index.js';
import { partsOf } from '../reference-syntax.js';
import { jsonLevels, limits, type Raw } from '../yaml/raw-values.js';
import {
  blockAt,
  notText,
  onlyExpression,
  placeBelow,
  placeName,
  quotedValue,
  rawValueOf,
  textValue,
  tooDeep,
  type StackPlace,
} from './values.js';
import {
  isTraversal,
  templateParts,
  type TemplateExpression,
  type TemplatePart,
} from './template.js';
import { complainAt } from '../validation.js';
import { typeIn } from './variables.js';
import { attributeAt } from '../vocabulary.js';

/** Placeholders for the expressions of a document while the text around them is parsed: their numbers between a character that the document has not. */
interface Marks {
  readonly character: string;
  readonly parts: readonly TemplatePart[];
}

/** Of those that mean nothing to anybody; undefined where the text has all of them, spelled out or as escapes. */
function unusedIn(text: string): string | undefined {
  const escapes = text.toLowerCase();
  for (let code = 0xe000; code <= 0xf8ff; code += 1) {
    const character = String.fromCharCode(code);
    if (!text.includes(character) && !escapes.includes(`\\u${code.toString(16)}`)) return character;
  }
  return undefined;
}

export function stackDocumentOf(value: Json, site: StackPlace): Raw {
  const text = spelledOut(value, site);
  if (typeof text !== 'string') return bad(site, 'JSON text is expected');
  const parts = templateParts(text);
  if (onlyExpression(parts)) return textValue(parts, { ...site, as: 'json' });
  const character = unusedIn(text);
  if (character === undefined)
    return bad(site, 'this string has every character that means nothing');
  let quoted = false;
  const marked = parts.map((part, index) => {
    if (typeof part !== 'string')
      return quoted
        ? `${character}${index}${character}`
        : `"${character}${character}${index}${character}"`;
    quoted = endsQuoted(part, quoted);
    return part;
  });
  const whole = marked.join('');
  if (jsonLevels(whole) > limits.levels) return tooDeep(site);
  let tree: Json;
  try {
    tree = JSON.parse(whole);
  } catch {
    return parts.some(isEscaped)
      ? bad(site, 'quotes inside of `${…}` are escaped here, which nobody reads', KEPT)
      : bad(site, 'this is not valid JSON');
  }
  return treeOf(tree, { character, parts }, site);
}

/** JSON escapes the quotes of a key, as in `${TYPE.NAME[\"a\"].id}`. */
const isEscaped = (part: TemplatePart): boolean =>
  typeof part !== 'string' && /^[^"]*\\"/.test(part.text);

const KEPT = `Let a local hold the reference: \`const it = new TerraformLocal(this, 'it', '\${TYPE.NAME["key"].id}')\`, and \`it.asString\` in the document.`;

function bad(
  site: StackPlace,
  why: string,
  detail = 'Write `JSON.stringify({ … })` in the program.',
): Raw {
  complainAt(site, 'bad-json', `${placeName(site)}: ${why}`, detail);
  return {};
}

/** The text that one local stands for: it is JSON text there, too. */
function spelledOut(value: Json, { stack }: StackPlace): Json {
  const only = typeof value === 'string' ? onlyExpression(templateParts(value)) : undefined;
  if (only === undefined || !isTraversal(only)) return value;
  const [head, name, ...more] = only.steps;
  const local =
    head === 'local' && typeof name === 'string' && more.length === 0
      ? blockAt(stack.tree, 'locals')[name]
      : undefined;
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

function treeOf(value: Json, marks: Marks, site: StackPlace): Raw {
  if (typeof value === 'string') {
    const bare = value.startsWith(marks.character + marks.character);
    const pieces = value
      .slice(bare ? 1 : 0)
      .split(marks.character)
      .map((piece, index) => (index % 2 === 0 ? piece : marks.parts[Number(piece)]!));
    const parts = pieces.filter((part) => part !== '');
    const only = onlyExpression(parts);
    if (!only) return textValue(parts.length === 0 ? [''] : parts, site);
    return bare ? bareValue(only, site) : quotedValue(only, site);
  }
  if (isList(value))
    return value.map((item, index) => treeOf(item, marks, placeBelow(site, String(index))));
  if (!isObject(value)) return rawValueOf(value, site);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) =>
      isKey(key, marks, site) ? [[key, treeOf(item, marks, placeBelow(site, key))]] : [],
    ),
  );
}

/** An expression in no quotes keeps its type, and so must not be text: Terraform reads what it says as JSON. */
function bareValue(part: TemplateExpression, site: StackPlace): Raw {
  let wrong = false;
  const value = textValue([part], {
    ...site,
    as: 'json',
    complain: (complaint) => ((wrong = true), site.complain(complaint)),
  });
  if (value === null) return notText(part, value, site);
  if (!wrong && typeof value === 'string' && isText(value, site))
    complainAt(
      site,
      'unquoted-text',
      `${placeName(site)}: ${part.text} is a string and is not in quotes`,
      `Write it in quotes: "${part.text}".`,
    );
  return value;
}

/** Whether a value can only be a string. */
function isText(value: string, { stack, ofTexts }: StackPlace): boolean {
  const [only, ...more] = partsOf(value);
  if (typeof only !== 'object' || more.length > 0) return true;
  switch (only.from) {
    case 'var':
      return holdsText(blockAt(stack.tree, 'variable', only.name), only.path);
    case 'each':
      return only.path[0] === 'key' || ofTexts === true;
    case 'declared':
      return isTextual(
        [...stack.kinds.values()].find(({ name }) => name === only.kind)?.attributes,
        only.attribute,
      );
    case 'stack':
      return false;
    case 'lookup':
      return isTextual(stack.found(only.name)?.attributes, only.attribute);
    default:
      return true;
  }
}

/** Of a variable without a type, what it is given at first tells. */
function holdsText({ type, default: initial }: JsonObject, [...steps]: readonly string[]): boolean {
  let held = typeof type === 'string' ? typeIn(type) : undefined;
  if (held === undefined) return steps.length === 0 && typeof initial === 'string';
  for (; steps.length > 0 && typeof held === 'object'; steps.pop()) held = held.of;
  return held === 'text';
}

/** An attribute that does not exist is an error elsewhere. */
function isTextual(attributes: Attributes | undefined, name: string): boolean {
  const word = attributes && attributeAt(attributes, name.split('.'))?.word;
  return word === 'text' || word === 'ref' || word === 'choice';
}

function isKey(key: string, { character }: Marks, site: StackPlace): boolean {
  const right = key !== '__proto__' && !key.includes(character);
  const summary = `${placeName(site)}: a key of a document has to be a plain string`;
  if (!right) complainAt(site, 'unsupported-expression', summary);
  return right;
}
