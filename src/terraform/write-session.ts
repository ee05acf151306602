// Shared by writes while the lock is held: the listing of each kind for pre-images, and a lane per kind for creates.
// The lane is closed while the outcome of a create is being settled, because no other object may appear meanwhile.
import {
  cached,
  defined,
  Refusal,
  writes,
  type Change,
  type Cloud,
  type Intent,
  type Kind,
  type Live,
  type Outcome,
  type PolicyRule,
  type Settings,
} from '../model/index.js';
import {
  Executor,
  type ChangeContext,
  type OperationLimits,
  type WrittenChange,
} from '../reconciler/apply/executor.js';
import type { Proof } from '../reconciler/apply/write-proof.js';
import type { Performed } from '../reconciler/apply/write-operation.js';
import { beforeRun, type Before } from '../reconciler/apply/pre-image.js';
import type { LiveCollection, LiveCollections } from '../reconciler/live-collections.js';
import { rechecksOf } from '../reconciler/apply/rechecks.js';
import { outcomeOf, type Settled } from '../reconciler/apply/recovery.js';
import {
  claimOf,
  type Held,
  type JournalPlace,
  type ProviderJournal,
  type SharedTools,
} from './provider-journal.js';
import { readCollection, look, type ListingCache } from './listing-cache.js';
import type { Limit } from './timeouts.js';

/** Everything that reads and writes of one configured provider need. */
export interface WriteContext extends SharedTools, Pick<JournalPlace, 'journalSettings' | 'run'> {
  readonly rules: readonly PolicyRule[];
  /** The same cloud until a signal is raised. */
  readonly within: Cloud['within'];
  /** The time of the operation this is for. */
  readonly limit: Limit;
  readonly listings: ListingCache;
  readonly journal: ProviderJournal<WriteSession>;
  /** As `claims`: objects that a resource of this run was bound to or changed. */
  readonly bound: Set<string>;
  /** Addresses of creates whose question a person was asked. */
  readonly told: Set<string>;
  readonly allow: readonly string[];
  readonly settings: Settings;
  /** Changes that are judged by what is live go one after the other. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

/** One operation on an object of a kind, while the lock is held. */
export interface OperationContext extends WriteContext {
  readonly kind: Kind;
  readonly writer: WriteSession;
}

/** The tools of an operation, for as long as it may take. */
export type OperationTools = Pick<WriteContext, 'cloud' | 'limit' | 'signal'>;

export type WriteSession = ReturnType<typeof writeSessionOf>;

type Tools = Omit<WriteContext, 'journal' | 'limit' | 'within'>;

/** A create without a response, and the callers that wait for its outcome. */
interface Waiting {
  readonly intent: Intent;
  readonly hear: (settled: Settled | undefined) => void;
}

type SessionContext = Omit<ChangeContext, 'onSending'>;

interface Lane {
  running: number;
  waiting: Waiting[];
  /** While it is shut: resolves when it is open again. */
  shut?: Promise<void> | undefined;
  open?: () => void;
}

export function writeSessionOf(tools: Tools, held: Held) {
  const { kinds, listings } = tools;
  const bases = new Map<string, Promise<LiveCollection>>();
  const executor = new Executor({ ...tools, session: held.session }, held.entries);
  const { contextOf, recheckOf, underWay, lookedAt } = contextsOf(tools, executor);
  const attempt = lanesOf(tools, held, executor);
  // Another process may have written while the lock was not ours.
  for (const kind of kinds.values()) listings.wrote(kind);

  const base = (kind: Kind): Promise<LiveCollection> =>
    cached(bases, kind.name, () => readCollection(tools, kind));

  async function send(operation: OperationTools, change: Change, context: SessionContext) {
    const kind = kinds.get(change.kind)!;
    const { recheck } = context;
    const onSending = (): void => void underWay.add(change);
    const bounded: ChangeContext['recheck'] = (...asked) => {
      const one = recheck?.(...asked);
      return one && { ...one, before: () => operation.limit.until(one.before()) };
    };
    if (writes(change)) listings.wrote(kind);
    try {
      const performed = await executor.perform(
        change,
        { ...context, recheck: bounded, onSending },
        limitsOf(operation),
      );
      if (!performed.pending) underWay.delete(change);
      return performed;
    } finally {
      listings.wrote(kind);
    }
  }

  return {
    ...held,
    /** Every object of a kind as it was when it was first asked for under this lock. @throws Refusal */
    base,
    /** The object as it is now; undefined where it is gone. @throws Refusal */
    current({ cloud: mine }: OperationTools, kind: Kind, id: string): Promise<Live | undefined> {
      lookedAt.set(claimOf(kind.name, id), tools.clock.boot().milliseconds);
      return look(mine, kind, id);
    },
    /** Carries out an update or a delete. @param liveObjects what its policies were judged by: what they rest on is read again, and an update counts as done once it was seen */
    write: (
      operation: OperationTools,
      change: Change,
      liveObjects?: LiveCollections,
    ): Promise<Performed> =>
      send(
        operation,
        change,
        contextOf(undefined, liveObjects && recheckOf(operation, liveObjects, change)),
      ),
    /** Reads back an update or a delete that returned success. */
    async prove(operation: OperationTools, written: WrittenChange): Promise<Proof> {
      let proof: Proof | undefined;
      for await (proof of executor.prove([written], () => Infinity, limitsOf(operation)));
      return proof!;
    },
    /** Carries out a create, until its outcome is known, a person has to decide, or its time is over. @throws Refusal */
    async make(operation: OperationTools, kind: Kind, change: Change): Promise<Outcome> {
      const listing = await operation.limit.until(base(kind));
      for (let last = false; ; last = true) {
        const { outcome, pending, settled, again } = await attempt(operation, kind, () =>
          send(operation, change, contextOf(listing)),
        );
        if (!pending) return outcome;
        if (settled) underWay.delete(change);
        if (settled?.verdict !== 'absent' || last || again !== true)
          return outcomeOf(pending, settled);
      }
    },
  };
}

/** The contexts of changes under one lock: the objects before, and the readings that are made again before they are sent. */
function contextsOf(tools: Tools, executor: Executor) {
  const lookedAt = new Map<string, number>();
  const befores = new Map<string, Before>();
  /** Creates whose request left, and of which it is not known yet what became of them. */
  const underWay = new Set<Change>();
  const absences = new Map<string, ChangeContext['recheck']>();

  /** @param operation reads again; all creates of a kind share one reading, which is bounded by none of them */
  const recheckOf = (
    operation: Pick<OperationTools, 'cloud'>,
    liveObjects: LiveCollections,
    ...changes: readonly Change[]
  ): ChangeContext['recheck'] =>
    rechecksOf(
      {
        ...tools,
        cloud: operation.cloud,
        wasDeletedRecently: () => false,
        isKnown: (kind, id) =>
          executor.owns(kind, id) || (liveObjects.get(kind)?.byId.has(id) ?? false),
        isUnderWay: (change) => underWay.has(change),
        duplicates: new Set(),
      },
      liveObjects,
      changes,
    ).of;

  /** Made once per kind, so that all its creates share one new reading. */
  function absenceOf(listing: LiveCollection): ChangeContext['recheck'] {
    const { name } = listing.kind;
    return cached(absences, name, () => recheckOf(tools, new Map([[name, listing]])));
  }

  /** @param listing what was there before, for creates; @param judged what the policies of a change were judged by */
  function contextOf(listing?: LiveCollection, judged?: ChangeContext['recheck']): SessionContext {
    const name = listing?.kind.name ?? '';
    const before = cached(befores, name, () =>
      beforeRun(new Map(listing ? [[name, listing]] : [])),
    );
    return {
      before,
      resolver: () => undefined,
      awaited: () => judged !== undefined,
      ...defined({ recheck: judged ?? (listing && absenceOf(listing)) }),
      readAt: (kind, id) => lookedAt.get(claimOf(kind, id)),
      wasLive: (kind, id) => listing?.kind.name === kind && listing.byId.has(id),
    };
  }

  return { contextOf, recheckOf, lookedAt, underWay };
}

/** Carries out creates, each in the lane of its kind. Where the outcome is not known it is waited for. */
function lanesOf({ signal }: Tools, held: Held, executor: Executor) {
  const lanes = new Map<string, Lane>();

  /** Shuts the lane until it is known what became of an intent. */
  function heard(lane: Lane, intent: Intent): Promise<Settled | undefined> {
    lane.shut ??= new Promise((open) => (lane.open = open));
    return new Promise((hear) => lane.waiting.push({ intent, hear }));
  }

  /** Looks what became of all creates without a response, once nothing else of the kind is under way. */
  async function clear(lane: Lane): Promise<void> {
    const waiting = lane.waiting.splice(0);
    const settled = new Map<Intent, Settled>();
    try {
      for await (const one of executor.settle(waiting.map(({ intent }) => intent)))
        settled.set(one.intent, one);
    } catch (error) {
      if (!(error instanceof Refusal) && !signal.aborted) throw error;
    }
    lane.shut = undefined;
    lane.open?.();
    for (const { intent, hear } of waiting) hear(settled.get(intent));
  }

  return async (
    { limit }: OperationTools,
    kind: Kind,
    create: () => Promise<Performed>,
  ): Promise<Performed & { readonly settled?: Settled | undefined }> => {
    const lane: Lane = cached(lanes, kind.name, () => ({ running: 0, waiting: [] }));
    while (lane.shut) await limit.until(lane.shut);
    lane.running += 1;
    let performed: Performed;
    let hearing: Promise<Settled | undefined> | undefined;
    try {
      performed = await create();
      if (performed.pending) hearing = heard(lane, performed.pending);
    } finally {
      lane.running -= 1;
      if (lane.running === 0 && lane.waiting.length > 0) held.keep(clear(lane));
    }
    return hearing
      ? { ...performed, settled: await limit.until(hearing, () => undefined) }
      : performed;
  };
}

const limitsOf = ({ cloud, signal }: OperationTools): OperationLimits => ({ cloud, signal });
