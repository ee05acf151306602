// One run at a time. Three layers: a name in the kernel, which is freed when its process ends; a lock file, which names
// the holder and works across machines; and fencing (`assertHeld`), which notices that a lock was taken away. The
// holder updates the time of its file; a run in another container, which cannot see the process, watches that time.
import { basename, dirname, join } from 'node:path';
import { sha256, canonical, shellWord, type Diagnostic } from '../../../model/index.js';
import type { Clock, Files, LockPort, Random } from '../../../platform/index.js';
import { parseJsonText } from '../../json-text.js';
import { filled, lockMembers, members, orNull, word } from '../../shape-check.js';
import type { LockInfo } from '../../store-port.js';
import { ifThere, isDiskError, unlessDisk } from '../../disk-errors.js';
import {
  refuseInterrupted,
  refuseLocked,
  refuseNotLocked,
  refuseWrongLock,
} from '../backend-errors.js';

export interface LockTools {
  readonly files: Files;
  readonly clock: Clock;
  readonly random: Random;
  readonly lock: LockPort;
  /** Ends a wait. */
  readonly signal?: AbortSignal;
  /** Called once, with the reason, before a lock is waited for. */
  readonly notify?: (diagnostic: Diagnostic) => void;
}

/** A lock, and what tells whether the process that took it still runs. */
export interface LockRecord extends Omit<LockInfo, 'url'> {
  readonly boot_id: string | null;
  readonly start_time: string | null;
  /** Absent in locks of older versions, which do not touch their file either. */
  readonly pid_namespace?: string | null;
}

export type HeldLock = Awaited<ReturnType<typeof takeLock>>;

const ATTEMPTS = 10;
/** Milliseconds between updates of the file by its holder. */
const HEARTBEAT = 10_000;
/** Milliseconds without an update after which the holder counts as dead. */
const SILENCE = 60_000;
/** Milliseconds between two looks at the file while waiting. */
const LOOK = 2_000;
const shape = members<LockRecord>({
  ...lockMembers,
  id: word,
  boot_id: orNull(filled),
  start_time: orNull(filled),
  'pid_namespace?': orNull(filled),
});

/** @param path of the lock file; its real path is what the kernel's name is made of. @throws Refusal (exit 4) where another run holds it. */
export async function takeLock(tools: LockTools, path: string, operation: string) {
  const kernel = await tools.lock.hold(sha256(path).slice(0, 32));
  if (kernel === 'taken') return refuseHeld(path, await readLock(tools.files, path));
  try {
    await sweep(tools, path);
    const mine = await takeFile(tools, path, operation);
    const stop = tools.lock.every(HEARTBEAT, () => void beat(tools.files, path, mine));
    let seen: string | undefined;
    return {
      /** Asked before every request: the stamp is the quick way, and only a file that changed is read. @throws Refusal (exit 4) where the lock file is not ours any more. */
      async assertHeld(): Promise<void> {
        const now = await tools.files.stamp(path);
        if (now !== undefined && now === seen) return;
        if ((await ifThere(tools.files.read(path))) !== mine)
          refuseLocked(
            'lock-lost',
            `this run no longer holds the lock ${path}: somebody removed the lock, or changed its folder`,
            { detail: 'The run sends nothing more. The journal holds what it did. Plan again.' },
          );
        seen = now;
      },
      /** Safe to call twice, and after the lock was lost. */
      async release(): Promise<void> {
        stop();
        try {
          if ((await ifThere(tools.files.read(path))) === mine) await tools.files.remove(path);
        } finally {
          if (kernel !== 'absent') await kernel.release();
        }
      },
    };
  } catch (error) {
    if (kernel !== 'absent') await kernel.release();
    throw error;
  }
}

/** Updates the file while this run holds it. If that fails, a run that cannot see this process takes the lock over; fencing notices that. */
async function beat(files: Files, path: string, mine: string): Promise<void> {
  try {
    if ((await files.read(path)) === mine) await files.touch(path);
  } catch (error) {
    if (!isDiskError(error)) throw error;
  }
}

/** A lock that this process takes now. */
export async function lockRecord(
  { clock, random, lock }: Pick<LockTools, 'clock' | 'random' | 'lock'>,
  operation: string,
): Promise<LockRecord> {
  return {
    id: random.uuid(),
    host: lock.host,
    boot_id: lock.bootId,
    pid: lock.pid,
    start_time: (await lock.find(lock.pid))?.startTime ?? null,
    pid_namespace: lock.pidNamespace,
    operation,
    created_at: new Date(clock.now()).toISOString(),
  };
}

/** Returns the text of our lock file. */
async function takeFile(tools: LockTools, path: string, operation: string): Promise<string> {
  const { files, random, lock } = tools;
  const record = await lockRecord(tools, operation);
  const mine = `${canonical(record)}\n`;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const made = files.create(path, mine, 0o600).then(() => true);
    if (await unlessDisk('EEXIST', made)) return mine;
    const other = await readLock(files, path);
    if (other === undefined) continue;
    if (other === 'damaged') return refuseHeld(path, other);
    const judged = await holderStatus(lock, other);
    const found = judged === 'unseen' ? await watched(tools, path, other) : judged;
    if (found === 'replaced') continue;
    if (found !== 'dead') return refuseHeld(path, other);
    await takeAway(files, random, path, other);
  }
  return refuseHeld(path, await readLock(files, path));
}

/** The holder; undefined where nobody is, or provably nobody that still lives. */
export async function holderOf(
  { files, lock }: LockTools,
  path: string,
): Promise<LockInfo | undefined> {
  const record = await readLock(files, path);
  if (record === undefined) return undefined;
  if (record === 'damaged') return refuseHeld(path, record);
  if ((await holderStatus(lock, record)) === 'dead') return undefined;
  const { id, host, pid, operation, created_at } = record;
  return { id, host, pid, operation, created_at };
}

/** Removes a lock whose holder is not provably alive. @throws Refusal where there is none, the id is another's, or the holder lives. */
export async function breakLock(
  { files, random, lock }: LockTools,
  path: string,
  id: string,
): Promise<void> {
  const record = await readLock(files, path);
  if (record === undefined) return refuseNotLocked(`the state at ${path.replace(/\.lock$/, '')}`);
  if (record === 'damaged') return refuseHeld(path, record);
  if (record.id !== id)
    return refuseWrongLock(
      id,
      record.id,
      `, taken ${record.created_at} for ${JSON.stringify(record.operation)}`,
    );
  if ((await holderStatus(lock, record)) === 'alive')
    return refuseLocked(
      'lock-alive',
      `the run that holds the lock is still active: process ${record.pid} on this machine, since ${record.created_at}`,
      { detail: `Wait for it, or end it first: kill ${record.pid}` },
    );
  await takeAway(files, random, path, record);
}

async function readLock(files: Files, path: string): Promise<LockRecord | 'damaged' | undefined> {
  const source = await ifThere(files.read(path));
  if (source === undefined) return undefined;
  const parsed = parseJsonText(source);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its shape is checked
  return 'value' in parsed && !shape(parsed.value) ? (parsed.value as LockRecord) : 'damaged';
}

/** Watches a lock whose holder cannot be seen: alive at the first touch, dead without one, by this process's own clock. */
async function watched(
  { files, clock, signal, notify }: LockTools,
  path: string,
  { id, operation, pid }: LockRecord,
): Promise<'dead' | 'alive' | 'replaced'> {
  const seen = await files.stamp(path);
  const begun = clock.monotonic();
  const summary = `The state is locked by ${JSON.stringify(operation)}, process ${pid} of another container on this machine. Waiting up to ${SILENCE / 1000} s to see whether it still runs.`;
  notify?.({ severity: 'info', code: 'lock-watched', summary });
  while (clock.monotonic() - begun < SILENCE) {
    await clock.sleep(LOOK, signal).catch(refuseInterrupted);
    if ((await files.stamp(path)) === seen) continue;
    const now = await readLock(files, path);
    return now !== undefined && now !== 'damaged' && now.id === id ? 'alive' : 'replaced';
  }
  return 'dead';
}

/** Only this machine can prove anything, and only what the kernel says is a proof. `unseen`: it counts its processes apart from ours. */
export async function holderStatus(lock: LockPort, record: LockRecord) {
  const sameBoot = record.boot_id !== null && record.boot_id === lock.bootId;
  const apart = record.pid_namespace !== undefined && record.pid_namespace !== lock.pidNamespace;
  if (apart && (sameBoot || record.host === lock.host)) return 'unseen';
  if (record.host !== lock.host) return 'unknown';
  if (!sameBoot && record.boot_id !== null && lock.bootId !== null) return 'dead';
  const found = await lock.find(record.pid);
  if (!found) return 'dead';
  if (found.startTime === null || record.start_time === null) return 'unknown';
  if (found.startTime !== record.start_time) return 'dead';
  return sameBoot ? 'alive' : 'unknown';
}

/**
 * Removes exactly the lock that was judged. Renaming it away first is what only one of several judges can do; what was
 * caught is looked at again, and put back where it turns out to be a younger one.
 */
async function takeAway(files: Files, random: Random, path: string, judged: LockRecord) {
  const aside = `${path}.${random.uuid()}.tmp`;
  if ((await ifThere(files.rename(path, aside).then(() => true))) !== true) return;
  // If it was removed already, another run removed it, because its holder was dead.
  const caught = await ifThere(files.read(aside));
  if (caught !== undefined && caught !== `${canonical(judged)}\n`)
    // Someone was quicker: the lock that was put aside is lost, which its holder notices before it writes.
    await unlessDisk('EEXIST', files.create(path, caught, 0o600));
  await ifThere(files.remove(aside));
}

const LEFT = /^\.[0-9a-f-]{36}\.tmp$/;

/**
 * Removes what runs left that were killed while they took a lock or took one away. Only the record inside tells whose
 * a file is, so what is torn, or of a run that may live, stays.
 */
async function sweep({ files, lock }: LockTools, path: string): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)];
  for (const one of await files.list(folder)) {
    if (!one.startsWith(name) || !LEFT.test(one.slice(name.length))) continue;
    const at = join(folder, one);
    const record = await readLock(files, at).catch(unreadable);
    const isRead = record !== undefined && record !== 'damaged';
    if (isRead && (await holderStatus(lock, record)) === 'dead') await ifThere(files.remove(at));
  }
}

function unreadable(error: unknown): 'damaged' {
  if (!isDiskError(error)) throw error;
  return 'damaged';
}

function refuseHeld(path: string, holder: LockRecord | 'damaged' | undefined): never {
  const origin = { file: path, line: 1, column: 1 };
  if (holder === 'damaged')
    refuseLocked('locked', `${path} is not a lock file that trueup wrote`, {
      detail: `Where no other run is active, remove it: rm ${shellWord(path)}`,
      origin,
    });
  if (!holder)
    refuseLocked('locked', `another run on this machine is using ${path.replace(/\.lock$/, '')}`, {
      detail: 'Wait for it to end.',
    });
  refuseLocked(
    'locked',
    `the state is locked by ${JSON.stringify(holder.operation)}: process ${holder.pid} on ${JSON.stringify(holder.host)}, since ${holder.created_at}`,
    {
      detail: `Wait for it to end. If you are sure that it is not running any more: trueup unlock ${shellWord(holder.id)}`,
      origin,
    },
  );
}
