// The construct classes of a library: a resource and a data source per kind, one class per collection that can only be read.
// Each imports its kind's own file, so that a bundler leaves out the kinds that a program does not use.
import { camel, isKind, type Collection } from '../src/model/index.js';
import { ORIGIN } from './kind-lines.js';

/** A kind or collection, and where it is written. */
export interface Written {
  /** Name of its export. */
  readonly name: string;
  /** Relative to src/resources. */
  readonly file: string;
  readonly collection: Collection;
}

const pascal = (name: string): string => camel(`_${name}`);

/** Names of the classes, in the order of the index. */
export const resourceNames = (all: readonly Written[]): readonly string[] =>
  all.flatMap(({ collection }) => (isKind(collection) ? [pascal(collection.singular)] : []));

/** @param records whether there are classes for collections that are only read */
export function classesFile(
  all: readonly Written[],
  { records }: { readonly records: boolean },
): string {
  const used = all.filter(({ collection }) => records || isKind(collection));
  const [kinds, others] = [
    used.filter(({ collection }) => isKind(collection)),
    used.filter(({ collection }) => !isKind(collection)),
  ];
  const functions = [
    ...(kinds.length > 0 ? ['lookupClass', 'resourceClass'] : []),
    ...(others.length > 0 ? ['recordsClass'] : []),
  ];
  return [
    ORIGIN,
    ...used.map(({ name, file }) => `import { ${name} } from '../../../resources/${file}';`),
    `import { ${functions.toSorted().join(', ')} } from '../classes.js';`,
    '',
    ...kinds.map(
      ({ name, collection }) =>
        `export class ${pascal(collection.singular)} extends resourceClass(${name}) {}`,
    ),
    ...kinds.map(
      ({ name, collection }) =>
        `export class Data${pascal(collection.singular)} extends lookupClass(${name}) {}`,
    ),
    ...others.map(
      ({ name, collection }) =>
        `export class Data${pascal(collection.name)} extends recordsClass(${name}) {}`,
    ),
    '',
  ].join('\n');
}
