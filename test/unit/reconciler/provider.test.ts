// The engine knows no vendor: a provider of two invented kinds in memory is planned, applied, audited and recovered.
// Nothing of the resources or the client is loaded here.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  defaultSettings,
  maskingOf,
  normalAll,
  Reference,
  Secret,
  type CloudWriter,
  type Declaration,
  type Diagnostic,
  type Kind,
  type PlanDocument,
  type PolicyRule,
  type Project,
  type Recheck,
  type Values,
} from '../../../src/model/index.js';
import { apply, type Applied } from '../../../src/reconciler/apply/apply.js';
import { findDrift, type Audit } from '../../../src/reconciler/audit/drift.js';
import type { Proposal } from '../../../src/reconciler/plan/plan.js';
import { propose } from '../../../src/reconciler/plan/propose.js';
import { planDocument } from '../../../src/report/index.js';
import { fileStore, scryptFingerprints, type Store } from '../../../src/state/index.js';
import { library, libraryCloud } from '../../support/library.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import { simulatedFiles } from '../../support/simulated-files.js';
import { simulatedMachine } from '../../support/simulated-machine.js';

const root = join(import.meta.dirname, '../../..');
const origin = { file: 'library.yaml', line: 1, column: 1 };

function declare(address: string, values: Values): Declaration {
  const [kind, name] = address.split('.') as [string, string];
  const { attributes } = library.kinds.get(kind) as Kind;
  return {
    address,
    kind,
    name,
    values: normalAll(attributes, values),
    lifecycle: {},
    origin,
    at: () => origin,
  };
}

const projectOf = (...declarations: readonly Declaration[]): Project => ({
  settings: defaultSettings,
  lookups: [],
  declarations,
  expectations: [],
  paths: ['.'],
  digest: () => '',
  variables: {},
});

const maps = declare('shelves.maps', { label: 'Maps' });
const atlas = declare('books.atlas', {
  title: 'Atlas',
  shelf: new Reference('declared', 'shelves.maps', 'id'),
});
const both = projectOf(maps, atlas);

const documentOf = ({ plan }: Proposal): PlanDocument =>
  planDocument({
    plan,
    kinds: library.kinds,
    meta: {
      trueup_version: '0',
      generated_at: '',
      generated_from: { paths: ['.'], digest: '' },
      target: 'memory',
      state: { lineage: '', serial: 0 },
      api_requests: {},
      masking: maskingOf(),
    },
  });

function reading(rules: readonly PolicyRule[] = library.rules) {
  const objects = new Map<string, Map<string, Values>>();
  const [files, machine, random] = [simulatedFiles(), simulatedMachine(), seededRandom()];
  const clock = simulatedClock();
  const signal = new AbortController().signal;
  const desk = {
    ...library,
    rules,
    fingerprints: scryptFingerprints({ cost: 4 }),
    clock,
    emit: () => undefined,
    settleMilliseconds: 60_000,
  };
  const cloud = libraryCloud(objects);
  const store = (process = machine.start()): Store =>
    fileStore({ path: '/sim/state.json', files, clock, random, lock: process, version: '0' });
  const request = { targets: [], excludes: [], allow: [], destroy: false };
  return {
    objects,
    files,
    plan: async (project: Project): Promise<Proposal> =>
      propose({ ...desk, cloud }, project, await store().read(), request),
    drift: async (project: Project): Promise<Audit> =>
      findDrift({ ...desk, cloud, collections: library.kinds }, project, await store().read()),
    async apply(
      project: Project,
      by: CloudWriter = cloud,
      allow: readonly string[] = [],
    ): Promise<Applied> {
      const process = machine.start();
      try {
        const session = await store(process).open('apply', by.target);
        const hands = { ...desk, cloud: by, session, random, parallelism: 2, signal };
        const applied = await apply(
          hands,
          project,
          { ...request, allow },
          { approve: () => Promise.resolve(true), document: documentOf },
        );
        await session.release();
        return applied;
      } finally {
        machine.kill(process.pid);
      }
    },
  };
}

/** The service of a process that ends right after a write of this kind. */
function dyingAfter(service: ReturnType<typeof reading>, name: string): CloudWriter {
  const cloud = libraryCloud(service.objects);
  return {
    ...cloud,
    async send(kind, ...more) {
      const sent = await cloud.send(kind, ...more);
      if (kind.name === name) service.files.crashAt(0);
      return sent;
    },
  };
}

describe('a service in memory', () => {
  it('is planned, with references and a document', async () => {
    const document = documentOf(await reading().plan(both));
    expect(
      document.resource_changes.map(({ address, change, depends_on }) => [
        address,
        change.actions,
        depends_on,
      ]),
    ).toEqual([
      ['shelves.maps', ['create'], []],
      ['books.atlas', ['create'], ['shelves.maps']],
    ]);
    expect(document.resource_changes[1]?.change.after_unknown).toMatchObject({ shelf: true });
    expect(document.resource_changes[0]?.requests).toEqual([
      { method: 'POST', path: '/shelves/', body: { label: 'Maps' } },
    ]);
  });

  it('is applied, and has nothing to do then', async () => {
    const service = reading();
    expect(await service.apply(both)).toMatchObject({
      exit: 0,
      outcomes: [{ outcome: 'done' }, { outcome: 'done' }],
    });
    expect(service.objects.get('books')).toEqual(
      new Map([['book-1', { title: 'Atlas', shelf: 'shelf-1' }]]),
    );
    expect((await service.plan(both)).exit).toBe(0);
  });

  it('is audited: drift, what is unmanaged, and what its own audit source reports', async () => {
    const service = reading();
    await service.apply(both);
    service.objects
      .get('books')
      ?.set('book-1', { title: 'Atlas of the sea', shelf: 'shelf-1' })
      .set('book-2', { title: 'Found' });
    expect(await service.drift(both)).toMatchObject({
      exit: 2,
      drift: [
        {
          address: 'books.atlas',
          status: 'changed',
          changes: [{ path: 'title', live: 'Atlas of the sea' }],
        },
      ],
      unmanaged: { books: 1 },
      health: [{ code: 'no-shelf', id: 'book-2' }],
      access: null,
    });
  });

  it('is guarded by its own rule, until that is allowed', async () => {
    const service = reading();
    await service.apply(both);
    const less = projectOf(
      { ...atlas, values: { title: 'Atlas' } },
      declare('shelves.new', { label: 'New' }),
    );
    const { plan, exit } = await service.plan(less);
    expect([exit, plan.verdicts]).toEqual([
      3,
      [
        {
          rule: 'shelf-removed',
          verdict: 'blocked',
          address: 'shelves.maps',
          detail: 'shelves.maps is taken down',
        },
      ],
    ]);
    expect(await service.apply(less, undefined, ['shelf-removed'])).toMatchObject({ exit: 0 });
    expect(service.objects.get('shelves')?.has('shelf-1')).toBe(false);
  });

  it('is written under the rechecks of all its rules, and a write that breaks one is taken back', async () => {
    const asked: string[] = [];
    const rule = (name: string, after?: Recheck['after']): PolicyRule => ({
      name,
      judge: () => [],
      rechecks: () => ({
        of: () => ({ before: async () => void asked.push(name), ...(after && { after }) }),
      }),
    });
    const diagnostic = (why?: string): Diagnostic => ({
      severity: 'error',
      code: 'title-needed',
      summary: why ?? 'the title was put back',
    });
    const service = reading([
      rule('one'),
      rule('two', async () => ({ verdict: 'lost', restore: { title: 'Atlas' }, diagnostic })),
    ]);
    await service.apply(both);
    const renamed = projectOf(maps, {
      ...atlas,
      values: { ...atlas.values, title: 'Globe' },
      lifecycle: { adopt: 'book-1' },
    });
    expect(
      (await service.apply(renamed)).outcomes.find(({ kind }) => kind === 'books'),
    ).toMatchObject({ outcome: 'failed', diagnostic: { summary: 'the title was put back' } });
    expect([asked, service.objects.get('books')?.get('book-1')]).toEqual([
      ['one', 'two'],
      { title: 'Atlas', shelf: 'shelf-1' },
    ]);
    expect(await service.apply(renamed, undefined, ['two'])).toMatchObject({ exit: 0 });
    expect([asked, service.objects.get('books')?.get('book-1')?.title]).toEqual([
      ['one', 'two', 'one'],
      'Globe',
    ]);
  });

  it.each(['shelves', 'books'])(
    'is recovered: killed after the write of %s, the next run creates nothing twice',
    async (name) => {
      const service = reading();
      await expect(service.apply(both, dyingAfter(service, name))).rejects.toThrow('power');
      expect(service.objects.get(name)?.size).toBe(1);
      service.files.reboot();
      expect(await service.apply(both)).toMatchObject({ exit: 0 });
      expect([service.objects.get('shelves')?.size, service.objects.get('books')?.size]).toEqual([
        1, 1,
      ]);
      expect((await service.plan(both)).exit).toBe(0);
    },
  );

  it('an update without an outcome is told by the next plan, and its recovery by the next apply', async () => {
    const service = reading();
    await service.apply(both);
    const renamed = projectOf(maps, { ...atlas, values: { ...atlas.values, shelf: null } });
    await expect(service.apply(renamed, dyingAfter(service, 'books'))).rejects.toThrow('power');
    service.files.reboot();
    const { plan } = await service.plan(renamed);
    expect(plan.diagnostics.map(({ code, summary }) => `${code}: ${summary}`)).toEqual([
      'unfinished: The outcome of the update of books.atlas is not known: a run is in progress, or ended before it was known.',
    ]);
    expect((await service.apply(renamed)).diagnostics.map(({ summary }) => summary)).toEqual([
      'books.atlas was updated by an interrupted run.',
    ]);
  });

  it('of a create without an outcome, a plan says that nothing declares it any more', async () => {
    const service = reading();
    await service.apply(projectOf(maps));
    await expect(service.apply(both, dyingAfter(service, 'books'))).rejects.toThrow('power');
    service.files.reboot();
    const { plan } = await service.plan(projectOf(maps));
    expect(plan.diagnostics).toMatchObject([
      {
        code: 'unfinished',
        detail:
          'Before it sends anything, apply reads what became of it; nothing declares it under this address any more, so apply may delete or forget it.',
      },
    ]);
    expect((await service.apply(both)).exit).toBe(0);
    expect((await service.plan(projectOf(maps))).plan.diagnostics).toEqual([]);
  });

  it('an apply that is refused tells what it recovered before', async () => {
    const service = reading();
    await expect(service.apply(both, dyingAfter(service, 'shelves'))).rejects.toThrow('power');
    service.files.reboot();
    const hidden = declare('books.hidden', { title: new Secret('env.NONE', () => undefined) });
    await expect(service.apply(projectOf(maps, atlas, hidden))).rejects.toMatchObject({
      diagnostics: [
        { code: 'recovered', address: 'shelves.maps' },
        { code: 'secret-missing', address: 'books.hidden' },
      ],
    });
  });
});

/** Every file that a file imports, and what those import. */
function importsOf(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file) || !existsSync(file)) return seen;
  seen.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(
    /(?:from|import\() ?'(\.[^']+)\.js'/g,
  ))
    importsOf(`${resolve(dirname(file), path)}.ts`, seen);
  return seen;
}

it('nothing of resources and client is imported for it', () => {
  const files = [...importsOf(join(import.meta.dirname, 'provider.test.ts'))].map((file) =>
    file.slice(root.length + 1),
  );
  expect(files).toContain('src/reconciler/apply/executor.ts');
  expect(files.filter((file) => /^src\/(?:resources|client)\//.test(file))).toEqual([]);
});

it('the page about another service shows this provider', () => {
  const page = readFileSync(join(root, 'docs/explanation/new-service.md'), 'utf8');
  const shown = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code).join('\n');
  expect(shown).toBe(readFileSync(join(root, 'test/support/library.ts'), 'utf8'));
});
