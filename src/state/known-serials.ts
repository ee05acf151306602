// The newest serial that this machine saw of a remote state. A place that was restored from a backup shows an older one:
// what was created since would be created again.
import { dirname } from 'node:path';
import { equal, exits, isObject, limited, refuse, shellWord, type State } from '../model/index.js';
import type { Files } from '../platform/index.js';
import { isDiskError } from './disk-errors.js';
import { parseJsonText } from './json-text.js';
import type { Snapshot, Store } from './store-port.js';

type Known = Pick<State, 'lineage' | 'serial'>;

/** The states of a process share the file. */
const oneAtATime = limited(1);

interface KnownSerials {
  readonly files: Files;
  /** Absolute: the file that holds the serials. */
  readonly path: string;
  /** Tells one state from another. */
  readonly of: string;
  /** The state file that is used without settings. */
  readonly left?: Pick<Store, 'read' | 'location'>;
}

export function rememberingStore(store: Store, { files, path, of, left }: KnownSerials): Store {
  const load = async (): Promise<Readonly<Record<string, unknown>>> => {
    const parsed = parseJsonText(await files.read(path).catch(() => '{}'));
    return 'value' in parsed && isObject(parsed.value) ? parsed.value : {};
  };

  /** A disk that cannot be written to only makes the check weaker. */
  const remember = (known: Known): Promise<void> => oneAtATime(() => write(known));
  const write = async ({ lineage, serial }: Known): Promise<void> => {
    try {
      const before = await load();
      if (equal(before[of], { lineage, serial })) return;
      await files.makeFolder(dirname(path));
      const known = { ...before, [of]: { lineage, serial } };
      await files.replace(path, `${JSON.stringify(known)}\n`, 0o600);
    } catch (error) {
      if (!isDiskError(error)) throw error;
    }
  };

  const assertNotOlder = async (found: Known): Promise<void> => {
    const known = (await load())[of];
    if (!isObject(known) || known['lineage'] !== found.lineage) return;
    const { serial } = known;
    if (typeof serial === 'number' && serial > found.serial)
      refuse(
        'state-went-back',
        `the state at ${store.location} has serial ${found.serial}, and this machine saw serial ${serial}: it was restored from a backup, or somebody wrote over it`,
        { detail: 'If the older state is right: trueup state rollback --accept' },
        exits.stale,
      );
  };

  return {
    ...store,
    async read() {
      const snapshot = await store.read();
      if (!snapshot) return undefined;
      await assertNotOlder(snapshot.state);
      await remember(snapshot.state);
      return snapshot;
    },
    async open(...asked) {
      const session = await store.open(...asked);
      try {
        await assertNotOlder(session.snapshot.state);
        if (left) await assertMigrated({ ...store, left }, session.snapshot, asked[0]);
      } catch (error) {
        await session.release();
        throw error;
      }
      return {
        ...session,
        snapshot: session.snapshot,
        async compact(...how) {
          const compacted = await session.compact(...how);
          await remember(compacted.state);
          return compacted;
        },
      };
    },
    async accept() {
      const snapshot = await store.read();
      if (snapshot) await remember(snapshot.state);
      return snapshot?.state.serial;
    },
  };
}

/** A first run in a new place, beside a state file that was not moved there: everything would be adopted, or created again. */
async function assertMigrated(
  { location, left }: Required<Pick<KnownSerials, 'left'>> & Pick<Store, 'location'>,
  { state, unfinished }: Snapshot,
  operation: string,
): Promise<void> {
  if (state.serial > 0 || unfinished || operation.startsWith('state ')) return;
  const before = await left.read();
  if (Object.keys(before?.state.resources ?? {}).length > 0)
    refuse('state-not-moved', `${location} holds no state, and ${left.location} holds one`, {
      detail: `Move it there, with the settings of before: trueup state migrate --to URL\nIf it is about other objects, move the file away: mv ${shellWord(left.location)} ${shellWord(`${left.location}.old`)}`,
    });
}
