// The newest serial that this machine saw of a remote state. A place that was restored from a backup shows an older one,
// and a place that was named without a migration shows none: what was created since would be created again.
import { dirname, join } from 'node:path';
import {
  equal,
  exits,
  isAddress,
  isObject,
  limited,
  refuse,
  shellWord,
  type State,
} from '../model/index.js';
import type { Files } from '../platform/index.js';
import { fileStore, type FileStoreOptions } from './backends/file/store.js';
import { isDiskError } from './disk-errors.js';
import { parseJsonText } from './json-text.js';
import type { Store } from './store-port.js';

type Known = Pick<State, 'lineage' | 'serial' | 'target'>;

/** The states of a process share the file. */
const oneAtATime = limited(1);

interface KnownSerials {
  readonly files: Files;
  /** Absolute: the file that holds the serials. */
  readonly path: string;
  /** Names the state in its place, with the environment. */
  readonly project: string;
  /** Whether the environment names the place: it may name another one for each run, such as one for each customer. */
  readonly byEnvironment: boolean;
  /** The state file that is used without settings; absent where a state may begin anew. */
  readonly left?: Pick<Store, 'read' | 'location'>;
}

/** @param options those of a store */
export const serialsOf = (
  options: Omit<FileStoreOptions, 'path'> &
    Pick<KnownSerials, 'project'> & {
      readonly byEnvironment?: boolean;
      readonly ownFolder: string;
      readonly usualFile?: string;
    },
): KnownSerials => {
  const { files, project, ownFolder, usualFile, byEnvironment = false } = options;
  return {
    files,
    project,
    byEnvironment,
    path: join(ownFolder, 'serials.json'),
    ...(usualFile !== undefined && { left: fileStore({ ...options, path: usualFile }) }),
  };
};

type Serials = Readonly<Record<string, unknown>>;

const load = async ({ files, path }: KnownSerials): Promise<Serials> => {
  const parsed = parseJsonText(await files.read(path).catch(() => '{}'));
  return 'value' in parsed && isObject(parsed.value) ? parsed.value : {};
};

export function rememberingStore(without: Store, known: KnownSerials): Store {
  const store = migratedStore(without, known);
  const of = `${store.location} ${known.project}`;

  /** A disk that cannot be written to only makes the check weaker. @param one undefined: the state is there no more */
  const remember = (one: Known | undefined): Promise<void> => oneAtATime(() => write(one));
  const write = async (one: Known | undefined): Promise<void> => {
    const { files, path } = known;
    try {
      const { [of]: before, ...others } = await load(known);
      const { lineage, serial, target } = one ?? {};
      const now = one && { lineage, serial, target };
      if (equal(before, now)) return;
      await files.makeFolder(dirname(path));
      const all = now ? { ...others, [of]: now } : others;
      await files.replace(path, `${JSON.stringify(all)}\n`, 0o600);
    } catch (error) {
      if (!isDiskError(error)) throw error;
    }
  };

  const assertNotOlder = async (found: Known): Promise<void> => {
    const before = (await load(known))[of];
    if (!isObject(before) || before['lineage'] !== found.lineage) return;
    const { serial } = before;
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
        async mark(moved) {
          await session.mark(moved);
          if (moved && 'to' in moved) await remember(undefined);
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

/** A store that begins no new state where this machine knows the state in another place: everything would be adopted, or created again. */
export function migratedStore(store: Store, known: KnownSerials): Store {
  const assertMigrated = async (target: string): Promise<void> => {
    const { left } = known;
    if (!left) return;
    const before = isAddress(store.location) ? await left.read() : undefined;
    if (Object.keys(before?.state.resources ?? {}).length > 0)
      refuse(
        'state-not-moved',
        `${store.location} holds no state, and ${left.location} holds one`,
        {
          detail: `Move it there, with the settings of before: trueup state migrate --to URL\nIf it is about other objects, move the file away: mv ${shellWord(left.location)} ${shellWord(`${left.location}.old`)}`,
        },
      );
    const other = known.byEnvironment
      ? undefined
      : await knownElsewhere({ ...known, target, location: store.location });
    if (other !== undefined)
      refuse('state-not-moved', `${store.location} holds no state, and ${other} held one`, {
        detail: `Move it there, with the settings of before: ${isAddress(store.location) ? 'trueup state migrate --to URL' : `trueup state pull > ${shellWord(store.location)}`}\nIf it is about other objects, name another project: settings.state.project\nIf it is gone for good, let this machine forget it: rm ${shellWord(known.path)}`,
      });
  };
  return {
    ...store,
    assertMigrated,
    async open(operation, target, moved) {
      const session = await store.open(operation, target, moved);
      const { state, unfinished } = session.snapshot;
      try {
        if (state.serial === 0 && !unfinished && !operation.startsWith('state '))
          await assertMigrated(target);
      } catch (error) {
        await session.release();
        throw error;
      }
      return session;
    },
  };
}

/** Where else this machine saw a state of the project, about the same cloud. */
async function knownElsewhere({
  target,
  location,
  ...known
}: KnownSerials & {
  readonly target: string;
  readonly location: string;
}): Promise<string | undefined> {
  const end = ` ${known.project}`;
  for (const [of, one] of Object.entries(await load(known))) {
    const place = of.slice(0, -end.length);
    if (!of.endsWith(end) || place === location || !isObject(one)) continue;
    if (one['target'] === target) return place;
  }
  return undefined;
}
