// The store on a server of Terraform's http protocol. This file locks, finds and verifies; `document-session.ts`
// writes. The lock has no lease: that of a run that was killed stays until a person removes it.
import { Buffer } from 'node:buffer';
import { defined, equal, refuse, sameTarget, shellWord } from '../../../model/index.js';
import { snapshotOf } from '../../snapshot.js';
import { MovedState } from '../../state-format.js';
import {
  described,
  type LockInfo,
  type Opening,
  type Session,
  type Store,
} from '../../store-port.js';
import { holderStatus, lockRecord } from '../file/lock.js';
import {
  accessBy,
  refuseAlive,
  refuseLocked,
  refuseNotLocked,
  refuseWrongLock,
  refuseHeld,
  refuseUnfit,
  refuseTarget,
  unlessRefused,
} from '../backend-errors.js';
import { takenInTime, untilInterrupted } from '../until-interrupted.js';
import type { RegisterStoreOptions } from '../registers/register-lock.js';
import { recordRescued } from '../registers/rescue.js';
import {
  contentOf,
  encodeDocument,
  type DocumentContent,
  type DocumentHolder,
  type StateDocument,
} from './document.js';
import { documentSession, removeLock, type DocumentSessionTools } from './document-session.js';
import {
  heldDocument,
  readDocument,
  type UnnumberedDocument,
  type HeldDocument,
} from './held-document.js';
import type { StateServer, ToldLock } from './state-server.js';

export interface DocumentStoreOptions
  extends DocumentSessionTools, Pick<RegisterStoreOptions, 'lock' | 'version' | 'url'> {
  readonly server: StateServer;
  /** The name of the state in the settings, with the environment. */
  readonly project: string;
}

export function documentStore(options: DocumentStoreOptions): Store {
  const { version } = options;
  /** For what is asked before the lock is held. */
  const server = interruptibleServer(options);
  const asking = { ...options, server };
  const content = (document: StateDocument): Promise<DocumentContent> =>
    contentOf(document, server.location, version);
  return {
    location: server.location,
    async read() {
      const document = await readDocument(server);
      if (!document) return undefined;
      assertProject(options, document);
      if (document.moved) throw new MovedState(server.location, document.moved);
      const { state, records } = await content(document);
      const isEmpty = document.state === null && records.length === 0;
      return isEmpty ? undefined : snapshotOf(state, records);
    },
    async holder() {
      const holder = (await readDocument(server))?.holder;
      if (!holder) return undefined;
      const { id, host, pid, operation, created_at, url } = holder;
      return { id, host, pid, operation, created_at, ...defined({ url }) };
    },
    // Earlier ones are versions of the document, which the server keeps.
    async history() {
      const document = await readDocument(server);
      if (!document || document.state === null) return [];
      const { state } = await content(document);
      const { serial, resources } = state;
      return [{ serial, objects: Object.keys(resources).length, read: async () => state }];
    },
    open: (operation, target, moved) => open(options, server, { operation, target, moved }),
    access: async () => ((await readDocument(server)) ? accessBy(() => tryLock(asking)) : 'absent'),
    unlock: (id) => unlock(asking, id),
  };
}

/** Asks as long as it is not interrupted. A lock that it takes only then is removed again, if the process still runs. */
function interruptibleServer(options: DocumentStoreOptions): StateServer {
  const { server } = options;
  const { location } = server;
  return {
    ...server,
    get: () => untilInterrupted(options, location, server.get()),
    lock: (lock) =>
      takenInTime(options, location, {
        taking: server.lock(lock),
        // Somebody may have removed it, and another run may have the lock: not every server checks whose it is.
        remove: async (taken) =>
          taken === 'taken' && (await server.lock(lock)) === 'taken' && server.unlock(lock),
        detail: `If the server gave it the lock after all: trueup unlock ${shellWord(lock.id)}`,
      }),
  };
}

/** @param server that can be interrupted; what is written under the lock cannot */
async function open(
  options: DocumentStoreOptions,
  server: StateServer,
  { operation, target, moved }: Opening,
): Promise<Session> {
  const holder = await holderOf(options, operation);
  // The lock first: what is read under it is what the last holder wrote.
  const other = await server.lock(holder);
  if (other !== 'taken') await refuseTaken(server, other);
  let document: HeldDocument | undefined;
  let session: Session | undefined;
  try {
    const found = await readDocument(server);
    if (found?.moved && !equal(found.moved, moved))
      throw new MovedState(server.location, found.moved);
    if (found) assertProject(options, found);
    else await probe({ ...options, server }, holder);
    const draft = { ...(found ? draftOf(found) : newDraft(options)), holder };
    const isUsed = draft.state !== null || draft.journal.length > 0;
    if (isUsed && !sameTarget(draft.target, target))
      refuseTarget(server.location, draft.target, target);
    const owned = { ...draft, target: isUsed ? draft.target : target };
    document = heldDocument(options, found, holder);
    // Verified before anything is written.
    const stored = { ...owned, serial: found?.serial ?? 0 };
    const content = await contentOf(stored, server.location, options.version);
    await document.write(owned);
    // Under the lock: what was written has to be cleared if it is not kept.
    await assertShown(options.server, owned);
    session = documentSession(options, document, { draft: owned, content });
    await recordRescued(options.rescue, session);
    return session;
  } catch (error) {
    if (session) await session.release();
    else if (!document?.isLost()) await removeLock(options, holder);
    throw error;
  }
}

function draftOf({ serial: _, nonce: __, ...draft }: StateDocument): UnnumberedDocument {
  return draft;
}

function newDraft({ random, project }: DocumentStoreOptions): UnnumberedDocument {
  return {
    lineage: random.uuid(),
    project,
    target: '',
    secrets_salt: Buffer.from(random.bytes(16)).toString('base64'),
    holder: null,
    state: null,
    journal: [],
    moved: null,
  };
}

async function holderOf(options: DocumentStoreOptions, operation: string): Promise<DocumentHolder> {
  const { pid_namespace = null, ...record } = await lockRecord(options, operation);
  return { ...record, pid_namespace, ...defined({ url: options.url }) };
}

/** Locks for a moment: nothing else shows whether this user may. @throws Refusal where the server refuses it */
async function tryLock(options: DocumentStoreOptions): Promise<true> {
  const holder = await holderOf(options, 'doctor');
  if ((await options.server.lock(holder)) === 'taken') await removeLock(options, holder);
  return true;
}

/** Before the first document: the server must refuse a second lock, and a document with the id of another lock. */
async function probe(options: DocumentStoreOptions, holder: DocumentHolder): Promise<void> {
  const { server, random } = options;
  const other = { ...holder, id: random.uuid() };
  if ((await server.lock(other)) === 'taken') {
    await server.unlock(other);
    refuseUnfit(server.location, 'it gives its lock to two runs', INSTEAD);
  }
  const body = encodeDocument({ ...newDraft(options), serial: 1, nonce: random.uuid() });
  const posted = await server.post(other.id, body);
  if (posted === 'done' || (await server.get()) !== undefined)
    refuseUnfit(server.location, 'it takes a document with the id of another lock', INSTEAD);
}

const INSTEAD = 'Use a server that checks the id of the lock, as GitLab does, or PostgreSQL or S3.';

/** Some servers return 200 and keep something else: an older version with a higher serial, or nothing. */
async function assertShown(server: StateServer, { holder }: UnnumberedDocument): Promise<void> {
  if ((await readDocument(server))?.holder?.id === holder?.id) return;
  refuse('backend-error', `${server.location} does not show what was written last`, {
    detail:
      'Nothing was sent to the cloud. If an earlier version was deleted on the server, use a new name for the state.',
  });
}

function assertProject({ server, project }: DocumentStoreOptions, document: StateDocument): void {
  if (document.project === project) return;
  refuse(
    'other-project',
    `${server.location} holds the state ${JSON.stringify(document.project)}, and this run asks for ${JSON.stringify(project)}`,
    { detail: 'Name another address, or the right project and environment: settings.state, --env' },
  );
}

/** Refuses with the holder of the lock. All its details are known only if it wrote them into the document. */
async function refuseTaken(server: StateServer, { id, who, since }: ToldLock): Promise<never> {
  const holder = (await readDocument(server).catch(() => undefined))?.holder;
  if (holder && (id === undefined || holder.id === id)) refuseHeld(server.location, holder);
  const by = who === undefined ? 'somebody else' : JSON.stringify(who);
  return refuseLocked(
    'locked',
    `the state at ${server.location} is locked by ${by}${since === undefined ? '' : `, since ${JSON.stringify(since)}`}`,
    {
      detail: `Wait for it to end, or let the command wait: --lock-wait 5m. ${
        id === undefined
          ? 'The server does not return the id of the lock.'
          : `If you are sure that it is not running any more: trueup unlock ${shellWord(id)}`
      }`,
    },
  );
}

/** Removes a lock on a person's word. Who holds it is asked by a request for another lock: not every server checks the id. */
async function unlock(options: DocumentStoreOptions, id: string): Promise<void> {
  const { server, lock } = options;
  const mine = await holderOf(options, 'unlock');
  const other = await server.lock(mine);
  if (other === 'taken') {
    await forgetHolder(options, mine, id);
    return refuseNotLocked(`the state at ${server.location}`);
  }
  const holder = (await readDocument(server).catch(() => undefined))?.holder;
  const known = holder?.id === (other.id ?? id) ? holder : undefined;
  if (other.id !== undefined && other.id !== id) return refuseWrong(id, other, known);
  if (known && (await holderStatus(lock, known)) === 'alive') refuseAlive(known);
  const unlocked = await server.unlock(known ?? { ...mine, id });
  if (unlocked === 'refused') return refuseWrong(id, other, undefined);
  if (typeof unlocked === 'object')
    refuse(
      'backend-error',
      `the lock of ${server.location} could not be removed: ${unlocked.failure}`,
      {
        detail: `Type it again: trueup unlock ${shellWord(id)}`,
      },
    );
  if ((await server.lock(mine)) === 'taken') await forgetHolder(options, mine, id);
}

const refuseWrong = (id: string, told: ToldLock, holder: LockInfo | undefined): never =>
  refuseWrongLock(id, told.id, holder && `: ${described(holder)}`);

/** Under a lock of this process: the document names a removed lock no more. Without that it is named until the next run. */
async function forgetHolder(
  options: DocumentStoreOptions,
  mine: DocumentHolder,
  id: string,
): Promise<void> {
  const { server } = options;
  try {
    const found = await readDocument(server);
    if (found?.holder?.id === id)
      await heldDocument(options, found, mine).write({ ...draftOf(found), holder: null });
  } catch (error) {
    unlessRefused(error);
  } finally {
    await server.unlock(mine);
  }
}
