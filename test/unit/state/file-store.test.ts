// The file store: what every store promises, and what only a disk can do wrong.
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { maskingOf } from '../../../src/model/index.js';
import type { Files } from '../../../src/platform/index.js';
import { diskFiles } from '../../../src/platform/files.js';
import { systemRandom } from '../../../src/platform/random.js';
import {
  fileStore,
  storeFor,
  type FileStoreOptions,
  type Session,
  type Store,
} from '../../../src/state/index.js';
import { simulatedFiles, type SimulatedFiles } from '../../support/simulated-files.js';
import { simulatedMachine } from '../../support/simulated-machine.js';
import { simulatedClock, seededRandom } from '../../support/simulated.js';
import { conformance, refusal } from './conformance.js';
import { entry, intent, result, TARGET } from './samples.js';

const PATH = '/sim/state.json';

conformance('the file store on a simulated disk', async () => {
  const [files, clock, machine, random] = [
    simulatedFiles(),
    simulatedClock(),
    simulatedMachine(),
    seededRandom(1),
  ];
  return {
    clock,
    store: (more) =>
      fileStore({
        path: PATH,
        files,
        clock,
        random,
        lock: machine.start(),
        version: '0.1.0',
        ...more,
      }),
    bytes: async () => files.contents,
    steal: () => files.remove(`${PATH}.lock`),
  };
});

conformance('the file store on a real disk', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trueup-state-'));
  const path = join(folder, 'deep', 'state.json');
  const [random, clock, machine] = [systemRandom(), simulatedClock(), simulatedMachine()];
  return {
    clock,
    store: (more) =>
      fileStore({
        path,
        files: diskFiles(random),
        clock,
        random,
        lock: machine.start(),
        version: '0.1.0',
        ...more,
      }),
    bytes: async () =>
      Promise.all(
        (await readdir(join(folder, 'deep'))).map(async (name) => [
          name,
          await readFile(join(folder, 'deep', name), 'utf8'),
        ]),
      ),
    steal: () => rm(`${path}.lock`),
    close: () => rm(folder, { recursive: true }),
  };
});

/** A disk on which five runs were made, each adding one account. */
async function worn(seed = 2): Promise<{
  readonly files: SimulatedFiles;
  readonly store: (more?: Partial<FileStoreOptions>) => Store;
  readonly state: () => string;
  readonly journal: () => string | undefined;
}> {
  const [files, clock, machine, random] = [
    simulatedFiles(),
    simulatedClock(),
    simulatedMachine(),
    seededRandom(seed),
  ];
  const store = (more: Partial<FileStoreOptions> = {}): Store =>
    fileStore({
      path: PATH,
      files,
      clock,
      random,
      lock: machine.start(),
      version: '0.1.0',
      ...more,
    });
  const session = await store().open('apply', TARGET);
  for (let run = 1; run <= 5; run += 1) {
    await session.record(intent(String(run)), result(String(run)));
    await session.compact();
  }
  await session.release();
  return {
    files,
    store,
    state: () => files.contents.get(PATH) ?? '',
    journal: () => files.contents.get(`${PATH}.journal`),
  };
}

describe('the state file', () => {
  it('reads like a list: sorted, an entry a line, one line end, checksum on top', async () => {
    const { state } = await worn();
    const text = state();
    expect(text.split('\n').slice(0, 6)).toEqual([
      '{',
      expect.stringMatching(/^ {2}"checksum": "[0-9a-f]{64}",$/),
      '  "format_version": 3,',
      expect.stringMatching(/lineage/),
      '  "resources": {',
      expect.stringMatching(/^ {4}"accounts\.a1": \{"applied":.*\},?$/),
    ]);
    expect(text.split('\n').filter((line) => line.startsWith('    '))).toHaveLength(
      Object.keys((JSON.parse(text) as { resources: object }).resources).length,
    );
    expect(text.endsWith('}\n')).toBe(true);
  });

  it('keeps five generations, the newest as .1', async () => {
    const { files, store } = await worn();
    const session = await store().open('apply', TARGET);
    for (let run = 6; run <= 8; run += 1) {
      await session.record(intent(String(run)), result(String(run)));
      await session.compact();
    }
    await session.release();
    const serials = [...files.contents].map(
      ([path, text]) => `${path.slice(PATH.length)} ${/"serial": (\d+)/.exec(text)?.[1]}`,
    );
    expect(serials.toSorted()).toEqual([' 8', '.1 7', '.2 6', '.3 5', '.4 4', '.5 3']);
  });

  it('is refused wherever it is cut, naming the place and the generation to go back to', async () => {
    const { files, store, state } = await worn();
    const whole = state();
    for (let length = 0; length < whole.length - 1; length += 10) {
      files.put(PATH, whole.slice(0, length));
      const before = files.contents;
      const refused = await refusal(store().read());
      expect(refused).toMatchObject({ code: 'damaged-file', exit: 1 });
      const lines = whole.slice(0, length).split('\n');
      expect(refused.words).toContain(`line ${lines.length}, column `);
      expect(refused.words).toContain(`cp ${PATH}.1 ${PATH}`);
      expect(await refusal(store().open('apply', TARGET))).toMatchObject({ code: 'damaged-file' });
      expect(files.contents).toEqual(before);
    }
    files.put(PATH, files.contents.get(`${PATH}.1`) ?? '');
    expect((await store().read())?.state.serial).toBe(4);
  });

  it('is refused whichever character is another', async () => {
    const { files, store, state } = await worn();
    const whole = state();
    for (let at = 0; at < whole.length; at += 7) {
      const other = whole[at] === ' ' ? '\t' : ' ';
      files.put(PATH, whole.slice(0, at) + other + whole.slice(at + 1));
      expect((await refusal(store().read())).code, `character ${at}`).toBe('damaged-file');
    }
  });

  it('points past damaged generations to the newest intact one, or to adoption', async () => {
    const { files, store } = await worn();
    for (const path of [PATH, `${PATH}.1`, `${PATH}.2`]) files.put(path, '{"format');
    expect((await refusal(store().read())).words).toContain(`cp ${PATH}.3 ${PATH}`);
    for (const path of [`${PATH}.3`, `${PATH}.4`]) files.put(path, '');
    expect((await refusal(store().read())).words).toMatch(
      /mv \S+ \S+\.damaged\nThe next plan then offers to adopt/,
    );
  });

  it('says what follows from the loss as it is told to', async () => {
    const { files, store } = await worn();
    const read = () => store({ afterLoss: 'Look twice.' }).read();
    files.put(`${PATH}.journal`, 'damaged\n\n');
    expect((await refusal(read())).words).toMatch(/\nLook twice\.$/);
    files.put(PATH, '{"format');
    files.put(`${PATH}.journal`, '');
    expect((await refusal(read())).words).toMatch(/cp \S+ \S+\nLook twice\.$/);
    for (let generation = 1; generation <= 5; generation += 1)
      files.put(`${PATH}.${generation}`, '');
    expect((await refusal(read())).words).toMatch(/\.damaged\nLook twice\.$/);
  });

  it('makes its folder for itself alone, and itself unreadable to others', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trueup-state-'));
    try {
      const session = await onDisk(join(folder, 'new', 'state.json')).open('apply', TARGET);
      await session.record(intent('1'), result('1'), intent('2'));
      await session.compact();
      await session.record(intent('3'), result('3'));
      await session.compact();
      const modes = await Promise.all(
        ['', 'state.json', 'state.json.1', 'state.json.journal', 'state.json.lock'].map(
          async (name) => ((await stat(join(folder, 'new', name))).mode & 0o777).toString(8),
        ),
      );
      expect(modes).toEqual(['700', '600', '600', '600', '600']);
      await session.release();
      expect((await readdir(join(folder, 'new'))).toSorted()).toEqual([
        'state.json',
        'state.json.1',
        'state.json.journal',
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

function onDisk(path: string, files: Files = diskFiles(systemRandom())): Store {
  return fileStore({
    path,
    files,
    clock: simulatedClock(),
    random: systemRandom(),
    lock: simulatedMachine().start(),
    version: '0.1.0',
  });
}

describe('odd places', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trueup-state-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const fill = async (session: Session): Promise<void> => {
    await session.record(intent('1'), result('1'));
    await session.compact();
    await session.release();
  };

  it('writes through a symbolic link, and locks the same state by every name', async () => {
    await mkdir(join(folder, 'real'));
    await mkdir(join(folder, 'linked'));
    await fill(await onDisk(join(folder, 'real', 'state.json')).open('apply', TARGET));
    await symlink(join(folder, 'real', 'state.json'), join(folder, 'linked', 'state.json'));
    const machine = simulatedMachine();
    const by = (name: string): Store =>
      fileStore({
        path: join(folder, name, 'state.json'),
        files: diskFiles(systemRandom()),
        clock: simulatedClock(),
        random: systemRandom(),
        lock: machine.start(),
        version: '0',
      });
    const session = await by('linked').open('apply', TARGET);
    expect((await refusal(by('real').open('apply', TARGET))).code).toBe('locked');
    await session.record(intent('2'), result('2'));
    await session.compact();
    await session.release();
    expect((await by('real').read())?.state.serial).toBe(2);
    expect(await readdir(join(folder, 'linked'))).toEqual(['state.json']);
  });

  it.each([
    ['a folder', (path: string) => mkdir(path), 'it is a folder'],
    [
      'a FIFO',
      async (path: string) => void execFileSync('mkfifo', [path]),
      'it is not a regular file',
    ],
    [
      'a link to nowhere',
      (path: string) => symlink(join(folder, 'nowhere'), path),
      'a symbolic link to a file that does not exist',
    ],
    [
      'no text',
      (path: string) => writeFile(path, Buffer.from([0x7b, 0x0a, 0xff, 0xfe])),
      'not UTF-8 text, first at byte 2',
    ],
    ['empty', (path: string) => writeFile(path, ''), 'it is empty'],
    [
      'a state of terraform',
      (path: string) => writeFile(path, '{"version": 4, "serial": 1}'),
      'it is not a state of trueup',
    ],
  ])('refuses %s at once and leaves nothing behind', async (_, make, words) => {
    const path = join(folder, 'state.json');
    await make(path);
    expect((await refusal(onDisk(path).read())).words).toContain(words);
    expect((await refusal(onDisk(path).open('apply', TARGET))).words).toContain(words);
    expect(await readdir(folder)).toEqual(['state.json']);
  });

  it('says so where the folder cannot be written, or is a file', async () => {
    const readOnly: Files = {
      ...diskFiles(systemRandom()),
      create: (path) =>
        Promise.reject(
          Object.assign(new Error(), {
            code: 'EROFS',
            path: `${path}.${systemRandom().uuid()}.tmp`,
          }),
        ),
    };
    const refused = await refusal(
      onDisk(join(folder, 'state.json'), readOnly).open('apply', TARGET),
    );
    expect(refused).toMatchObject({
      code: 'disk',
      exit: 1,
      words: expect.stringContaining(
        `cannot use ${join(folder, 'state.json.lock')}: the file system is read-only`,
      ) as string,
    });
    await writeFile(join(folder, 'file'), '');
    expect(
      (await refusal(onDisk(join(folder, 'file', 'state.json')).open('apply', TARGET))).code,
    ).toBe('disk');
  });

  it('finds the place of a location, and refuses by name what is no file', async () => {
    const rest = {
      folder,
      files: diskFiles(systemRandom()),
      clock: simulatedClock(),
      random: systemRandom(),
      lock: simulatedMachine().start(),
      version: '0',
      masking: maskingOf(),
      project: 'default',
      locking: { lease: 30_000, wait: 0, takeover: true },
      history: { keep: 30, milliseconds: 1 },
      ownFolder: folder,
      usualFile: join(folder, 'usual.json'),
      pools: new Map(),
      secret: () => undefined,
      transport: () => Promise.reject(new Error('nothing is sent')),
    };
    const at = async (location: string): Promise<string> =>
      (await storeFor(location, rest)).location;
    expect(await at('.trueup/state.json')).toBe(join(folder, '.trueup/state.json'));
    expect(await at('/elsewhere/state.json')).toBe('/elsewhere/state.json');
    expect(await at('postgres://trueup@host/database?schema=x')).toBe(
      'postgres://host/database?schema=x',
    );
    const here = { ...rest, transport: () => Promise.resolve(rest.transport) };
    const gitLab = 'https://gitlab.example.com/api/v4/projects/42/terraform/state/prod';
    const user = 'https://some%40one@gitlab.example.com/';
    expect((await storeFor(gitLab, here)).location).toBe(gitLab);
    expect((await storeFor(`${user}x/?lock=post&ref=main`, here)).location).toBe(
      'https://gitlab.example.com/x',
    );
    expect((await storeFor(gitLab, { ...here, project: 'default.eu' })).location).toBe(
      `${gitLab}-eu`,
    );
    expect((await storeFor('http://127.0.0.1:8080/x', here)).location).toBe(
      'http://127.0.0.1:8080/x',
    );
    const secret = (name: string) => (name.endsWith('PASSWORD') ? 'hunter2' : undefined);
    expect(await refusal(storeFor(gitLab, { ...here, secret }))).toMatchObject({
      code: 'backend-credentials',
      words: expect.stringContaining('TRUEUP_STATE_HTTP_USERNAME') as string,
    });
    for (const [location, code] of [
      ['', 'unsupported-store'],
      ['https://user:hunter2@gitlab.example.com/x', 'bad-address'],
      ['http://gitlab.example.com/x', 'bad-address'],
      ['https://gitlab.example.com/x?lock=maybe', 'bad-address'],
      ['file://user:hunter2@host/x', 'unsupported-store'],
      ['redis://user:hunter2@host/x', 'unsupported-store'],
      ['rediss://user:hunter2@host/x', 'unsupported-store'],
      ['nats://user:hunter2@host/x', 'unsupported-store'],
      ['gs://bucket/prefix', 'unsupported-store'],
      ['postgres://user:hunter2@host/x', 'bad-address'],
      ['postgres://user@host/x?password=hunter2', 'bad-address'],
      ['https://gitlab.example.com/x?private_token=hunter2', 'bad-address'],
      ['s3://bucket/x?AWS_SECRET_ACCESS_KEY=hunter2', 'bad-address'],
      ['postgres:///x', 'bad-address'],
      ['s3://bucket/x?endpoint=http://store.example.com', 'bad-address'],
      ['s3://bucket/x?endpoint=nonsense', 'bad-address'],
      ['s3://bucket/x?endpoint=https://user:hunter2@store.example.com', 'bad-address'],
      ['s3://bucket%20x/x', 'bad-address'],
      ['s3://bucket/x?regoin=eu-west-1', 'bad-address'],
      ['postgresql://host/x?shcema=y', 'bad-address'],
      ['postgres://user:1?hunter2@host/x', 'bad-address'],
      ['s3://[::/x', 'bad-address'],
      ['s3//acme-trueup/prod', 'bad-address'],
      ['https:/gitlab.example.com/x', 'bad-address'],
      ['Postgres//user:hunter2@host/x', 'bad-address'],
      ['s3:/acme/x?token=hunter2', 'bad-address'],
    ] as const) {
      const refused = await refusal(storeFor(location, here));
      expect(refused, location).toMatchObject({ code, exit: 1 });
      expect(refused.words).not.toContain('hunter2');
    }
    for (const [mistyped, meant] of [
      ['s3//acme/prod?region=eu-west-1', 's3://acme/prod?region=eu-west-1'],
      ['Postgres//user:hunter2@host/x', 'postgres://…'],
    ] as const) {
      const refused = await refusal(storeFor(mistyped, { ...here, byEnvironment: true }));
      expect(refused.words).toContain('TRUEUP_STATE looks like an address');
      expect(refused.words).toContain(`Did you mean ${meant}?`);
    }
  });
});

describe('the journal', () => {
  it('shares one fsync between records that wait together', async () => {
    const { files, store } = await worn();
    const session = await store().open('apply', TARGET);
    const before = files.flushes;
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => session.record(intent(`n${index}`))),
    );
    expect(files.flushes - before).toBeLessThanOrEqual(2);
    expect((await store().read())?.pending).toHaveLength(100);
  });

  it('drops a torn end wherever it is torn, and nothing else', async () => {
    const { files, store, journal } = await worn();
    const session = await store().open('apply', TARGET);
    await session.record(intent('6'), result('6'));
    await session.record(intent('7'));
    await session.release();
    const whole = journal() ?? '';
    const complete = whole
      .split('\n')
      .map((_, index, lines) => lines.slice(0, index).join('\n').length + (index > 0 ? 1 : 0));
    for (let length = whole.length; length >= 0; length -= 3) {
      files.put(`${PATH}.journal`, whole.slice(0, length));
      const kept = complete.filter((end) => end <= length).length - 1;
      const seen = await store().read();
      expect(
        [Object.keys(seen?.state.resources ?? {}).length, seen?.pending.length],
        `cut at ${length}`,
      ).toEqual(
        [
          [5, 0],
          [5, 0],
          [5, 1],
          [6, 0],
          [6, 1],
        ][kept],
      );
    }
    files.put(`${PATH}.journal`, `${whole.slice(0, -3)}~"\n`);
    expect((await store().read())?.pending).toEqual([]);
  });

  it('goes on behind a torn end as if it had never been', async () => {
    const { files, store, journal } = await worn();
    const first = await store().open('apply', TARGET);
    await first.record(intent('6'), result('6'));
    await first.release();
    files.put(`${PATH}.journal`, `${journal()}0123456789abcdef {"type":"int`);
    const second = await store().open('apply', TARGET);
    await second.record(intent('7'));
    await second.release();
    expect(await store().read()).toMatchObject({
      state: { resources: { 'accounts.a6': entry('6') } },
      pending: [intent('7')],
    });
  });

  it('is refused where its middle is damaged, with the line and what to do', async () => {
    const { files, store, journal } = await worn();
    const session = await store().open('apply', TARGET);
    await session.record(intent('6'), result('6'), intent('7'));
    await session.release();
    const lines = (journal() ?? '').split('\n');
    lines[2] = (lines[2] ?? '').replace('accounts', 'acc0unts');
    files.put(`${PATH}.journal`, lines.join('\n'));
    const before = files.contents;
    for (const attempt of [() => store().read(), () => store().open('apply', TARGET)]) {
      const refused = await refusal(attempt());
      expect(refused).toMatchObject({ code: 'damaged-file', exit: 1 });
      expect(refused.words).toContain(`${PATH}.journal is damaged at line 3`);
      expect(refused.words).toContain(`mv ${PATH}.journal`);
      expect(refused.words).not.toContain('acc0unts');
    }
    expect(files.contents).toEqual(before);
  });

  it('is refused with a state of another line or an older serial, and thrown away once spent', async () => {
    const { files, store, journal } = await worn();
    const session = await store().open('apply', TARGET);
    await session.record(intent('6'), result('6'));
    const serial5 = journal() ?? '';
    const older = files.contents.get(`${PATH}.1`) ?? '';
    await session.compact();
    await session.release();

    files.put(`${PATH}.journal`, serial5);
    expect(await store().read()).toMatchObject({ state: { serial: 6 }, unfinished: false });
    await (await store().open('apply', TARGET)).release();
    expect(journal()).toBeUndefined();

    files.put(`${PATH}.journal`, serial5);
    files.put(PATH, older);
    expect(await refusal(store().read())).toMatchObject({
      code: 'foreign-journal',
      words: expect.stringContaining('continues serial 5, but') as string,
    });
    await files.remove(PATH);
    expect((await refusal(store().read())).words).toContain('there is no');

    files.put(PATH, (await worn(77)).state());
    expect((await refusal(store().open('apply', TARGET))).words).toContain('lineages differ');
  });

  it('stops for good after a write that failed, and loses nothing that was acknowledged', async () => {
    const { files, store } = await worn();
    let full = false;
    const short: Files = {
      ...files,
      append: async (path, mode) => {
        const appender = await files.append(path, mode);
        return {
          ...appender,
          write: (text) =>
            full
              ? Promise.reject(Object.assign(new Error(), { code: 'ENOSPC' }))
              : appender.write(text),
        };
      },
    };
    const session = await fileStore({
      path: PATH,
      files: short,
      clock: simulatedClock(),
      random: seededRandom(9),
      lock: simulatedMachine().start(),
      version: '0',
    }).open('apply', TARGET);
    await session.record(intent('6'), result('6'), intent('7'));
    full = true;
    expect((await refusal(session.record(result('7')))).words).toContain('no space is left');
    full = false;
    expect((await refusal(session.record(result('7')))).code).toBe('journal-broken');
    expect(await session.compact()).toMatchObject({ state: { serial: 6 }, pending: [intent('7')] });
    await session.release();
    expect(await store().read()).toMatchObject({
      state: { resources: { 'accounts.a6': entry('6') } },
      pending: [intent('7')],
    });
  });
});

describe('fencing', () => {
  it('stops a run under whose hands the state became another, and forgives one that was only touched', async () => {
    const { files, store, state } = await worn();
    const session = await store().open('apply', TARGET);
    files.put(PATH, state());
    await session.assertHeld();
    files.put(PATH, files.contents.get(`${PATH}.1`) ?? '');
    for (const attempt of [
      () => session.assertHeld(),
      () => session.record(intent('6')),
      () => session.compact(),
    ])
      expect(await refusal(attempt())).toMatchObject({ code: 'state-moved', exit: 4 });
  });

  const journalOf = `${PATH}.journal`;
  it.each<[string, (files: SimulatedFiles, text: string) => unknown]>([
    ['removed', (files) => files.remove(journalOf)],
    ['emptied', (files) => files.put(journalOf, '')],
    ['cut', (files, text) => files.put(journalOf, text.slice(0, -20))],
    ['written to', (files, text) => files.put(journalOf, `${text}more\n`)],
  ])('stops a run whose journal was %s, and writes down again what it did', async (_, harm) => {
    const { files, store, journal } = await worn();
    const session = await store().open('apply', TARGET);
    await session.record(intent('6'), result('6'), intent('7'));
    await session.assertHeld();
    await harm(files, journal() ?? '');
    for (const attempt of [
      () => session.assertHeld(),
      () => session.record(intent('8')),
      () => session.assertHeld(),
    ])
      expect(await refusal(attempt())).toMatchObject({ code: 'journal-lost', exit: 4 });
    await session.record(result('7'));
    expect((await refusal(session.record(intent('9')))).code).toBe('journal-lost');
    await session.release();
    expect(await store().read()).toMatchObject({
      state: { resources: { 'accounts.a6': entry('6'), 'accounts.a7': entry('7') } },
      pending: [],
      unfinished: true,
    });
  });

  it('stops a run that notices only when it records what it did', async () => {
    const { files, store } = await worn();
    const session = await store().open('apply', TARGET);
    await session.record(intent('6'));
    await files.remove(journalOf);
    await session.record(result('6'));
    expect((await refusal(session.assertHeld())).code).toBe('journal-lost');
    expect((await store().read())?.state.resources['accounts.a6']).toEqual(entry('6'));
  });

  it('forgives a journal that was only touched, one of an earlier run, and one that is growing', async () => {
    const { files, store } = await worn();
    const first = await store().open('apply', TARGET);
    await first.record(intent('6'));
    await files.touch(journalOf);
    await first.assertHeld();
    await first.release();
    const session = await store().open('apply', TARGET);
    await session.assertHeld();
    const asking: Promise<void>[] = [];
    files.onBoundary = () => void asking.push(session.assertHeld());
    for (let op = 7; op < 20; op += 1) await session.record(intent(String(op)), result(String(op)));
    files.onBoundary = undefined;
    expect(asking.length).toBeGreaterThan(20);
    expect(
      (await Promise.allSettled(asking)).filter(({ status }) => status === 'rejected'),
    ).toEqual([]);
    await files.remove(journalOf);
    expect((await refusal(session.assertHeld())).code).toBe('journal-lost');
    await session.compact();
    await session.release();
    expect(Object.keys((await store().read())?.state.resources ?? {})).toHaveLength(18);
  });

  it('stops a run whose journal of an earlier one was removed', async () => {
    const { files, store } = await worn();
    const first = await store().open('apply', TARGET);
    await first.record(intent('6'));
    await first.release();
    const session = await store().open('apply', TARGET);
    await files.remove(journalOf);
    expect((await refusal(session.assertHeld())).code).toBe('journal-lost');
  });

  it('clears the temporary files of killed runs, and no other', async () => {
    const { files, store } = await worn();
    const uuid = systemRandom().uuid();
    for (const name of ['', '.journal', '.journal.next', '.1'])
      files.put(`${PATH}${name}.${uuid}.tmp`, 'half');
    for (const name of [`${PATH}.mine.tmp`, `${PATH}x.${uuid}.tmp`, `${PATH}.lock.${uuid}.tmp`])
      files.put(name, 'not ours');
    await (await store().open('apply', TARGET)).release();
    expect([...files.contents.keys()].filter((path) => path.endsWith('.tmp')).toSorted()).toEqual(
      [`${PATH}.lock.${uuid}.tmp`, `${PATH}.mine.tmp`, `${PATH}x.${uuid}.tmp`].toSorted(),
    );
  });
});
