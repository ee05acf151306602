// What a program tells of the documents that it wrote: which construct made each thing in them, and where. It stands
// in comments, a line each, so that the documents remain what a person could have written.
import { defined } from './defined.js';
import { isObject, type Json } from './json.js';

/** The path of a construct, and the place in the program where that is known; `file` is relative to where the program ran, with `/`. */
export interface Comment {
  readonly path: string;
  readonly at?: { readonly file: string; readonly line: number; readonly column: number };
}

/** The comment that tells of what stands at a key, such as an address or `settings`. */
export const madeComment = (key: string, { path, at }: Comment): string =>
  `# ${key} ${JSON.stringify({ path, ...defined({ at }) })}\n`;

const COMMENT = /^# ([\w-]+(?:\.[\w-]+)?) (\{.*\})$/gm;

/** What the comments of a text tell, by key. What has another form tells nothing. */
export const madeIn = (text: string): ReadonlyMap<string, Comment> =>
  new Map(
    [...text.matchAll(COMMENT)].flatMap(([, key = '', body = '']): [string, Comment][] => {
      const { path, at } = told(body);
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

function told(body: string): Readonly<Record<string, Json>> {
  try {
    return JSON.parse(body) as Readonly<Record<string, Json>>;
  } catch {
    return {};
  }
}

/** Whether a relative path is that of a program's own source: below the folder, and of no package. */
export const isProgramFile = (file: string): boolean =>
  /^(?!\/|[A-Za-z]:).*\.[cm]?[jt]sx?$/.test(file) && !/(?:^|\/)(?:node_modules|\.\.)\//.test(file);
