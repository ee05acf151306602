// The lines of src/resources/index.ts that name a kind or a collection.

/** First line of every generated TypeScript file. */
export const ORIGIN = '// Written by `npm run generate`; do not edit.';

/** Name and file, relative to src/resources, of each, in their order. */
export const exportLines = (
  index: string,
): readonly { readonly name: string; readonly file: string }[] =>
  [...index.matchAll(/^export \{ (\w+) \} from '\.\/([\w-]+\.js)';$/gm)].map(
    ([, name = '', file = '']) => ({ name, file }),
  );
