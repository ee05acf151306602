// What a file may declare that is left out because trueup knows none of its top-level keys.
import { withoutKey, type Kinds, type UnknownFile } from '../model/index.js';
import { usesOf } from './mention-texts.js';
import { declarable } from './vocabulary.js';
import { isMap, type Raw, type RawDocument, type RawMap } from './yaml/raw-values.js';

/** The documents of a file, or its text where it is no valid YAML: then each key of the text may be a name. */
export type ReadFile = { readonly documents: readonly RawDocument[] } | { readonly text: string };

export function unknownFile(kinds: Kinds, file: string, read: ReadFile): UnknownFile {
  const holds =
    'text' in read ? holdsKey(read.text) : holdsMapping(read.documents.map(({ root }) => root));
  return {
    file,
    keyFor: (kind, name) => {
      const known = kinds.get(kind);
      const address = `${kind}.${name}`;
      if (known && holds(name, Object.keys(declarable(known)), address)) return kind;
      const isUse = (use: string): boolean => holds(use, ['template']);
      return usesOf(address).some(isUse) ? 'use' : undefined;
    },
  };
}

/** @param former what a declaration of another name may give as its `renamed_from` */
type Holds = (name: string, words: readonly string[], former?: string) => boolean;

/** Whether a mapping of that name with one of the words, or of the former address, stands at the top, or below a key of the top. */
function holdsMapping(roots: readonly Raw[]): Holds {
  const tops = roots.filter(isMap);
  const places = [...tops, ...tops.flatMap((top) => Object.values<Raw>(top).filter(isMap))];
  return (name, words, former) =>
    places.some((place) =>
      Object.entries<Raw>(place).some(
        ([key, value]) =>
          isMap(value) &&
          ((key === name && words.some((word) => Object.hasOwn(value, word))) ||
            (former !== undefined && formerOf(value) === former)),
      ),
    );
}

function formerOf({ lifecycle }: RawMap): string | undefined {
  const text = isMap(lifecycle) ? lifecycle['renamed_from'] : undefined;
  return typeof text === 'string' ? withoutKey(text) : undefined;
}

const KEYS = /(?<![\w-])([\w-]+)["']?[ \t]*:/g;

/** Whether a line that is no comment has the name as a key. */
function holdsKey(text: string): Holds {
  let keys: ReadonlySet<string> | undefined;
  return (name) => (keys ??= keysIn(text)).has(name);
}

function keysIn(text: string): ReadonlySet<string> {
  const lines = text.split('\n').filter((line) => !/^\s*#/.test(line));
  return new Set(lines.flatMap((line) => [...line.matchAll(KEYS)].map(([, key]) => key!)));
}
