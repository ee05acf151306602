// Queues of jobs in PostgreSQL, by pg-boss, which the user installs. The one place that knows how its version 10, the
// last for Node.js 20, differs from version 12. A job can be given out more than once: a queue never proves that nobody
// else does its work.
import { errorCode, isObject, refuse, Refusal, type JsonObject } from '../model/index.js';
import {
  isPostgresOutage,
  lacksPassword,
  postgresLocation,
  postgresPool,
  postgresReason,
  sqlState,
} from './backends/registers/postgres.js';
import { ATTEMPTS, pauseAfter, type Pauses } from './backends/retried.js';

export interface NewJob {
  readonly data: JsonObject;
  readonly priority: number;
  /** Seconds after which a job that is being done is given to another process. */
  readonly expiry: number;
  /** Milliseconds since 1970; absent: at once. */
  readonly startAt?: number;
}

export interface FetchedJob {
  readonly id: string;
  readonly data: unknown;
  /** How often it was given out before. */
  readonly retryCount: number;
  readonly createdOn: Date;
  readonly startedOn: Date;
}

/** `retry`: it waits again, because the process that did it is gone. */
const unfinishedStates = ['created', 'retry', 'active'] as const;
export type JobState = (typeof unfinishedStates)[number];

export interface UnfinishedJob extends Pick<FetchedJob, 'id' | 'data'> {
  readonly state: JobState;
  readonly startedOn: Date | null;
}

export type JobQueue = ReturnType<typeof queueNamed>;

export interface Schedule {
  /** Of the queue that gets a job. */
  readonly name: string;
  readonly cron: string;
  readonly data: unknown;
}

export type JobQueues = Awaited<ReturnType<typeof jobQueues>>;

export interface JobQueueOptions extends Pauses {
  /** May hold a password. */
  readonly url: URL;
  readonly password: string | undefined;
  /** Whether this process does jobs: then it also takes back those of processes that are gone, and turns schedules into jobs. */
  readonly works: boolean;
}

/** Code of the refusal where the server does not respond: asking again may help. */
export const QUEUE_UNREACHABLE = 'queue-unreachable';

const SCHEMA = 'trueup_queue';
/** How often a job is given out again after the process that did it is gone. */
const RETRIES = 5;
/** Seconds without a sign of life, from version 12 on. */
const HEARTBEAT = 60;
/** Seconds between two looks for jobs whose process is gone. */
const WATCH = 15;
const MOST_QUEUE_CONNECTIONS = 4;

/** SQLSTATE of a statement that cannot be read. */
const SYNTAX = '42601';

type Rows = { readonly rows: readonly Readonly<Record<string, unknown>>[] };
interface Database {
  executeSql(text: string, values?: readonly unknown[]): Promise<Rows>;
}

/** What both versions have, and what one of them has. */
interface Boss {
  on(event: string, listener: (value: unknown) => void): unknown;
  start(): Promise<unknown>;
  stop(options: JsonObject): Promise<unknown>;
  createQueue(name: string, options: JsonObject): Promise<unknown>;
  fetch(name: string, options: object): Promise<readonly FetchedJob[]>;
  complete(name: string, id: string): Promise<unknown>;
  cancel(name: string, ids: readonly string[]): Promise<unknown>;
  /** `insert(jobs)` in version 10, whose jobs name their queue; `insert(name, jobs)` in version 12. */
  insert(...words: readonly unknown[]): Promise<unknown>;
  schedule(name: string, cron: string, data: JsonObject): Promise<unknown>;
  unschedule(name: string): Promise<unknown>;
  getSchedules(): Promise<readonly Schedule[]>;
  /** Since version 12. */
  touch?(name: string, ids: readonly string[]): Promise<unknown>;
}

type MakeBoss = new (options: object) => Boss;

async function loadedBoss(): Promise<MakeBoss> {
  const loaded: unknown = await import('pg-boss').catch((error: unknown) =>
    errorCode(error)?.endsWith('MODULE_NOT_FOUND') ? refuseWithout() : Promise.reject(error),
  );
  const members: Readonly<Record<string, unknown>> = isObject(loaded) ? loaded : {};
  const made = members['PgBoss'] ?? members['default'];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the class of either version
  return typeof made === 'function' ? (made as MakeBoss) : refuseWithout();
}

const refuseWithout = (): never =>
  refuse('no-pg-boss', 'the queue needs the package pg-boss, which is not installed', {
    detail:
      'Install it beside trueup, the same version on all machines:\nnpm install pg-boss@10.4.2\nor, with Node.js 22.12 or newer:\nnpm install pg-boss@12.18.3',
  });

/** @throws Refusal where it cannot be used */
export async function jobQueues(options: JobQueueOptions) {
  const { url, works, random } = options;
  const MakeBoss = await loadedBoss();
  const location = postgresLocation(url);
  const schema = url.searchParams.get('schema') ?? SCHEMA;
  if (!/^[a-z_][a-z0-9_]{0,49}$/.test(schema))
    refuse('usage', 'The schema of the queue may contain only lower-case letters, digits and _.');
  const { database, end } = databaseOf(options, { location, schema });
  const boss = new MakeBoss({
    schema,
    db: database,
    supervise: works,
    schedule: works,
    maintenanceIntervalSeconds: WATCH,
    superviseIntervalSeconds: WATCH,
    monitorIntervalSeconds: WATCH,
  });
  // What it does by itself it does again; what it is asked for rejects.
  boss.on('error', () => undefined);
  const isNew = typeof boss.touch === 'function';
  const close = async (): Promise<void> => {
    await boss.stop({ graceful: false, close: false }).catch(() => undefined);
    await end();
  };
  try {
    await boss.start();
    // Version 10 does not notice by itself that its tables are those of version 12.
    if (!isNew) await database.executeSql(`select expire_in from ${schema}.job limit 0`);
  } catch (error) {
    await close();
    // pg-boss writes its name as it is.
    if (sqlState(error) === SYNTAX)
      refuse('usage', `The schema of the queue may not be ${schema}, which is a word of SQL.`);
    throw error;
  }
  const from = `${schema}.job`;
  return {
    /** For people; never with a password. */
    location,
    close,
    /** The queue of this name, which is made where it is missing. */
    async queue(name: string): Promise<JobQueue> {
      const heartbeat = isNew ? { heartbeatSeconds: HEARTBEAT } : {};
      await boss.createQueue(name, { name, retryLimit: RETRIES, ...heartbeat });
      return queueNamed(name, { boss, database, from, uuid: () => random.uuid() });
    },
    schedules: () => boss.getSchedules(),
    async schedule({ name, cron, data }: Schedule & { readonly data: JsonObject }): Promise<void> {
      await boss.createQueue(name, { name });
      await boss.schedule(name, cron, data).catch((error: unknown) => {
        if (error instanceof Refusal || sqlState(error) !== undefined) throw error;
        refuse('usage', `--cron ${JSON.stringify(cron)} is not a cron expression.`, {
          detail: 'Type minute, hour, day, month and day of the week, as in: --cron "0 3 * * *"',
        });
      });
    },
    unschedule: async (name: string): Promise<void> => void (await boss.unschedule(name)),
  };
}

interface QueueTools {
  readonly boss: Boss;
  readonly database: Database;
  /** The table of jobs. */
  readonly from: string;
  readonly uuid: () => string;
}

function queueNamed(name: string, { boss, database, from, uuid }: QueueTools) {
  const ask = async (text: string, ...values: readonly unknown[]): Promise<Rows['rows']> =>
    (await database.executeSql(text, values)).rows;
  return {
    /** Adds all, or none. */
    async add(jobs: readonly NewJob[]): Promise<void> {
      if (jobs.length === 0) return;
      // Named here, so that a statement which is sent twice adds them once.
      const made = jobs.map(({ data, priority, expiry, startAt }) => ({
        id: uuid(),
        name,
        data,
        priority,
        expireInSeconds: expiry,
        ...(startAt !== undefined && { startAfter: new Date(startAt).toISOString() }),
      }));
      await (boss.touch ? boss.insert(name, made) : boss.insert(made));
    },
    async fetch(most: number): Promise<readonly FetchedJob[]> {
      let asked: Promise<Rows> | undefined;
      // Either version takes an error for an empty queue.
      const db: Database = {
        executeSql: (text, values) => (asked = database.executeSql(text, values)),
      };
      const jobs = await boss.fetch(name, { batchSize: most, includeMetadata: true, db });
      await asked;
      return jobs;
    },
    complete: async (id: string): Promise<void> => void (await boss.complete(name, id)),
    async cancel(ids: readonly string[]): Promise<void> {
      if (ids.length > 0) await boss.cancel(name, ids);
    },
    /** Says that these are still being done; before version 12 only their expiry counts. */
    async beat(ids: readonly string[]): Promise<void> {
      if (ids.length > 0) await boss.touch?.(name, ids);
    },
    /** Whether the job is still given to the one that fetched it. */
    async isHeld({ id, retryCount }: FetchedJob): Promise<boolean> {
      const rows = await ask(
        `select 1 from ${from} where name = $1 and id = $2 and state = 'active' and retry_count = $3`,
        name,
        id,
        retryCount,
      );
      return rows.length > 0;
    },
    /** Those whose data hold these members. */
    async unfinished(members: JsonObject): Promise<readonly UnfinishedJob[]> {
      const rows = await ask(
        `select id, data, state, started_on as "startedOn" from ${from} where name = $1 and state < 'completed' and data @> $2::jsonb`,
        name,
        JSON.stringify(members),
      );
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the statement names them
      return rows as unknown as readonly UnfinishedJob[];
    },
    /** How many were given up, because each process that did them was gone. */
    async givenUp(members: JsonObject): Promise<number> {
      const [row] = await ask(
        `select count(*)::int as count from ${from} where name = $1 and state = 'failed' and data @> $2::jsonb`,
        name,
        JSON.stringify(members),
      );
      return Number(row?.['count'] ?? 0);
    },
  };
}

/** The connections of a queue. A statement without a response is sent again: each has the effect of one. */
function databaseOf(
  { url, password, ...pauses }: JobQueueOptions,
  { location, schema }: { readonly location: string; readonly schema: string },
) {
  const pool = postgresPool(url, password, MOST_QUEUE_CONNECTIONS);
  const explain = (error: unknown): unknown => {
    if (isPostgresOutage(error))
      return refuse(
        QUEUE_UNREACHABLE,
        `the queue at ${location} cannot be reached: ${postgresReason(error)}`,
        { detail: 'Check the address (--queue, TRUEUP_QUEUE) and the network.' },
      );
    // A column, a table, a schema or a function that is not there, or a second primary key: no version knows all older tables.
    if (/^(?:42(?:703|P01|P16|883)|3F000)$/.test(sqlState(error) ?? ''))
      return refuse(
        'queue-version',
        `the tables of the queue at ${location} are of another version of pg-boss, or gone`,
        {
          detail: `Install the same version on all machines, such as: npm install pg-boss@12.18.3\nOr begin a new queue, once all workers have ended: ${schema === SCHEMA ? `drop schema ${schema} cascade` : 'name another schema in the address'}\nThen resume the runs, whose results stay, and schedule the audits again: trueup fleet resume RUN`,
        },
      );
    if (!lacksPassword(error) && !/^(?:28|42501|25006|3D000)/.test(sqlState(error) ?? ''))
      return error;
    const why = lacksPassword(error)
      ? 'it asks for a password, and neither TRUEUP_QUEUE nor PGPASSWORD holds one'
      : postgresReason(error);
    return refuse('queue-denied', `the queue at ${location} refuses this user: ${why}`, {
      detail:
        'Check the credentials. The first command that uses the queue makes its schema, and needs the right to do so.',
    });
  };
  const database: Database = {
    async executeSql(text, values) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await pool.query(text, values && [...values]);
        } catch (error) {
          if (!isPostgresOutage(error) || attempt === ATTEMPTS) throw explain(error);
        }
        await pauseAfter(pauses, attempt);
      }
    },
  };
  return { database, end: () => pool.end() };
}
