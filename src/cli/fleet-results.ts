// Where the results of a fleet are kept: `fleet/<run>`, and `fleet/<run>/<tenant>`, each written once: registers beside
// remote states, else files below `.trueup`. A tenant that runs again in the same run gets a further result, `<tenant>@2`.
// `fleet/<run>@ended-1` says why the first process of the run stopped.
import { dirname, join } from 'node:path';
import {
  defined,
  equal,
  exits,
  isObject,
  NAME,
  refuse,
  Refusal,
  tenantStatuses,
  tryJson,
  type Diagnostic,
  type FleetRun,
  type Json,
  type QueuedJobs,
  type TenantResult,
  type TypedWith,
  type WriteCounts,
} from '../model/index.js';
import type { RunStop } from '../fleet/merge.js';
import { addressPlace, fleetDigest } from '../fleet/tenant.js';
import { areQueuedJobs } from '../fleet/tenant-job.js';
import { plusWrites } from '../report/fleet-figures.js';
import { jsonText } from '../report/json-output.js';
import {
  formatPath,
  isText,
  isWhole,
  listOf,
  mappingOf,
  oneOf,
  openMembers,
  orNull,
  rule,
  type ShapeCheck,
} from '../state/shape-check.js';
import { keysBelow, type Registers } from '../state/backends/registers/port.js';
import { underClaim, type ClaimTools } from '../state/backends/registers/reader-claim.js';
import { lostPuts, settledPut } from '../state/backends/registers/settled-put.js';
import type { Pauses } from '../state/backends/retried.js';
import { endingSoon } from '../state/backends/until-interrupted.js';
import { ifThere, isDiskError, withDisk } from '../state/disk-errors.js';
import type { Context } from './context.js';
import { registersAt } from './state-location.js';

export interface RunRecords {
  /** The run as it was begun; undefined where there is none. */
  run(): Promise<FleetRun | undefined>;
  /** Begins it, or goes on with it. @param queue the flag with which a command finds the queue @returns whether it was there @throws Refusal where it is another one */
  begin(run: FleetRun, queue?: string): Promise<boolean>;
  /** The last result of a tenant, of those that were there when it was first asked for. */
  last(tenant: string): Promise<TenantResult | undefined>;
  /** Writes a result under the next free attempt; that of an apply with the writes of the attempts before. @returns it */
  write(result: TenantResult): Promise<TenantResult>;
  /** Keeps why this process stopped; nothing where neither it nor one before did. */
  end(ended: EndedProcess): Promise<void>;
  /** Why the processes stopped that were the last to run their tenants. @throws Refusal where a record is damaged */
  stops(): Promise<readonly RunStop[]>;
  /**
   * Audits a tenant while no other run does, as far as the place can tell.
   * @param states as its fleet names them: fleets that keep their results at one place may have tenants of one name
   * @throws Refusal where one does
   */
  alone<T>(tenant: string, states: string | undefined, wait: Wait, work: Audit<T>): Promise<T>;
}

interface EndedProcess {
  readonly tenants: readonly string[];
  readonly stops: readonly RunStop[];
}

/** How another run is waited for. */
interface Wait {
  /** Ends it. */
  readonly signal: AbortSignal;
  /** The most milliseconds. */
  readonly wait: number;
  readonly notify?: ClaimTools['notify'];
}

/** @param signal ends it too early if another run began to audit the tenant */
type Audit<T> = (signal: AbortSignal) => Promise<T>;

/** Results that are read or written at once. */
export const RESULTS_AT_ONCE = 16;
const DAMAGED = 'damaged-result';
const RUN_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;

/** @throws Refusal for what cannot be the name of a run */
export function checkedRun(name: string): string {
  if (RUN_NAME.test(name) && NAME.test(name)) return name;
  return refuse('usage', `--run ${JSON.stringify(name.slice(0, 80))} is not a valid run name.`, {
    detail: 'A name begins with a letter; then come letters, digits, - and _.',
  });
}

/** Named texts that are written once. */
export interface ResultPlace {
  /** For people. */
  readonly location: string;
  read(key: string): Promise<string | undefined>;
  /** False where the key is there already. */
  create(key: string, text: string): Promise<boolean>;
  /** The keys below a folder, which ends in `/`. @param begin of their names */
  list(folder: string, begin?: string): Promise<readonly string[]>;
  /** Present where a write can be repeated on the way. */
  readonly nonce?: () => string;
  /** Present where other machines may work on the same tenants. */
  readonly underClaim?: <T>(
    claim: { readonly key: string; readonly operation: string } & Wait,
    work: Audit<T>,
  ) => Promise<T>;
}

/** A record that is unlike any other, so that `create` knows its own text where a write was repeated. */
export const recordText = ({ nonce }: Pick<ResultPlace, 'nonce'>, record: object): string =>
  jsonText({ ...record, ...defined({ nonce: nonce?.() }) });

/** Files below `.trueup`. */
export function resultFolder({ files, cwd }: Pick<Context, 'files' | 'cwd'>): ResultPlace {
  const location = join(cwd, '.trueup');
  const pathOf = (key: string): string => join(location, `${key}.json`);
  return {
    location,
    read: (key) => withDisk(pathOf(key), () => ifThere(files.read(pathOf(key)))),
    async create(key, text) {
      const path = pathOf(key);
      const create = () => files.create(path, text, 0o600).then(() => true);
      return withDisk(path, async () => {
        try {
          const made = await ifThere(create());
          if (made !== undefined) return made;
          await files.makeFolder(dirname(path));
          return await create();
        } catch (error) {
          if (isDiskError(error, 'EEXIST')) return false;
          throw error;
        }
      });
    },
    async list(folder, begin = '') {
      const path = join(location, folder);
      const names = (await withDisk(path, () => ifThere(files.list(path)))) ?? [];
      return names.flatMap((name) =>
        name.startsWith(begin) && name.endsWith('.json') ? [folder + name.slice(0, -5)] : [],
      );
    },
  };
}

/** Asked once; after a failure, again. */
function askedOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () =>
    (asked ??= ask().catch((error: unknown) => {
      asked = undefined;
      throw error;
    }));
}

interface ResultTools extends Pick<ClaimTools, 'lock'>, Pauses {
  readonly locking: { readonly lease: number };
  /** Of the process. */
  readonly signal?: AbortSignal;
}

/** Registers beside the states. */
export function resultRegisters(
  place: Registers,
  { lock, locking: { lease }, clock, random, signal: ended }: ResultTools,
): ResultPlace {
  const registers = endingSoon(place, { clock, ...defined({ signal: ended }) });
  // Nothing else of a context: its signal is not that of an audit.
  const pauses: Pauses = { clock, random };
  const prepared = askedOnce(async () => registers.prepare?.());
  return {
    location: registers.location,
    nonce: () => random.uuid(),
    underClaim: ({ signal, wait, notify, ...claim }, work) =>
      underClaim(
        { registers, lock, locking: { lease, wait }, signal, notify, ...pauses },
        claim,
        work,
      ),
    async read(key) {
      const found = await registers.get(key);
      return found && Buffer.from(found.body).toString('utf8');
    },
    async create(key, text) {
      await prepared();
      const tools = { registers, ...pauses };
      const lost = lostPuts(tools);
      for (;;) {
        const put = await settledPut(tools, key, Buffer.from(text), null);
        if (put !== 'conflict') return true;
        if (await registers.get(key)) return false;
        await lost(undefined);
      }
    },
    list: (folder, begin = '') => keysBelow(registers, `${folder}${begin}`),
  };
}

/** Beside the states of the fleet, where they have a remote place in common; and, in any case, a folder. */
export async function resultPlaces(
  context: Context,
  results: string | undefined,
): Promise<readonly ResultPlace[]> {
  const found = results === undefined ? undefined : await registersAt(context, results);
  const folder = resultFolder(context);
  return found ? [resultRegisters(found.registers, { ...context, ...found }), folder] : [folder];
}

/** What follows the folder of a run: the tenant, and its attempt from the second one on. */
const RESULT = /^([^@/]+)(?:@([1-9]\d{0,8}))?$/;

/** By tenant. Files that no run has written are passed over. */
async function lastAttempts(
  place: ResultPlace,
  folder: string,
  only: string,
): Promise<ReadonlyMap<string, number>> {
  const last = new Map<string, number>();
  for (const key of await place.list(folder, only)) {
    const [, tenant, attempt = '1'] = RESULT.exec(key.slice(folder.length)) ?? [];
    if (tenant !== undefined) last.set(tenant, Math.max(last.get(tenant) ?? 0, Number(attempt)));
  }
  return last;
}

const count = isWhole(0);
const isSome = rule(isObject, 'must be an object');

const runShape = (run: string): ShapeCheck =>
  openMembers<Omit<FleetRun, 'started_at'>>({
    format_version: oneOf('1.0'),
    run: oneOf(run),
    command: oneOf('plan', 'drift', 'apply'),
    tenants: listOf(isText),
    bundle: orNull(isText),
    'states?': isText,
    'queued?': rule(areQueuedJobs, 'must be what the jobs of a queue hold'),
  });

const diagnostics = listOf(
  openMembers<Pick<Diagnostic, 'severity' | 'code' | 'summary' | 'detail' | 'origin'>>({
    severity: oneOf('error', 'warning', 'info'),
    code: isText,
    summary: isText,
    'detail?': isText,
    'origin?': isSome,
  }),
);

const endShape = (run: string): ShapeCheck =>
  openMembers<EndedProcess & Pick<FleetRun, 'format_version' | 'run'>>({
    format_version: oneOf('1.0'),
    run: oneOf(run),
    tenants: listOf(isText),
    stops: listOf(openMembers<RunStop>({ exit: oneOf(...Object.values(exits)), diagnostics })),
  });

type ReadAgain = Omit<
  TenantResult,
  | 'trueup_version'
  | 'attempt'
  | 'started_at'
  | 'ended_at'
  | 'elapsed_seconds'
  | 'document'
  | 'outcomes'
>;
type Figures = TenantResult['kinds'][string];

/** The members that are read again: of a report, and of a run that is resumed. */
const resultShape = (
  tenant: string,
  { run, command }: Pick<FleetRun, 'run' | 'command'>,
): ShapeCheck =>
  openMembers<ReadAgain>({
    format_version: oneOf('1.0'),
    run: oneOf(run),
    command: oneOf(command),
    tenant: oneOf(tenant),
    labels: mappingOf(isText, isText),
    exit: oneOf(null, ...Object.values(exits)),
    status: oneOf(...tenantStatuses),
    summary: isText,
    kinds: mappingOf(
      isText,
      openMembers<Figures>({
        changed: count,
        objects: count,
        'writes?': openMembers<WriteCounts>({ create: count, update: count, delete: count }),
      }),
    ),
    changes: listOf(
      openMembers<TenantResult['changes'][number]>({
        address: isText,
        kind: isText,
        action: isText,
        'origin?': isSome,
      }),
    ),
    requests: count,
    diagnostics,
    digest: isText,
    'typed_with?': openMembers<TypedWith>({ state: isText, variables: listOf(isText) }),
  });

/** What decides about the results of a queued run, beside its declarations. */
const asked = ({ env, flags }: QueuedJobs): Json => [env, flags.var ?? [], flags.unmanaged ?? null];

/** How to resume a run that is in no queue: its record has neither its bundle nor its --select. */
export const toResume = (run: string): string =>
  `To resume the run, type the command that began it again, with --run ${run}.`;

/** Fleets can keep their results at one place. @throws Refusal where the run is of another one than the fleet with these states */
export function refuseOtherFleet(
  { run, states: before }: Pick<FleetRun, 'run' | 'states'>,
  states: string | undefined,
): void {
  if (before === undefined || states === undefined) return;
  if (addressPlace(before) !== addressPlace(states))
    refuse('other-run', `the run ${run} is of another fleet, with its states at ${before}`, {
      detail: 'Resume it in the folder of that fleet. For a new run, leave out --run.',
    });
}

/** @throws Refusal where the run of this name is another one */
function refuseOtherRun(
  { run, ...record }: FleetRun,
  before: FleetRun | undefined,
  queue: string,
): void {
  const same =
    before?.command === record.command &&
    before.bundle === record.bundle &&
    equal(before.tenants, record.tenants);
  if (!same)
    refuse(
      'other-run',
      `the run ${run} is about other tenants, another command or another bundle`,
      {
        detail:
          'To resume it, type the same command with the same --select. For a new run, leave out --run.',
      },
    );
  refuseOtherFleet(before, record.states);
  if (record.queued && before.queued && !equal(asked(record.queued), asked(before.queued)))
    refuse('other-run', `the run ${run} was queued with another --env, --var or --unmanaged`, {
      detail: `To go on with it as it was queued: trueup fleet resume ${run}${queue}\nFor a new run, leave out --run.`,
    });
  if (record.queued && !before?.queued)
    refuse('other-run', `the run ${run} was started without a queue`, {
      detail:
        'To resume it, leave out --engine, --queue and --job-expiry. For a new run, leave out --run.',
    });
}

interface Expected {
  readonly shape: ShapeCheck;
  /** For messages. */
  readonly what: string;
  readonly detail: string;
}

/** @throws Refusal where it is damaged */
async function recordAt<T>(
  place: ResultPlace,
  key: string,
  { shape, what, detail }: Expected,
): Promise<T | undefined> {
  const text = await place.read(key);
  if (text === undefined) return undefined;
  const value = tryJson(text);
  const flaw = shape(value);
  if (flaw) {
    const why = isObject(value)
      ? `\`${formatPath(flaw.path)}\` ${flaw.problem}`
      : 'it holds no whole JSON object';
    refuse(DAMAGED, `${key} in ${place.location} is not ${what}: ${why}.`, { detail });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its members were checked
  return value as T;
}

/** Results of one tenant, or processes that ended, in one run. */
const MOST = 10_000;

/** Not ended by a signal: what was interrupted is written, too. @returns the first number that was free @throws Refusal */
async function firstFree(
  { location }: ResultPlace,
  begin: number,
  create: (number: number) => Promise<boolean>,
): Promise<number> {
  for (let number = begin; number < begin + MOST; number += 1)
    if (await create(number)) return number;
  return refuse(
    'run-full',
    `${location} holds ${MOST} results of one tenant, or of processes, in this run.`,
    { detail: 'Begin another run with another --run.' },
  );
}

/** Each process of a run that ends adds a record, under the next free number. */
function processEnds(place: ResultPlace, run: string): Pick<RunRecords, 'end' | 'stops'> {
  const keyOf = (number: number): string => `fleet/${run}@ended-${number}`;
  return {
    async end(ended) {
      if (ended.stops.length === 0 && (await place.read(keyOf(1))) === undefined) return;
      const text = recordText(place, { format_version: '1.0', run, ...ended });
      await firstFree(place, 1, (number) => place.create(keyOf(number), text));
    },
    async stops() {
      const last = new Map<string, EndedProcess>();
      for (let number = 1; ; number += 1) {
        const ended = await recordAt<EndedProcess>(place, keyOf(number), {
          shape: endShape(run),
          what: `the end of a process of the run ${run}`,
          detail: 'It was edited, or cut off. Remove it, and those with a higher number.',
        });
        if (!ended) break;
        for (const tenant of ended.tenants) last.set(tenant, ended);
      }
      const all = [...new Set(last.values())].flatMap(({ stops }) => stops);
      return [...new Map(all.map((stop) => [JSON.stringify(stop), stop])).values()];
    },
  };
}

/** @param only the one tenant that is asked about: then the results of others are not listed */
export function runRecords(place: ResultPlace, name: string, only = ''): RunRecords {
  const runKey = `fleet/${name}`;
  const keyOf = (tenant: string, attempt: number): string =>
    `${runKey}/${tenant}${attempt === 1 ? '' : `@${attempt}`}`;
  const run = (): Promise<FleetRun | undefined> =>
    recordAt<FleetRun>(place, runKey, {
      shape: runShape(name),
      what: `the record of the run ${name}`,
      detail:
        'It was edited, cut off, or written by another version of trueup. Restore it, or begin another run with another --run.',
    });
  const begun = askedOnce(run);
  const attempts = askedOnce(() => lastAttempts(place, `${runKey}/`, only));
  const read = async (tenant: string, attempt = 0): Promise<TenantResult | undefined> => {
    const of = attempt > 0 ? await begun() : undefined;
    if (!of) return undefined;
    return recordAt<TenantResult>(place, keyOf(tenant, attempt), {
      shape: resultShape(tenant, of),
      what: `a result of ${tenant} in the run ${name}`,
      detail: `It was edited, cut off, or put there by mistake. Remove it. ${of.queued ? `Then, with --queue or TRUEUP_QUEUE as before: trueup fleet resume ${name}` : toResume(name)}`,
    });
  };
  return {
    run,
    last: async (tenant) => read(tenant, (await attempts()).get(tenant)),
    async begin(record, queue = '') {
      if (await place.create(runKey, recordText(place, record))) return false;
      refuseOtherRun(record, await run(), queue);
      return true;
    },
    ...processEnds(place, name),
    // No run has such a name.
    alone: (tenant, states = '', wait, work) =>
      place.underClaim?.(
        {
          key: `fleet/@claims/${fleetDigest(states)}/${tenant}`,
          operation: `fleet drift, run ${name}`,
          ...wait,
        },
        work,
      ) ?? work(wait.signal),
    async write(result) {
      let written = result;
      await firstFree(place, result.attempt, async (attempt) => {
        const before = { last: (tenant: string) => read(tenant, attempt - 1) };
        // It has the writes of earlier ones. A damaged attempt has none that can be read.
        const earlier = result.command === 'apply' && (await lastOrDamaged(before, result.tenant));
        const isRead = typeof earlier === 'object';
        const kinds = isRead ? plusWrites(result.kinds, earlier.kinds) : result.kinds;
        written = { ...result, kinds, attempt };
        return place.create(keyOf(result.tenant, attempt), recordText(place, written));
      });
      return written;
    },
  };
}

/** The last result of a tenant, or that it cannot be read. */
export const lastOrDamaged = (
  records: Pick<RunRecords, 'last'>,
  tenant: string,
): Promise<TenantResult | 'damaged' | undefined> =>
  records.last(tenant).catch((error: unknown) => {
    if (error instanceof Refusal && error.diagnostics.some(({ code }) => code === DAMAGED))
      return 'damaged' as const;
    throw error;
  });
