// The newest serial that this machine saw of a remote state. A place that was restored from a backup shows an older one,
// and a place that was named without a migration shows none: what was created since would be created again.
import { dirname, join } from 'node:path';
import {
  equal,
  exits,
  isAddress,
  isList,
  isObject,
  limited,
  refuse,
  sameTarget,
  shellWord,
  type State,
} from '../model/index.js';
import type { Files } from '../platform/index.js';
import { fileStore, type FileStoreOptions } from './backends/file/store.js';
import { isDiskError } from './disk-errors.js';
import { parseJsonText } from './json-text.js';
import { MovedState } from './state-text.js';
import type { ProjectIdentity, Store } from './store-port.js';

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

/** The last text that was read: a fleet reads the same one for each tenant. */
let last: { readonly text: string; readonly serials: Serials } | undefined;

const load = async ({ files, path }: KnownSerials): Promise<Serials> => {
  const text = await files.read(path).catch(() => '{}');
  if (last?.text !== text) last = { text, serials: serialsIn(text) };
  return last.serials;
};

function serialsIn(text: string): Serials {
  const parsed = parseJsonText(text);
  return 'value' in parsed && isObject(parsed.value) ? parsed.value : {};
}

export function rememberingStore(store: Store, known: KnownSerials): Store {
  const of = `${store.location} ${known.project}`;

  /** A disk that cannot be written to only makes the check weaker. @param one undefined: the state is there no more */
  const remember = (one: State | undefined): Promise<void> => oneAtATime(() => write(one));
  const write = async (one: State | undefined): Promise<void> => {
    const { files, path } = known;
    try {
      const { [of]: before, ...others } = await load(known);
      const now = one && rememberedOf(one);
      if (equal(before, now)) return;
      await files.makeFolder(dirname(path));
      const all = now ? { ...others, [of]: now } : others;
      await files.replace(path, `${JSON.stringify(all)}\n`, 0o600);
    } catch (error) {
      if (!isDiskError(error)) throw error;
    }
  };

  /** @returns what this machine knew */
  const assertNotOlder = async (found: State): Promise<unknown> => {
    const before = (await load(known))[of];
    if (!isObject(before) || before['lineage'] !== found.lineage) return before;
    const { serial } = before;
    if (typeof serial === 'number' && serial > found.serial)
      refuse(
        'state-went-back',
        `the state at ${store.location} has serial ${found.serial}, and this machine saw serial ${serial}: it was restored from a backup, or somebody wrote over it`,
        { detail: 'If the older state is right: trueup state rollback --accept' },
        exits.stale,
      );
    return before;
  };

  return {
    ...store,
    async read() {
      const snapshot = await store.read();
      if (!snapshot) return undefined;
      const before = await assertNotOlder(snapshot.state);
      if (!equal(before, rememberedOf(snapshot.state))) await remember(snapshot.state);
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

const rememberedOf = (state: State) => ({
  lineage: state.lineage,
  serial: state.serial,
  ...declaredIn(state),
});

const declaredIn = ({ target, resources }: State): ProjectIdentity => ({
  target,
  files: [...new Set(Object.values(resources).map(({ file }) => file))].toSorted(),
});

interface KnownPlace extends ProjectIdentity {
  readonly location: string;
}

/** A store that tells a place without a state from one whose state is elsewhere: there, all would be adopted, or created again. */
export function migratedStore(store: Store, known: KnownSerials): Store {
  const { location } = store;
  return {
    ...store,
    async assertMigrated({ target, files }) {
      if (known.byEnvironment && !isAddress(location)) return;
      const declared = new Set(files);
      const other = (await knownPlaces(known)).find(
        (one) =>
          one.location !== location &&
          sameTarget(one.target, target) &&
          one.files.some((file) => declared.has(file)),
      );
      if (other)
        refuse('state-not-moved', `${location} holds no state, and ${other.location} held one`, {
          detail: waysOn(other.location, location, known),
        });
    },
  };
}

function waysOn(from: string, to: string, { path }: KnownSerials): string {
  const old = shellWord(from);
  const lines = isAddress(from)
    ? [
        'If it is about other objects, name another project: settings.state.project',
        `If it is gone for good, let this machine forget it: rm ${shellWord(path)}`,
      ]
    : [`If it is about other objects, move the file away: mv ${old} ${shellWord(`${from}.old`)}`];
  return [`Move it there${moving(from, to)}`, ...lines].join('\n');
}

function moving(from: string, to: string): string {
  if (isAddress(to)) return ', with the settings of before: trueup state migrate --to URL';
  const file = shellWord(to);
  return isAddress(from)
    ? `, with the settings of before: trueup state pull > ${file}`
    : `: mv ${shellWord(from)} ${file}`;
}

/** Where this machine knows states of the project. */
async function knownPlaces(known: KnownSerials): Promise<readonly KnownPlace[]> {
  const { left, byEnvironment, project } = known;
  if (!left) return [];
  const usual = (await left.read().catch(whereMoved))?.state;
  const end = ` ${project}`;
  const seen = byEnvironment ? [] : Object.entries(await load(known));
  return [
    ...(usual ? [{ location: left.location, ...declaredIn(usual) }] : []),
    ...seen.flatMap(([of, one]) =>
      of.endsWith(end) && isDeclared(one)
        ? [{ location: of.slice(0, -end.length), target: one.target, files: one.files }]
        : [],
    ),
  ];
}

const isDeclared = (one: unknown): one is ProjectIdentity =>
  isObject(one) && typeof one['target'] === 'string' && isList(one['files']);

/** What moved is known by its new place. */
function whereMoved(error: unknown): undefined {
  if (!(error instanceof MovedState)) throw error;
}
