// What this machine knows of the places of a state: a place that was named without a migration is refused.
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { defined, type Diagnostic } from '../../../src/model/index.js';
import type { Files } from '../../../src/platform/index.js';
import { registerKeys } from '../../../src/state/backends/registers/keys.js';
import { registerStore } from '../../../src/state/backends/registers/register-store.js';
import { rescueIn } from '../../../src/state/backends/registers/rescue.js';
import { fileStore, type Store } from '../../../src/state/index.js';
import { migratedStore, rememberingStore } from '../../../src/state/known-serials.js';
import { encodeMoved } from '../../../src/state/state-format.js';
import { memoryRegisters } from '../../support/memory-registers.js';
import { simulatedFiles } from '../../support/simulated-files.js';
import { simulatedMachine } from '../../support/simulated-machine.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import { refusal } from './conformance.js';
import { intent, memory, result, TARGET } from './samples.js';

/** What `applied` declares. */
const DECLARED = { target: TARGET, files: ['estate.yaml'] };
const UNUSUAL = '/sim/other.json';
const SERIALS = '/sim/own/serials';

/** One machine, and any number of places. */
function machine() {
  const [clock, random, files] = [simulatedClock(), seededRandom(1), simulatedFiles()];
  const shared = { clock, random, files, lock: simulatedMachine().start(), version: '0.1.0' };
  const left = fileStore({ ...shared, path: '/sim/state.json' });
  const told: Diagnostic[] = [];
  const known = (project: string, byEnvironment = false) => ({
    files,
    notify: (one: Diagnostic) => void told.push(one),
    folder: SERIALS,
    project,
    byEnvironment,
    left,
  });
  return {
    files,
    left,
    told,
    local: (path = '/sim/state.json', byEnvironment = false) =>
      migratedStore(fileStore({ ...shared, path }), known('default', byEnvironment)),
    memory: () => memoryRegisters(clock.service, random),
    place(
      location: string,
      project = 'default',
      byEnvironment = false,
      endpoint?: string,
      values = memoryRegisters(clock.service, random),
    ): Store {
      const plain = values.connect();
      const registers = { ...plain, location, ...defined({ endpoint }) };
      const store = registerStore({
        ...shared,
        registers,
        keys: registerKeys(project),
        locking: { lease: 30_000, wait: 0, takeover: true },
        history: { keep: 30, milliseconds: 1_000_000 },
        rescue: rescueIn('/sim/rescue', location, { files, random, clock }),
      });
      const asked = known(project, byEnvironment);
      return migratedStore(rememberingStore(store, asked), asked);
    },
  };
}

async function applied(store: Store, id = '1'): Promise<void> {
  const session = await store.open('apply', TARGET);
  await session.record(intent(id), result(id));
  await session.compact();
  await session.release();
}

const [ONE, OTHER] = ['postgres://one.example.com/x', 's3://other/x'] as const;

/** Of what one state left. */
async function onlyFile(files: Files): Promise<string> {
  const [name = '', ...others] = await files.list(SERIALS);
  expect(others).toEqual([]);
  return `${SERIALS}/${name}`;
}

const begins = (store: Store, more: Partial<typeof DECLARED> = {}): Promise<void> =>
  store.assertMigrated!({ ...DECLARED, ...more });

it('a place that is named without a migration is refused, a file as well', async () => {
  const { place, local, files } = machine();
  await applied(place(ONE));
  for (const [store, advice] of [
    [place(OTHER), 'trueup state migrate --to'],
    [local(), 'trueup state pull > /sim/state.json'],
  ] as const) {
    const refused = await refusal(begins(store));
    expect(refused).toMatchObject({ code: 'state-not-moved', exit: 1 });
    for (const word of [`and ${ONE} held one`, advice, `rm ${await onlyFile(files)}`])
      expect(refused.words).toContain(word);
  }
  await begins(place(ONE));
  // Another project by name, another cloud, other declarations, and a machine that knows nothing.
  await begins(place(OTHER, 'north'));
  await begins(place(OTHER), { target: 'https://another.example.com' });
  await begins(place(OTHER), { files: ['alerts.yaml'] });
  await files.remove(await onlyFile(files));
  await begins(place(OTHER));
});

it.each(['{"a', '[1]', `{"location":"${ONE}","project":"default","target":"${TARGET}","files":7}`])(
  'a file of a serial that holds %s counts for nothing, and is written anew',
  async (text) => {
    const { place, files } = machine();
    const one = place(ONE);
    await applied(one);
    await files.replace(await onlyFile(files), text, 0o600);
    await begins(place(OTHER));
    await one.read();
    await refusal(begins(place(OTHER)));
  },
);

it('the environment may name a place for each customer', async () => {
  const { place } = machine();
  await applied(place(ONE));
  await begins(place(OTHER, 'default', true));
});

it('a place that the state left, or where it holds nothing, keeps no run away from a new one', async () => {
  const { place } = machine();
  const one = place(ONE);
  await applied(one);
  const session = await one.open('state migrate', TARGET);
  await session.mark({ to: OTHER });
  await session.release();
  await begins(place(OTHER));
  const north = place(ONE, 'north');
  await applied(north);
  const destroying = await north.open('destroy', TARGET);
  await destroying.record(memory('accounts.a1', null));
  await destroying.compact();
  await destroying.release();
  await begins(place(OTHER, 'north'));
});

it('a place is refused while the state file that is used without settings holds these objects', async () => {
  const { place, local, left, files } = machine();
  await applied(left);
  for (const [store, advice] of [
    [place(ONE), 'trueup state migrate --to'],
    [place(ONE, 'default', true), 'trueup state migrate --to'],
    [local(UNUSUAL), `mkdir -p ${dirname(UNUSUAL)} && mv /sim/state.json ${UNUSUAL}`],
  ] as const) {
    const refused = await refusal(begins(store));
    expect(refused).toMatchObject({ code: 'state-not-moved' });
    for (const word of [advice, 'mv /sim/state.json /sim/state.json.old'])
      expect(refused.words).toContain(word);
  }
  // The file alone would leave the journal behind.
  expect((await refusal(begins(local(UNUSUAL)))).words).not.toContain('trueup apply');
  const killed = await left.open('apply', TARGET);
  await killed.record(intent('2'));
  expect((await refusal(begins(local(UNUSUAL)))).words).toContain(
    'A run there is not finished. First, with the settings of before: trueup apply',
  );
  await killed.record(result('2'));
  await killed.compact();
  await killed.release();
  await begins(local());
  await begins(local(UNUSUAL, true));
  await begins(place(ONE), { target: 'https://another.example.com' });
  await begins(place(ONE), { files: ['alerts.yaml'] });
  await files.replace('/sim/state.json', encodeMoved({ to: OTHER }), 0o600);
  await begins(place(ONE));
});

it('what a run learns is not lost to a run of another state at the same time', async () => {
  const { place, files } = machine();
  const [one, other] = [place(ONE), place(OTHER, 'north')];
  const replace = files.replace;
  let isFirst = true;
  files.replace = async (path, ...more) => {
    if (path.startsWith(SERIALS) && isFirst) {
      isFirst = false;
      await applied(other);
    }
    return replace(path, ...more);
  };
  await applied(one);
  files.replace = replace;
  expect(await files.list(SERIALS)).toHaveLength(2);
  for (const name of await files.list(SERIALS)) {
    const path = `${SERIALS}/${name}`;
    const text = await files.read(path);
    await files.replace(path, text.replace('"serial":1,', '"serial":2,'), 0o600);
  }
  for (const store of [one, other])
    expect(await refusal(store.read())).toMatchObject({ code: 'state-went-back', exit: 6 });
});

it('a place that lost its state is told, with the serial that was seen there', async () => {
  const { place, told } = machine();
  await applied(place('memory:a'));
  expect(told).toEqual([]);
  expect(await place('memory:a').read()).toBeUndefined();
  expect(told).toMatchObject([
    {
      severity: 'warning',
      code: 'state-gone',
      summary: 'there is no state at memory:a, and this machine saw serial 1 there.',
    },
  ]);
  // Applied again, it has another lineage.
  await applied(place('memory:a'));
  expect(told).toHaveLength(1);
});

it('a server that has the same location is another place', async () => {
  const { place, told, files } = machine();
  const at = (endpoint: string) => place(OTHER, 'default', false, endpoint);
  const [one, other] = [at('https://one.example.com/x/'), at('https://other.example.com/x/')];
  await applied(one);
  expect(await other.read()).toBeUndefined();
  expect(told).toEqual([]);
  const refused = await refusal(begins(other));
  expect(refused).toMatchObject({ code: 'state-not-moved' });
  for (const word of [`${OTHER} at https://one.example.com/x/ held`, await onlyFile(files)])
    expect(refused.words).toContain(word);
  await begins(one);
});

it('what an earlier build knew of a place is read until its state is known on its server', async () => {
  const { place, told, files } = machine();
  await applied(place(OTHER));
  const older = await onlyFile(files);
  const one = place(OTHER, 'default', false, 'https://one.example.com/x/');
  await begins(one);
  expect(await one.read()).toBeUndefined();
  expect(told.map(({ code }) => code)).toEqual(['state-gone']);
  // It has another lineage, as that of another server has.
  await applied(one);
  const [newer = ''] = (await files.list(SERIALS)).filter((name) => !older.endsWith(name));
  const text = (await files.read(`${SERIALS}/${newer}`)).replace('"serial":1', '"serial":7');
  expect(await files.read(older)).not.toContain('endpoint');
  await files.replace(older, text, 0o600);
  await files.remove(`${SERIALS}/${newer}`);
  expect(await refusal(one.read())).toMatchObject({ code: 'state-went-back' });
  await one.accept!();
  expect(await onlyFile(files)).toBe(`${SERIALS}/${newer}`);
});

it('what an earlier build knew of a place is forgotten once the state moves away', async () => {
  const { place, files } = machine();
  const values = memoryRegisters(simulatedClock(), seededRandom(4));
  await applied(place(OTHER, 'default', false, undefined, values));
  await onlyFile(files);
  const session = await place(OTHER, 'default', false, 'https://one.example.com/', values).open(
    'state migrate',
    TARGET,
  );
  await session.mark({ to: ONE });
  expect(await files.list(SERIALS)).toEqual([]);
});

it('refuses a backup that was restored to another server, until a person accepts it', async () => {
  const { place, memory: registers } = machine();
  const [one, copy] = [registers(), registers()];
  const at = (endpoint: string, values: typeof one) =>
    place('s3://bucket/x', 'default', false, endpoint, values);
  const first = at('https://one.example.com/', one);
  await applied(first);
  for (const [key, value] of one.values) copy.values.set(key, value);
  await applied(first, '2');
  // It held another state before.
  await applied(at('https://restored.example.com/', registers()));
  const second = at('https://restored.example.com/', copy);
  expect(await refusal(second.read())).toMatchObject({ code: 'state-went-back' });
  expect(await refusal(second.open('apply', TARGET))).toMatchObject({ code: 'state-went-back' });
  await second.accept?.();
  expect((await second.read())?.state.serial).toBe(1);
});
