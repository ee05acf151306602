// The newest serial that this machine saw of a remote state. A place that was restored from a backup shows an older one,
// and a place that was named without a migration shows none: what was created since would be created again.
import { dirname, join } from 'node:path';
import {
  defined,
  equal,
  exits,
  isAddress,
  isList,
  isObject,
  refuse,
  sameTarget,
  sha256,
  shellWord,
  warning,
  type Diagnostic,
  type State,
} from '../model/index.js';
import type { Files } from '../platform/index.js';
import { fileStore, type FileStoreOptions } from './backends/file/store.js';
import { ifThere, isDiskError } from './disk-errors.js';
import { parseJsonText } from './json-text.js';
import { MovedState } from './state-format.js';
import type { ProjectIdentity, Store } from './store-port.js';

interface KnownSerials extends Pick<KnownProject, 'project'> {
  readonly files: Files;
  /** Absolute: the folder with a file for each state. Runs at the same time write other files. */
  readonly folder: string;
  /** Whether the environment names the place: it may name another one for each run, such as one for each customer. */
  readonly byEnvironment: boolean;
  readonly notify?: ((one: Diagnostic) => void) | undefined;
  /** The state file that is used without settings; absent where a state may begin anew. */
  readonly left?: Pick<Store, 'read' | 'location'>;
}

/** What a state is called, and what this machine keeps of it. */
export interface KnownProject {
  /** Names the state in its place, with the environment. */
  readonly project: string;
  /** Absolute: what this machine keeps of remote states. */
  readonly ownFolder: string;
  /** Absolute: the state file that is used without settings. What it holds has to be moved to a new place first. */
  readonly usualFile?: string;
  /** Whether the environment names the place. */
  readonly byEnvironment?: boolean;
}

/** @param options those of a store */
export const serialsOf = (options: Omit<FileStoreOptions, 'path'> & KnownProject): KnownSerials => {
  const { files, project, ownFolder, usualFile, notify, byEnvironment = false } = options;
  return {
    files,
    notify,
    project,
    byEnvironment,
    folder: join(ownFolder, 'serials'),
    ...(usualFile !== undefined && { left: fileStore({ ...options, path: usualFile }) }),
  };
};

/** What one file holds. */
type Known = Readonly<Record<string, unknown>>;

/** What this machine calls a project in a place, and what earlier builds called it, also on another server. */
export function projectKeys(
  { location, endpoint }: Pick<Store, 'location' | 'endpoint'>,
  project: string,
): readonly [now: string, before: string] {
  const before = `${location} ${project}`;
  return [endpoint === undefined ? before : `${location} ${endpoint} ${project}`, before];
}

/** @param of one of its keys */
const fileOf = ({ folder }: KnownSerials, of: string): string =>
  join(folder, `${sha256(of).slice(0, 32)}.json`);

/** Undefined where nothing is known. */
async function load({ files }: KnownSerials, path: string): Promise<Known | undefined> {
  const parsed = parseJsonText(await files.read(path).catch(() => ''));
  return 'value' in parsed && isObject(parsed.value) ? parsed.value : undefined;
}

/** What this machine knows of one state. */
function knownSerial(place: Pick<Store, 'location' | 'endpoint'>, known: KnownSerials) {
  const { files, folder, project } = known;
  const { location, endpoint } = place;
  const [now, before] = projectKeys(place, project);
  const [path, older] = [fileOf(known, now), fileOf(known, before)];
  const of = ({ lineage, serial, ...state }: State) => ({
    location,
    ...defined({ endpoint }),
    project,
    lineage,
    serial,
    ...declaredIn(state),
  });
  return {
    of,
    read: async () => (await load(known, path)) ?? load(known, older),
    /** A disk that cannot be written to only makes the check weaker. @param isThere false: the state is there no more */
    async record(one: State, isThere = true): Promise<void> {
      try {
        if (isThere) {
          await files.makeFolder(folder);
          await files.replace(path, `${JSON.stringify(of(one))}\n`, 0o600);
        } else await ifThere(files.remove(path));
        if (older === path) return;
        // It may be that of a state on another server.
        const { lineage } = (await load(known, older)) ?? {};
        if (lineage === one.lineage) await ifThere(files.remove(older));
      } catch (error) {
        if (!isDiskError(error)) throw error;
      }
    },
  };
}

const emptied = (location: string, serial: number): Diagnostic =>
  warning(
    'state-gone',
    `there is no state at ${location}, and this machine saw serial ${serial} there.`,
    'Without it, trueup does not delete objects that are no longer declared, and recognises the others by their identity. If it was not emptied on purpose, restore it before an apply.',
  );

export function rememberingStore(store: Store, known: KnownSerials): Store {
  const { location } = store;
  const { notify } = known;
  const { of, read, record } = knownSerial(store, known);

  /** @param moves whether the state comes back to a place that it left @returns what this machine knew */
  const assertNotOlder = async (found: State, moves = false): Promise<Known | undefined> => {
    const before = await read();
    const isSame = before?.['lineage'] === found.lineage;
    const copy = isSame || moves ? undefined : await newestCopy(known, found);
    const { serial } = (isSame ? before : copy) ?? {};
    if (typeof serial === 'number' && serial > found.serial)
      refuse(
        'state-went-back',
        `the state at ${location} has serial ${found.serial}, and this machine saw serial ${serial}: it was restored from a backup or overwritten`,
        { detail: 'If the older state is right: trueup state rollback --accept' },
        exits.stale,
      );
    return before;
  };

  return {
    ...store,
    async read() {
      const snapshot = await store.read();
      if (!snapshot) {
        const { serial } = (await read()) ?? {};
        if (typeof serial === 'number' && serial > 0) notify?.(emptied(location, serial));
        return undefined;
      }
      const before = await assertNotOlder(snapshot.state);
      if (!equal(before, of(snapshot.state))) await record(snapshot.state);
      return snapshot;
    },
    async open(...asked) {
      const session = await store.open(...asked);
      try {
        const [, , moved] = asked;
        await assertNotOlder(session.snapshot.state, moved !== undefined);
      } catch (error) {
        await session.release();
        throw error;
      }
      return {
        ...session,
        snapshot: session.snapshot,
        async compact(...how) {
          const compacted = await session.compact(...how);
          await record(compacted.state);
          return compacted;
        },
        async mark(moved) {
          await session.mark(moved);
          if (moved && 'to' in moved) await record(session.snapshot.state, false);
        },
      };
    },
    async accept() {
      const snapshot = await store.read();
      if (snapshot) await record(snapshot.state);
      return snapshot?.state.serial;
    },
  };
}

const declaredIn = ({
  target,
  resources,
}: Pick<State, 'target' | 'resources'>): ProjectIdentity => ({
  target,
  files: [...new Set(Object.values(resources).map(({ file }) => file))].toSorted(),
});

interface KnownPlace extends ProjectIdentity, Pick<Store, 'location' | 'endpoint'> {
  readonly lineage?: unknown;
  readonly serial?: unknown;
  /** Of what tells it to this machine. */
  readonly path: string;
  /** Its journal holds requests of an interrupted run. */
  readonly unfinished?: boolean;
}

/** A store that tells a place without a state from one whose state is elsewhere: there, all would be adopted, or created again. */
export function migratedStore(store: Store, known: KnownSerials): Store {
  const { location, endpoint } = store;
  /** @param one of an earlier build names no endpoint */
  const isElsewhere = (one: KnownPlace): boolean =>
    one.location !== location || (one.endpoint ?? endpoint) !== endpoint;
  return {
    ...store,
    async assertMigrated({ target, files }) {
      if (known.byEnvironment && !isAddress(location)) return;
      const declared = new Set(files);
      const other = (await knownPlaces(known)).find(
        (one) =>
          isElsewhere(one) &&
          sameTarget(one.target, target) &&
          one.files.some((file) => declared.has(file)),
      );
      if (other)
        refuse('state-not-moved', `${location} holds no state, and ${named(other)} held one`, {
          detail: waysOn(other, location),
        });
    },
  };
}

/** With the server, which alone may tell two places apart. */
const named = ({ location, endpoint }: KnownPlace): string =>
  endpoint === undefined ? location : `${location} at ${endpoint}`;

function waysOn({ location: from, path, unfinished }: KnownPlace, to: string): string {
  const old = shellWord(from);
  const lines = isAddress(from)
    ? [
        'If it is about other objects, name another project: settings.state.project',
        `If it is gone for good, let this machine forget it: rm ${shellWord(path)}`,
      ]
    : [`If it is about other objects, move the file away: mv ${old} ${shellWord(`${from}.old`)}`];
  // The journal is another file.
  const first = unfinished
    ? ['A run there is not finished. First, with the settings of before: trueup apply']
    : [];
  return [...first, `Move it there${moving(from, to)}`, ...lines].join('\n');
}

function moving(from: string, to: string): string {
  if (isAddress(to)) return ', with the settings of before: trueup state migrate --to URL';
  const file = shellWord(to);
  return isAddress(from)
    ? `, with the settings of before: trueup state pull > ${file}`
    : `: mkdir -p ${shellWord(dirname(to))} && mv ${shellWord(from)} ${file}`;
}

/** What this machine saw of the same state elsewhere: a backup may be restored to another server. */
async function newestCopy(
  known: KnownSerials,
  { lineage }: State,
): Promise<Pick<KnownPlace, 'lineage' | 'serial'> | undefined> {
  const copies = (await knownPlaces(known)).filter((one) => one.lineage === lineage);
  return copies.toSorted((one, other) => Number(other.serial) - Number(one.serial))[0];
}

/** Where this machine knows states of the project. */
async function knownPlaces(known: KnownSerials): Promise<readonly KnownPlace[]> {
  const { left, byEnvironment, folder, files } = known;
  if (!left) return [];
  const usual = await left.read().catch(whereMoved);
  const names = byEnvironment ? [] : await files.list(folder).catch(() => []);
  const seen = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      return { ...(await load(known, path)), path };
    }),
  );
  const { location } = left;
  const here = usual && {
    location,
    path: location,
    unfinished: usual.unfinished,
    ...declaredIn(usual.state),
  };
  return [
    ...(here ? [here] : []),
    ...seen.filter((one) => isPlace(one)).filter(({ project }) => project === known.project),
  ];
}

const isPlace = (one: unknown): one is KnownPlace & { readonly project: unknown } =>
  isObject(one) &&
  typeof one['location'] === 'string' &&
  ['string', 'undefined'].includes(typeof one['endpoint']) &&
  typeof one['target'] === 'string' &&
  isList(one['files']);

/** What moved is known by its new place. */
function whereMoved(error: unknown): undefined {
  if (!(error instanceof MovedState)) throw error;
}
