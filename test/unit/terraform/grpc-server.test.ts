// The server as a client meets it: over a real socket, with certificates and without, and with everything that a client
// should not do.
import { Client, credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { encode as pack } from '@msgpack/msgpack';
import fc from 'fast-check';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callsOf } from '../../../src/terraform/protocol/calls.js';
import { selfSigned } from '../../../src/terraform/protocol/certificate.js';
import { decode, encode, type CtyValue } from '../../../src/terraform/protocol/cty.js';
import { typeOf } from '../../../src/terraform/terraform-schema.js';
import { grpcServer, type GrpcServer } from '../../../src/terraform/protocol/grpc-server.js';
import {
  LARGEST_MESSAGE,
  methods,
  type Method,
  type WireMessage,
} from '../../../src/terraform/protocol/messages.js';
import type { ProviderServer } from '../../../src/terraform/protocol/provider-replies.js';
import { executable } from '../../support/built.js';
import { madeUp, note } from './made-up.js';
import { drawn } from '../../support/drawn.js';

const type = typeOf(note.attributes);
const value = (raw: CtyValue): { readonly msgpack: Uint8Array } => ({ msgpack: encode(type, raw) });
const config = (
  text: string,
  more: Readonly<Record<string, CtyValue>> = {},
): { readonly msgpack: Uint8Array } =>
  value({ id: null, text, size: null, tags: null, lock: null, ...more });
const read = (state: unknown): CtyValue =>
  decode(type, { json: new Uint8Array(), ...(state as { readonly msgpack: Uint8Array }) });

interface Served {
  readonly path: string;
  readonly grpc: GrpcServer;
  readonly ended: () => number;
}

async function served(
  provider: ProviderServer,
  beforeShutdown: () => Promise<void> = () => Promise.resolve(),
  tls?: { readonly certificate: string; readonly key: string; readonly client: string },
): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'provider-server-'));
  const path = join(folder, 's');
  let ends = 0;
  const grpc = grpcServer({
    provider,
    log: () => undefined,
    beforeShutdown,
    onShutdown: () => (ends += 1),
    ...(tls ? { tls } : {}),
  });
  await grpc.listen(`unix:${path}`);
  onTestFinished(() => {
    grpc.close();
    rmSync(folder, { recursive: true });
  });
  return { path, grpc, ended: () => ends };
}

/** What a call answers; `raw` bytes instead of a message where it should not be one. */
async function call(
  client: Client,
  method: string,
  message: object | Uint8Array = {},
): Promise<Readonly<Record<string, unknown>>> {
  const described = methods.get(`/${method}`);
  const serialize = (one: object | Uint8Array): Buffer =>
    Buffer.from(
      one instanceof Uint8Array ? one : (described?.request.encode(one as WireMessage) ?? []),
    );
  return new Promise((done, fail) => {
    client.makeUnaryRequest(
      `/${method}`,
      serialize,
      (bytes) => described?.response.decode(bytes) ?? {},
      message,
      new Metadata(),
      (error, reply) => {
        if (error) fail(error);
        else done(reply as Readonly<Record<string, unknown>>);
      },
    );
  });
}

function clientOf(path: string, how = credentials.createInsecure()): Client {
  const client = new Client(`unix:${path}`, how, {
    'grpc.max_send_message_length': -1,
    'grpc.max_receive_message_length': -1,
    'grpc.ssl_target_name_override': 'localhost',
    'grpc.default_authority': 'localhost',
  });
  onTestFinished(() => client.close());
  return client;
}

const errors = (reply: Readonly<Record<string, unknown>>): readonly string[] =>
  (
    reply['diagnostics'] as readonly {
      readonly severity: string;
      readonly summary: string;
      readonly detail: string;
    }[]
  ).map(({ severity, summary, detail }) => `${severity} ${summary} ${detail}`);

describe('a stream of events', () => {
  const listed = async (client: Client, message: object): Promise<readonly unknown[]> => {
    const { request, response } = methods.get('/tfplugin6.Provider/ListResource')!;
    const stream = client.makeServerStreamRequest(
      '/tfplugin6.Provider/ListResource',
      (one: WireMessage) => Buffer.from(request.encode(one)),
      (bytes) => response.decode(bytes),
      message as WireMessage,
      new Metadata(),
    );
    const events: unknown[] = [];
    for await (const event of stream) events.push(event);
    return events;
  };
  const query = { type_name: 'devicecloud_note', config: { msgpack: pack({}) } };

  it('has one for each object, with its state where core asks for that', async () => {
    const { path } = await served(madeUp());
    const client = clientOf(path);
    const identity = (id: string): object => ({
      identity_data: { msgpack: Buffer.from(pack({ id })) },
    });
    expect(await listed(client, { ...query, limit: 2 })).toMatchObject([
      {
        identity: identity('note-0'),
        display_name: 'Note 0',
        resource_object: null,
        diagnostic: [],
      },
      {
        identity: identity('note-1'),
        display_name: 'Note 1',
        resource_object: null,
        diagnostic: [],
      },
    ]);
    const [whole] = await listed(client, { ...query, limit: 1, include_resource_object: true });
    expect(read((whole as { readonly resource_object: unknown }).resource_object)).toEqual({
      id: 'note-0',
      text: 'listed',
      size: null,
      tags: [],
      lock: null,
    });
    expect(await listed(client, { ...query, limit: 0 })).toEqual([]);
    expect(await listed(client, { ...query, limit: 500 })).toHaveLength(500);
  });

  it('has one that says what is wrong', async () => {
    const { path } = await served({
      ...madeUp(),
      listResource: () => Promise.reject(new Error('a secret in a message')),
    });
    const client = clientOf(path);
    for (const message of [query, { ...query, type_name: 'devicecloud_nothing' }]) {
      const events = await listed(client, message);
      expect(events).toMatchObject([{ identity: null, diagnostic: [{ severity: 'ERROR' }] }]);
      expect(JSON.stringify(events)).not.toContain('secret');
    }
  });

  it('is asked for with a configuration that fits', async () => {
    const { path } = await served(madeUp());
    const validated = (config: object) =>
      call(clientOf(path), 'tfplugin6.Provider/ValidateListResourceConfig', { ...query, config });
    expect(errors(await validated({ msgpack: pack({}) }))).toEqual([]);
    expect(errors(await validated({ msgpack: pack({ colour: 'red' }) }))).toHaveLength(1);
  });
});

describe('a lifecycle of messages', () => {
  it('plans, applies, reads, imports', async () => {
    const calls: string[] = [];
    const { path } = await served(madeUp({ calls }));
    const client = clientOf(path);
    const planned = await call(client, 'tfplugin6.Provider/PlanResourceChange', {
      type_name: 'devicecloud_note',
      prior_state: value(null),
      proposed_new_state: config('a'),
      config: config('a'),
    });
    expect(planned).toMatchObject({
      diagnostics: [],
      planned_identity: null,
      requires_replace: [],
    });
    const applied = await call(client, 'tfplugin6.Provider/ApplyResourceChange', {
      type_name: 'devicecloud_note',
      prior_state: value(null),
      planned_state: planned['planned_state'],
      config: config('a'),
      planned_private: Buffer.from('kept'),
    });
    expect(applied).toMatchObject({ diagnostics: [], private: Buffer.from('kept') });
    expect(read(applied['new_state'])).toEqual({
      id: 'note-1',
      text: 'a',
      size: null,
      tags: [],
      lock: null,
    });
    const { new_identity } = applied as {
      readonly new_identity: { readonly identity_data: { readonly msgpack: Uint8Array } };
    };
    expect(new_identity.identity_data.msgpack).toEqual(Buffer.from(pack({ id: 'note-1' })));
    const replaced = await call(client, 'tfplugin6.Provider/PlanResourceChange', {
      type_name: 'devicecloud_note',
      prior_state: applied['new_state'],
      proposed_new_state: config('a', { id: 'note-1', size: 1 }),
      config: config('a', { size: 1 }),
    });
    expect(replaced['requires_replace']).toEqual([
      { steps: [expect.objectContaining({ attribute_name: 'size' })] },
    ]);
    const imported = await call(client, 'tfplugin6.Provider/ImportResourceState', {
      type_name: 'devicecloud_note',
      identity: new_identity,
    });
    expect(imported['imported_resources']).toMatchObject([{ type_name: 'devicecloud_note' }]);
    const upgraded = await call(client, 'tfplugin6.Provider/UpgradeResourceState', {
      type_name: 'devicecloud_note',
      version: 0,
      raw_state: { json: Buffer.from('{"id":"1","text":"a","color":"red"}') },
    });
    expect(read(upgraded['upgraded_state'])).toEqual({
      id: '1',
      text: 'a',
      size: null,
      tags: null,
      lock: null,
    });
    expect(calls).toEqual([
      'planResourceChange',
      'applyResourceChange',
      'planResourceChange',
      'importResourceState',
      'upgradeResourceState',
    ]);
  });

  it('names the attribute that does not fit, which core does not', async () => {
    const { path } = await served(madeUp());
    const current_state = {
      json: Buffer.from('{"id":"1","text":"a","size":true,"tags":null,"lock":null}'),
    };
    const reply = await call(clientOf(path), 'tfplugin6.Provider/ReadResource', {
      type_name: 'devicecloud_note',
      current_state,
    });
    expect(reply['diagnostics']).toEqual([
      expect.objectContaining({
        summary: 'The value does not fit the schema',
        detail: 'size: a number is expected.',
      }),
    ]);
  });

  it('answers what it does not speak with UNIMPLEMENTED', async () => {
    const { path } = await served(madeUp());
    const client = clientOf(path);
    for (const method of [
      'tfplugin6.Provider/GetMetadata',
      'tfplugin6.Provider/OpenEphemeralResource',
      'plugin.GRPCStdio/StreamStdio',
      'plugin.GRPCBroker/StartStream',
    ])
      await expect(call(client, method, new Uint8Array())).rejects.toMatchObject({
        code: status.UNIMPLEMENTED,
      });
  });

  it('tells of a path step zero, and ends a path at a set', async () => {
    const { path } = await served(madeUp());
    const reply = await call(clientOf(path), 'tfplugin6.Provider/ValidateResourceConfig', {
      type_name: 'devicecloud_note',
      config: config('shout'),
    });
    expect(reply['diagnostics']).toEqual([
      expect.objectContaining({
        severity: 'WARNING',
        attribute: { steps: [expect.objectContaining({ attribute_name: 'tags' })] },
      }),
    ]);
  });

  it('ends the path of a complaint where core would find no line: at a name inside an attribute', async () => {
    const { path } = await served(madeUp());
    const locked = config('a', { lock: { key_wo: 'k', key_wo_version: 1 } });
    const reply = await call(clientOf(path), 'tfplugin6.Provider/ValidateResourceConfig', {
      type_name: 'devicecloud_note',
      config: locked,
    });
    expect(reply['diagnostics']).toEqual([
      expect.objectContaining({
        summary: 'too old',
        attribute: { steps: [expect.objectContaining({ attribute_name: 'lock' })] },
      }),
    ]);
  });
});

describe('misdeeds of the provider', () => {
  const apply = async (text: string): Promise<Readonly<Record<string, unknown>>> => {
    const { path } = await served(madeUp());
    const planned_state = value({ id: null, text, size: null, tags: [], lock: null });
    return call(clientOf(path), 'tfplugin6.Provider/ApplyResourceChange', {
      type_name: 'devicecloud_note',
      prior_state: value(null),
      planned_state,
      config: config(text),
    });
  };

  it.each([
    ['nan', { id: null, size: null }],
    ['unknown', { tags: null }],
    ['leak', { lock: { key_wo: null, key_wo_version: 1 } }],
    ['junk', { text: 'apply junk', size: null, tags: null }],
  ])('at apply lose nothing else: %s', async (deed, kept) => {
    const reply = await apply(`apply ${deed}`);
    expect(errors(reply)).not.toEqual([]);
    expect(read(reply['new_state'])).toMatchObject(kept);
  });

  it('keep what a partial failure tells of', async () => {
    const reply = await apply('partly');
    expect(errors(reply)).toContainEqual(expect.stringContaining('half of it is done'));
    expect(read(reply['new_state'])).toMatchObject({ text: 'partly', tags: null });
  });

  it.each(['nan', 'unknown', 'leak', 'junk'])('at read leave the state: %s', async (deed) => {
    const { path } = await served(madeUp());
    const current_state = value({ id: '1', text: `read ${deed}`, size: 3, tags: [], lock: null });
    const reply = await call(clientOf(path), 'tfplugin6.Provider/ReadResource', {
      type_name: 'devicecloud_note',
      current_state,
      private: Buffer.from('p'),
    });
    expect(errors(reply)).not.toEqual([]);
    expect(reply).toMatchObject({ private: Buffer.from('p') });
    expect(read(reply['new_state'])).toMatchObject({ id: '1', size: 3 });
  });

  it.each(['nan', 'leak', 'junk'])('at plan are held back: %s', async (deed) => {
    const { path } = await served(madeUp());
    const text = `plan ${deed}`;
    const reply = await call(clientOf(path), 'tfplugin6.Provider/PlanResourceChange', {
      type_name: 'devicecloud_note',
      prior_state: value(null),
      proposed_new_state: config(text),
      config: config(text),
    });
    expect(errors(reply)).not.toEqual([]);
    expect(read(reply['planned_state'])).toBeNull();
  });

  it('say what was thrown only where it was meant to be said', async () => {
    const logged: unknown[] = [];
    const reply = await callsOf(madeUp(), (...all) => logged.push(all))['ValidateResourceConfig']!({
      type_name: 'devicecloud_note',
      config: { json: new Uint8Array(), ...config('throws') },
    });
    expect(errors(reply)).toEqual([expect.stringMatching(/^ERROR This should not have happened/)]);
    expect(JSON.stringify([reply, logged])).not.toContain('a secret in a message');
    expect(JSON.stringify(logged)).toContain('made-up.ts');
  });
});

describe('hostile requests', () => {
  it('get a diagnostic or a status, and the next one an answer', async () => {
    const { path } = await served(madeUp());
    const client = clientOf(path);
    const methods = [
      'ValidateResourceConfig',
      'ReadResource',
      'PlanResourceChange',
      'ApplyResourceChange',
      'UpgradeResourceState',
      'ReadDataSource',
      'ImportResourceState',
      'ConfigureProvider',
    ];
    const answer = async (method: string, message: object): Promise<unknown> =>
      call(client, `tfplugin6.Provider/${method}`, message).catch(
        (error: ServiceError) => status[error.code],
      );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...methods),
        fc.uint8Array({ maxLength: 60 }),
        fc.boolean(),
        async (method, bytes, whole) => {
          const dynamic = { msgpack: bytes };
          const states = {
            config: dynamic,
            current_state: dynamic,
            prior_state: dynamic,
            proposed_new_state: dynamic,
            planned_state: dynamic,
            raw_state: { json: bytes },
          };
          const reply = await answer(
            method,
            whole ? { type_name: 'devicecloud_note', ...states } : bytes,
          );
          expect(typeof reply === 'string' ? ['INTERNAL'] : [undefined]).toContain(
            typeof reply === 'string' ? reply : undefined,
          );
        },
      ),
      { numRuns: drawn(150) },
    );
    expect(
      errors(
        await call(client, 'tfplugin6.Provider/ReadDataSource', {
          type_name: 'devicecloud_nothing',
        }),
      ),
    ).toEqual([expect.stringContaining('there is no devicecloud_nothing')]);
    expect(
      await call(client, 'tfplugin6.Provider/ConfigureProvider', {
        config: { msgpack: pack({ prefix: null }) },
      }),
    ).toEqual({ diagnostics: [] });
  });

  it('of 64 MiB are answered, and larger ones refused', async () => {
    const { path } = await served(madeUp());
    const client = clientOf(path);
    const sized = async (size: number): Promise<unknown> =>
      call(client, 'tfplugin6.Provider/ValidateResourceConfig', {
        type_name: 'devicecloud_note',
        config: config('x'.repeat(size)),
      }).catch(({ code }: ServiceError) => code);
    expect(await sized(LARGEST_MESSAGE - 1024)).toEqual({ diagnostics: [] });
    expect(await sized(LARGEST_MESSAGE)).toBe(status.RESOURCE_EXHAUSTED);
    expect(await sized(3)).toEqual({ diagnostics: [] });
  });

  it('that want more than core can take get a diagnostic', async () => {
    const calls = callsOf(
      {
        ...madeUp(),
        readDataSource: async ({ config: given }) => ({
          state: { ...(given as object), length: 1 },
        }),
      },
      () => undefined,
    );
    const text = 'x'.repeat(LARGEST_MESSAGE);
    const reply = await calls['ReadDataSource']!({
      type_name: 'devicecloud_echo',
      config: { json: new Uint8Array(), msgpack: pack({ text, length: null }) },
    });
    expect(errors(reply)).toEqual([expect.stringMatching(/bytes, and terraform takes/)]);
  });
});

describe('frames', () => {
  const path = '/tfplugin6.Provider/StopProvider';
  const framed = (length: number, message: readonly number[]): Buffer =>
    Buffer.from([0, 0, 0, 0, length, ...message]);

  /** The status of a call whose request is these bytes. */
  async function sent(socket: string, bytes: Buffer): Promise<unknown> {
    const session = connectHttp2('http://localhost', { createConnection: () => connect(socket) });
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const last = new Promise((done) => {
      stream.on(
        'response',
        (headers) => headers['grpc-status'] !== undefined && done(headers['grpc-status']),
      );
      stream.on('trailers', (headers) => done(headers['grpc-status']));
    });
    stream.resume().end(bytes);
    return last;
  }

  it.each([
    ['a whole message', framed(0, []), status.OK],
    ['with a field that nobody knows', framed(3, [0x7a, 1, 65]), status.OK],
    ['no message', Buffer.alloc(0), status.UNIMPLEMENTED],
    ['a message that ends within a field', framed(2, [0x7a, 9]), status.INTERNAL],
  ])('%s', async (_what, bytes, code) => {
    const { path: socket } = await served(madeUp());
    expect(await sent(socket, bytes)).toBe(String(code));
  });

  it('hold no message whose fields reach beyond it', () => {
    const { request } = methods.get('/tfplugin6.Provider/ValidateProviderConfig') as Method;
    expect(request.decode(Buffer.from([0x0a, 3, 0x0a, 1, 65]))).toMatchObject({
      config: { msgpack: Buffer.from('A') },
    });
    expect(() => request.decode(Buffer.from([0x0a, 2, 0x0a, 3, 0x7a, 1, 65]))).toThrow(
      'index out of range',
    );
  });

  it('of a call that is given up leave the others alone', async () => {
    const [slow, reached] = [gate(), gate()];
    const { path: socket } = await served({
      ...madeUp(),
      stopProvider: async () => {
        reached.open();
        await slow.opened;
      },
    });
    const session = connectHttp2('http://localhost', { createConnection: () => connect(socket) });
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => undefined).end(framed(0, []));
    await reached.opened;
    stream.destroy();
    slow.open();
    expect(
      await call(clientOf(socket), 'tfplugin6.Provider/ValidateProviderConfig', {
        config: { msgpack: pack({ prefix: null }) },
      }),
    ).toEqual({ diagnostics: [] });
  });
});

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((done) => (open = done));
  return { opened, open: () => open() };
}

describe('the end', () => {
  it('of who reads the log is not the end of the process', async () => {
    const script = await executable(fileURLToPath(new URL('./made-up-main.ts', import.meta.url)));
    const env = {
      ...process.env,
      TF_PLUGIN_MAGIC_COOKIE: 'd602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2',
      TF_DISABLE_PLUGIN_TLS: '1',
      TF_LOG: 'trace',
    };
    const child = spawn(script.file, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => {
      child.kill('SIGKILL');
      script.remove();
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    child.stderr.destroy();
    const client = clientOf(line.toString().split('|')[3] ?? '');
    for (let turn = 0; turn < 3; turn += 1)
      expect(await call(client, 'tfplugin6.Provider/StopProvider')).toEqual({ Error: '' });
    expect(child.exitCode).toBeNull();
    await call(client, 'plugin.GRPCController/Shutdown');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('comes when core asks for it, after the answer', async () => {
    const { path, ended } = await served(madeUp());
    expect(await call(clientOf(path), 'plugin.GRPCController/Shutdown')).toEqual({});
    await expect.poll(ended).toBe(1);
  });

  it('is answered once everything is done', async () => {
    const [slow, reached] = [gate(), gate()];
    const { path, ended } = await served(madeUp(), async () => {
      reached.open();
      await slow.opened;
    });
    let isAnswered = false;
    const client = clientOf(path);
    const answer = call(client, 'plugin.GRPCController/Shutdown');
    void answer.then(() => (isAnswered = true));
    await reached.opened;
    // A later call is answered, and this one is not.
    await call(client, 'tfplugin6.Provider/StopProvider');
    expect([isAnswered, ended()]).toEqual([false, 0]);
    slow.open();
    expect(await answer).toEqual({});
    await expect.poll(ended).toBe(1);
  });

  it('waits for what is under way, though its client is gone', async () => {
    const [slow, reached] = [gate(), gate()];
    const { path, grpc } = await served({
      ...madeUp(),
      stopProvider: async () => {
        reached.open();
        await slow.opened;
      },
    });
    const session = connectHttp2('http://localhost', { createConnection: () => connect(path) });
    const stream = session.request({
      ':method': 'POST',
      ':path': '/tfplugin6.Provider/StopProvider',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => undefined).end(Buffer.alloc(5));
    await reached.opened;
    session.destroy();
    let idle = false;
    const drained = grpc.drain().then(() => (idle = true));
    await new Promise((turn) => setTimeout(turn, 50));
    expect(idle).toBe(false);
    slow.open();
    expect(await drained).toBe(true);
  });
});

describe('certificates', () => {
  const [ours, theirs, others] = [1, 2, 3].map((number) =>
    selfSigned(Date.now(), Buffer.alloc(8, number)),
  ) as [
    ReturnType<typeof selfSigned>,
    ReturnType<typeof selfSigned>,
    ReturnType<typeof selfSigned>,
  ];
  const attempt = async (how: ReturnType<typeof credentials.createSsl>): Promise<unknown> => {
    const { path } = await served(madeUp(), undefined, { ...ours, client: theirs.certificate });
    return call(clientOf(path, how), 'tfplugin6.Provider/StopProvider').catch(
      ({ code }: ServiceError) => status[code],
    );
  };
  const ssl = (
    trusted: string,
    mine?: ReturnType<typeof selfSigned>,
  ): ReturnType<typeof credentials.createSsl> =>
    credentials.createSsl(
      Buffer.from(trusted),
      ...((mine ? [Buffer.from(mine.key), Buffer.from(mine.certificate)] : []) as [Buffer, Buffer]),
    );

  it('of both sides are asked for', async () => {
    expect(await attempt(ssl(ours.certificate, theirs))).toEqual({ Error: '' });
    expect(await attempt(ssl(ours.certificate))).toBe('UNAVAILABLE');
    expect(await attempt(ssl(ours.certificate, others))).toBe('UNAVAILABLE');
    expect(await attempt(ssl(others.certificate, theirs))).toBe('UNAVAILABLE');
    expect(await attempt(credentials.createInsecure() as never)).toBe('UNAVAILABLE');
  });
});
