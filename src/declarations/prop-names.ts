// Diagnostics about what a CDK program made name attributes as its props are written: `filterCriteria.alertTypeIn`.
import { camel, providerBlock, walk, type Diagnostic, type Kinds } from '../model/index.js';

/** What a program writes beside attributes. */
const lifecycle = [
  'prevent_destroy',
  'ignore_changes',
  'renamed_from',
  'on_removal',
  'allow_duplicate',
];

/** Changes diagnostics whose origin is a construct; a reference in `${…}` stays as it is. */
export function propNamer(kinds: Kinds): (one: Diagnostic) => Diagnostic {
  const names = [...kinds.values()].flatMap(({ attributes }) =>
    [...walk(attributes)].map(([path]) => path.slice(path.lastIndexOf('.') + 1)),
  );
  const all = new Set([...names, ...Object.keys(providerBlock), ...lifecycle]);
  const pattern = new RegExp(
    String.raw`\$\{[^}]*\}|(?<![\w-])(?:${[...all].join('|')})(?:_wo(?:_version)?)?(?![\w-])`,
    'g',
  );
  const named = (text: string): string =>
    text.replaceAll(pattern, (name) => (name.startsWith('$') ? name : camel(name)));
  return (one) =>
    one.origin?.path === undefined
      ? one
      : {
          ...one,
          summary: named(one.summary),
          ...(one.detail !== undefined && { detail: named(one.detail) }),
          ...(one.attribute !== undefined && { attribute: named(one.attribute) }),
        };
}
