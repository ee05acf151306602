// Comments in a document that a program wrote: the construct that made each object, and its place. Comments are used,
// one line per object, so that the document stays one that a person could have written.
import { defined } from '../defined.js';
import { tryJson } from '../exact-numbers.js';
import { isObject } from '../json.js';

/** The path of a construct and, if known, its place in the program; `file` is relative to the program's folder, with `/`. */
export interface Comment {
  readonly path: string;
  readonly at?: { readonly file: string; readonly line: number; readonly column: number };
}

/** The comment for the object at a key, such as an address or `settings`. */
export const madeComment = (key: string, { path, at }: Comment): string =>
  `# ${key} ${JSON.stringify({ path, ...defined({ at }) })}\n`;

const COMMENT = /^# ([\w-]+(?:\.[\w-]+)?) (\{.*\})$/gm;

/** The comments of a text by key. Comments of another form are ignored. */
export const madeIn = (text: string): ReadonlyMap<string, Comment> =>
  new Map(
    [...text.matchAll(COMMENT)].flatMap(([, key = '', body = '']): [string, Comment][] => {
      const told = tryJson(body);
      const { path, at } = isObject(told) ? told : {};
      if (typeof path !== 'string') return [];
      const { file, line, column } = isObject(at) ? at : {};
      const isPlace =
        typeof file === 'string' &&
        typeof line === 'number' &&
        typeof column === 'number' &&
        isProgramFile(file);
      return [[key, { path, ...(isPlace && { at: { file, line, column } }) }]];
    }),
  );

/** Whether a relative path is that of a program's own source: below the folder, and of no package. */
export const isProgramFile = (file: string): boolean =>
  /^(?!\/|[A-Za-z]:).*\.[cm]?[jt]sx?$/.test(file) && !/(?:^|\/)(?:node_modules|\.\.)\//.test(file);
