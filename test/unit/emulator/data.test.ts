// The file of `--data`: each change is appended before it is answered, power cuts lose nothing that was answered, and
// after a good end the file is the plain estate.
import fc from 'fast-check';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { durable } from '../../../src/cli/durable-emulator.js';
import {
  createEmulator,
  parseEstate,
  parseFault,
  type Emulator,
  type Estate,
  type EstateStep,
} from '../../../src/emulator/index.js';
import { makeEstate } from '../../support/make-estate.js';
import { Refusal } from '../../../src/model/index.js';
import { collections, kinds } from '../../../src/resources/index.js';
import { emulator as served, folder } from '../../support/cli.js';
import { PowerCut, simulatedFiles, type SimulatedFiles } from '../../support/simulated-files.js';
import { seededRandom } from '../../support/simulated.js';
import { handClock, requestOf, rig } from './rig.js';
import { drawn } from '../../support/drawn.js';

const DATA = '/sim/cloud.json';

const opened = (files: SimulatedFiles): Promise<Emulator> =>
  durable(
    { kinds, collections, clock: handClock(), random: seededRandom(3), files },
    { data: DATA },
  );
const create = async (emulator: Emulator, name: string): Promise<string> =>
  (
    (await (await emulator.fetch(requestOf('POST', '/api/v2/accounts/', { name }))).json()) as {
      readonly id: string;
    }
  ).id;
const names = (emulator: Emulator): readonly unknown[] =>
  emulator.objects('accounts').map(({ name }) => name);
const linesOf = (files: SimulatedFiles): number =>
  (files.contents.get(DATA) ?? '').split('\n').length - 1;

describe('changes', () => {
  const paths = [
    '/api/v2/accounts/',
    '/api/v2/alert_rules/',
    '/api/v2/alerts/',
    '/api/v2/configuration_managers/',
    '/api/v3/beta/account_authorizations',
  ];
  const requests = fc.oneof(
    fc
      .record({ name: fc.string({ minLength: 1 }) })
      .map((body) => ['POST', '/api/v2/accounts/', body] as const),
    fc
      .integer({ min: 100_001, max: 100_016 })
      .map((id) => ['DELETE', `/api/v2/accounts/${id}/`, undefined] as const),
    fc
      .integer({ min: 6001, max: 6004 })
      .map(
        (id) =>
          [
            'PUT',
            `/api/v2/configuration_managers/${id}/`,
            { configuration: [{ lan: { mtu: id } }, []] },
          ] as const,
      ),
    fc.constantFrom(...paths).map((path) => ['GET', path, undefined] as const),
  );

  test('lead from the estate before them to the one after them, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(requests, { maxLength: 12 }),
        fc.boolean(),
        async (asked, remove) => {
          const shift = parseFault(`page-shift,method=GET${remove ? ',mode=remove' : ''}`);
          const estate = makeEstate({
            random: seededRandom(2),
            clock: handClock(),
            accounts: 6,
            rules: 6,
            authorizations: 8,
            routers: 4,
            alerts: 5,
            activities: 3,
          });
          const { emulator, ask } = rig({ estate, faults: [shift] });
          const before = emulator.snapshot();
          const steps: EstateStep[] = [];
          emulator.onChange((some) => void steps.push(...some));
          for (const [method, path, body] of asked) await ask(method, path, body);
          const text = `${JSON.stringify(before)}\n${steps.map((step) => `${JSON.stringify([step])}\n`).join('')}`;
          const again = createEmulator({
            kinds,
            collections,
            clock: handClock(),
            random: seededRandom(),
            estate: parseEstate(text, 'data'),
          });
          expect(again.snapshot()).toEqual(emulator.snapshot());
        },
      ),
      { numRuns: drawn(60) },
    );
  });

  test('a change of a SIM by the sample flow is among them', async () => {
    const estate: Estate = {
      version: 1,
      records: {
        accounts: [{ id: '1', name: 'HQ' }],
        subscriptions: [{ imsi: '1' }, { imsi: '24001', state: 'ACTIVE' }],
      },
    };
    const { emulator, ask } = rig({ estate });
    const steps: EstateStep[] = [];
    emulator.onChange((some) => void steps.push(...some));
    const headers = {
      'x-username': 'emulator-flow-user',
      'x-password': 'emulator-flow-password',
      filterValue: '24001',
    };
    await ask(
      'GET',
      '/get_sim_info/activate_sim?customerNo=1&filterKey=imsi&subscriptionStatus=Activate',
      undefined,
      headers,
    );
    expect(steps).toEqual([{ in: 'subscriptions', at: 1, put: { imsi: '24001', state: 'PAUSE' } }]);
  });
});

describe('the file', () => {
  test('is appended to, and is the plain estate after a good end', async () => {
    const files = simulatedFiles();
    const emulator = await opened(files);
    await create(emulator, 'A');
    const first = files.contents.get(DATA);
    for (const name of ['B', 'C']) await create(emulator, name);
    expect([files.contents.get(DATA)?.startsWith(first as string), linesOf(files)]).toEqual([
      true,
      3,
    ]);
    await emulator.settled();
    expect(JSON.parse(files.contents.get(DATA) as string)).toEqual(emulator.snapshot());
    expect(linesOf(files)).toBe(1);
  });

  test('holds what is changed while it is about to be written in one line, and no empty one', async () => {
    const files = simulatedFiles();
    let busy = Promise.resolve();
    const emulator = await opened({
      ...files,
      stamp: (path) => busy.then(() => files.stamp(path)),
    });
    await create(emulator, 'A');
    let free = (): void => undefined;
    busy = new Promise((resolve) => (free = resolve));
    const made: Promise<string>[] = [];
    for (const name of ['B', 'C']) {
      made.push(create(emulator, name));
      await new Promise((later) => setImmediate(later));
    }
    free();
    await Promise.all(made);
    expect([linesOf(files), files.contents.get(DATA)?.includes('\n[]\n')]).toEqual([2, false]);
    expect(names(await opened(files))).toEqual(['Headquarters', 'A', 'B', 'C']);
  });

  test('is not written by who only looks', async () => {
    const files = simulatedFiles();
    const emulator = await opened(files);
    await emulator.fetch(requestOf('GET', '/api/v2/accounts/'));
    await emulator.settled();
    expect(files.contents.size).toBe(0);
  });

  test('is written whole again once its lines are longer than the estate', async () => {
    const files = simulatedFiles();
    const emulator = await opened(files);
    const long = 'x'.repeat(100_000);
    for (let count = 0; count < 30; count += 1) await create(emulator, `${count} ${long}`);
    expect(linesOf(files)).toBeLessThan(25);
    expect(names(await opened(files))).toEqual(names(emulator));
  });

  test('is written whole where somebody else has written it', async () => {
    const files = simulatedFiles();
    const emulator = await opened(files);
    for (const name of ['A', 'B']) await create(emulator, name);
    files.put(DATA, '{}');
    await create(emulator, 'C');
    expect(names(await opened(files))).toEqual(['Headquarters', 'A', 'B', 'C']);
  });

  test('holds every change after a writing that failed', async () => {
    const files = simulatedFiles();
    let broken = false;
    const full = <T>(work: () => Promise<T>): Promise<T> =>
      broken ? Promise.reject(new Error('the disk is full')) : work();
    const append: SimulatedFiles['append'] = async (...path) => {
      const { write, close } = await files.append(...path);
      return { write: (text) => full(() => write(text)), close };
    };
    const emulator = await opened({
      ...files,
      append,
      replace: (...file) => full(() => files.replace(...file)),
    });
    for (const name of ['A', 'B']) await create(emulator, name);
    broken = true;
    await expect(create(emulator, 'C')).rejects.toThrow('the disk is full');
    broken = false;
    await emulator.fetch(requestOf('GET', '/api/v2/accounts/'));
    expect(names(await opened(files))).toEqual(['Headquarters', 'A', 'B', 'C']);
  });

  test('after a power cut at any moment it holds all that was answered, and each request whole or not at all', async () => {
    for (let boundary = 1; boundary < 60; boundary += 1) {
      const files = simulatedFiles(boundary);
      const answered: string[] = ['Headquarters'];
      files.crashAt(boundary);
      const asked = ['A', 'B', 'C', 'D', 'E', 'F'];
      try {
        const emulator = await opened(files);
        for (const name of asked) {
          await create(emulator, name);
          answered.push(name);
        }
        await emulator.settled();
      } catch (error) {
        if (!(error instanceof PowerCut)) throw error;
      }
      files.reboot();
      const again = await opened(files);
      expect([answered, [...answered, asked[answered.length - 1]]]).toContainEqual(names(again));
      expect(again.snapshot().activity_logs).toHaveLength(names(again).length - 1);
      expect(Number(await create(again, 'after'))).toBe(names(again).length);
    }
  });
});

describe('a data file', () => {
  const estate = '{"version": 1, "records": {"accounts": [{"id": "1", "name": "Headquarters"}]}}';
  const put = (id: string): string =>
    `[{"in": "accounts", "id": "${id}", "put": {"id": "${id}", "name": "Site ${id}"}}]`;
  const read = (text: string): readonly unknown[] =>
    names(
      createEmulator({
        kinds,
        collections,
        clock: handClock(),
        random: seededRandom(),
        estate: parseEstate(text, 'data.json'),
      }),
    );

  test.each([
    ['an estate alone', estate, []],
    ['an estate over many lines', JSON.stringify(JSON.parse(estate), null, 2), []],
    ['lines behind it', `${estate}\n${put('2')}\n${put('3')}\n`, ['Site 2', 'Site 3']],
    [
      'a removal',
      `${estate}\n${put('2')}\n[{"in": "accounts", "id": "2"}]\n${put('3')}\n`,
      ['Site 3'],
    ],
    ['a torn last line', `${estate}\n${put('2')}\n${put('3').slice(0, 40)}`, ['Site 2']],
    ['a last line of zeros', `${estate}\n${put('2')}\n\0\0\0\0\n`, ['Site 2']],
  ])('%s is read', (_, text, sites) => {
    expect(read(text)).toEqual(['Headquarters', ...sites]);
  });

  test.each([
    [
      'a damaged line that is not the last',
      `${estate}\n${put('2').slice(0, 40)}\n${put('3')}\n`,
      'line 2 holds no changes',
    ],
    [
      'a line that holds something else',
      `${estate}\n${put('2')}\n{"accounts": []}\n`,
      'line 3 holds no changes',
    ],
    ['a step into nowhere', `${estate}\n[{"in": "gremlins", "id": "2"}]\n`, '"gremlins"'],
  ])('%s is refused', (_, text, why) => {
    expect(() => read(text)).toThrow(Refusal);
    expect(() => read(text)).toThrow(why);
  });
});

test('as a command: what was answered survives a kill, and a good end leaves one line', async () => {
  const home = folder({ 'a.yaml': 'accounts: { a: { name: A }, b: { name: B }, c: { name: C } }' });
  const first = await served(home, ['--data', 'cloud.json']);
  await home.expect(0, ['apply', '--auto-approve', '--parallelism', '1'], { env: first.env });
  const made = statSync(join(home.path, 'cloud.json'));
  expect([home.read('cloud.json').trimEnd().split('\n').length, made.mode & 0o777]).toEqual([
    3, 0o600,
  ]);
  first.child.kill('SIGKILL');
  await first.ended;
  const seed = await served(home, ['--seed', 'cloud.json']);
  expect(
    (await home.expect(0, ['plan', '--detailed-exitcode'], { env: seed.env })).stdout,
  ).toContain('No changes');
  const second = await served(home, ['--data', 'cloud.json']);
  home.write(
    'a.yaml',
    'accounts: { a: { name: A }, b: { name: B }, c: { name: C }, d: { name: D } }',
  );
  await home.expect(0, ['apply', '--auto-approve'], { env: second.env });
  second.child.kill('SIGTERM');
  expect((await second.ended).code).toBe(143);
  const [line = '', rest] = home.read('cloud.json').split('\n');
  expect([(JSON.parse(line) as Estate).records.accounts?.map(({ name }) => name), rest]).toEqual([
    ['Headquarters', 'A', 'B', 'C', 'D'],
    '',
  ]);
});
