// Registers as rows of one table in PostgreSQL. Each operation is one statement, so it works through a pooler that
// gives every statement another connection; a write that is confirmed is on the disk of the server.
import { Buffer } from 'node:buffer';
import { DatabaseError, escapeIdentifier, Pool, type QueryResult } from 'pg';
import { cached, errorCode, refuse } from '../../../model/index.js';
import { refuseDenied, refuseUnreachable } from '../backend-errors.js';
import type { Registers } from './port.js';
import { noResponse, retried, type Pauses } from '../retried.js';

/** Milliseconds for a connection, and for one statement. */
const TIMEOUT = 15_000;
/** Of a process, to one database. */
const MOST_CONNECTIONS = 10;
/** The SQLSTATE of a server, a database or a user that has as many connections as it may. */
const TOO_MANY = '53300';
/** Above every other character: the end of all keys with a prefix. */
const LAST = '\u{10FFFF}';

interface Row {
  readonly body: Buffer;
  readonly version: string;
  readonly replica: boolean;
}

/** Open connections by address and credentials: states of one database share them. */
export type PostgresPools = Map<string, Pool>;

export interface PostgresOptions extends Pauses {
  /** Without a password. */
  readonly url: URL;
  readonly password: string | undefined;
  readonly pools: PostgresPools;
}

/** `on` for this statement alone: a server or role that confirms writes before they are on the disk would forget locks. */
const DURABLE = `(select set_config('synchronous_commit', 'on', true)) as durable`;

/** A version is the number of the transaction that wrote it: none comes back, also where a key was removed and made anew. */
export function postgresRegisters(options: PostgresOptions): Registers {
  const client = postgresClient(options);
  const { location, table, ask, read, explain } = client;
  return {
    location,
    async get(key) {
      const [row] = await read(
        `select body, version, pg_is_in_recovery() as replica from ${table} where key = $1`,
        [key],
      );
      if (row?.replica)
        refuse('backend-replica', `${location} is a replica, which may be behind`, {
          detail: 'Name the primary server.',
        });
      return row && { body: row.body, version: row.version };
    },

    async put(key, body, expect) {
      const bytes = Buffer.from(body);
      try {
        const { rows } =
          expect === null
            ? await ask(
                `insert into ${table} (key, version, body) select $1, txid_current(), $2 from ${DURABLE} on conflict do nothing returning version`,
                [key, bytes],
              )
            : await ask(
                `update ${table} set body = $2, version = txid_current(), at = now() from ${DURABLE} where key = $1 and version = $3 returning version`,
                [key, bytes, expect],
              );
        return rows[0] ? { version: rows[0].version } : 'conflict';
      } catch (error) {
        return isPostgresOutage(error) ? 'unknown' : explain(error, 'write');
      }
    },

    async *list(prefix) {
      const rows = await read(
        `select key as version from ${table} where key >= $1 and key < $2 order by key`,
        [prefix, `${prefix}${LAST}`],
      );
      for (const { version: key } of rows) yield key;
    },

    async remove(keys) {
      await ask(`delete from ${table} where key = any($1::text[])`, [keys]).catch(
        (error: unknown) => explain(error, 'write'),
      );
    },

    prepare: () => makeTable(client),
  };
}

/** Statements on one table, and the meaning of their errors. */
function postgresClient({ url, password, pools, ...pauses }: PostgresOptions) {
  const schema = escapeIdentifier(url.searchParams.get('schema') ?? 'trueup');
  const table = `${schema}.registers`;
  const location = postgresLocation(url);
  const ask = sharedConnections({ pools, url, password });

  const explain = (error: unknown, what: string): never => {
    if (lacksPassword(error))
      return refuseDenied(location, what, 'it asks for a password, and PGPASSWORD is not set');
    if (isPostgresOutage(error)) return refuseUnreachable(location, postgresReason(error));
    if (/^(?:28|42501|25006)/.test(sqlState(error)!))
      return refuseDenied(location, what, postgresReason(error));
    return refuse(
      'backend-error',
      `the state at ${location} cannot be used: ${postgresReason(error)}`,
      {
        detail: 'Check the address of the state: settings.state, TRUEUP_STATE',
      },
    );
  };

  /** A statement that changes nothing. */
  const read = (text: string, values: readonly unknown[]): Promise<readonly Row[]> =>
    retried(pauses, location, async () => {
      try {
        return { found: (await ask(text, values)).rows };
      } catch (error) {
        if (isAbsent(error)) return { found: [] };
        return isPostgresOutage(error)
          ? { failure: postgresReason(error) }
          : explain(error, 'read');
      }
    });
  return { location, schema, table, ask, read, explain };
}

/** Two first runs may do so at once: what the other one made is good. */
async function makeTable({
  location,
  schema,
  table,
  ask,
  explain,
}: ReturnType<typeof postgresClient>): Promise<void> {
  const statements = [
    `create schema if not exists ${schema}`,
    `create table if not exists ${table} (key text collate "C" primary key, version bigint not null, body bytea not null, at timestamptz not null default now())`,
  ];
  const fail = (error: unknown): void => {
    if (['23505', '42P06', '42P07'].includes(sqlState(error) ?? '')) return;
    if (sqlState(error) !== '42501') explain(error, 'write');
    refuse('backend-denied', `this user may not create the table of the state at ${location}`, {
      detail: `Let somebody with the right to do so run:\n${statements.join(';\n')};\ngrant usage on schema ${schema} to <role>;\ngrant select, insert, update, delete on ${table} to <role>;`,
    });
  };
  const { rows } = await ask('select to_regclass($1) is not null as replica', [table]).catch(
    (error: unknown) => explain(error, 'read'),
  );
  if (rows[0]?.replica) return;
  for (const statement of statements) await ask(statement).catch(fail);
}

/** Statements over connections that others use, too. Their credentials are kept while a connection is open. */
function sharedConnections({ pools, url, password }: Omit<PostgresOptions, keyof Pauses>) {
  const key = connectionString(url, password);
  const forget = (pool: Pool): void => {
    if (pool.totalCount === 0 && pools.get(key) === pool) pools.delete(key);
  };
  const opened = (): Pool => {
    const pool = postgresPool(url, password, MOST_CONNECTIONS);
    pool.on('remove', () => forget(pool));
    return pool;
  };
  const ask = async (
    text: string,
    values: readonly unknown[] = [],
    attempt = 1,
  ): Promise<QueryResult<Row>> => {
    const pool = cached(pools, key, opened);
    try {
      return await queried(pool, text, values);
    } catch (error) {
      // The server opens no further connection, and has seen nothing of the statement: one that is open will do.
      const isOpen = sqlState(error) === TOO_MANY && pool.totalCount > 0;
      if (!isOpen || attempt === MOST_CONNECTIONS) throw error;
      pool.options.max = pool.totalCount;
    } finally {
      forget(pool);
    }
    return ask(text, values, attempt + 1);
  };
  return (text: string, values?: readonly unknown[]) => ask(text, values);
}

/** A pool's own `query` closes the connection after each error. A missing table is an empty state: the connection is kept. */
async function queried(
  pool: Pool,
  text: string,
  values: readonly unknown[],
): Promise<QueryResult<Row>> {
  const client = await pool.connect();
  let isKept = false;
  try {
    const result = await client.query<Row>(text, [...values]);
    isKept = true;
    return result;
  } catch (error) {
    isKept = isAbsent(error);
    throw error;
  } finally {
    client.release(!isKept);
  }
}

const ignore = (): void => undefined;

function connectionString(url: URL, password: string | undefined): string {
  const plain = new URL(url);
  plain.searchParams.delete('schema');
  // The setter leaves `%` as it is, and the reader decodes it.
  if (password !== undefined) plain.password = encodeURIComponent(password);
  return plain.href;
}

/** Connections that are opened when they are needed. @param password if the address holds none @param max how many */
export function postgresPool(url: URL, password: string | undefined, max: number): Pool {
  const pool = new Pool({
    connectionString: connectionString(url, password),
    application_name: 'trueup',
    max,
    idleTimeoutMillis: 5_000,
    connectionTimeoutMillis: TIMEOUT,
    query_timeout: TIMEOUT,
    allowExitOnIdle: true,
  });
  // A connection that breaks. Unused: the next statement takes another one. Used: the statement fails, too. After the end
  // of the pool, pg removes its own listener before the connection is closed.
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
  return pool;
}

/** An address for people: without user and password. */
export const postgresLocation = ({ protocol, host, pathname, searchParams }: URL): string => {
  const schema = searchParams.get('schema');
  return `${protocol}//${host}${pathname}${schema === null ? '' : `?schema=${schema}`}`;
};

export const sqlState = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.code : undefined;

/** Without a response, or with one that another attempt may change: too many connections, a server that starts or ends. */
export const isPostgresOutage = (error: unknown): boolean =>
  !lacksPassword(error) && /^(?:08|40|53|55|57|58|XX|$)/.test(sqlState(error) ?? '');

/** The client found no password to respond with. */
export const lacksPassword = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('SASL');

/** The schema or the table does not exist yet. */
const isAbsent = (error: unknown): boolean => ['42P01', '3F000'].includes(sqlState(error) ?? '');

export const postgresReason = (error: unknown): string => {
  if (error instanceof DatabaseError) return `${error.message} (${error.code})`;
  const why =
    errorCode(error) ?? (error instanceof Error ? error.message : 'the connection failed');
  return /\btimeout\b/.test(why) ? noResponse(TIMEOUT) : why;
};
