// `trueup get` of everything that can be listed, through the built command against an emulator of its own process.
import { EventEmitter } from 'node:events';
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import { yamlText } from '../../src/cli/yaml-output.js';
import { columned, csvRow } from '../../src/cli/tables.js';
import { outlet } from '../../src/cli/terminal.js';
import { timeFrom } from '../../src/cli/time-arguments.js';
import { Refusal } from '../../src/model/index.js';
import { TRUEUP } from '../support/command.js';
import { atTerminal, emulator, folder } from '../support/cli.js';

const uuid = (index: number): string =>
  `${index.toString(16).padStart(8, '0')}-aaaa-11f0-8000-000000000001`;
const hours = (count: number): string => new Date(Date.now() - count * 3_600_000).toISOString();
const hostile = '\u001b[31mred\u202e, "##[group]x"\n=1';
const alerts = [
  {
    created_at_timeuuid: uuid(1),
    created_at: hours(240),
    detected_at: hours(240),
    type: 'account_locked',
    account: '1',
    router: null,
    friendly_info: 'old',
    info: { deep: [1] },
  },
  {
    created_at_timeuuid: uuid(2),
    created_at: hours(30),
    detected_at: hours(30),
    type: 'not_known_yet',
    account: null,
    router: '5',
    friendly_info: hostile,
    info: {},
  },
  {
    created_at_timeuuid: uuid(3),
    created_at: hours(1),
    detected_at: hours(1),
    type: 'account_locked',
    account: null,
    router: '6',
    friendly_info: '=cmd()',
    info: {},
  },
];
const estate = {
  version: 1,
  root: '1',
  records: {
    accounts: [
      { id: '1', account: null, name: 'Headquarters' },
      { id: '2', account: '1', name: 'North' },
    ],
    alert_push_destinations: [
      {
        destination_config_id: uuid(9),
        name: 'Pager',
        endpoint: { url: 'https://hooks.example.com/t' },
        authentication: { secret: 'x' },
      },
    ],
    alerts,
    audit_logs: [
      {
        account_id: '1',
        reported_at: hours(2),
        reported_at_timeuuid: uuid(4),
        ['=evil,\u001b[1m']: 1,
      },
      { account_id: '2', reported_at: hours(1), reported_at_timeuuid: uuid(5), late: { one: 1 } },
    ],
    batteries: [
      { id: '71', router: '5', status: 'charging', rsoc: 81, milliamps: -480 },
      { id: '72', router: '6', status: 'low', rsoc: 9 },
    ],
    asset_endpoints: [
      {
        id: '81',
        hardware_series: 'E100',
        mac_address: '0030440000AA',
        serial_number: 'SN1',
        tenants: '1',
        subscriptions: ['91', '92'],
      },
      {
        id: '82',
        hardware_series: 'E300',
        mac_address: '0030440000AB',
        serial_number: 'SN2',
        tenants: '1',
        subscriptions: [],
      },
    ],
  },
  activity_logs: [
    {
      account: '1',
      action: {
        id: uuid(6),
        timestamp: hours(3),
        type: 3,
        type_name: 'update',
        before: { role: 'no_access' },
        after: { role: 'administrator' },
      },
      actor: { id: '70', email: 'ada@example.com', type: 2, type_name: 'sso_user' },
      object: { id: '900', type: 12, type_name: 'authorization' },
    },
  ],
};

async function cloud(seed: object = estate, args: readonly string[] = []) {
  const home = folder({ 'estate.json': JSON.stringify(seed) });
  const { env } = await emulator(home, ['--seed', 'estate.json', ...args]);
  const out = async (...words: string[]): Promise<string> =>
    (await home.expect(0, ['get', ...words], { env })).stdout;
  const refused = async (...words: string[]): Promise<string> => {
    const { stdout, stderr } = await home.expect(1, ['get', ...words], { env });
    expect([stdout, stderr.includes('    at ')]).toEqual(['', false]);
    return stderr.replace(/\s+/g, ' ');
  };
  const lines = async (...words: string[]): Promise<Record<string, unknown>[]> =>
    (await out(...words, '-o', 'ndjson'))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { home, env, out, refused, lines };
}

describe('forms', () => {
  test('a table holds the columns people care for, wide every attribute', async () => {
    const { out } = await cloud();
    const [head = '', first = '', second = ''] = (await out('alerts')).split('\n');
    expect(head).toMatch(/^CREATED_AT +TYPE +ACCOUNT +ROUTER +FRIENDLY_INFO$/);
    expect(first).toMatch(/account_locked +1 +old$/);
    expect(second).toContain('\\u001b[31mred\\u202e');
    expect((await out('alerts', '-o', 'wide')).split('\n')[0]).toMatch(
      /^CREATED_AT_TIMEUUID +CREATED_AT +TYPE .* DETECTED_AT +INFO$/,
    );
    expect(await out('activity_logs')).toMatch(
      /^ACTION\.TIMESTAMP +ACTION\.TYPE_NAME .*\n\S+ +update +sso_user +ada@example\.com +70 +authorization +900\n$/,
    );
    expect(await out('asset_endpoints')).toMatch(/\n81 +E100 +0030440000AA +SN1 +1 +91 92\n/);
    expect(await out('alert_push_destinations')).toMatch(
      /^DESTINATION_CONFIG_ID +NAME +ENABLED +ENDPOINT\.URL .*\n.*https:\/\/hooks\.example\.com\/t/,
    );
  });

  test('json is one array, ndjson a record a line, yaml a sequence: each with the records as the API gives them', async () => {
    const { out, lines, env } = await cloud();
    const text = await out('alerts', '-o', 'json');
    const records = JSON.parse(text) as Record<string, unknown>[];
    expect(text).not.toMatch(/[\u001b\u202e]|##\[/);
    expect(records).toEqual(
      alerts.map((one) => ({
        ...one,
        account: one.account && `${env['TRUEUP_V2_URL']}/accounts/1/`,
        router: one.router && `${env['TRUEUP_V2_URL']}/routers/${one.router}/`,
      })),
    );
    expect(await lines('alerts')).toEqual(records);
    expect(parseYaml(await out('alerts', '-o', 'yaml'))).toEqual(records);
    expect(await lines('audit_logs')).toEqual(estate.records.audit_logs);
  });

  describe('a label', () => {
    const rule = {
      alert_config_id: uuid(7),
      associated_accounts: [2],
      filter_criteria: { alert_type__in: ['cpu_utilization'] },
      http_destinations: [uuid(9)],
    };
    const role = { id: '900', user: '70', account: '2', role: 'administrator' };
    const seed = {
      ...estate,
      records: { ...estate.records, alert_rules: [rule], account_authorizations: [role] },
      users: [{ id: '70', email: 'ada@example.com' }],
    };

    test('has the names that the service shows', async () => {
      const { home, out } = await cloud(seed);
      expect(await out('alert_rules')).toContain('North: cpu_utilization → Pager');
      expect(await out('alert_rules', uuid(7))).toContain('North: cpu_utilization → Pager');
      expect(await out('account_authorizations')).toContain('user 70 on North');
      home.write('trueup.yaml', 'settings: { kinds: [users] }\n');
      expect(await out('account_authorizations')).toContain('ada@example.com on North');
    });

    test('has ids for what the service does not show', async () => {
      const { out } = await cloud(seed, ['--fault', 'status=403,path=accounts']);
      expect(await out('alert_rules')).toContain('account 2: cpu_utilization → Pager');
    });
  });

  test('a cell begins no formula, in whatever column', async () => {
    const { out, home, env } = await cloud();
    const rows = (await out('alerts', '-o', 'csv')).split('\r\n');
    expect(rows[0]).toBe(
      'created_at_timeuuid,created_at,type,account,router,friendly_info,detected_at,info',
    );
    expect(rows[3]).toContain(",'=cmd(),");
    expect(rows.join('')).not.toMatch(/[\u001b\u202e\n]/);
    expect(await out('batteries', '--filter', 'router=5', '-o', 'csv')).toContain(',-480,');
    const logs = await home.expect(0, ['get', 'audit_logs', '-o', 'csv'], { env });
    expect(logs.stdout.split('\r\n')[0]).toBe(
      'account_id,reported_at,reported_at_timeuuid,"\'=evil,\\u001b[1m",late',
    );
  });

  test('fields that come later than the columns are told of', async () => {
    const audit_logs = [
      ...Array.from({ length: 500 }, (_, index) => ({ n: index })),
      { n: 500, late: 1 },
    ];
    const { home, env, out } = await cloud({
      ...estate,
      records: { ...estate.records, audit_logs },
    });
    expect((await home.expect(0, ['get', 'audit_logs', '-o', 'csv'], { env })).stderr).toContain(
      'late',
    );
    expect(await out('audit_logs', '-o', 'ndjson')).toContain('"late":1');
  });

  test('nothing is an empty list of its form, and words on stderr', async () => {
    const { home, env, out } = await cloud();
    const none = ['alerts', '--filter', 'type=none'];
    const { stdout, stderr } = await home.expect(0, ['get', ...none], { env });
    expect([stdout, stderr]).toEqual(['', 'No alerts.\n']);
    expect(await out(...none, '-o', 'json')).toBe('[]\n');
    expect(parseYaml(await out(...none, '-o', 'yaml'))).toEqual([]);
    expect(await out(...none, '-o', 'ndjson')).toBe('');
    expect(await out(...none, '-o', 'csv')).toMatch(/^created_at_timeuuid,[\w,]+\r\n$/);
  });

  test('text of megabytes is shown at the width of a column, and written whole', async () => {
    const friendly_info = 'é'.repeat(5_000_000);
    const { out, lines } = await cloud({
      ...estate,
      records: { ...estate.records, alerts: [{ ...alerts[0], friendly_info }] },
    });
    expect((await out('alerts')).length).toBeLessThan(500);
    expect((await lines('alerts'))[0]?.['friendly_info']).toBe(friendly_info);
  });
});

describe('what a CI log and a terminal make of it', () => {
  const command = '::error::x';
  const spoiled = {
    ...estate,
    records: {
      ...estate.records,
      accounts: [{ id: '1', account: null, name: 'Headquarters' }],
      alerts: [
        {
          ...alerts[0],
          created_at: command,
          friendly_info: `${'long '.repeat(20)}\n  ${command}\n${command}`,
        },
      ],
      audit_logs: [
        {
          [command]: command,
          ['a\u0007b']: ' ::x',
          [`${command}\n${command}`]: [{ [command]: `\n${command}` }],
        },
      ],
    },
  };

  test('no line begins with a command, and what is data reads back', async () => {
    const { out } = await cloud(spoiled);
    for (const name of ['alerts', 'audit_logs'])
      for (const form of ['table', 'wide', 'csv', 'yaml', 'json', 'ndjson'])
        expect(await out(name, '-o', form), `${name} ${form}`).not.toMatch(/^\s*::/m);
    expect(await out('audit_logs', '-o', 'csv')).toContain(`"${command}"`);
    expect(parseYaml(await out('audit_logs', '-o', 'yaml'))).toEqual(spoiled.records.audit_logs);
    expect(parseYaml(await out('alerts', '-o', 'yaml'))).toMatchObject([
      { friendly_info: spoiled.records.alerts[0]?.friendly_info },
    ]);
    expect(await out('batteries', '--filter', 'router=5', '-o', 'yaml')).toContain('\n  router: ');
  });

  test('a table on a terminal is as wide as that; elsewhere, and where all is asked for, as wide as it gets', async () => {
    const records = {
      accounts: [{ id: '1', account: null, name: 'Headquarters' }],
      alert_rules: [
        {
          alert_config_id: uuid(1),
          associated_accounts: Array.from({ length: 20 }, (_, index) => 1000 + index),
          filter_criteria: { alert_type__in: ['account_locked'] },
        },
      ],
      alert_push_destinations: [
        {
          destination_config_id: uuid(9),
          name: 'n'.repeat(59),
          enabled: true,
          endpoint: { url: `https://hooks.example.com/${'t'.repeat(60)}` },
        },
      ],
    };
    const { home, env, out } = await cloud({ version: 1, root: '1', records });
    for (const name of ['alert_rules', 'alert_push_destinations']) {
      const widths = (text: string): number =>
        Math.max(...text.split('\n').map((line) => line.length));
      const { screen } = atTerminal(home, ['get', name], { env });
      const shown = screen.slice(screen.lastIndexOf('\u001b[2K') + 1).replace('[2K', '');
      expect(shown).toContain(name === 'alert_rules' ? uuid(1) : uuid(9));
      expect(shown).toContain('…');
      expect(widths(shown)).toBeLessThanOrEqual(80);
      expect(widths(await out(name))).toBeGreaterThan(100);
      expect(widths(atTerminal(home, ['get', name, '-o', 'wide'], { env }).screen)).toBeGreaterThan(
        100,
      );
    }
  });
});

describe('what is asked', () => {
  const answered: readonly (readonly [readonly string[], readonly string[]])[] = [
    [
      ['alerts', '--filter', 'type=account_locked'],
      [uuid(1), uuid(3)],
    ],
    [['alerts', '--filter', 'router=5'], [uuid(2)]],
    [['alerts', uuid(3)], [uuid(3)]],
    [
      ['alerts', '--since', '2d'],
      [uuid(2), uuid(3)],
    ],
    [
      ['alerts', '--since', '2w', '--until', '24h'],
      [uuid(1), uuid(2)],
    ],
    [
      ['alerts', '--since', '2w', '--limit', '2'],
      [uuid(1), uuid(2)],
    ],
    [['batteries', '--filter', 'router=6'], ['72']],
    [['asset_endpoints', '--filter', 'serial_number=SN2'], ['82']],
    [['asset_endpoints', '--filter', 'filter[subscription]=92'], ['81']],
    [['audit_logs', '--filter', `reported_at_timeuuid_in=${uuid(5)},${uuid(8)}`], [uuid(5)]],
    [['audit_logs', '--until', '90m'], [uuid(4)]],
    [['activity_logs', '--filter', 'actor__type=sso_user', '--since', '1d'], [uuid(6)]],
    [['activity_logs', uuid(6)], [uuid(6)]],
    [['activity_logs', '--until', '5h'], []],
  ];
  test('filters, times, limits and identifiers choose', async () => {
    const { lines } = await cloud();
    const id = (one: Record<string, unknown>): unknown =>
      one['created_at_timeuuid'] ??
      one['reported_at_timeuuid'] ??
      (one['action'] as { id?: string } | undefined)?.id ??
      one['id'];
    for (const [words, wanted] of answered)
      expect([words, (await lines(...words)).map(id)]).toEqual([words, wanted]);
  });

  test('references come as what they point at', async () => {
    const { lines } = await cloud();
    expect((await lines('accounts', '--expand', 'account', '--filter', 'id=2'))[0]).toMatchObject({
      account: { id: '1', name: 'Headquarters' },
    });
    const [first] = await lines('asset_endpoints', '--expand', 'tenants,subscriptions');
    expect(first?.['relationships']).toMatchObject({
      tenants: { data: { id: '1', attributes: {} } },
      subscriptions: { data: [{ id: '91', attributes: {} }, { id: '92' }] },
    });
  });

  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['batteries'], /name one.*trueup get batteries --filter router=/],
    [['batteries', '71'], /cannot be read by an ID/],
    [['asset_endpoints', '81'], /cannot be read by an ID/],
    [['asset_endpoints', '--filter', 'mac_adress=x'], /Did you mean `mac_address`/],
    [['alerts', '--filter', 'typ=x'], /Did you mean `type`/],
    [['alert', '-o', 'json'], /Did you mean `alerts`/],
    [['accounts', '--since', '7d'], /have no times/],
    [['alerts', '--since', 'yesterday'], /--since takes a time/],
    [['alerts', '--since', '1h', '--until', '2h'], /later than --until/],
    [['alerts', uuid(1), '--since', '1h'], /cannot be used with an ID/],
    [['alerts', '--limit', '0'], /--limit takes/],
    [['alerts', '--expand', 'account'], /cannot expand "account"/],
    [
      ['activity_logs', '--since', '1h', '--filter', 'action__timestamp__gte=2026-01-01T00:00:00Z'],
      /says the same/,
    ],
    [['alerts', uuid(7)], /no alert with the id/],
    [['account_authorizations', '..'], /"\.\." is not an identifier/],
    [['account_authorizations', ''], /an argument is empty/],
    [['access', '7'], /access takes no ID: the review covers all users/],
  ];
  test('what a collection cannot be asked is refused, with what it can be', async () => {
    const { refused } = await cloud();
    for (const [words, why] of wrong) expect(await refused(...words), words.join(' ')).toMatch(why);
  });
});

describe('very many', () => {
  const many = {
    ...estate,
    records: {
      ...estate.records,
      alerts: Array.from({ length: 20_000 }, (_, index) => ({
        ...alerts[0],
        created_at_timeuuid: uuid(index),
        friendly_info: 'x'.repeat(1000),
      })),
    },
  };

  test.each([
    ['ndjson', /^\{/gm],
    ['json', /^ {2}\{/gm],
    ['csv', /^[0-9a-f]{8}-aaaa/gm],
    ['table', /account_locked/g],
  ])('are not gathered: 30 MB of records go through a heap of 40 as %s', async (form, record) => {
    const { home, env } = await cloud(many);
    const { stdout } = await home.expect(0, ['get', 'alerts', '-o', form], {
      env: { ...env, NODE_OPTIONS: '--max-old-space-size=40' },
    });
    expect(stdout.match(record)?.length).toBe(20_000);
  });

  test('stop being read once there are enough, or nobody reads', async () => {
    const { home, env } = await cloud(many);
    const requests = (stderr: string): number => (stderr.match(/^GET .*\/alerts\//gm) ?? []).length;
    const few = await home.expect(0, ['get', 'alerts', '--limit', '600', '-o', 'ndjson'], {
      env: { ...env, TRUEUP_LOG: 'debug' },
    });
    expect(few.stdout.trim().split('\n')).toHaveLength(600);
    expect(requests(few.stderr)).toBeLessThanOrEqual(4);
    const script = `${process.execPath} ${TRUEUP} get alerts -o ndjson | head -n 1 > /dev/null; exit \${PIPESTATUS[0]}`;
    const gone = spawnSync('bash', ['-c', script], {
      cwd: home.path,
      env: { ...process.env, ...env, TRUEUP_LOG: 'debug' },
      encoding: 'utf8',
    });
    expect(gone.status).toBe(0);
    expect(requests(gone.stderr)).toBeLessThan(20);
  });

  test('are counted on the terminal while they come', async () => {
    const { home, env } = await cloud(many);
    const { code, screen } = atTerminal(home, ['get', 'alerts', '--limit', '600'], { env });
    expect(code).toBe(0);
    expect(screen).toContain('reading alerts 500');
  });

  test('end with an error where a page is missing, and are then no valid JSON', async () => {
    const { home, env } = await cloud(many, ['--fault', 'status=404,path=offset=5000']);
    const { stdout, stderr } = await home.expect(1, ['get', 'alerts', '-o', 'json'], { env });
    expect(stderr).toContain('404');
    expect(() => JSON.parse(stdout)).toThrow(SyntaxError);
  });
});

describe('pieces', () => {
  class Slow extends EventEmitter {
    readonly written: string[] = [];
    full = false;
    write(text: string): boolean {
      this.written.push(text);
      return !this.full;
    }
  }
  const slow = () => {
    const stream = new Slow();
    return { stream, out: outlet(stream as unknown as NodeJS.WriteStream, {}) };
  };

  test('a stream that is full is waited for, one that is gone is not', async () => {
    const { stream, out } = slow();
    expect(await out.feed('a')).toBe(true);
    stream.full = true;
    let fed = false;
    const feeding = out.feed('b').then((still) => ((fed = true), still));
    await Promise.resolve();
    await Promise.resolve();
    expect(fed).toBe(false);
    stream.emit('drain');
    expect(await feeding).toBe(true);
    const last = out.feed('c');
    stream.emit('error', Object.assign(new Error('gone'), { code: 'EPIPE' }));
    expect(await last).toBe(false);
    expect(await out.feed('d')).toBe(false);
    expect(stream.written).toEqual(['a', 'b', 'c']);
    expect(stream.listenerCount('drain')).toBe(0);
  });

  test('later rows keep to the columns of the first ones', () => {
    const lines = columned(['id', 'name', 'last'], [['1', 'abc', 'x']]);
    expect(
      lines.head +
        lines.rows([['1', 'abc', 'x']]) +
        lines.rows([['12', 'a name too long', 'a last one that is long']]),
    ).toBe('ID  NAME  LAST\n1   abc   x\n12  a n…  a last one that is long\n');
  });

  test('columns give way where there is little room, the widest first and the kept one never', () => {
    const rows = [['id-of-twenty-letters', 'x'.repeat(40), 'y'.repeat(12)]];
    const { head, rows: written } = columned(['id', 'first', 'last'], rows, {
      columns: 50,
      kept: [0],
    });
    expect(head + written(rows)).toBe(
      `ID${' '.repeat(20)}FIRST${' '.repeat(11)}LAST\nid-of-twenty-letters  ${'x'.repeat(13)}…  ${'y'.repeat(12)}\n`,
    );
    const narrow = columned(['id', 'first', 'last'], rows, { columns: 30, kept: [0] });
    expect(narrow.rows(rows)).toBe(`id-of-twenty-letters  ${'x'.repeat(7)}…\n`);
    const two = columned(['id', 'last', 'label'], rows, { columns: 64, kept: [0, 1] });
    expect(two.rows(rows)).toBe(`id-of-twenty-letters  ${'x'.repeat(40)}\n`);
    const second = columned(['id', 'label', 'last'], rows, { columns: 40, kept: [0, 1] });
    expect(second.rows(rows)).toBe(`id-of-twenty-letters  ${'x'.repeat(17)}…\n`);
  });

  const piece = fc.string({
    unit: fc.constantFrom(
      '::error::x',
      '\n',
      ' ',
      '\r',
      '\u0007',
      '\u202e',
      '##[group]',
      '-',
      '?',
      '#',
      ': ',
      'long words '.repeat(60),
    ),
    maxLength: 6,
  });
  test('YAML reads back equal, and no line of it is a command', () => {
    for (const harmful of [{ '::error::x': 1 }, { 'a\u0007b': 1 }, { 'a\u202eb': 1 }])
      expect(parseYaml(yamlText([harmful]))).toEqual([harmful]);
    expect(yamlText([{ a: 1, '::error::x': 1 }])).toBe('- "a": 1\n  "::error::x": 1\n');
    fc.assert(
      fc.property(
        fc.array(
          fc.dictionary(piece, fc.oneof(piece, fc.array(piece), fc.dictionary(piece, piece))),
        ),
        (records) => {
          const text = yamlText(records);
          expect(text).not.toMatch(/^\s*::|##\[|[\r\u0007\u202e]/m);
          expect(parseYaml(text)).toEqual(records.map((record) => ({ ...record })));
        },
      ),
    );
  });

  test('a row of a spreadsheet', () => {
    expect(csvRow(['::error::x', 'a::b'])).toBe('"::error::x",a::b\r\n');
    expect(csvRow(['a,b', '"', ' x', '@x', '\t=1', -1, ''])).toBe(
      '"a,b",""""," x",\'@x,\'\\t=1,-1,\r\n',
    );
  });

  const now = Date.parse('2026-03-10T12:00:00.000Z');
  test.each([
    ['30m', '2026-03-10T11:30:00.000Z'],
    ['24h', '2026-03-09T12:00:00.000Z'],
    ['7d', '2026-03-03T12:00:00.000Z'],
    ['2w', '2026-02-24T12:00:00.000Z'],
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T10:00', '2026-03-01T10:00:00.000Z'],
    ['2026-03-01T10:00:00.123456Z', '2026-03-01T10:00:00.123Z'],
    ['2026-03-01T10:00:00+02:00', '2026-03-01T08:00:00.000Z'],
  ])('%s is %s', (text, wanted) => expect(timeFrom('--since', text, now)).toBe(wanted));

  test.each([
    '',
    '7',
    '7y',
    '-7d',
    '2026-02-30',
    '2026-13-01',
    '2026-03-01T25:00:00Z',
    '2026-03-01 10:00',
    'now',
    '999999999w',
    '1969-01-01',
  ])('%j is not a time', (text) => expect(() => timeFrom('--since', text, now)).toThrow(Refusal));
});

describe('a service that ignores filters', () => {
  test('is told once, with the records as they came', async () => {
    const { home, env } = await cloud(estate, ['--behaviour', 'ignored-filters']);
    const { stdout, stderr } = await home.expect(
      0,
      ['get', 'accounts', '--filter', 'name=north', '-o', 'ndjson'],
      { env },
    );
    expect(stdout.split('\n')).toHaveLength(3);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      '1 of 2 accounts do not match --filter name=north. [filter-ignored] The service ignored the filter',
    );
  });

  test.each([
    ['accounts', 'account__in=1', true],
    ['accounts', 'name=North', true],
    ['accounts', 'name__in=Headquarters,North', false],
  ])('get %s --filter %s: told is %s', async (kind, filter, told) => {
    const { home, env } = await cloud(estate, ['--behaviour', 'ignored-filters']);
    const { stderr } = await home.expect(0, ['get', kind, '--filter', filter], { env });
    expect(stderr.includes('do not match')).toBe(told);
  });

  test('is not suspected where it obeys', async () => {
    const { home, env } = await cloud();
    for (const filter of ['name=North', 'account=1', 'account__in=1,2', 'name__in=North,South'])
      expect((await home.expect(0, ['get', 'accounts', '--filter', filter], { env })).stderr).toBe(
        '',
      );
  });
});
