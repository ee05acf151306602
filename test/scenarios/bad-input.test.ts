// What is hostile or broken, through the built command: files, answers, state, journal, lock and saved plans. Each ends
// in a clear error that names the place, within ten seconds and 512 MiB, with nothing written and no stack trace.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { digest, sha256, type PlanFile } from '../../src/model/index.js';
import { systemClock } from '../../src/platform/clock.js';
import { diskFiles } from '../../src/platform/files.js';
import { machine } from '../../src/platform/host.js';
import { systemRandom } from '../../src/platform/random.js';
import { fileStore } from '../../src/state/index.js';
import { folder, small, type Folder, type Options } from '../support/cli.js';

const MIB = 1024 * 1024;

/** Every regular file below, with a digest of what it holds. */
function contents(path: string): Readonly<Record<string, string>> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      join(parentPath, name),
      sha256(readFileSync(join(parentPath, name), 'latin1')),
    ]),
  );
}

/** Runs what has to fail: with this code, saying this (in one line), and leaving every file as it was. */
async function refused(
  home: Folder,
  args: readonly string[],
  code: number,
  says: RegExp,
  options?: Options,
): Promise<string> {
  const before = contents(home.path);
  const ran = await home.run(args, options);
  const said = `${ran.stderr}${ran.stdout}`.replace(/\s+/g, ' ');
  expect({ code: ran.code, said }).toEqual({ code, said: expect.stringMatching(says) as string });
  expect(contents(home.path)).toEqual(before);
  modest(ran);
  return ran.stderr;
}

function modest({
  stdout,
  stderr,
  milliseconds,
  peakMiB,
}: Awaited<ReturnType<Folder['run']>>): void {
  expect(stdout + stderr).not.toMatch(/^ {4}at |should not have happened/m);
  expect(stderr.length).toBeLessThan(20_000);
  expect(milliseconds).toBeLessThan(25_000);
  expect(peakMiB).toBeLessThan(512);
}

const bomb = (levels: number): string =>
  `a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n${Array.from({ length: levels }, (_, at) => `a${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`).join(', ')}]`).join('\n')}\naccounts: *a${levels}\n`;
const account = (name: string): string => `accounts:\n  hq:\n    name: ${name}\n`;
const DEEP = 100_000;

describe('a declaration file', () => {
  const texts: readonly (readonly [what: string, text: string | Buffer, says: RegExp])[] = [
    ['an alias bomb', bomb(9), /aliases/],
    [
      'an alias bomb among values',
      `accounts:\n  hq:\n    name: x\nlookups:\n  a: &a { accounts: { name: [${'&b x, *b, '.repeat(30_000)}] } }\n`,
      /trueup\.yaml:\d+:\d+/,
    ],
    ['an alias of itself', 'accounts: &a { hq: *a }\n', /trueup\.yaml:1:/],
    ['flow lists 10^5 deep', `accounts: ${'['.repeat(DEEP)}${']'.repeat(DEEP)}\n`, /64 levels/],
    [
      'flow lists 10^5 deep, never closed',
      `accounts: ${'['.repeat(DEEP)}\n`,
      /trueup\.yaml:\d+:\d+/,
    ],
    ['flow maps 10^5 deep', `accounts: ${'{a: '.repeat(DEEP)}1${'}'.repeat(DEEP)}\n`, /64 levels/],
    ['block lists 10^5 deep', `accounts:\n  ${'- '.repeat(DEEP)}x\n`, /64 levels/],
    [
      'block maps as deep as a file holds',
      Array.from({ length: 2000 }, (_, at) => `${' '.repeat(at)}accounts:`).join('\n'),
      /64 levels/,
    ],
    ['a duplicate key', `${account('A')}  hq:\n    name: B\n`, /twice.*trueup\.yaml:4:3/],
    [
      'a duplicate key in a flow map',
      'accounts: { hq: { name: A, name: B } }\n',
      /twice.*trueup\.yaml:1:28/,
    ],
    ['a duplicate key, once in quotes', 'accounts: { hq: { name: A, "name": B } }\n', /twice/],
    [
      '30,000 keys of one mapping, the last one twice',
      `accounts:\n${Array.from({ length: 30_000 }, (_, at) => `  k${at}: {name: x}\n`).join('')}  k29999: {name: y}\n`,
      /twice.*trueup\.yaml:30002:3/,
    ],
    ['a tag', account('!!str A'), /trueup\.yaml:3:\d+.*tag/],
    ['a tag that names code', account('!!js/function "function () {}"'), /tag/],
    ['a tab that indents', 'accounts:\n\thq:\n\t\tname: A\n', /a tab .*trueup\.yaml:2:1/],
    ['a key __proto__', 'accounts:\n  __proto__: { name: A }\n', /trueup\.yaml:2:3.*__proto__/],
    [
      'a key __proto__ in quotes, deep inside',
      'alert_rules:\n  r: { settings: { "__proto__": { polluted: true } } }\n',
      /__proto__/,
    ],
    ['a merge key', 'accounts:\n  a: &a { name: A }\n  b: { <<: *a }\n', /trueup\.yaml:3:8.*merge/],
    [
      'an integer beyond 2^53',
      'alert_rules:\n  r: { associated_accounts: [9007199254740993] }\n',
      /2\^53.*trueup\.yaml:2:30/,
    ],
    [
      'an integer of 10^5 digits',
      `alert_rules:\n  r: { associated_accounts: [${'9'.repeat(DEEP)}] }\n`,
      /trueup\.yaml:2:\d+/,
    ],
    ['a directive of another version', `%YAML 1.1\n---\n${account('A')}`, /trueup\.yaml:1:1/],
    [
      'text that is not UTF-8',
      Buffer.from([
        ...Buffer.from('accounts:\n  hq: { name: "'),
        0xc3,
        0x28,
        0xff,
        ...Buffer.from('" }\n'),
      ]),
      /trueup\.yaml:2:\d+.*UTF-8/,
    ],
    ['UTF-16', Buffer.from(`\uFEFF${account('A')}`, 'utf16le'), /UTF-16/],
    ['control characters', account('"a\u001b[31mb"'), /control character.*trueup\.yaml:3:13/],
    ['null where a mapping belongs', 'accounts:\n', /trueup\.yaml:1:1/],
    ['a scalar as the whole', 'accounts\n', /./],
    ['2 MiB of opening brackets', `accounts: ${'['.repeat(2 * MIB - 100)}`, /trueup\.yaml:1:/],
    ['2 MiB of colons', `accounts: {${'?:'.repeat(MIB - 100)}`, /trueup\.yaml:1:/],
    ['2 MiB of anchors', `accounts:\n${'  - &a x\n'.repeat(200_000)}`, /trueup\.yaml:/],
    [
      '30 MB',
      `accounts:\n${Array.from({ length: 600_000 }, (_, at) => `  account-${at}: { name: Number ${at} of very many }\n`).join('')}`,
      /trueup\.yaml.*2 MiB/,
    ],
  ];
  it.each(texts)('with %s', async (_, text, says) => {
    const home = folder();
    writeFileSync(join(home.path, 'trueup.yaml'), text);
    const stderr = await refused(home, ['validate', 'trueup.yaml'], 1, says);
    expect(stderr).not.toContain('\u001b');
  });

  it('from standard input that never seems to end', async () => {
    await refused(folder(), ['validate', '-'], 1, /larger than 2 MiB/, {
      input: account('A').repeat(MIB),
    });
  });

  it('that is empty under a state with objects: blocked, and nothing goes', async () => {
    const [settings, ...declarations] = small.split('\n');
    const home = folder({
      'settings.yaml': `${settings}\n`,
      'trueup.yaml': declarations.join('\n'),
    });
    await home.expect(0, ['apply', '--auto-approve']);
    for (const text of ['', '# all gone\n', '---\n', 'accounts: {}\n']) {
      home.write('trueup.yaml', text);
      for (const args of [['plan'], ['apply', '--auto-approve']])
        await refused(home, args, 3, /all-removed/);
    }
  });

  it('that is empty together with its settings: not even the target is known', async () => {
    const home = folder({ 'trueup.yaml': small });
    await home.expect(0, ['apply', '--auto-approve']);
    home.write('trueup.yaml', '');
    for (const args of [['plan'], ['apply', '--auto-approve']])
      await refused(home, args, 1, /belongs to emulator/);
  });

  it('that cannot be read, whoever asks', async () => {
    const home = folder({ 'file.yaml': account('A') });
    symlinkSync('loop.yaml', join(home.path, 'loop.yaml'));
    await refused(home, ['validate', 'file.yaml/below.yaml'], 1, /file\.yaml\/below\.yaml/);
    await refused(home, ['validate', 'loop.yaml'], 1, /loop\.yaml.*circle/);
    await refused(home, ['validate'], 1, /loop\.yaml.*circle/);
    await refused(home, ['validate', `${'x'.repeat(300)}.yaml`], 1, /too long/);
    await refused(home, ['validate', 'nowhere.yaml'], 1, /nowhere\.yaml does not exist/);
  });

  it('that is a folder, or a state or a saved plan that is one', async () => {
    const home = folder();
    for (const name of ['empty.yaml', 'plan.trueup', 'state.json'])
      mkdirSync(join(home.path, name));
    await refused(
      home,
      ['validate', 'empty.yaml'],
      1,
      /no YAML file and no CDK program in empty\.yaml/,
    );
    await refused(home, ['show', 'plan.trueup'], 1, /plan\.trueup: it is a folder/);
    home.write(
      'ours/trueup.yaml',
      `settings: { target: emulator, state: state.json }\n${account('A')}`,
    );
    await refused(home, ['plan', 'ours'], 1, /state\.json: it is a folder/);
  });

  it('that is a FIFO, or a secret, a state or a saved plan that is one', async () => {
    const home = folder({
      'ours/trueup.yaml': small.replace(
        'alerts } }',
        'alerts }, authentication: { secret: "${secret.file.pipe}" } }',
      ),
    });
    for (const name of ['pipe', 'pipe.yaml', 'found/pipe.yaml', 'state.json']) {
      mkdirSync(join(home.path, 'found'), { recursive: true });
      expect(spawnSync('mkfifo', [join(home.path, name)]).status).toBe(0);
    }
    await refused(home, ['validate', 'pipe.yaml'], 1, /pipe\.yaml is not a regular file/);
    await refused(home, ['validate', 'found'], 1, /found\/pipe\.yaml is not a regular file/);
    await refused(home, ['show', 'pipe'], 1, /pipe: (?:is|it is) not a regular file/);
    modest(await home.expect(0, ['plan', 'ours']));
    home.write(
      'ours/trueup.yaml',
      `settings: { target: emulator, state: state.json }\n${account('A')}`,
    );
    await refused(home, ['plan', 'ours'], 1, /state\.json: (?:is|it is) not a regular file/);
  });
});

type Handler = (request: IncomingMessage, answer: ServerResponse, nth: number) => void;
const servers: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(servers.splice(0).map((close) => close())));

interface Stub {
  readonly url: string;
  readonly asked: readonly string[];
}

async function stub(handler: Handler): Promise<Stub> {
  const asked: string[] = [];
  const server = createServer((request, answer) =>
    handler(request, answer, asked.push(`${request.method} ${request.url}`)),
  );
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  servers.push(() => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const environment = ({ url }: Stub): Readonly<Record<string, string>> => ({
  TRUEUP_V2_URL: `${url}/api/v2`,
  TRUEUP_MGR_API_ID: 'canary-1',
  TRUEUP_MGR_API_KEY: 'canary-2',
  TRUEUP_VND_API_ID: 'canary-3',
  TRUEUP_VND_API_KEY: 'canary-4',
});

const send = (
  answer: ServerResponse,
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): unknown =>
  answer
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(typeof body === 'string' ? body : JSON.stringify(body));
const hq = { id: '1', account: null, name: 'HQ', is_disabled: false };
const page = (data: readonly unknown[], next: string | null = null): unknown => ({
  data,
  meta: { limit: 500, next },
});
const depot = (id: string): unknown => ({
  id,
  account: '/api/v2/accounts/1/',
  name: `Depot ${id}`,
  is_disabled: false,
});

describe('an answer', () => {
  const deep = `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`;
  const answers: readonly (readonly [what: string, handler: Handler, says: RegExp])[] = [
    [
      'in HTML with status 200',
      (_, answer) =>
        send(answer, '<html><body>Please sign in</body></html>', 200, {
          'content-type': 'text/html',
        }),
      /accounts cannot be read.*\/api\/v2\/accounts\/ is an HTML page/,
    ],
    [
      'in HTML that says it is JSON',
      (_, answer) => send(answer, '<html>'),
      /is not complete, valid JSON/,
    ],
    [
      'that is cut off',
      (_, answer) => send(answer, JSON.stringify(page([hq])).slice(0, -20)),
      /is not complete, valid JSON/,
    ],
    [
      'that is shorter than it says',
      (_, answer) =>
        void answer
          .writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
          .write('{"data": [', () => answer.destroy()),
      /connection broke before the response was complete/,
    ],
    ['that is empty', (_, answer) => send(answer, ''), /is empty/],
    [
      'without records',
      (_, answer) => send(answer, { data: {}, meta: { next: null } }),
      /no list of records/,
    ],
    [
      'that does not say whether more follows',
      (_, answer) => send(answer, { data: [hq], meta: {} }),
      /meta\.next/,
    ],
    [
      'with a record without an id',
      (_, answer) => send(answer, page([{ name: 'x' }])),
      /without a valid id/,
    ],
    [
      'with an id that leads elsewhere',
      (_, answer) => send(answer, page([{ ...hq, id: '../../users/1' }])),
      /without a valid id/,
    ],
    [
      '10^5 deep',
      (_, answer) => send(answer, `{"data":[{"id":"1","name":${deep}}],"meta":{"next":null}}`),
      /accounts cannot be read/,
    ],
    [
      'whose next leads to itself',
      ({ url = '' }, answer) => send(answer, page([hq], url)),
      /leads back to a page/,
    ],
    [
      'whose next leads on for ever',
      (_, answer, nth) => send(answer, page([], `/api/v2/accounts/?cursor=${nth}`)),
      /listing without end/,
    ],
    [
      'whose next is not an address',
      (_, answer) => send(answer, page([hq], 'more')),
      /meta\.next that leads nowhere/,
    ],
    [
      'with an object twice, however often it is asked',
      (_, answer) => send(answer, page([hq, hq])),
      /held an object twice/,
    ],
    ['that never ends', (_, answer) => endless(answer), /longer than 33554432 bytes/],
    [
      'that is packed',
      (_, answer) => send(answer, 'x', 200, { 'content-encoding': 'gzip' }),
      /encoded as gzip/,
    ],
    [
      'of headers without end',
      (_, answer) => send(answer, page([hq]), 200, { 'x-long': 'y'.repeat(100_000) }),
      /accounts cannot be read/,
    ],
    [
      'that is not UTF-8',
      (_, answer) =>
        void answer
          .writeHead(200, { 'content-type': 'application/json' })
          .end(Buffer.from([0x7b, 0xff, 0x7d])),
      /not valid UTF-8/,
    ],
    [
      'of 401',
      (_, answer) => send(answer, { exception: 'no such keys' }, 401),
      /returned 401: no such keys.*TRUEUP_MGR_API_KEY/,
    ],
    [
      'of 403',
      (_, answer) => send(answer, { exception: { type: 'error', message: 'not yours' } }, 403),
      /returned 403: not yours.*role/,
    ],
    ['of 500 for ever', (_, answer) => send(answer, 'oops', 500), /returned 500/],
    ['of 404', (_, answer) => send(answer, 'oops', 404), /returned 404.*TRUEUP_V2_URL/],
    [
      'that repeats a credential',
      ({ headers }, answer) =>
        send(answer, { exception: `bad key ${String(headers['x-mgr-api-key'])}` }, 400),
      /returned 400: bad key \*\*\*/,
    ],
    [
      'with commands for a terminal',
      (_, answer) => send(answer, { exception: '\u001b]0;owned\u0007\u202e::error::x' }, 400),
      /returned 400/,
    ],
    [
      'of 429 with no wait named',
      (_, answer) => send(answer, '', 429),
      /returned 429.*requests_per_minute/,
    ],
    [
      'of 429 with seconds beyond all patience',
      (_, answer) => send(answer, '', 429, { 'retry-after': '99999' }),
      /asks to wait 99999 s/,
    ],
    [
      'of 429 with a date beyond all patience',
      (_, answer) =>
        send(answer, '', 429, { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }),
      /asks to wait 3\d{3} s/,
    ],
    [
      'of 429 with seconds beyond all numbers',
      (_, answer) => send(answer, '', 429, { 'retry-after': '9'.repeat(400) }),
      /returned 429/,
    ],
    [
      'of 429 with a date that is past',
      (_, answer) => send(answer, '', 429, { 'retry-after': new Date(0).toUTCString() }),
      /returned 429/,
    ],
    [
      'of 429 with negative seconds',
      (_, answer) => send(answer, '', 429, { 'retry-after': '-5' }),
      /returned 429/,
    ],
    [
      'of 429 with garbage',
      (_, answer) => send(answer, '', 429, { 'retry-after': 'soon; 12, \u00ff' }),
      /returned 429/,
    ],
  ];
  it.each(answers)('%s', async (_, handler, says) => {
    const cloud = await stub(handler);
    const home = folder({ 'trueup.yaml': account('A') });
    const stderr = await refused(home, ['apply', '--auto-approve'], 1, says, {
      env: environment(cloud),
    });
    expect(stderr).not.toMatch(/canary|[\u001b\u0007\u202e]/);
    expect(cloud.asked.filter((one) => !one.startsWith('GET /api/v2/accounts/'))).toEqual([]);
  });

  const waits: readonly (readonly [string, () => string])[] = [
    ['seconds', () => '1'],
    ['a date', () => new Date(Date.now() + 1500).toUTCString()],
    ['no time at all', () => '0'],
  ];
  it.each(waits)('of 429 that asks to wait for %s is waited for', async (_, wait) => {
    const cloud = await stub((__, answer, nth) =>
      nth === 1 ? send(answer, '', 429, { 'retry-after': wait() }) : send(answer, page([hq])),
    );
    modest(
      await folder({ 'trueup.yaml': account('HQ2') }).expect(0, ['plan'], {
        env: environment(cloud),
      }),
    );
    expect(cloud.asked.length).toBeGreaterThan(1);
  });

  it('whose next names another host is read on here, and that host hears nothing', async () => {
    const elsewhere = await stub((_, answer) => send(answer, page([])));
    const cloud = await stub(({ url = '' }, answer) =>
      send(
        answer,
        url.includes('cursor')
          ? page([depot('2')])
          : page([hq], `${elsewhere.url}/api/v2/accounts/?cursor=2`),
      ),
    );
    const ran = await folder({ 'trueup.yaml': account('Depot 2') }).expect(
      0,
      ['plan', '--detailed-exitcode'],
      { env: environment(cloud) },
    );
    modest(ran);
    expect(ran.stdout).toContain('1 to adopt');
    expect(elsewhere.asked).toEqual([]);
  });

  it.each([301, 302, 307, 308])('of %i is not followed', async (status) => {
    const elsewhere = await stub((_, answer) => send(answer, page([])));
    const cloud = await stub((_, answer) =>
      send(answer, '', status, { location: `${elsewhere.url}/api/v2/accounts/` }),
    );
    await refused(
      folder({ 'trueup.yaml': account('A') }),
      ['plan'],
      1,
      new RegExp(`returned ${status}`),
      { env: environment(cloud) },
    );
    expect(elsewhere.asked).toEqual([]);
  });

  it('from an address that is none, or plain http, is not even asked for', async () => {
    const home = folder({ 'trueup.yaml': account('A') });
    for (const url of [
      'not a url',
      'http://api.example.com/api/v2',
      'ftp://example.com',
      'https://canary:secret@example.com/api/v2',
    ])
      expect(
        await refused(home, ['plan'], 1, /TRUEUP_V2_URL/, {
          env: { ...environment({ url: '', asked: [] }), TRUEUP_V2_URL: url },
        }),
      ).not.toContain('canary');
  });
});

/** As fast as it is taken, until it is given up. */
function endless(answer: ServerResponse): void {
  const chunk = Buffer.alloc(MIB, ' ');
  answer.writeHead(200, { 'content-type': 'application/json' });
  const pour = (): void => {
    while (!answer.destroyed && answer.write(chunk));
    if (!answer.destroyed) answer.once('drain', pour);
  };
  pour();
}

/** A folder with a state of three objects, and that state's text. */
async function applied(): Promise<{
  readonly home: Folder;
  readonly state: string;
  readonly text: string;
}> {
  const home = folder({ 'trueup.yaml': small });
  await home.expect(0, ['apply', '--auto-approve']);
  await home.expect(0, ['plan', '--out', 'plan.trueup']);
  return {
    home,
    state: join(home.path, '.trueup/state.json'),
    text: home.read('.trueup/state.json'),
  };
}

const commandsOverState = [
  ['plan'],
  ['apply', '--auto-approve'],
  ['drift'],
  ['state', 'list'],
  ['state', 'rm', 'accounts.field-ops'],
  ['apply', 'plan.trueup'],
  ['destroy', '--auto-approve'],
];

it('links out of the project are left out, with a warning, and links within it are followed', async () => {
  const [home, elsewhere] = [folder(), folder()];
  elsewhere.write('theirs.yaml', account('Theirs'));
  home.write('trueup.yaml', account('HQ'));
  home.write('common/more.yaml', 'accounts:\n  more:\n    name: More\n');
  mkdirSync(join(home.path, 'team'));
  symlinkSync(elsewhere.path, join(home.path, 'outside'));
  symlinkSync('/proc', join(home.path, 'processes'));
  symlinkSync('../common', join(home.path, 'team', 'common'));
  const ran = await home.run(['validate', 'trueup.yaml', 'team']);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  const all = await home.run(['validate', '.']);
  expect(all.stderr).toContain(
    'outside is a link to a folder outside the project, and was left out.',
  );
  expect(all.stderr).toContain(
    'processes is a link to a folder outside the project, and was left out.',
  );
  expect(all.stderr).not.toContain('Theirs');
  modest(all);
});

describe('a state', () => {
  it('cut at every tenth byte is refused with its place', async () => {
    const { home, state, text } = await applied();
    const random = systemRandom();
    const store = fileStore({
      path: state,
      files: diskFiles(random),
      clock: systemClock(),
      random,
      lock: await machine(),
      version: '0.0.0',
    });
    const cuts = Array.from({ length: Math.ceil(text.length / 10) }, (_, index) => index * 10);
    for (const cut of cuts) {
      writeFileSync(state, text.slice(0, cut));
      await expect(store.read(), `${cut}`).rejects.toMatchObject({
        exit: 1,
        diagnostics: [{ code: 'damaged-file', origin: { file: state } }],
      });
    }
    for (const [index, args] of commandsOverState.entries()) {
      writeFileSync(
        state,
        text.slice(0, cuts[Math.floor((index * cuts.length) / commandsOverState.length)]),
      );
      await refused(home, args, 1, /state\.json is damaged at line \d+, column \d+/);
    }
  });

  it('with one character changed, of a newer format, or of another shape is refused', async () => {
    const { home, state, text } = await applied();
    const sealed = (change: (value: Record<string, unknown>) => unknown): string => {
      const { checksum: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
      const body = `${JSON.stringify(change(rest)).slice(1)}\n`;
      return `{\n  "checksum": "${sha256(body)}",\n${body}`;
    };
    writeFileSync(
      state,
      sealed((value) => value),
    );
    await home.expect(0, ['plan']);
    const rows: readonly (readonly [string, RegExp])[] = [
      [text.replace('"Field operations"', '"Field operationz"'), /checksum/],
      [text.replaceAll('\n', '\r\n'), /checksum/],
      [sealed((value) => ({ ...value, format_version: 99 })), /newer trueup/],
      [
        sealed((value) => ({ ...value, resources: { 'accounts.field-ops': { id: '1' } } })),
        /resources\["accounts\.field-ops"\]/,
      ],
      [sealed((value) => ({ ...value, resources: [] })), /resources/],
      [JSON.stringify([1]), /not a state of trueup/],
      ['['.repeat(DEEP), /damaged/],
      ['\u0000'.repeat(1000), /damaged/],
    ];
    for (const [changed, says] of rows) {
      writeFileSync(state, changed);
      await refused(home, ['apply', '--auto-approve'], 1, says);
    }
    writeFileSync(state, Buffer.from([0x7b, 0xff]));
    await refused(home, ['plan'], 1, /state\.json.*UTF-8/);
  });

  it('named by a scheme nobody speaks, or in a place that is a file, is refused', async () => {
    const home = folder({ file: 'x' });
    for (const [where, says] of [
      ['s3:///key', /no host or bucket/],
      ['postgres://user:canary@host/db', /holds a password/],
      ['file/state.json', /file\/state\.json/],
    ] as const) {
      home.write(
        'trueup.yaml',
        `settings: { target: emulator, state: "${where}" }\n${account('A')}`,
      );
      expect(await refused(home, ['plan'], 1, says)).not.toContain('canary');
    }
  });
});

describe('beside the state', () => {
  const lockOf = (more: object): string =>
    JSON.stringify({
      boot_id: null,
      created_at: '2026-01-01T00:00:00.000Z',
      host: 'somewhere.else',
      id: 'lock-1',
      operation: 'apply',
      pid: 1,
      start_time: null,
      ...more,
    });

  it('a journal with a damaged middle stops everything and stays', async () => {
    const { home, state } = await applied();
    const broken = '0123456789abcdef {"type":"begin"}\n0123456789abcdef {"type":"intent"}\n';
    for (const text of [
      broken,
      `${broken}torn`,
      'garbage\n\ngarbage\n\n',
      `${'{'.repeat(DEEP)}\n\n\n`,
    ]) {
      writeFileSync(`${state}.journal`, text);
      for (const args of [['plan'], ['apply', '--auto-approve'], ['state', 'list']])
        await refused(home, args, 1, /state\.json\.journal is damaged at line 1, column 1/);
    }
  });

  it('a journal of another state is refused', async () => {
    const { home, state } = await applied();
    const begin = JSON.stringify({
      at: '2026-01-01T00:00:00.000Z',
      lineage: 'another',
      run: 'r',
      serial: 1,
      target: 'emulator',
      type: 'begin',
    });
    writeFileSync(`${state}.journal`, `${sha256(begin).slice(0, 16)} ${begin}\n`);
    for (const args of [['plan'], ['apply', '--auto-approve']])
      await refused(home, args, 1, /state\.json\.journal belongs to another state/);
  });

  it('a lock of another machine is respected until a person removes it by its id', async () => {
    const { home, state } = await applied();
    writeFileSync(`${state}.lock`, `${lockOf({})}\n`);
    await refused(
      home,
      ['apply', '--auto-approve'],
      4,
      /process 1 on "somewhere\.else".*trueup unlock lock-1/,
    );
    await refused(home, ['unlock', 'lock-2'], 4, /lock-1/);
    modest(await home.expect(0, ['plan']));
    modest(await home.expect(0, ['unlock', 'lock-1']));
    modest(await home.expect(0, ['apply', '--auto-approve']));
  });

  it('a lock that no trueup wrote is respected', async () => {
    const { home, state } = await applied();
    for (const text of [
      '',
      '{}',
      'garbage',
      lockOf({ id: '../../x' }),
      lockOf({ pid: -1 }),
      lockOf({ extra: 1 }),
    ]) {
      writeFileSync(`${state}.lock`, text);
      await refused(
        home,
        ['apply', '--auto-approve'],
        4,
        /state\.json\.lock is not a lock file that trueup wrote/,
      );
    }
  });

  it('data of the emulator that are none stop the run', async () => {
    const home = folder({ 'trueup.yaml': small });
    for (const text of ['', '{', '[]', '{"version":1,"records":{"geese":[]}}', '{"version":2}']) {
      home.write('.trueup/emulator.json', text);
      await refused(home, ['apply', '--auto-approve'], 1, /emulator/);
    }
  });
});

describe('a saved plan', () => {
  const sealed = (text: string, change: (file: Record<string, unknown>) => unknown): string => {
    const { digest: _, ...content } = change(
      JSON.parse(text) as Record<string, unknown>,
    ) as PlanFile;
    return JSON.stringify({ ...content, digest: digest(content) });
  };

  it('that is cut, edited or of another shape is refused, and one that expired is stale', async () => {
    const { home } = await applied();
    const text = home.read('plan.trueup');
    expect(JSON.parse(sealed(text, (file) => file))).toEqual(JSON.parse(text));
    const rows: readonly (readonly [string, number, RegExp])[] = [
      ['', 1, /plan\.trueup is damaged at line 1, column 1/],
      [text.slice(0, text.length / 2), 1, /plan\.trueup is damaged at line \d+, column \d+/],
      [text.replace('"destroy": false', '"destroy": true'), 1, /digest does not fit/],
      [text.replace(/"policy": \[\]/, '"policy": [{}]'), 1, /digest does not fit/],
      [sealed(text, (file) => ({ ...file, plan_file_version: 2 })), 1, /newer trueup/],
      [
        sealed(text, (file) => ({ ...file, options: { ...(file['options'] as object), evil: 1 } })),
        1,
        /options\.evil/,
      ],
      [sealed(text, (file) => ({ ...file, expires_at: '2020-01-01T00:00:00.000Z' })), 6, /expired/],
      [
        sealed(text, (file) => ({
          ...file,
          document: { ...(file['document'] as object), target: 'https://elsewhere.example.com' },
        })),
        6,
        /stale/,
      ],
      ['[]', 1, /not a saved plan/],
      ['{"__proto__": {"plan_file_version": 1}}', 1, /not a saved plan/],
      ['['.repeat(DEEP), 1, /damaged/],
      [`${'['.repeat(DEEP)}${']'.repeat(DEEP)}`, 1, /not a saved plan/],
    ];
    for (const [changed, code, says] of rows) {
      home.write('plan.trueup', changed);
      await refused(home, ['apply', 'plan.trueup'], code, says);
    }
  });
});
