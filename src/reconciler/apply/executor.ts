// Shared by all writes of a run, those of a plan (apply.ts) and those of Terraform, one resource at a time
// (terraform/write-session.ts): the current state, the conditions to stop, the settling of creates without a response,
// and the reading that proves an update or a delete.
import {
  defined,
  objectsIn,
  Refusal,
  resultRecord,
  type Change,
  type Entry,
  type Intent,
  type Kind,
  type Live,
} from '../../model/index.js';
import { storedValues } from '../live-collections.js';
import type { ExecutionContext, RunContext } from './execution-context.js';
import { INTERRUPTED } from './journal-intent.js';
import { carryOut, withoutSent, type Performed } from './write-operation.js';
import { compare, differing, stillThere, unproven, type Proof } from './write-proof.js';
import { readBack, shownOf, type ReadBack, type SentFields, type Shown } from './read-back.js';
import { recordsOf, settle, type Settled } from './recovery.js';

/** This many requests in a row without a clear response, and nothing new is started. */
const SILENCE = 5;

/** The limits of an operation that has less time than the run. */
export type OperationLimits = Partial<Pick<ExecutionContext, 'cloud' | 'signal'>>;

export interface ChangeContext extends Pick<
  RunContext,
  'before' | 'resolver' | 'onSending' | 'awaited' | 'recheck' | 'readAt' | 'isOld' | 'isNew'
> {
  /** True if an object was live before the run. */
  readonly wasLive: (kind: string, id: string) => boolean;
}

/** An update or a delete that counts as done. */
export interface WrittenChange extends Partial<SentFields> {
  readonly change: Change & { readonly id: string };
  /** The entry of the object before the change. */
  readonly prior?: Entry | undefined;
  /** True if listings may not show the object yet. */
  readonly isNew?: boolean;
  /** As in `Performed`. */
  readonly toldGone?: boolean;
}

export class Executor {
  /** Entries of the state now, by address. */
  readonly entries: Map<string, Entry>;
  readonly #execution: ExecutionContext;
  readonly #halted: () => string | undefined;
  readonly #owned: Set<string>;
  #silence = 0;

  /** @param halted why the caller wants nothing more to be sent */
  constructor(
    execution: ExecutionContext,
    entries: Map<string, Entry>,
    halted: () => string | undefined = () => undefined,
  ) {
    this.#execution = execution;
    this.entries = entries;
    this.#halted = halted;
    this.#owned = new Set([...entries.values()].flatMap(objectsIn));
  }

  /** Whether the state holds an object, or held it during this run. */
  owns(kind: string, id: string): boolean {
    return this.#owned.has(`${kind} ${id}`);
  }

  /** Why nothing more may leave. */
  halt(): string | undefined {
    const why = this.#halted();
    if (why !== undefined) return why;
    if (this.#execution.signal.aborted) return INTERRUPTED;
    return this.#silence >= SILENCE ? 'the service stopped responding clearly' : undefined;
  }

  /** Carries out one change. */
  async perform(
    change: Change,
    { wasLive, ...context }: ChangeContext,
    operation: OperationLimits = {},
  ): Promise<Performed> {
    const performed = await carryOut({ ...this.#execution, ...operation }, change, {
      ...context,
      entry: (address) => this.entries.get(address),
      halt: () => this.halt(),
      known: (kind, id) => this.owns(kind, id) || wasLive(kind, id),
      onResponse: (outcome) => {
        if (outcome === 'unknown') this.#silence += 1;
        else if (outcome !== 'not_sent') this.#silence = 0;
      },
    });
    this.recordEntry(change, performed.entry);
    return performed;
  }

  /** @param entry what the address holds after a change; null for nothing, undefined for what it held before */
  recordEntry(change: Change, entry: Entry | null | undefined): void {
    if (change.renamed_from !== undefined && entry !== undefined)
      this.entries.delete(change.renamed_from);
    if (entry === null) this.entries.delete(change.address);
    else if (entry) this.setEntry(change.address, entry);
  }

  setEntry(address: string, entry: Entry): void {
    this.entries.set(address, entry);
    this.#owned.add(`${entry.kind} ${entry.id}`);
  }

  /** Looks what became of creates without a response, and records it one by one. Nothing where nobody could look: the intents stay in the journal, and the next run looks. */
  async *settle(intents: readonly Intent[]): AsyncGenerator<Settled> {
    this.#silence = 0;
    const settled = await this.#look(intents);
    for (const one of settled) {
      const records = recordsOf(this.#execution.kinds, one);
      if (records.length > 0) await this.#execution.session.record(...records);
      for (const record of records)
        if (record.type === 'result' && record.entry)
          this.setEntry(one.intent.address, record.entry);
      yield one;
    }
  }

  async #look(intents: readonly Intent[]): Promise<readonly Settled[]> {
    try {
      return await settle(this.#execution, intents, [...this.entries.values()], 0);
    } catch (error) {
      if (error instanceof Refusal || this.#execution.signal.aborted) return [];
      throw error;
    }
  }

  /**
   * Reads back what returned success. What the service did not carry out, or only in part, is recorded as it is.
   * Everything that was read is told, also where it cannot be recorded: that is thrown after the last one.
   * @param count how many objects of a kind there are, to choose between a listing and single readings
   */
  async *prove(
    written: readonly WrittenChange[],
    count: (kind: Kind) => number,
    operation: OperationLimits = {},
  ): AsyncGenerator<Proof> {
    const tools = { ...this.#execution, ...operation };
    const asked = written.map((one): ReadBack & WrittenChange => ({
      ...one,
      kind: this.#execution.kinds.get(one.change.kind)!,
      id: one.change.id,
      judge: (live, isLast) => this.#shown(one, live, isLast),
    }));
    const found = await readBack(tools, asked, count);
    let unrecorded: { readonly error: unknown } | undefined;
    for (const one of asked) {
      const { shown = 'unread', live } = found.get(one) ?? {};
      const { change } = one;
      // Nobody looked: what the service returned stands.
      if (shown === 'unread' && tools.signal.aborted) yield { change, shown, notes: [] };
      else if (shown === 'taken')
        yield {
          change,
          shown,
          ...defined({ live }),
          ...compare(one, live, this.entries.get(change.address)),
        };
      else {
        const { entry, failure } = this.#disprove(one, shown, live);
        if (entry && !unrecorded) {
          const { session } = this.#execution;
          const { address } = change;
          await session
            .record(resultRecord(address, 'applied', { entry }))
            .catch((error: unknown) => (unrecorded = { error }));
        }
        yield { change, shown, ...defined({ live }), failure, notes: [] };
      }
    }
    if (unrecorded) throw unrecorded.error;
  }

  #shown(
    { change, fields, before = {}, document, isOld, isNew }: WrittenChange,
    live: Live | undefined,
    isLast: boolean,
  ): Exclude<Shown, 'unread'> {
    if (!fields) return live ? 'earlier' : 'taken';
    if (!live && isNew) return 'earlier';
    const kind = this.#execution.kinds.get(change.kind)!;
    return shownOf(kind, { fields, before, ...defined({ document, isOld }) }, live, isLast);
  }

  /** @returns entry what the address holds, absent where that is nothing */
  #disprove(
    { kind, change, prior, fields, toldGone }: ReadBack & WrittenChange,
    shown: Exclude<Shown, 'taken'>,
    live: Live | undefined,
  ): Required<Pick<Proof, 'failure'>> & { readonly entry?: Entry | undefined } {
    const held = fields ? (this.entries.get(change.address) ?? prior) : prior;
    const entry =
      held && fields
        ? {
            ...withoutSent(held, fields),
            ...(shown !== 'unread' && { applied: prior?.applied ?? {} }),
            ...(live ? { observed: storedValues(kind, live.values) } : {}),
          }
        : held;
    return {
      entry,
      failure:
        !fields && shown === 'earlier'
          ? { outcome: 'failed', diagnostic: stillThere(change, toldGone) }
          : {
              outcome: shown === 'other' ? 'failed' : 'unknown',
              diagnostic: unproven(change.address, shown, differing(kind, fields, live), toldGone),
            },
    };
  }
}
