// Plays one scenario: its runs with all that befalls them, then runs in peace until nothing is left to do. Every law is
// asked at the moment it can be answered.
import { TransportError } from '../../src/client/index.js';
import {
  isChange,
  Reference,
  Refusal,
  type Declaration,
  type Entry,
  type Diagnostic,
  type Intent,
} from '../../src/model/index.js';
import { importObject } from '../../src/reconciler/apply/import.js';
import { provider } from '../../src/resources/provider.js';
import { scryptFingerprints, type Session } from '../../src/state/index.js';
import { project } from '../support/planning.js';
import { allowable } from '../support/rule-names.js';
import { rig as rigOf, type Rig } from '../support/rig.js';
import { interfere } from './foreign.js';
import { ledgerOf, type Asked, type Ledger } from './ledger.js';
import { judgeEnd, judgeRun, judgeState, judgeVerdicts, watch, type Law } from './laws.js';
import {
  ACCOUNTS,
  DESTINATIONS,
  draw,
  SETTLE,
  type Event,
  type Foreign,
  type Phase,
  type Scenario,
} from './scenario.js';

export interface Counts {
  runs: number;
  kills: number;
  lags: number;
  steps: number;
  freezes: number;
  others: number;
  shifts: number;
  undecided: number;
  verdicts: number;
  blocks: number;
}

export const noCounts = (): Counts => ({
  runs: 0,
  kills: 0,
  lags: 0,
  steps: 0,
  freezes: 0,
  others: 0,
  shifts: 0,
  undecided: 0,
  verdicts: 0,
  blocks: 0,
});

export interface Played {
  readonly seed: number;
  readonly counts: Counts;
  readonly failures: readonly { readonly law: Law; readonly detail: string }[];
  readonly trace: readonly string[];
}

/** Runs in peace until nothing is left to do, at most. */
const PATIENCE = 10;
const SLACK = 10_000;
const STATE = '/sim/state.json';

/** How a run ended. */
interface Ended {
  readonly exit: number | 'killed';
  readonly codes: readonly string[];
  readonly blocked: readonly string[];
  /** Of the questions to a person, what they are about. */
  readonly asked: readonly Diagnostic[];
}

/** Answers of a remote state come late, or get lost. */
const REMOTE = { delay: 200, lost: 0.02, dropped: 0.02 };

/** @param remote whether the state is in a remote place */
export async function simulate(seed: number, remote = false): Promise<Played> {
  const play = new Play(draw(seed), remote);
  await play.all();
  return play;
}

class Play implements Played {
  readonly seed: number;
  readonly counts = noCounts();
  readonly failures: { law: Law; detail: string }[] = [];
  readonly trace: string[] = [];
  readonly #scenario: Scenario;
  readonly #rig: Rig;
  readonly #ledger: Ledger;
  #run: Asked | undefined;
  #requests = 0;
  #writes = 0;
  #runs = 0;
  #phase: Phase | undefined;
  #events: Event[] = [];
  #left: Promise<unknown>[] = [];
  #host = 'box';
  #othersWrote = false;
  /** On the clock of the service. */
  #stoodUntil = -Infinity;
  #dead = false;
  #interfering = false;

  constructor(scenario: Scenario, remote: boolean) {
    this.#scenario = scenario;
    this.seed = scenario.seed;
    const kinds = new Map(
      [...provider.kinds].map(([name, kind]) => {
        const paging = name === ACCOUNTS && !scenario.offsets ? 'next' : kind.operations.paging;
        return [
          name,
          {
            ...kind,
            operations: {
              ...kind.operations,
              paging,
              page: Math.min(kind.operations.page, scenario.page),
            },
          },
        ] as const;
      }),
    );
    this.#rig = rigOf({
      kinds,
      seed: scenario.seed,
      estate: scenario.estate,
      ...(remote && { remote: REMOTE }),
      ahead: scenario.service.ahead,
      intercept: (request, proceed) => this.#carry(request, proceed),
    });
    this.#ledger = ledgerOf(this.#rig);
    const tell = this.#tell.bind(this);
    watch(scenario, this.#ledger, this.#fail.bind(this));
    const { onWritten } = this.#ledger;
    this.#ledger.onWritten = (one) => {
      const verb = one.before ? (one.after ? 'changed' : 'deleted') : 'made';
      tell(
        `    ${one.run ? `run ${one.run.number}` : 'others'} ${verb} ${one.kind} ${one.id} ${[...(this.#ledger.meant.get(`${one.kind} ${one.id}`) ?? [])].join(' ')}`,
      );
      if (!one.run) this.#othersWrote = true;
      if (!one.run && !this.#interfering) this.counts.shifts += 1;
      onWritten(one);
    };
    if (Math.max(scenario.lag.POST, scenario.lag.PUT, scenario.lag.PATCH, scenario.lag.DELETE) > 0)
      this.counts.lags += 1;
  }

  #tell(line: string): void {
    this.trace.push(`${(this.#rig.clock.elapsed() / 1000).toFixed(1).padStart(8)} s ${line}`);
  }

  #fail(law: Law, detail: string): void {
    this.#tell(`!!! ${law}: ${detail}`);
    this.failures.push({ law, detail });
  }

  async all(): Promise<void> {
    try {
      for (const phase of this.#scenario.phases) await this.#disturbed(phase);
      await this.#inPeace();
    } catch (error) {
      this.#fail('crash-safe', error instanceof Error ? String(error.stack) : String(error));
    }
  }

  get #lag(): number {
    const { POST, PUT, PATCH, DELETE } = this.#scenario.lag;
    return Math.max(POST, PUT, PATCH, DELETE);
  }

  #setFaults(phase?: Phase): void {
    const { flicker, ...lags } = this.#scenario.lag;
    const stale = Object.entries(lags).map(([method, value]) => ({
      name: 'stale' as const,
      method,
      value,
      ...(flicker && { mode: 'flicker' as const }),
    }));
    this.#rig.emulator.setFaults([...(phase?.faults ?? []), ...stale]);
  }

  #project(version: number) {
    return project(this.#scenario.versions[version] ?? [], { policy: this.#scenario.policy });
  }

  async #wait(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await this.#rig.clock.service.sleep(milliseconds);
  }

  async #foreign(what: Foreign): Promise<void> {
    this.#interfering = true;
    const done = await interfere(
      this.#rig,
      this.#ledger,
      this.#run?.declared ?? this.#scenario.versions[0] ?? [],
      what,
    );
    this.#interfering = false;
    if (done === undefined) return;
    this.counts.others += 1;
    this.#tell(`    others: ${what.what} ${done}`);
  }

  async #disturbed(phase: Phase): Promise<void> {
    const { clock, machine, files } = this.#rig;
    await this.#wait(phase.gap);
    if (phase.loses) {
      // A state that is lost while the service does not yet show what it held: nobody could know.
      await this.#wait(SETTLE);
      this.#ledger.lose();
      await this.#rig.forget();
      files.reboot();
      this.#tell('the state is lost');
    }
    if (phase.place === 'boot') machine.restart();
    if (phase.place === 'host') this.#host = `host-${this.#runs}`;
    if (phase.place !== 'same') clock.reboot();
    const declared = this.#scenario.versions[phase.version] ?? [];
    const targets = phase.targets.flatMap((index) => declared[index]?.address ?? []);
    this.#setFaults(phase);
    this.#events = [...phase.events];
    this.#phase = phase;
    const ended = await this.#apply(phase.version, phase.allow, targets, phase);
    this.#phase = undefined;
    this.#events = [];
    this.#setFaults();
    if (ended.exit === 5) await this.#decide(phase.version, ended);
  }

  async #fire(at: number): Promise<void> {
    for (const event of this.#events.filter((one) => one.at === at)) {
      if (event.foreign) await this.#foreign(event.foreign);
      if (event.step !== undefined) {
        this.counts.steps += 1;
        this.#tell(`    the clock is set by ${event.step / 60_000} min`);
        this.#rig.clock.step(event.step);
      }
    }
  }

  /** A request of a run on its way, and what befalls it there. */
  async #carry(
    { method, path }: { readonly method: string; readonly path: string },
    proceed: () => Promise<{
      status: number;
      headers: Readonly<Record<string, string>>;
      body: string;
    }>,
  ) {
    const [run, phase] = [this.#run as Asked, this.#phase];
    this.#requests += 1;
    const turn = this.#requests;
    const write = method === 'GET' ? 0 : (this.#writes += 1);
    const known = this.#ledger.written.length;
    await this.#fire(turn);
    const freeze = this.#events.find((event) => event.at === turn)?.freeze;
    const kill =
      phase?.kill && 'write' in phase.kill && phase.kill.write === write ? phase.kill : undefined;
    const die = (): void => {
      this.#tell(`    killed at ${method} ${path}`);
      this.#rig.files.crashAt(0);
    };
    // What left is not held back by a process that stands still.
    if (freeze && !freeze.answered && method === 'GET') await this.#freeze(freeze, false);
    if (kill?.when === 'before') {
      die();
      throw new TransportError('killed', { sent: true, code: 'ECONNRESET' });
    }
    let status: string | number = 'reset';
    try {
      const answer = await this.#ledger.during(run, known, proceed);
      ({ status } = answer);
      if (kill?.when === 'after') die();
      if (freeze && (freeze.answered || method !== 'GET'))
        await this.#freeze(freeze, method !== 'GET');
      return this.#scenario.service.tells
        ? answer
        : {
            ...answer,
            headers: Object.fromEntries(
              Object.entries(answer.headers).filter(([name]) => name !== 'date'),
            ),
          };
    } finally {
      if (method === 'POST' && (status === 'reset' || Number(status) >= 400))
        this.#ledger.unanswered(run);
      if (method !== 'GET') this.#tell(`    run ${run.number} ${method} ${path} -> ${status}`);
    }
  }

  async #freeze(
    { milliseconds, asleep }: NonNullable<Event['freeze']>,
    writing: boolean,
  ): Promise<void> {
    this.counts.freezes += 1;
    this.#tell(
      `    stands still for ${Math.round(milliseconds / 1000)} s${asleep ? ', asleep' : ''}`,
    );
    if (writing) this.#ledger.standStill(milliseconds);
    await this.#rig.clock.freeze(milliseconds, asleep);
    this.#stoodUntil = this.#rig.clock.service.now();
    for (const event of this.#events.filter((one) => one.foreign && one.at > this.#requests)) {
      this.#events.splice(this.#events.indexOf(event), 1);
      await this.#foreign(event.foreign as Foreign);
    }
  }

  async #apply(
    version: number,
    allow: readonly string[],
    targets: readonly string[] = [],
    phase?: Phase,
  ): Promise<Ended> {
    const { clock, files } = this.#rig;
    const declared = this.#scenario.versions[version] ?? [];
    this.#ledger.declare(declared);
    const before = await this.#rig.snapshot();
    const run: Asked = {
      number: (this.#runs += 1),
      began: clock.service.now(),
      declared,
      allow,
      targets,
      remembers:
        Object.keys(before?.state.resources ?? {}).length > 0 || (before?.pending.length ?? 0) > 0,
      objects: {
        most: this.#ledger.meant.size,
        least: this.#certain(declared, before?.state.resources ?? {}),
      },
    };
    this.#run = run;
    this.counts.runs += 1;
    [this.#requests, this.#writes] = [0, 0];
    this.#tell(
      `run ${run.number} applies version ${version + 1} on ${this.#host}${targets.length > 0 ? `, targets ${targets.join(' ')}` : ''}${allow.length > 0 ? ', allows' : ''}`,
    );
    await this.#fire(0);
    if (phase?.kill && 'boundary' in phase.kill) files.crashAt(phase.kill.boundary);
    const mutations = this.#mutationsOf(run);
    let ended: Ended;
    try {
      const applied = await this.#rig.apply(this.#project(version), {
        allow,
        targets,
        host: this.#host,
        parallelism: this.#scenario.parallelism,
        approve: async () => {
          const { approval } = phase ?? {};
          if (approval) {
            await clock.sleep(approval.milliseconds);
            if (approval.foreign) await this.#foreign(approval.foreign);
          }
          return true;
        },
      });
      const diagnostics = [
        ...applied.diagnostics,
        ...applied.proposal.plan.diagnostics,
        ...applied.outcomes.flatMap(({ diagnostic }) => diagnostic ?? []),
      ];
      const blocked = applied.proposal.plan.verdicts.flatMap(({ rule, verdict }) =>
        verdict === 'blocked' ? [rule] : [],
      );
      ended = {
        exit: applied.exit,
        codes: diagnostics.flatMap(({ severity, code }) => (severity === 'error' ? [code] : [])),
        blocked,
        asked: diagnostics,
      };
      if (applied.exit === 3) this.counts.blocks += 1;
      if (applied.outcomes.length === 0 && this.#mutationsOf(run) > mutations)
        this.#fail('crash-safe', `run ${run.number} was not carried out and wrote`);
    } catch (error) {
      ended = this.#caught(error, run);
    }
    files.reboot();
    if (ended.exit === 5) this.counts.undecided += 1;
    const needless = this.#othersWrote
      ? undefined
      : ended.codes.find((code) => code === 'undecided' || code === 'ambiguous');
    if (needless !== undefined)
      this.#fail(
        'crash-safe',
        `run ${run.number} asked a person (${needless}), and nobody else ever did anything`,
      );
    if (ended.exit === 'killed') this.counts.kills += 1;
    this.#ledger.end(run, ended.exit === 'killed');
    this.#tell(
      `run ${run.number} ends: ${ended.exit} ${[...new Set([...ended.codes, ...ended.blocked])].join(' ')}`,
    );
    await Promise.all(this.#left.splice(0));
    judgeRun(this.#scenario, this.#ledger, run, this.#fail.bind(this));
    await this.#judgeState();
    return ended;
  }

  #caught(error: unknown, run: Asked): Ended {
    if (error instanceof Refusal) {
      const { diagnostics, exit } = error;
      if (exit === 5 && this.#mutationsOf(run) > 0)
        this.#fail('crash-safe', `run ${run.number} asked a person and wrote`);
      return { exit, codes: diagnostics.map(({ code }) => code), blocked: [], asked: diagnostics };
    }
    if (!(error instanceof Error) || error.constructor.name !== 'PowerCut') {
      this.#fail(
        'crash-safe',
        `run ${run.number} threw ${error instanceof Error ? error.stack : String(error)}`,
      );
      this.#dead = true;
    }
    return { exit: 'killed', codes: [], blocked: [], asked: [] };
  }

  /** Of what is declared, how much is live for certain: recorded, or recognised without a reference. */
  #certain(declared: readonly Declaration[], entries: Readonly<Record<string, Entry>>): number {
    // Without a state an object is found by the name that is declared now.
    const isLive = (kind: string, { address, values }: Declaration): boolean =>
      [...(this.#ledger.live.get(kind) ?? [])].some(
        ([id, record]) =>
          record['name'] === values.name && this.#ledger.meant.get(`${kind} ${id}`)?.has(address),
      );
    const isPlain = ({ kind, values }: Declaration): boolean =>
      kind === DESTINATIONS || (kind === ACCOUNTS && !(values.account instanceof Reference));
    return declared.filter(
      (one) => one.address in entries || (isPlain(one) && isLive(one.kind, one)),
    ).length;
  }

  #mutationsOf(run: Asked): number {
    return this.#ledger.written.filter((one) => one.run === run).length;
  }

  async #judgeState(): Promise<void> {
    const snapshot = await this.#rig.snapshot();
    judgeState(
      this.#ledger,
      snapshot?.state,
      new Set((snapshot?.pending ?? []).map(({ address }) => address)),
      this.#fail.bind(this),
    );
  }

  /** What a person types who knows that nothing runs on the other machine any more. */
  async #unlock(): Promise<void> {
    const { files } = this.#rig;
    if (files.contents.has(`${STATE}.lock`)) await files.remove(`${STATE}.lock`);
  }

  /** A person who knows the truth answers what a run asked. */
  async #decide(version: number, { asked }: Ended): Promise<void> {
    await this.#unlock();
    const found: (readonly [address: string, id: string])[] = [];
    await this.#held(async (session) => {
      for (const intent of session.snapshot.pending.filter(({ action }) => action === 'create')) {
        const id = await this.#answer(session, version, intent);
        if (id !== undefined) found.push([intent.address, id]);
      }
    });
    for (const [address, id] of found) await this.#import(version, address, id);
    for (const { code, address } of asked)
      if (code === 'ambiguous' && address !== undefined) await this.#choose(version, address);
  }

  /** A command that changes what the state remembers. */
  async #held(work: (session: Session) => Promise<void>): Promise<void> {
    const session = await this.#rig.open();
    try {
      await work(session);
      await session.compact();
    } finally {
      await session.release();
    }
  }

  async #answer(
    session: Session,
    version: number,
    { op, address, kind }: Intent,
  ): Promise<string | undefined> {
    const recorded = new Set(
      Object.values(session.snapshot.state.resources).map((entry) => `${entry.kind} ${entry.id}`),
    );
    const mine = [...this.#ledger.made.values()].findLast(
      (made) =>
        made.kind === kind &&
        made.losses === this.#ledger.losses &&
        !recorded.has(`${kind} ${made.id}`) &&
        this.#ledger.live.get(kind)?.has(made.id) &&
        this.#ledger.meant.get(`${kind} ${made.id}`)?.has(address),
    );
    const declared = this.#scenario.versions[version]?.some((one) => one.address === address);
    if (mine && !declared) this.#ledger.letGo(kind, mine.id);
    if (mine && declared) return mine.id;
    await session.record({ type: 'result', op, class: 'not_sent', address });
    return undefined;
  }

  /** Of several objects that an address may mean: ours, where one of them is. */
  async #choose(version: number, address: string): Promise<void> {
    const kind = address.slice(0, address.indexOf('.'));
    const found = [...(this.#ledger.live.get(kind)?.keys() ?? [])].filter((id) =>
      this.#ledger.meant.get(`${kind} ${id}`)?.has(address),
    );
    const id = found.find((one) => this.#ledger.made.has(`${kind} ${one}`)) ?? found[0];
    if (id === undefined) return;
    await this.#import(version, address, id);
  }

  async #import(version: number, address: string, id: string): Promise<void> {
    this.#tell(`a person: ${address} is ${id}`);
    await this.#wait(this.#lag);
    // What it was bound to is gone.
    await this.#held((session) =>
      session.record({ type: 'result', class: 'applied', address, entry: null }),
    );
    await this.#held(
      async (session) =>
        void (await importObject(this.#desk(session), this.#project(version), address, id)),
    );
  }

  #desk(session: Session) {
    const { clock } = this.#rig;
    return {
      ...provider,
      cloud: this.#rig.connect(new AbortController().signal),
      fingerprints: scryptFingerprints({ cost: 4 }),
      clock,
      emit: () => undefined,
      settleMilliseconds: SETTLE,
      session,
    };
  }

  async #inPeace(): Promise<void> {
    const { clock, machine } = this.#rig;
    const version = this.#scenario.phases.at(-1)?.version ?? 0;
    const desired = this.#project(version);
    this.#host = 'box';
    machine.restart();
    await this.#rig.emulator.settled();
    // A new object that others deleted before any listing showed it counts as not visible yet: for the settle time after the
    // last create of its run, and what the clock of the service may be wrong.
    if (this.#othersWrote) await this.#wait(this.#lastSeen + SETTLE + SLACK - clock.service.now());
    await this.#compareVerdicts(version);
    let allow: readonly string[] = [];
    let ended: Ended | undefined;
    for (
      let turn = 0;
      turn < PATIENCE && ended?.exit !== 0 && !this.#dead && !(ended && this.#isRefused(ended));
      turn += 1
    ) {
      ended = await this.#apply(version, allow);
      allow = [...new Set([...allow, ...ended.blocked])];
      if (ended.exit === 4) await this.#unlock();
      if (ended.exit === 5) await this.#decide(version, ended);
    }
    if (this.#dead || (ended && this.#isRefused(ended))) return;
    if (ended?.exit !== 0)
      return this.#fail(
        'crash-safe',
        `runs in peace do not come to an end: ${ended?.exit} ${ended?.codes.join(' ')}`,
      );
    await this.#settled(desired, version);
    judgeEnd(this.#scenario, this.#ledger, this.#run as Asked, this.#fail.bind(this));
  }

  /** When runs may have seen the last write. A run that stood still counts the age of what it wrote from then on. */
  get #lastSeen(): number {
    return Math.max(this.#ledger.written.at(-1)?.at ?? -Infinity, this.#stoodUntil);
  }

  /** Asked only where no reading is late any more. */
  async #compareVerdicts(version: number): Promise<void> {
    if (this.#rig.clock.service.now() - this.#lastSeen <= SETTLE + SLACK - 1) return;
    const desired = this.#project(version);
    this.#ledger.declare(desired.declarations);
    const snapshot = await this.#rig.snapshot();
    const { plan, exit } = await this.#rig.plan(desired, { allow: allowable });
    if (exit !== 0 && exit !== 2) return;
    judgeVerdicts(
      this.#scenario,
      this.#ledger,
      snapshot?.state,
      desired.declarations,
      { plan, audit: await this.#rig.drift(desired) },
      this.#fail.bind(this),
    );
    this.counts.verdicts += 1;
  }

  /** The service does not delete an account that holds what others made in it: no run can go on there, and a person has to see to it. */
  #isRefused({ codes }: Ended): boolean {
    return (
      codes.length > 0 &&
      codes.every((code) => code === 'rejected') &&
      this.#rig.emulator.requests.findLast(({ method }) => method === 'DELETE')?.status === 409
    );
  }

  async #settled(desired: ReturnType<typeof project>, version: number): Promise<void> {
    await this.#expectEmpty(desired, 'within the lag');
    await this.#expectNothingSent(version);
    await this.#wait(this.#lag + 1);
    await this.#expectEmpty(desired, 'after the lag');
    const drift = await this.#rig.drift(desired);
    if (drift.exit !== 0)
      this.#fail(
        'plan-empty',
        `drift after the lag: ${drift.drift.map(({ address, status }) => `${address} ${status}`).join(', ')}`,
      );
  }

  /**
   * Objects that runs made or changed less than the lag ago, where readings flicker: a reading has shown what was written, the
   * next one may not, and nothing tells that from a change by another hand. Sending an update again does no harm; before
   * something is made again, apply waits.
   */
  #flickering(): ReadonlySet<string> {
    const { flicker } = this.#scenario.lag;
    const since = this.#rig.clock.service.now() - this.#lag;
    return new Set(
      this.#ledger.written.flatMap((one) =>
        flicker && one.run && one.at >= since ? [one.id] : [],
      ),
    );
  }

  async #expectEmpty(desired: ReturnType<typeof project>, when: string): Promise<void> {
    const flickering = this.#flickering();
    const entries = (await this.#rig.snapshot())?.state.resources ?? {};
    const proposal = await this.#rig.plan(desired, { allow: allowable }).catch((error: unknown) => {
      // Pages of readings that flicker shift; a listing that cannot be proven complete is refused.
      if (
        flickering.size > 0 &&
        error instanceof Refusal &&
        error.diagnostics.some(({ code }) => code === 'moving-pages')
      )
        return undefined;
      throw error;
    });
    if (!proposal) return;
    const { exit, plan } = proposal;
    const changes = plan.changes.filter(
      (change) => isChange(change) && !flickering.has(entries[change.address]?.id ?? ''),
    );
    const excused = exit === 2 && changes.length === 0;
    if (exit !== 0 && !excused)
      this.#fail(
        'plan-empty',
        `${when}: exit ${exit}, ${changes.map(({ action, address, reason }) => `${action} ${address} (${reason})`).join(', ')}`,
      );
  }

  async #expectNothingSent(version: number): Promise<void> {
    const flickering = this.#flickering();
    const before = this.#rig.mutations().length;
    const { exit, codes } = await this.#apply(version, allowable);
    const sent = this.#rig.mutations().slice(before);
    const unexcused = sent.filter(
      (one) =>
        !(/^P(UT|ATCH) /.test(one) && flickering.has(one.split('/').findLast(Boolean) ?? '')),
    );
    // Pages of readings that flicker shift; a listing that cannot be proven complete is refused.
    const isRefused = flickering.size > 0 && codes.length === 1 && codes[0] === 'moving-pages';
    if ((exit !== 0 && !isRefused) || unexcused.length > 0)
      this.#fail(
        'apply-twice',
        `exit ${exit} ${codes.join(' ')}, sent ${sent.join(', ') || 'nothing'}`,
      );
  }
}
