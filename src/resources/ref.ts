// The word `ref` for the kinds of this cloud: the compiler accepts only names that exist.
import { anyRef, type Traits } from '../model/index.js';
import type { externals } from './externals.js';
import type { CollectionName } from './generated/names.js';

/** The identifier of an object of `to`: a kind, a collection that is only read, or an external. After a new kind, `npm run generate` adds its name. */
export const ref: <const T extends Traits>(
  doc: string,
  to: CollectionName | keyof typeof externals,
  traits?: T,
) => ReturnType<typeof anyRef<T>> = anyRef;
