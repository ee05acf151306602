// The IoT platform and the sample flow from the command line: what is read, what is asked, what is called once, and
// what is never shown.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createEmulator, parseEstate } from '../../src/emulator/index.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { collections, kinds } from '../../src/resources/index.js';
import { answering, emulator, folder, type Folder } from '../support/cli.js';

const ONE = '240010000000001';
const sims = [
  {
    imsi: ONE,
    iccid: '8946',
    msisdn: '46700000001',
    state: 'ACTIVE',
    label: 'fleet-a',
    customerNo: '1001',
  },
  { imsi: '240010000000002', state: 'PAUSE', label: 'fleet-a', customerNo: '1001' },
  { imsi: '240010000000003', state: 'TERMINATED', label: 'x' },
];
const estate = {
  version: 1,
  records: { accounts: [{ id: '1', account: null, name: 'Headquarters' }], subscriptions: sims },
};
const flip = ['sim', 'flip', '--imsi', ONE, '--customer', '1001'];
type Env = Readonly<Record<string, string>>;
const flows: Server[] = [];
afterEach(() => flows.splice(0).forEach((one) => (one.close(), one.closeAllConnections())));

interface Place {
  readonly home: Folder;
  readonly env: Env;
  readonly states: () => unknown[];
}

/** An emulator that keeps its estate in a file, so that what happened can be read past it. */
async function place(...faults: readonly string[]): Promise<Place> {
  const home = folder({ 'estate.json': JSON.stringify(estate) });
  const { env } = await emulator(home, [
    '--data',
    'estate.json',
    ...faults.flatMap((one) => ['--fault', one]),
  ]);
  const options = { kinds, collections, clock: systemClock(), random: systemRandom() };
  const states = (): unknown[] =>
    createEmulator({ ...options, estate: parseEstate(home.read('estate.json'), 'estate.json') })
      .objects('subscriptions')
      .map(({ state }) => state);
  return { home, env, states };
}

describe('get subscriptions', () => {
  test('by a condition and by identifiers', async () => {
    const { home, env } = await place();
    const imsis = async (filter: string): Promise<unknown[]> =>
      (
        JSON.parse(
          (
            await home.expect(0, ['get', 'subscriptions', '--filter', filter, '-o', 'json'], {
              env,
            })
          ).stdout,
        ) as { imsi: string }[]
      ).map(({ imsi }) => imsi);
    expect(await imsis('label=fleet-a')).toEqual([ONE, '240010000000002']);
    expect(await imsis(`imsi=240010000000003,${ONE},9`)).toEqual([ONE, '240010000000003']);
    expect(await imsis('msisdn=46700000001')).toEqual([ONE]);
    expect(await imsis('icc=8946')).toEqual([ONE]);
    for (const wrong of [[], ['--filter', 'label=a', '--filter', 'imsi=1'], ['--filter', 'label=']])
      expect((await home.expect(1, ['get', 'subscriptions', ...wrong], { env })).stdout).toBe('');
  });

  test('with other credentials says which, with a lost platform what', async () => {
    const { home, env } = await place();
    const list = ['get', 'subscriptions', '--filter', 'label=fleet-a'];
    const { stderr } = await home.expect(1, list, {
      env: { ...env, TRUEUP_IOT_PASSWORD: 'guessed-wrong' },
    });
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      'check TRUEUP_IOT_USERNAME and TRUEUP_IOT_PASSWORD',
    );
    expect(stderr).not.toContain('guessed-wrong');
    const { TRUEUP_IOT_URL: _, ...without } = env;
    expect((await home.expect(1, list, { env: without })).stderr).toContain('TRUEUP_IOT_URL');
    expect(
      (await home.expect(1, list, { env: { ...env, TRUEUP_IOT_URL: 'http://iot.example.com' } }))
        .stderr,
    ).toContain('https');
  });
});

describe('sim flip', () => {
  test('changes the status and back, and shows what came of it', async () => {
    const { home, env, states } = await place();
    const first = await home.expect(0, [...flip, '--auto-approve'], { env });
    expect(first.stdout).toMatch(
      /^imsi +240010000000001\ncustomer +1001\nstatus before +ACTIVE\nstatus after +PAUSE\nrequest id +\S+\nrequest status +Completed\n$/,
    );
    expect(first.stderr).toContain('will change it to PAUSE');
    expect(states()).toEqual(['PAUSE', 'PAUSE', 'TERMINATED']);
    const { stdout } = await home.expect(
      0,
      [
        'sim',
        'flip',
        '--msisdn',
        '46700000001',
        '--customer',
        '1001',
        '--auto-approve',
        '-o',
        'json',
      ],
      { env },
    );
    expect(JSON.parse(stdout)).toEqual({
      msisdn: '46700000001',
      customer: '1001',
      outcome: 'applied',
      status_before: 'PAUSE',
      status_after: 'ACTIVE',
      request_id: expect.stringMatching(/./),
      request_status: 'Completed',
    });
    expect(states()).toEqual(['ACTIVE', 'PAUSE', 'TERMINATED']);
  });

  test.each<[readonly string[], RegExp]>([
    [['sim', 'flip', '--customer', '1001'], /--imsi and --msisdn/],
    [[...flip, '--msisdn', '46700000001'], /--imsi and --msisdn/],
    [['sim', 'flip', '--imsi', ONE], /--customer/],
    [['sim', 'flip', '--imsi', 'x1', '--customer', '1'], /digits/],
    [[...flip, '--auto-approve'], /TRUEUP_FLOW_URL, TRUEUP_FLOW_USERNAME, TRUEUP_FLOW_PASSWORD/],
    [flip, /no terminal[^]*trueup sim flip --imsi 240010000000001[^]*--auto-approve/],
  ])('%j is refused at once', async (args, words) => {
    const { stderr, stdout } = await folder().expect(1, args);
    expect([stderr, stdout]).toEqual([expect.stringMatching(words), '']);
  });

  test('without the password of the flow nobody is asked and nothing is read', async () => {
    const { home, env, states } = await place();
    const { TRUEUP_FLOW_PASSWORD: _, ...rest } = env;
    const { stderr } = await home.expect(1, [...flip, '--auto-approve'], { env: rest });
    expect([stderr.includes('TRUEUP_FLOW_PASSWORD'), stderr.includes('will change')]).toEqual([
      true,
      false,
    ]);
    expect(states()).toEqual(['ACTIVE', 'PAUSE', 'TERMINATED']);
  });

  test('a state of any length and shape is shown inert, and left alone', async () => {
    const home = folder({ 'trueup.yaml': 'settings: { target: emulator }\n' });
    home.write(
      '.trueup/emulator.json',
      JSON.stringify({
        ...estate,
        records: {
          ...estate.records,
          subscriptions: [
            { ...sims[0], state: `\u001b[31m\u202e::error::${'x'.repeat(10_000_000)}` },
          ],
        },
      }),
    );
    const { stderr } = await home.expect(1, [...flip, '--auto-approve']);
    expect(stderr).toContain('ACTIVE to PAUSE');
    expect([stderr.length < 1000, /[\u001b\u202e]/.test(stderr)]).toEqual([true, false]);
  });

  test.each<[string, readonly string[], RegExp]>([
    [
      'another state',
      ['--imsi', '240010000000003', '--customer', '1001'],
      /is TERMINATED: the flow/,
    ],
    ['a SIM that nobody knows', ['--imsi', '999999', '--customer', '1001'], /knows no SIM/],
    ['another customer', ['--imsi', ONE, '--customer', '1002'], /turned it down/],
  ])('%s is left as it is', async (_, args, words) => {
    const { home, env, states } = await place();
    expect(
      (await home.expect(1, ['sim', 'flip', ...args, '--auto-approve'], { env })).stderr,
    ).toMatch(words);
    expect(states()).toEqual(['ACTIVE', 'PAUSE', 'TERMINATED']);
  });

  test.each([
    ['reset-after', 'PAUSE'],
    ['reset-before', 'ACTIVE'],
    ['truncate', 'PAUSE'],
    ['html', 'ACTIVE'],
    ['status=500', 'ACTIVE'],
    ['status=302', 'ACTIVE'],
  ])('a lost answer (%s) is unknown, and nothing is sent again', async (fault, state) => {
    // A second call would be answered well, and change it back.
    const { home, env, states } = await place(`${fault},path=activate_sim,times=1`);
    const { stderr, stdout } = await home.expect(5, [...flip, '--auto-approve', '-o', 'json'], {
      env,
    });
    expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(
      /is unknown[^]*trueup get subscriptions --filter imsi=240010000000001/,
    );
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'unknown',
      status_before: 'ACTIVE',
      status_after: null,
    });
    expect(states()).toEqual([state, 'PAUSE', 'TERMINATED']);
  });

  /** The emulator's platform beside a flow that gives one answer. */
  async function beside(
    answer: object,
    code = 200,
  ): Promise<{ readonly home: Folder; readonly env: Env; readonly calls: () => number }> {
    const { home, env } = await place();
    let calls = 0;
    const flow = createServer((_, response) => {
      calls += 1;
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    await new Promise<void>((listens) => flow.listen(0, '127.0.0.1', listens));
    flows.push(flow);
    return {
      home,
      env: { ...env, TRUEUP_FLOW_URL: `http://127.0.0.1:${(flow.address() as AddressInfo).port}` },
      calls: () => calls,
    };
  }

  const told = (state: string, status: string): object => ({
    '2026-01-01T00:00:00Z': { serviceRequestId: 'r-1', statusRequestResponse: state },
    SIMStatus: status,
    SIMInfo: { imsi: [ONE], pin1: ['7351'] },
  });
  test.each<[state: string, status: string, exit: number, outcome: string, words: RegExp]>([
    ['Completed', 'Pause', 0, 'applied', /will change it to PAUSE/],
    ['Completed', 'Active', 5, 'unknown', /is unknown[^]* SIM Active/],
    ['Completed', 'Paused', 5, 'unknown', /is unknown/],
    ['Failed', 'Pause', 1, 'rejected', /turned it down[^]* is Failed, and the SIM Pause/],
    ['Failed', 'Active', 1, 'rejected', /turned it down/],
    ['Pending', 'Pause', 5, 'unknown', /is unknown[^]* is Pending/],
  ])(
    'a request that is %s with the SIM %s ends with %i',
    async (state, status, exit, outcome, words) => {
      const { home, env, calls } = await beside(told(state, status));
      const { stdout, stderr } = await home.expect(
        exit,
        [...flip, '--auto-approve', '-o', 'json'],
        { env },
      );
      const plain = stderr.replaceAll(/\s+/g, ' ');
      expect([
        plain,
        exit === 0 || plain.includes(`trueup get subscriptions --filter imsi=${ONE}`),
      ]).toEqual([expect.stringMatching(words), true]);
      expect(JSON.parse(stdout)).toMatchObject({
        outcome,
        status_before: 'ACTIVE',
        status_after: status.toUpperCase(),
        request_status: state,
      });
      expect(calls()).toBe(1);
    },
  );

  test.each([
    [400, 1],
    [422, 5],
    [500, 5],
  ])('of an error (%i) nothing but its number is told', async (code, exit) => {
    const { home, env, calls } = await beside(
      {
        title: 'pin1 7351',
        detail: 'puk1 73517351',
        exception: 'pin1 7351',
        errors: ['pin1 7351'],
      },
      code,
    );
    const { stdout, stderr } = await home.expect(
      exit,
      [...flip, '--auto-approve', '-o', 'json', '--debug'],
      { env: { ...env, TRUEUP_LOG: 'debug' } },
    );
    expect([stderr.includes(`returned ${code}`), /7351/.test(stdout + stderr), calls()]).toEqual([
      true,
      false,
      1,
    ]);
  });

  test('what is not asked for at the terminal does not happen; what is, does', async () => {
    const { home, states } = await place();
    home.write('trueup.yaml', 'settings: { target: emulator }\n');
    home.write('.trueup/emulator.json', JSON.stringify(estate));
    const inProcess = (): unknown[] =>
      (JSON.parse(home.read('.trueup/emulator.json')) as typeof estate).records.subscriptions.map(
        ({ state }) => state,
      );
    const no = await answering(home, flip, 'Change it?', 'y\n');
    expect([no.code, no.screen]).toEqual([1, expect.stringContaining('Nothing was changed.')]);
    expect(inProcess()).toEqual(['ACTIVE', 'PAUSE', 'TERMINATED']);
    const yes = await answering(home, flip, 'Change it?', 'yes\n');
    expect([yes.code, yes.screen]).toEqual([0, expect.stringMatching(/status after +PAUSE/)]);
    expect([inProcess(), states()]).toEqual([
      ['PAUSE', 'PAUSE', 'TERMINATED'],
      ['ACTIVE', 'PAUSE', 'TERMINATED'],
    ]);
  });

  test('neither the secrets of the card nor those of ours are shown', async () => {
    const { home, env } = await place();
    home.write('password', `${env['TRUEUP_FLOW_PASSWORD']}\n`);
    const { TRUEUP_FLOW_PASSWORD: _, ...rest } = env;
    const { stdout, stderr } = await home.expect(
      0,
      [...flip, '--auto-approve', '-o', 'json', '--debug'],
      {
        env: { ...rest, TRUEUP_FLOW_PASSWORD_FILE: 'password', TRUEUP_LOG: 'debug' },
      },
    );
    expect(stderr).toContain('/get_sim_info/activate_sim');
    expect(stdout + stderr).not.toMatch(
      /pin1|pin2|puk|00000000"|emulated\.|emulator-(?:iot|flow)-(?:user|password)/,
    );
  });

  test('nothing else ever calls the flow', async () => {
    const { home, env, states } = await place();
    home.write('trueup.yaml', 'accounts: { a: { name: A } }\n');
    for (const args of [
      ['doctor'],
      ['plan'],
      ['drift'],
      ['apply', '--auto-approve'],
      ['get', 'subscriptions', '--filter', 'label=fleet-a'],
      ['export'],
      ['destroy', '--auto-approve'],
    ]) {
      const { stderr } = await home.expect(0, args, { env: { ...env, TRUEUP_LOG: 'debug' } });
      expect([args, stderr.includes('activate_sim')]).toEqual([args, false]);
    }
    expect(states()).toEqual(['ACTIVE', 'PAUSE', 'TERMINATED']);
  });
});

test('doctor looks at both where they are set, and changes nothing', async () => {
  const { home, env, states } = await place();
  const { stdout } = await home.expect(0, ['doctor'], { env });
  for (const line of [
    /ok +TRUEUP_IOT_URL +set/,
    /ok +TRUEUP_FLOW_PASSWORD +set/,
    /ok +iot responds/,
    /note +flow +not checked/,
  ])
    expect(stdout).toMatch(line);
  const { TRUEUP_IOT_URL: _, TRUEUP_FLOW_URL: __, ...bare } = env;
  const without = (await home.expect(0, ['doctor'], { env: bare })).stdout;
  for (const line of [/note +TRUEUP_IOT_URL +not set/, /note +TRUEUP_FLOW_URL +not set/])
    expect(without).toMatch(line);
  expect(without).not.toContain('iot responds');
  const wrong = (
    await home.expect(1, ['doctor'], { env: { ...env, TRUEUP_IOT_PASSWORD: 'guessed-wrong' } })
  ).stdout;
  expect(wrong).toMatch(/BAD +iot responds/);
  const { TRUEUP_FLOW_PASSWORD: ___, ...half } = env;
  expect((await home.expect(1, ['doctor'], { env: half })).stdout).toMatch(
    /BAD +TRUEUP_FLOW_PASSWORD +not set/,
  );
  expect(states()).toEqual(['ACTIVE', 'PAUSE', 'TERMINATED']);
});
