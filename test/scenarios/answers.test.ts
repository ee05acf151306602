// Answers as deployments were seen to give them beside the reference, each through the command and a real socket.
import { afterEach, describe, expect, test } from 'vitest';
import type { Behaviours, Estate } from '../../src/emulator/index.js';
import { box, type Box } from '../support/box.js';
import { folder, type Folder } from '../support/cli.js';

const boxes: Box[] = [];
afterEach(async () => {
  for (const one of boxes.splice(0)) await one.close();
});

const pager = '0de06d30-aa9b-11f0-9b22-116adc8ab9a4';
const estate: Estate = {
  version: 1,
  root: '1',
  users: [{ id: '70', email: 'ada@example.com' }],
  records: {
    accounts: [
      { id: '1', account: null, name: 'Headquarters' },
      { id: '2', account: '1', name: 'Depot' },
    ],
    alert_push_destinations: [
      {
        destination_config_id: pager,
        name: 'Pager',
        enabled: true,
        endpoint: { url: 'https://hooks.example.com/t' },
        suspended: true,
      },
    ],
    account_authorizations: [{ id: '900', user: '70', account: '1', role: 'administrator' }],
    configuration_managers: [{ id: '30', router: '12', account: '1', configuration: [{}, []] }],
  },
};

async function cloud(
  records: Estate['records'] = estate.records,
  behaviours: Partial<Behaviours> = {},
): Promise<Box> {
  const one = await box({ ...estate, records }, behaviours);
  boxes.push(one);
  return one;
}

/** Answers of the cloud, changed on their way by `change`; JSON is read and written around it. */
const changing =
  (
    path: string,
    change: (body: Record<string, unknown>) => unknown,
  ): NonNullable<Box['intercept']> =>
  async (request, proceed) => {
    const answer = await proceed();
    if (request.method !== 'GET' || new URL(request.url).pathname !== path) return answer;
    return Response.json(change((await answer.json()) as Record<string, unknown>), {
      headers: { 'content-type': answer.headers.get('content-type') ?? '' },
    });
  };

/** In one line, as it was before it was broken at the width of the screen. */
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

const project = (text: string): Folder => folder({ 'trueup.yaml': text });

describe('ghost records', () => {
  const managers = project.bind(
    undefined,
    'configuration_managers:\n  depot: { router: "12", suspended: false }\n',
  );
  const ghost = {
    id: '',
    account: 'http://elsewhere.example/api/v2/accounts/None/',
    target: null,
    version_number: 0,
    configuration: null,
    router: null,
  };

  test('are left out with one note, and the plan is made', async () => {
    const there = await cloud();
    there.intercept = changing('/api/v2/configuration_managers/', (body) => ({
      ...body,
      data: [ghost, ...(body['data'] as readonly object[]), ghost],
    }));
    const { stdout, stderr } = await managers().expect(0, ['plan'], there);
    expect(stdout).toContain('1 to adopt');
    expect(stderr.match(/ghost-records/g)).toHaveLength(1);
    expect(stderr).toContain('The listing of configuration_managers holds 2 records without an id');
    expect(there.writes()).toEqual([]);
  });

  test('anything else without an id ends the reading', async () => {
    const there = await cloud();
    there.intercept = changing('/api/v2/configuration_managers/', (body) => ({
      ...body,
      data: [{ ...ghost, version_number: 3 }, ...(body['data'] as readonly object[])],
    }));
    expect((await managers().expect(1, ['plan'], there)).stderr).toContain(
      'holds a record without a valid id',
    );
  });
});

test('a v3 listing may end without links.next, and not without any word of its end', async () => {
  const home = project(
    'account_authorizations:\n  ada: { user: "70", account: "1", role: administrator }\n',
  );
  const there = await cloud();
  const path = '/api/v3/beta/account_authorizations';
  there.intercept = changing(path, ({ data }) => ({ data, links: {} }));
  await home.expect(0, ['plan'], there);
  there.intercept = changing(path, ({ data }) => ({ data }));
  expect(flat((await home.expect(1, ['plan'], there)).stderr)).toContain(
    'does not say under links.next or meta.pagination.after whether more follows',
  );
});

test('a refusal keeps its words, whatever its shape', async () => {
  const home = project('accounts:\n  depot: { name: New depot, account: "1" }\n');
  const there = await cloud();
  const page =
    '<html><head><title>No</title><style>p { color: red }</style></head><body><p>Names are\u202e <b>limited</b> &amp; counted.</p></body></html>';
  there.intercept = async (request, proceed) =>
    request.method === 'POST'
      ? new Response(page, { status: 403, headers: { 'content-type': 'text/html' } })
      : proceed();
  expect((await home.expect(1, ['apply', '--auto-approve'], there)).stderr).toContain(
    'returned 403: Names are limited & counted.',
  );
  there.intercept = async (request, proceed) =>
    request.method === 'POST'
      ? Response.json({ errors: { name: ['is taken'] } }, { status: 400 })
      : proceed();
  expect((await home.expect(1, ['apply', '--auto-approve'], there)).stderr).toContain(
    'returned 400: name: is taken',
  );
});

describe('a suspended destination', () => {
  const declared = (suspended: string): Folder =>
    project(
      `alert_push_destinations:\n  pager: { name: Pager, enabled: true, endpoint: { url: https://hooks.example.com/t }${suspended} }\n`,
    );

  test('is resumed where that is declared, by nothing but that', async () => {
    const { env, writes, objects } = await cloud();
    const home = declared(', suspended: false');
    const [planned] = (
      JSON.parse(
        (await home.expect(0, ['plan', '--format', 'json', '--allow', 'first-run'], { env }))
          .stdout,
      ) as { resource_changes: { requests: object[] }[] }
    ).resource_changes;
    expect(planned?.requests).toEqual([
      {
        method: 'PATCH',
        path: `/api/v2/alert_push_destinations/${pager}/`,
        body: { suspended: false },
      },
    ]);
    await home.expect(0, ['apply', '--auto-approve', '--allow', 'first-run'], { env });
    expect(writes()).toEqual([`PATCH /api/v2/alert_push_destinations/${pager}/`]);
    expect(objects('alert_push_destinations')[0]).toMatchObject({ suspended: false });
    await home.expect(0, ['plan', '--detailed-exitcode'], { env });
  });

  test('stays as it is where nothing is declared', async () => {
    const { env, writes } = await cloud();
    await declared('').expect(0, ['apply', '--auto-approve'], { env });
    expect(writes()).toEqual([]);
  });

  test('is made without a word on it', async () => {
    const { env, objects } = await cloud({ ...estate.records, alert_push_destinations: [] });
    const home = declared(', suspended: false');
    await home.expect(0, ['apply', '--auto-approve'], { env });
    expect(objects('alert_push_destinations')).toHaveLength(1);
    await home.expect(0, ['plan', '--detailed-exitcode'], { env });
  });

  test.each([
    ['', '    suspended: true'],
    ['variables: { wanted: true }\n', '    suspended: "${var.wanted}"'],
  ])('cannot be declared: %s%s', async (before, line) => {
    const { stderr } = await project(
      `${before}alert_push_destinations:\n  pager:\n    name: Pager\n${line}\n`,
    ).expect(1, ['validate']);
    expect(stderr).toContain(
      '`suspended`: only false can be declared; the service sets true by itself',
    );
    expect(stderr).toContain('[only-false]');
  });

  test('is exported without it, and found by it', async () => {
    const { env } = await cloud();
    const home = project('lookups:\n  down: { alert_push_destinations: { suspended: true } }\n');
    await home.expect(0, ['validate']);
    await home.expect(0, ['export', '--out', 'live'], { env });
    expect(home.read('live/alert_push_destinations.yaml')).not.toContain('suspended');
  });
});

describe('doctor', () => {
  test('proves each address by a listing of one record', async () => {
    const there = await cloud();
    const asked: string[] = [];
    there.intercept = async (request, proceed) => {
      const { pathname, search } = new URL(request.url);
      asked.push(`${request.method} ${pathname}${decodeURIComponent(search)}`);
      return proceed();
    };
    const { stdout } = await folder().expect(0, ['doctor'], there);
    expect(stdout).toMatch(/ok +v2 responds[^]*ok +v3 responds/);
    expect(asked).toEqual([
      'GET /api/v2/accounts/?limit=1',
      'GET /api/v3/beta/account_authorizations?page[size]=1',
    ]);
  });

  test.each([
    ['TRUEUP_V3_URL', '/wrong', /BAD +v3 responds/],
    ['TRUEUP_V3_URL', '/api/v2', /BAD +v3 responds/],
    ['TRUEUP_V2_URL', '/api/v3', /BAD +v2 responds/],
    ['TRUEUP_V2_URL', '', /BAD +v2 responds/],
  ])('passes no wrong %s: %s', async (name, path, words) => {
    const { env } = await cloud();
    const wrong = `${new URL(env[name] as string).origin}${path}`;
    expect(
      (await folder().expect(1, ['doctor'], { env: { ...env, [name]: wrong } })).stdout,
    ).toMatch(words);
  });

  test.each([
    ['an empty page of another service', { data: [] }],
    ['a list', []],
    ['errors', { data: [], meta: { next: null }, errors: [{ detail: 'no' }] }],
  ])('takes %s for no answer', async (_, body) => {
    const there = await cloud();
    there.intercept = async () => Response.json(body);
    expect((await folder().expect(1, ['doctor'], there)).stdout).toMatch(/BAD +v2 responds/);
  });
});

test.each(['', '/', '/api/v3', '/api/v3/'])('a v3 address may end in %j', async (end) => {
  const { env } = await cloud();
  const home = project(
    'account_authorizations:\n  ada: { user: "70", account: "1", role: administrator }\n',
  );
  await home.expect(0, ['apply', '--auto-approve'], {
    env: { ...env, TRUEUP_V3_URL: `${env['TRUEUP_V3_URL']}${end}` },
  });
  await home.expect(0, ['plan', '--detailed-exitcode'], { env });
});

describe('names of the v2 headers', () => {
  const accounts = 'accounts:\n  hq: { name: Headquarters, lifecycle: { adopt: "1" } }\n';
  const mapping = (names: object): Readonly<Record<string, string>> => ({
    TRUEUP_V2_HEADERS: JSON.stringify(names),
  });

  test('come from the environment, and from the settings before that, each by itself', async () => {
    const there = await cloud();
    const seen: string[] = [];
    there.intercept = async (request) => {
      seen.push([...request.headers.keys()].filter((name) => name.startsWith('x-')).join(' '));
      return Response.json({
        data: [{ id: '1', name: 'Headquarters', account: null }],
        meta: { next: null },
      });
    };
    const env = {
      ...there.env,
      ...mapping({ 'X-MGR-API-ID': 'X-Env-Id', 'X-VND-API-KEY': 'X-Env-Key' }),
    };
    const home = project(`settings: { v2_headers: { X-MGR-API-ID: X-Set-Id } }\n${accounts}`);
    await home.expect(0, ['plan'], { env });
    await project(accounts).expect(0, ['plan'], { env });
    expect(seen).toEqual([
      'x-env-key x-mgr-api-key x-set-id x-vnd-api-id',
      'x-env-id x-env-key x-mgr-api-key x-vnd-api-id',
    ]);
    expect(flat((await home.run(['doctor'], { env })).stdout)).toContain(
      'X-MGR-API-ID is called X-Set-Id, X-VND-API-KEY is called X-Env-Key',
    );
  });

  test.each([
    ['{"X-MGR-API-ID"', /TRUEUP_V2_HEADERS is not a JSON object/],
    ['["X-MGR-API-ID"]', /TRUEUP_V2_HEADERS is not a JSON object/],
    ['hunter2', /TRUEUP_V2_HEADERS is not a JSON object/],
    ['{"X-MGR-API-IDD":"X-Our-Id"}', /names "X-MGR-API-IDD", which is none of the v2 headers/],
    ['{"__proto__":"X-Our-Id","constructor":"x"}', /names "constructor", which is none/],
    ['{"X-MGR-API-ID":7}', /gives X-MGR-API-ID something that is not a string/],
    ['{"X-MGR-API-ID":""}', /X-MGR-API-ID of TRUEUP_V2_HEADERS is not a valid header name/],
    ['{"X-MGR-API-ID":"X Our Id"}', /X-MGR-API-ID of TRUEUP_V2_HEADERS is not a valid header name/],
    ['{"X-MGR-API-ID":"x-mgr-api-key"}', /two of the v2 headers are called x-mgr-api-key/],
  ])('%s is refused, says what to type, and is not repeated', async (text, words) => {
    const there = await cloud();
    const env = { ...there.env, TRUEUP_V2_HEADERS: text };
    const { stderr } = await project(accounts).expect(1, ['plan'], { env });
    expect(flat(stderr)).toMatch(words);
    expect(flat(stderr)).toMatch(
      /as in: TRUEUP_V2_HEADERS='\{"X-MGR-API-ID":"X-Our-Manager-Id"\}'|Give each a name|A name holds/,
    );
    expect(stderr).not.toContain('hunter2');
    expect(flat((await project(accounts).expect(1, ['doctor'], { env })).stdout)).toMatch(
      /BAD TRUEUP_V2_HEADERS/,
    );
    expect(there.writes()).toEqual([]);
  });
});

describe('v3 ids of accounts may be another id space', () => {
  const wanting = (account: string): Folder =>
    project(
      `account_authorizations:\n  ada: { user: "70", account: "${account}", role: administrator }\n`,
    );
  const shown = async (accounts: readonly string[]): Promise<Box> =>
    cloud({
      ...estate.records,
      account_authorizations: accounts.map((account, index) => ({
        id: `${900 + index}`,
        user: '70',
        account,
        role: 'administrator',
      })),
    });

  test.each<[readonly string[], string, RegExp]>([
    [
      ['1'],
      '2',
      /No authorization that the v3 API shows is of account 2, only of 1\. If user 70 has no role there, authorise the user in the service first, then plan again\. Otherwise, v3 may know the account by another id than v2: declare the id that v3 shows beside user 70\./,
    ],
    [['1', '2'], '3', /only of 1, 2\./],
    [
      [],
      '2',
      /No authorization that the v3 API shows is of user 70\. Invite or authorise the user in the service first, then plan again\./,
    ],
  ])('with %j live, account %s gets a message about it', async (live, account, words) => {
    const stderr = flat((await wanting(account).expect(1, ['plan'], await shown(live))).stderr);
    expect(stderr).toContain('[cannot-create]');
    expect(stderr).toMatch(words);
    expect(stderr).toContain('List what is live: trueup get account_authorizations -o json');
  });

  test('a user without any authorization gets none', async () => {
    const stderr = flat(
      (
        await project(
          'account_authorizations:\n  bob: { user: "71", account: "2", role: administrator }\n',
        ).expect(1, ['plan'], await shown(['1']))
      ).stderr,
    );
    expect(stderr).toContain('No authorization that the v3 API shows is of user 71.');
    expect(stderr).not.toContain('id space');
  });

  test('an audit says where no listing of accounts holds what v3 names', async () => {
    const there = await shown(['1']);
    there.intercept = changing(
      '/api/v3/beta/account_authorizations',
      (body) =>
        JSON.parse(
          JSON.stringify(body).replaceAll(
            '"type":"accounts","id":"1"',
            '"type":"accounts","id":"a-77"',
          ),
        ) as object,
    );
    const { stdout, stderr } = await wanting('a-77').expect(0, ['drift'], there);
    expect(flat(stdout + stderr)).toContain(
      'The service shows authorizations of accounts that no listing of accounts holds: a-77.',
    );
    expect(flat(stdout + stderr)).toContain(
      'v3 ids of accounts may be another id space than v2 ids',
    );
    there.intercept = undefined;
    expect(flat((await wanting('1').expect(0, ['drift'], there)).stderr)).not.toContain('id space');
  });
});
