// The keys at the top of a YAML file. A file in a folder is left out, with a note, if none of its keys is one of trueup
// or resembles one.
import { NAME, nearest, type Kinds } from '../model/index.js';
import { sections } from './vocabulary.js';
import { isMap, type Raw, type RawDocument } from './yaml/raw-values.js';

export const topLevelKeys = (kinds: Kinds): readonly string[] => [...sections, ...kinds.keys()];

/** Words like these, such as `user` and `template`, stand in files of other programs. */
const COMMON: ReadonlySet<string> = new Set(['templates', 'use']);

/** Whether any top-level key of the documents is one of trueup, or resembles one. */
export function hasOwnTopLevelKeys(kinds: Kinds, documents: readonly RawDocument[]): boolean {
  const entries = documents.flatMap(({ root }) => (isMap(root) ? Object.entries<Raw>(root) : []));
  // Other programs have lists of `users` and `groups`; those of trueup are mappings.
  const isBeyond = (word: string): boolean => kinds.get(word)?.beyond === true;
  const near = topLevelKeys(kinds).filter((word) => !COMMON.has(word) && !isBeyond(word));
  const isSection = (key: string): boolean =>
    isBeyond(key) && documents.some(({ root }) => isMap(root) && isMap(root[key]));
  return entries.some(
    ([key, value]) =>
      COMMON.has(key) ||
      isSection(key) ||
      nearest(key, near) !== undefined ||
      isNameBehind(lacksColon(key, near), key, value),
  );
}

/** Whether a key is a section and a name, and its value may be a declaration: `accounts receivable: 5` is of another program. */
const isNameBehind = (section: string | undefined, key: string, value: Raw): boolean =>
  section !== undefined && isMap(value) && NAME.test(key.slice(section.length).trim());

/** The word of trueup that a key begins with because no colon follows it: the line below belongs to the key then. */
export function lacksColon(key: string, words: readonly string[]): string | undefined {
  const [first = ''] = key.split(/\s/, 1);
  return first !== key && words.includes(first) ? first : undefined;
}

/** Whether a text that is no valid YAML has a line, or a mapping, that begins with one of the keys, or a line of one without its colon. */
export function hasKey(text: string, keys: readonly string[]): boolean {
  const key = `["']?(?:${keys.join('|')})["']?[ \\t]{0,99}`;
  // The keys of a document are indented as far as its first line is.
  const [, indent = ''] = /^([ \t]*)[^\s#]/m.exec(text) ?? [];
  const alone = `^(?:${indent}|(?:---|\\?)[ \\t]{1,99})${key}(?:#.*)?\\r?$`;
  return new RegExp(`(?:^|[{,])[ \\t]{0,99}${key}:|${alone}`, 'm').test(text);
}
