// The exports of the state for other modules: stores by location, fingerprints of secrets, saved plans.
import { resolve } from 'node:path';
import { refuse, type Masking } from '../model/index.js';
import { fileStore, type FileStoreOptions } from './backends/file/store.js';
import { maskedStore } from './masked-store.js';
import type { Store } from './store-port.js';

export { fileStore, type FileStoreOptions } from './backends/file/store.js';
export { scryptFingerprints } from './fingerprints.js';
export { maskedStore } from './masked-store.js';
export { notesBeside } from './backends/file/notes.js';
export { readPlanFile, writePlanFile, type PlanFileOptions } from './plan-file.js';
export type * from './store-port.js';

/**
 * The store a location names: a path, relative to `folder`.
 * @throws Refusal for the schemes that name a store of another sort. A location may hold a password: it is not repeated.
 */
export function storeFor(
  location: string,
  options: Omit<FileStoreOptions, 'path'> & {
    /** Absolute. */ readonly folder: string;
    readonly masking: Masking;
  },
): Store {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(location)?.[1];
  const unsupported = (problem: string): never =>
    refuse('unsupported-store', problem, {
      detail: 'Name a file, such as settings.state: .trueup/state.json',
      attribute: 'settings.state',
    });
  if (scheme !== undefined)
    unsupported(`a state at ${scheme.toLowerCase()}:// is not supported by this version`);
  if (location === '') unsupported('the location of the state is empty');
  const { folder, masking, ...rest } = options;
  return maskedStore(fileStore({ ...rest, path: resolve(folder, location) }), masking);
}
