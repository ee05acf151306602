// The store on a real PostgreSQL server.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Pool } from 'pg';
import type { Command } from '../../src/cli/context.js';
import { registersAt } from '../../src/cli/state-location.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import type { Registers } from '../../src/state/backends/registers/port.js';
import {
  postgresPool,
  postgresRegisters,
  type PostgresPools,
} from '../../src/state/backends/registers/postgres.js';
import { startPostgres, type Server } from '../../scripts/servers.js';
import { writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settledPut } from '../../src/state/backends/registers/settled-put.js';
import { folder } from '../support/cli.js';
import { inProcess } from '../support/in-process.js';
import { tcpProxy } from '../support/tcp-proxy.js';
import { backendSuite } from './backend-suite.js';
import { faultSuite } from './fault-suite.js';
import { teamSuite } from './team-suite.js';

let server: Server;
let admin: Pool;
let schemas = 0;

beforeAll(async () => {
  server = await startPostgres();
  const url = new URL(server.url);
  // Tests count the connections that are called trueup.
  url.searchParams.set('application_name', 'tests');
  admin = postgresPool(url, server.environment['PGPASSWORD'], 1);
});
afterAll(async () => {
  await admin.end();
  await server.stop();
});

interface Place {
  readonly port?: number | undefined;
  readonly pools?: PostgresPools;
  readonly user?: string;
  readonly password?: string | undefined;
}

function connect(
  schema: string,
  { port, pools = new Map(), user, password }: Place = {},
): Registers {
  const url = new URL(`${server.url}?schema=${schema}`);
  if (port !== undefined) url.port = String(port);
  if (user !== undefined) url.username = user;
  return postgresRegisters({
    url,
    password: password ?? server.environment['PGPASSWORD'],
    pools,
    clock: systemClock(),
    random: systemRandom(),
  });
}

backendSuite('PostgreSQL', () => {
  const schema = `s${(schemas += 1)}`;
  return {
    connect: () => connect(schema),
    values: async () => {
      const { rows } = await admin
        .query<{ key: string; body: Buffer }>(`select key, body from ${schema}.registers`)
        .catch(() => ({ rows: [] }));
      return new Map(rows.map(({ key, body }) => [key, { body }]));
    },
  };
});

teamSuite('PostgreSQL', () => ({
  url: `${server.url}?schema=s${(schemas += 1)}`,
  environment: server.environment,
}));

describe('a table in PostgreSQL', () => {
  it('is opened with the user and the password that the environment of the command names', async () => {
    const url = new URL(server.url);
    url.username = '';
    const places = ['100%41 sure', 'half%', 'a b@c/d:e?f#g'].map((password) => {
      const schema = `s${(schemas += 1)}`;
      return { schema, password, role: `own_${schema}` };
    });
    for (const { password, role } of places) {
      await admin.query(`create role ${role} login password '${password}'`);
      await admin.query(`grant create on database postgres to ${role}`);
    }
    for (const { schema, password, role } of places) {
      const command: Command = async (context) => {
        const found = await registersAt(context, `${url.href}?schema=${schema}`);
        await found!.registers.prepare!();
        return 0;
      };
      const env = { PGUSER: role, PGPASSWORD: password };
      const { code, stderr } = await inProcess(command, ['plan'], { cwd: '/', env });
      expect([code, stderr]).toEqual([0, '']);
      const owner = `select tableowner from pg_tables where schemaname = '${schema}'`;
      expect((await admin.query(owner)).rows).toEqual([{ tableowner: role }]);
    }
  });

  it('uses the connections that it has where the server opens no more', async () => {
    const schema = `s${(schemas += 1)}`;
    const role = `few_${schema}`;
    const password = server.environment['PGPASSWORD']!;
    await admin.query(`create role ${role} login password '${password}' connection limit 2`);
    await admin.query(`grant create on database postgres to ${role}`);
    const pools: PostgresPools = new Map();
    const registers = Array.from({ length: 20 }, () => connect(schema, { pools, user: role }));
    await registers[0]!.prepare!();
    await expect.poll(() => pools.size, { timeout: 10_000 }).toBe(0);
    const puts = registers.map((one, at) => one.put(`k${at}`, Buffer.from('x'), null));
    for (const put of await Promise.all(puts)) expect(put).toHaveProperty('version');
  });

  it('takes every write with synchronous_commit, whatever the server says', async () => {
    const schema = `s${(schemas += 1)}`;
    const registers = connect(schema);
    await registers.prepare!();
    await admin.query('alter database postgres set synchronous_commit = off');
    onTestFinished(
      async () => void (await admin.query('alter database postgres reset synchronous_commit')),
    );
    await admin.query(
      `create function ${schema}.durable() returns trigger language plpgsql as $$ begin
         if current_setting('synchronous_commit') <> 'on' then raise 'not durable'; end if;
         return new;
       end $$`,
    );
    await admin.query(
      `create trigger durable before insert or update on ${schema}.registers
         for each row execute function ${schema}.durable()`,
    );
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'trueup'`,
    );
    const created = await connect(schema).put('key', Buffer.from('one'), null);
    if (typeof created === 'string') throw new Error(created);
    const replaced = await connect(schema).put('key', Buffer.from('two'), created.version);
    if (typeof replaced === 'string') throw new Error(replaced);
    const plain = connect(schema);
    await admin.query(`set synchronous_commit = off`);
    await expect(admin.query(`update ${schema}.registers set body = 'x'; `)).rejects.toThrow(
      'not durable',
    );
    expect((await plain.get('key'))?.version).toBe(replaced.version);
  });

  it('needs no session: the server may end it after any statement', async () => {
    const schema = `s${(schemas += 1)}`;
    const registers = connect(schema);
    await registers.prepare!();
    const endSessions = (): Promise<unknown> =>
      admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'trueup'`,
      );
    const tools = { registers, clock: systemClock(), random: systemRandom() };
    let version: string | null = null;
    for (let nth = 0; nth < 10; nth += 1) {
      const put = await settledPut(tools, 'key', Buffer.from(`value ${nth}`), version);
      if (put === 'conflict') throw new Error('nobody else writes');
      ({ version } = put);
      await endSessions();
      expect((await registers.get('key'))!.version).toBe(version);
      await endSessions();
    }
  });

  it('that a role may not create is printed for an administrator, and then is enough', async () => {
    const schema = `s${(schemas += 1)}`;
    const role = `guest_${schema}`;
    await admin.query(`create role ${role} login password '${server.environment['PGPASSWORD']}'`);
    await admin.query(`revoke create on database postgres from ${role}`);
    const url = new URL(`${server.url}?schema=${schema}`);
    url.username = role;
    const home = folder({
      'trueup.yaml': `settings: { target: emulator, state: "${url.href}" }\naccounts: { a: { name: A } }\n`,
    });
    const env = server.environment;
    await home.expect(0, ['plan'], { env });
    const refused = await home.expect(1, ['apply', '--auto-approve'], { env });
    expect(refused.stderr).toContain('[backend-denied]');
    const printed = refused.stderr.slice(refused.stderr.indexOf('create schema'));
    await admin.query(printed.replaceAll('<role>', role).replaceAll(/\s+/g, ' '));
    await home.expect(0, ['apply', '--auto-approve'], { env });
    await home.expect(0, ['plan', '--detailed-exitcode'], { env });
  });
});

faultSuite('PostgreSQL', () => {
  const schema = `s${(schemas += 1)}`;
  return {
    port: Number(new URL(server.url).port),
    url: (port) => {
      const url = new URL(`${server.url}?schema=${schema}`);
      url.port = String(port);
      return url.href;
    },
    environment: server.environment,
    connect: (port) => connect(schema, { port }),
    async forbidWrites({ cwd }) {
      const role = `reader_${schema}`;
      await admin.query(`create role ${role} login password '${server.environment['PGPASSWORD']}'`);
      await admin.query(`grant usage on schema ${schema} to ${role}`);
      await admin.query(`grant select on ${schema}.registers to ${role}`);
      const file = join(cwd, 'trueup.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace('trueup@127', `${role}@127`));
    },
  };
});

it('states of one database share its connections, and their credentials go with the last one', async () => {
  const pools: PostgresPools = new Map();
  const places = Array.from({ length: 40 }, (_, at) => connect(`shared${at}`, { pools }));
  await Promise.all(places.map((one) => one.prepare!()));
  const written = await Promise.all(
    places.map((one) => one.put('key', Buffer.from(one.location), null)),
  );
  for (const [at, one] of places.entries()) {
    const found = await one.get('key');
    expect(Buffer.from(found!.body).toString()).toBe(one.location);
    expect(written[at]).toEqual({ version: found!.version });
  }
  expect(pools.size).toBe(1);
  const { rows } = await admin.query<{ open: number }>(
    `select count(*)::int as open from pg_stat_activity where application_name = 'trueup' and query like '%"shared%'`,
  );
  expect(rows[0]?.open).toBeGreaterThan(0);
  expect(rows[0]?.open).toBeLessThanOrEqual(10);
  await expect.poll(() => pools.size, { timeout: 10_000 }).toBe(0);
  expect(await places[0]!.get('key')).toBeDefined();
});

it('a missing table costs no connection', async () => {
  const pools: PostgresPools = new Map();
  const place = connect('missing', { pools });
  const connection = async (): Promise<readonly unknown[]> =>
    (
      await admin.query(
        `select pid from pg_stat_activity where application_name = 'trueup' and query like '%"missing"%'`,
      )
    ).rows;
  expect(await place.get('key')).toBeUndefined();
  const first = await connection();
  expect(first).toHaveLength(1);
  for (let turn = 0; turn < 5; turn += 1) expect(await place.get('key')).toBeUndefined();
  expect(await connection()).toEqual(first);
});

it('a connection that is cut in the middle of a statement fails that statement alone', async () => {
  const proxy = await tcpProxy('127.0.0.1', Number(new URL(server.url).port));
  onTestFinished(() => proxy.close());
  const place = connect('cut', { port: proxy.port });
  await place.prepare!();
  proxy.meddle = () => 'lose';
  expect(await place.put('key', Buffer.from('x'), null)).toBe('unknown');
  proxy.meddle = () => 'pass';
  expect(Buffer.from((await place.get('key'))!.body).toString()).toBe('x');
});

it('credentials without a connection are not kept', async () => {
  const pools: PostgresPools = new Map();
  await expect(connect('wrong', { pools, password: 'wrong' }).get('key')).rejects.toThrow(
    'password authentication failed',
  );
  expect(pools.size).toBe(0);
});
