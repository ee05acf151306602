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
      if (known && holds(name, Object.keys(declarable(known)))) return kind;
      const isUse = (use: string): boolean => holds(use, ['template']);
      return usesOf(`${kind}.${name}`).some(isUse) ? 'use' : undefined;
    },
  };
}

type Holds = (name: string, words: readonly string[]) => boolean;

/** Whether a mapping of that name with one of the words, or one that was renamed from it, stands at the top, or below a key of the top. */
function holdsMapping(roots: readonly Raw[]): Holds {
  const tops = roots.filter(isMap);
  const places = [...tops, ...tops.flatMap((top) => Object.values<Raw>(top).filter(isMap))];
  let formers: ReadonlySet<string> | undefined;
  return (name, words) =>
    (formers ??= new Set(places.flatMap(formersIn))).has(name) ||
    places.some((place) => {
      const value = Object.hasOwn(place, name) ? place[name] : undefined;
      return isMap(value) && words.some((word) => Object.hasOwn(value, word));
    });
}

/** The names that declarations had before. */
const formersIn = (place: RawMap): readonly string[] =>
  Object.values<Raw>(place).flatMap((value) => {
    const lifecycle = isMap(value) ? value['lifecycle'] : undefined;
    const former = isMap(lifecycle) ? lifecycle['renamed_from'] : undefined;
    if (typeof former !== 'string') return [];
    const whole = withoutKey(former);
    // With the kind, it would be an error; but nobody reads this file.
    return [whole, whole.slice(whole.indexOf('.') + 1)];
  });

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
