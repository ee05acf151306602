// Executes the changes of a plan. Creates and updates run from the root of the references, independent ones at the same
// time; deletes follow. Dependents of a failure are skipped, and independent work goes on.
import {
  append,
  defined,
  isChange,
  keyOf,
  limited,
  Refusal,
  resultRecord,
  waitsOf,
  writes,
  type Change,
  type CloudWriter,
  type Diagnostic,
  type Entry,
  type Intent,
  type JsonObject,
  type Kind,
  type Live,
  type Outcome,
  type Project,
  type Reference,
  type Rechecks,
  type Value,
  type Values,
} from '../../model/index.js';
import { Executor, type ChangeContext, type WrittenChange } from './executor.js';
import { INTERRUPTED } from './journal-intent.js';
import { isSensitive, unbindFormerAddress, outcomeBase, skipped } from './write-operation.js';
import type { ApplyContext } from './execution-context.js';
import { beforeRun } from './pre-image.js';
import { differing, unproven } from './write-proof.js';
import { storedValues } from '../live-collections.js';
import type { Visibility } from '../recent-writes.js';
import type { Proposal } from '../plan/plan.js';
import { ignoring, isApplied } from '../plan/diff.js';
import { allowingDuplicates } from '../plan/possible-duplicates.js';
import { managers } from '../plan/recorded-addresses.js';
import { outcomeOf, type Settled } from './recovery.js';
import { rechecksOf } from './rechecks.js';
import { declaredValueAt } from '../plan/resolve-references.js';
import { phases } from '../plan/order.js';

interface Setting {
  readonly entries: Readonly<Record<string, Entry>>;
  readonly project: Project;
  readonly allow: readonly string[];
}

/** Why what waits for a change is skipped. */
const UNDONE: Readonly<Record<Outcome['outcome'], string>> = {
  done: 'is done',
  failed: 'did not succeed',
  skipped: 'was skipped',
  unknown: 'has an unknown outcome',
};

/** The execution of one plan. */
export class ParallelRun {
  readonly #execution: ApplyContext;
  readonly #changes: readonly Change[];
  readonly #executor: Executor;
  readonly #changeContext: Omit<ChangeContext, 'onSending'>;
  readonly #outcomes = new Map<string, Outcome>();
  readonly #unsettled = new Map<string, Intent>();
  readonly #written: WrittenChange[] = [];
  /** Creates that are not sent again, whatever is found out about them. */
  readonly #final = new Set<string>();
  readonly #deleted = new Map<string, WrittenChange>();
  /** `<kind> <id>` of what this run deleted. */
  readonly #gone = new Set<string>();
  readonly #rechecks: Rechecks;
  readonly #visibility: Visibility;
  /** Paths that `lifecycle.ignore_changes` names, by address. */
  readonly #ignored: ReadonlyMap<string, readonly string[]>;
  /** Changes whose request left. */
  readonly #left = new Set<string>();
  /** Why the run was cut short: the journal could not be written, or the lock was lost. */
  error: Refusal | undefined;
  readonly notes: Diagnostic[] = [];
  #bug: { readonly error: unknown } | undefined;

  constructor(
    execution: ApplyContext,
    { plan, liveObjects, visibility }: Proposal,
    { entries, project, allow }: Setting,
  ) {
    this.#execution = { ...execution, cloud: gated(execution.cloud, execution.parallelism) };
    this.#changes = plan.changes;
    this.#visibility = visibility;
    this.#ignored = new Map(
      project.declarations.map((one) => [one.address, one.lifecycle.ignore_changes ?? []]),
    );
    this.#executor = new Executor(this.#execution, new Map(Object.entries(entries)), () =>
      this.error ? 'the run was cut short' : undefined,
    );
    const lookups = new Map(
      plan.changes.flatMap((change) =>
        'declaredObject' in change && change.declaredObject
          ? [[change.address, change.declaredObject.declared] as const]
          : [],
      ),
    );
    const wasLive = (kind: string, id: string): boolean =>
      liveObjects.get(kind)?.byId.has(id) ?? false;
    const wasDeletedRecently = (kind: string, id: string): boolean =>
      this.#gone.has(`${kind} ${id}`) || visibility.wasDeletedRecently(kind, id);
    const isKnown = (kind: string, id: string): boolean =>
      this.#executor.owns(kind, id) || wasLive(kind, id);
    this.#rechecks = rechecksOf(
      {
        ...execution,
        settings: project.settings,
        allow,
        wasDeletedRecently,
        isKnown,
        isUnderWay: (change) => this.#left.has(keyOf(change)) && !this.#outcomes.has(keyOf(change)),
        duplicates: allowingDuplicates(project),
        addressOf: managers(plan.changes, entries),
      },
      liveObjects,
      plan.changes,
    );
    const awaited = new Set(
      plan.changes.flatMap((change) =>
        isSensitive(execution.rules, change) ? change.depends_on : [],
      ),
    );
    this.#changeContext = {
      wasLive,
      readAt: (kind) => liveObjects.get(kind)?.read_at,
      before: beforeRun(liveObjects),
      isOld: visibility.isOld,
      isNew: (kind, id) => visibility.created(kind, id) !== undefined,
      awaited: (address) => awaited.has(address),
      recheck: (change, fields) => this.#rechecks.of(change, fields),
      resolver: (reference) => this.#resolve(reference, lookups),
    };
  }

  async all(): Promise<readonly Outcome[]> {
    const [first, wants, last] = phases(this.#changes);
    await this.#unlessCut(() => this.#renameReplaced());
    await this.#phase(first);
    await this.#unlessCut(() => this.#prove(this.#deletedIn(first)));
    await this.#phase(wants);
    await this.#unlessCut(() => this.#prove(this.#written));
    await this.#phase(last);
    await this.#unlessCut(() => this.#prove(this.#deletedIn(last)));
    if (!this.#execution.signal.aborted) await this.#unlessCut(() => this.#lookForCreated());
    if (this.#bug) throw this.#bug.error;
    return this.#changes.map((change) => this.#outcomes.get(keyOf(change))!);
  }

  /** An object that is replaced has its new address before anything is sent: old and new are recorded at one. */
  async #renameReplaced(): Promise<void> {
    for (const change of this.#changes) {
      const entry =
        change.action === 'create' && change.replaces
          ? this.#executor.entries.get(change.renamed_from ?? change.address)
          : undefined;
      if (!entry || change.renamed_from === undefined) continue;
      await this.#execution.session.record(
        resultRecord(change.address, 'applied', { entry }),
        ...unbindFormerAddress(change),
      );
      this.#executor.recordEntry(change, entry);
    }
  }

  #resolve(reference: Reference, declared: ReadonlyMap<string, Values>): Value | undefined {
    const entry = this.#executor.entries.get(reference.target);
    const kind = entry && this.#execution.kinds.get(entry.kind);
    if (!entry || !kind) return undefined;
    if (reference.attribute === kind.id) return entry.id;
    const value = declaredValueAt(declared.get(reference.target) ?? {}, reference.attribute);
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? value
      : declaredValueAt(entry.observed, reference.attribute);
  }

  /** Runs changes as their dependencies are done, at most `parallelism` at once; then settles what stayed unclear. */
  async #phase(changes: readonly Change[]): Promise<void> {
    const inPhase = new Set(changes.map(keyOf));
    const waiting = new Map<string, number>();
    const dependents = new Map<string, Change[]>();
    const ready: Change[] = [];
    for (const change of changes) {
      const waits = waitsOf(change).filter((key) => inPhase.has(key) && key !== keyOf(change));
      waiting.set(keyOf(change), waits.length);
      if (waits.length === 0) ready.push(change);
      for (const key of waits) append(dependents, key, change);
    }
    const release = (key: string): void => {
      for (const next of dependents.get(key) ?? []) {
        const left = (waiting.get(keyOf(next)) ?? 0) - 1;
        waiting.set(keyOf(next), left);
        if (left === 0) ready.push(next);
      }
    };
    await this.#drain(ready, release);
    while (this.#unsettled.size > 0 && !this.#execution.signal.aborted && !this.error) {
      const again = new Set<string>();
      await this.#unlessCut(async () =>
        (await this.#settle(release)).forEach((address) => again.add(address)),
      );
      ready.push(...changes.filter((change) => !change.deposed && again.has(change.address)));
      await this.#drain(ready, release);
    }
    for (const intent of this.#unsettled.values()) this.#end(this.#outcomeOf(intent, undefined));
    this.#unsettled.clear();
    for (const change of changes)
      if (!this.#outcomes.has(keyOf(change)))
        this.#leaveOut(change, this.#executor.halt() ?? 'what it depends on did not finish');
  }

  /**
   * Works off `ready`, which `release` may make longer. While as many requests are under way as may be, the intents of
   * as many more go to disk, and results of those before: the disk is never waited for.
   */
  #drain(ready: Change[], release: (key: string) => void): Promise<void> {
    const { parallelism } = this.#execution;
    const ahead = parallelism === 1 ? 1 : parallelism * 2;
    return new Promise((resolve) => {
      let running = 0;
      let at = 0;
      const pump = (): void => {
        while (running < ahead && at < ready.length) {
          const change = ready[at]!;
          at += 1;
          running += 1;
          void this.#unlessCut(() => this.#one(change)).then(() => {
            running -= 1;
            const key = keyOf(change);
            const isTold = this.#outcomes.has(key) || this.#unsettled.has(key);
            if (this.error && this.#left.has(key) && !isTold) this.#end(unrecorded(change));
            if (!this.#unsettled.has(key)) release(key);
            pump();
          });
        }
        if (running === 0 && at === ready.length) {
          ready.length = 0;
          resolve();
        }
      };
      pump();
    });
  }

  /** A failure to record ends the run: nothing more is sent, operations under way end, and their outcomes are reported. */
  async #unlessCut(work: () => Promise<void>): Promise<void> {
    if (this.error) return;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Refusal)) this.#bug ??= { error };
      this.error ??= error instanceof Refusal ? error : new Refusal([]);
    }
  }

  async #one(change: Change): Promise<void> {
    const reason = this.#reasonToSkip(change);
    if (reason !== undefined) return this.#leaveOut(change, reason);
    const { emit } = this.#execution;
    const loud = isChange(change) || change.action === 'adopt';
    if (loud)
      emit({
        type: 'start',
        address: change.address,
        action: change.action,
        ...('id' in change ? { id: change.id } : {}),
      });
    const before = this.#executor.entries.get(change.address);
    const performed = await this.#executor.perform(change, {
      ...this.#changeContext,
      onSending: () => void this.#left.add(keyOf(change)),
    });
    if (performed.outcome.outcome === 'done') this.#rechecks.done?.(change, performed.entry);
    if (performed.written && 'id' in change)
      this.#written.push({
        change,
        ...performed.written,
        prior: before?.id === change.id ? before : undefined,
        // A new object may not be visible yet, or not in every reading.
        isNew: this.#visibility.created(change.kind, change.id) !== undefined,
      });
    if (change.action === 'delete' && performed.entry !== undefined) {
      this.#gone.add(`${change.kind} ${change.id}`);
      const { toldGone } = performed;
      this.#deleted.set(keyOf(change), { change, prior: before, ...defined({ toldGone }) });
    }
    if (performed.pending && !performed.again) this.#final.add(change.address);
    if (performed.pending) this.#unsettled.set(change.address, performed.pending);
    else this.#end(performed.outcome, loud);
  }

  #reasonToSkip(change: Change): string | undefined {
    const undone = waitsOf(change)
      .flatMap((key) => this.#outcomes.get(key) ?? [])
      .find(({ outcome }) => outcome !== 'done');
    // What is kept is as declared, whatever became of what it refers to.
    if (undone && change.action !== 'keep')
      return undone.reason ?? `${keyOf(undone)} ${UNDONE[undone.outcome]}`;
    return this.error || this.#execution.signal.aborted || writes(change)
      ? this.#executor.halt()
      : undefined;
  }

  /** What is kept under its address needs nothing, whatever ends the run. */
  #leaveOut(change: Change, reason: string): void {
    if (change.action === 'keep' && change.renamed_from === undefined && !isChange(change))
      this.#end({ ...outcomeBase(change), outcome: 'done', id: change.id }, false);
    else this.#end(skipped(change, reason));
  }

  #end(outcome: Outcome, loud = true): void {
    this.#outcomes.set(keyOf(outcome), outcome);
    if (loud) this.#execution.emit({ type: 'end', outcome });
  }

  /** Looks what became of creates without a response. Returns addresses that were not applied and may be sent once more. */
  async #settle(release: (address: string) => void): Promise<readonly string[]> {
    const intents = [...this.#unsettled.values()];
    const again: string[] = [];
    const hear = (intent: Intent, settled?: Settled): void => {
      this.#unsettled.delete(intent.address);
      if (settled?.verdict === 'absent' && !this.#final.has(intent.address)) {
        this.#final.add(intent.address);
        again.push(intent.address);
      } else {
        this.#end(this.#outcomeOf(intent, settled));
        release(intent.address);
      }
    };
    for await (const settled of this.#executor.settle(intents)) hear(settled.intent, settled);
    for (const intent of intents) if (this.#unsettled.has(intent.address)) hear(intent);
    return again;
  }

  #outcomeOf(intent: Intent, settled: Settled | undefined): Outcome {
    if (this.error) return outcomeOf(intent, settled, 'the run was cut short');
    return this.#execution.signal.aborted
      ? outcomeOf(intent, settled, `${INTERRUPTED} before it was read`)
      : outcomeOf(intent, settled);
  }

  /** Those of the changes that this run deleted. */
  #deletedIn(changes: readonly Change[]): readonly WrittenChange[] {
    return changes.flatMap((change) => this.#deleted.get(keyOf(change)) ?? []);
  }

  /** One reading a kind proves that what returned success is really there, or gone. */
  async #prove(written: readonly WrittenChange[]): Promise<void> {
    const count = (kind: Kind): number =>
      [...this.#executor.entries.values()].filter((entry) => entry.kind === kind.name).length;
    for await (const { change, failure, notes } of this.#executor.prove(written, count)) {
      this.notes.push(...notes);
      if (failure) this.#fail(change, failure.diagnostic, failure.outcome);
    }
  }

  /** One listing of each kind with creates tells which of the new objects it shows, and how: their absence means something from now on, and a response may have named the id alone. */
  async #lookForCreated(): Promise<void> {
    const made = this.#changes.flatMap((change) => {
      const outcome = change.action === 'create' ? this.#outcomes.get(change.address) : undefined;
      return outcome?.outcome === 'done' ? [change] : [];
    });
    for (const name of new Set(made.map(({ kind }) => kind))) {
      const kind = this.#execution.kinds.get(name)!;
      try {
        const { objects } = await this.#execution.cloud.list(kind);
        const byId = new Map(objects.map((live) => [live.id, live]));
        const shown = made.flatMap((change) => {
          const entry = this.#executor.entries.get(change.address);
          const live = change.kind === name && entry && byId.get(entry.id);
          return live ? [{ change, entry, live }] : [];
        });
        const ids = shown.map(({ live }) => live.id);
        if (ids.length > 0) await this.#execution.session.record({ type: 'seen', kind: name, ids });
        for (const { change, entry, live } of shown)
          if (!isApplied(kind, this.#sentOf(change, entry), live))
            await this.#disproveCreate(kind, change, entry, live);
      } catch (error) {
        if (!(error instanceof Refusal) && !this.#execution.signal.aborted) throw error;
      }
    }
  }

  /** The fields of a create, as the state holds them, without those that the declaration ignores. */
  #sentOf({ address }: Change, { applied }: Entry): JsonObject {
    return ignoring(applied, this.#ignored.get(address) ?? []);
  }

  async #disproveCreate(kind: Kind, change: Change, entry: Entry, live: Live): Promise<void> {
    const { address } = change;
    const observed = storedValues(kind, live.values);
    const disproved = { ...entry, applied: {}, observed };
    await this.#execution.session.record(resultRecord(address, 'applied', { entry: disproved }));
    const paths = differing(kind, this.#sentOf(change, entry), live);
    this.#fail(change, unproven(address, 'other', paths), 'failed');
  }

  #fail(change: Change, diagnostic: Diagnostic, outcome: 'failed' | 'unknown'): void {
    const { gone: _, ...told } = this.#outcomes.get(keyOf(change))!;
    const failed: Outcome = {
      ...told,
      outcome,
      diagnostic: { ...diagnostic, ...defined({ origin: change.origin }) },
    };
    this.#outcomes.set(keyOf(change), failed);
    this.#execution.emit({ type: 'end', outcome: failed, late: true });
  }
}

/** The request left, and what became of it could not be recorded. */
function unrecorded(change: Change): Outcome {
  const { address } = change;
  const diagnostic: Diagnostic = {
    severity: 'error',
    code: 'unrecorded',
    summary: `${keyOf(change)}: the request was sent, but its result could not be recorded.`,
    detail: 'Run apply again: it looks first, and sends nothing twice.',
    address,
  };
  return { ...outcomeBase(change), outcome: 'unknown', diagnostic };
}

/** A writer with at most `most` requests under way. */
function gated(cloud: CloudWriter, most: number): CloudWriter {
  const inTurn = limited(most);
  return { ...cloud, send: (...request) => inTurn(() => cloud.send(...request)) };
}
