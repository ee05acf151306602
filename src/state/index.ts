// The exports of the state for other modules: stores by location, fingerprints of secrets. Saved plans are in
// plan-file.ts, which the provider does not need.
import { resolve } from 'node:path';
import { addressMistyped, isAddress, refuse, type Masking, type State } from '../model/index.js';
import { fileStore, type FileStoreOptions } from './backends/file/store.js';
import { withDisk } from './disk-errors.js';
import { migratedStore, serialsOf } from './known-serials.js';
import { maskedStore } from './masked-store.js';
import { decodeState } from './state-format.js';
import type { RemoteOptions } from './remote-store.js';
import type { Store } from './store-port.js';
import { waitingStore } from './waiting-store.js';

export { fileStore, type FileStoreOptions } from './backends/file/store.js';
export { scryptFingerprints } from './fingerprints.js';
export { encodeState, MovedState } from './state-format.js';
export { maskedStore } from './masked-store.js';
export { notesBeside } from './backends/file/notes.js';
export type { RemoteOptions } from './remote-store.js';
export type * from './store-port.js';

/**
 * The store that a location names: a path, relative to `folder`, or an address.
 * @throws Refusal where the address cannot hold a state. It may hold a password: it is not repeated.
 */
export async function storeFor(
  location: string,
  options: Omit<FileStoreOptions, 'path'> &
    RemoteOptions & {
      /** Absolute. */ readonly folder: string;
      readonly masking: Masking;
    },
): Promise<Store> {
  const { folder, masking, locking, ...rest } = options;
  const migrated = (store: Store) => maskedStore(migratedStore(store, serialsOf(options)), masking);
  if (isAddress(location)) {
    const { remoteStore } = await import('./remote-store.js');
    return migrated(await remoteStore(location, options));
  }
  const mistyped = addressMistyped(
    options.byEnvironment === true ? 'TRUEUP_STATE' : 'the location of the state',
    location,
  );
  if (mistyped) refuse(mistyped.code, mistyped.summary, mistyped);
  if (location === '')
    refuse('unsupported-store', 'the location of the state is empty', {
      detail: 'Name a file, such as settings.state: .trueup/state.json',
      attribute: 'settings.state',
    });
  const store = fileStore({ ...rest, path: resolve(folder, location) });
  return migrated(waitingStore(store, { ...rest, wait: locking.wait }));
}

/** A state file that is not in its place. @param path absolute @throws Refusal */
export const readStateFile = (
  path: string,
  { files, version }: Pick<FileStoreOptions, 'files' | 'version'>,
): Promise<State> =>
  withDisk(path, async () =>
    decodeState(await files.read(path), path, version, 'Get the state again: trueup state pull'),
  );
