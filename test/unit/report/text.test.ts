// Widths, wrapping and differences: the parts a text report is laid out of.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  objectWords,
  type AccessCell,
  type Action,
  type Diagnostic,
  type DriftRecord,
  type Event,
  type HealthIssue,
  type Json,
  type Outcome,
  type ResourceDrift,
} from '../../../src/model/index.js';
import { accessList } from '../../../src/report/access-text.js';
import { briefly, errorsBriefly } from '../../../src/report/brief-diagnostics.js';
import {
  differences,
  inline,
  oneLine,
  rows,
  type Difference,
} from '../../../src/report/differences.js';
import {
  advance,
  noProgress,
  planDocument,
  progressLine,
  renderDiagnostics,
  type Progress,
} from '../../../src/report/index.js';
import { closing, jsonLines } from '../../../src/report/layout.js';
import { patchBetween } from '../../../src/report/patch.js';
import { renderOutcomes } from '../../../src/report/outcomes-text.js';
import { renderDrift, renderPlan } from '../../../src/report/render.js';
import { screenOf } from '../../../src/report/style.js';
import { baseSentence, cloudSentence } from '../../../src/report/words.js';
import { clip, columns, wrap } from '../../../src/report/text-width.js';
import { kinds } from '../../../src/resources/index.js';
import { audits } from './audits.js';
import { keep, meta, mixed, quiet } from './plans.js';

describe('columns', () => {
  test.each([
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['日本', 4],
    ['한글', 4],
    ['ＡＢ', 4],
    ['👍', 2],
    ['🇩🇪', 4],
    ['→·…', 3],
    ['', 0],
  ])('%j takes %i', (text, count) => expect(columns(text)).toBe(count));
});

describe('what a request does with the rest of a document', () => {
  const base = { version_number: 5, sha256: 'abcdef0123456789' };
  test.each<[what: string, body: Json, version: number | null, said: string]>([
    [
      'carries it',
      { configuration: [{ lan: 1 }, []] },
      5,
      'members that are not declared are read again and sent unchanged (planned from version 5, sha256 abcdef012345…; not sent if others change a declared member before)',
    ],
    [
      'takes members out of it',
      { configuration: [{ system: { timezone: null } }] },
      null,
      'members that are not declared are read again and sent unchanged; members that are declared null are taken out (planned from sha256 abcdef012345…; not sent if others change a declared member before)',
    ],
    [
      'carries it beside null, which takes nothing out of a list or of the object',
      { description: null, configuration: [{ lan: [{ ip: null }] }] },
      null,
      'members that are not declared are read again and sent unchanged (planned from sha256 abcdef012345…; not sent if others change a declared member before)',
    ],
    [
      'carries it, with declared secrets',
      { configuration: [{ users: [{ password: '(sensitive)' }] }, []] },
      null,
      'members that are not declared are read again and sent unchanged; declared secrets are sent too (planned from sha256 abcdef012345…; not sent if others change a declared member before)',
    ],
    [
      'clears it',
      { configuration: [{}, []] },
      5,
      'the whole live document is replaced (planned from version 5, sha256 abcdef012345…)',
    ],
    [
      'carries it, without a version',
      { configuration: [{}] },
      null,
      'members that are not declared are read again and sent unchanged (planned from sha256 abcdef012345…; not sent if others change a declared member before)',
    ],
  ])('%s', (_, body, version_number, said) =>
    expect(
      baseSentence({ method: 'PUT', path: '/', body, base: { ...base, version_number } }),
    ).toBe(said),
  );
});

describe('wrapping', () => {
  test.each([
    ['one two three', 7, 7, ['one two', 'three']],
    ['one two three', 3, 9, ['one', 'two three']],
    ['abcdefgh', 3, 4, ['abc', 'defg', 'h']],
    ['日本語', 3, 3, ['日', '本', '語']],
    ['a ::b', 1, 20, ['a', '\\u003a:b']],
    ['abcdefgh::d', 8, 20, ['abcdefgh', '\\u003a:d']],
    ['  command', 20, 20, ['  command']],
    ['allow: --allow max-deletes', 20, 20, ['allow:', '--allow max-deletes']],
    ['allow: `--max a`', 14, 14, ['allow:', '`--max a`']],
    ['--allow max-deletes', 12, 12, ['--allow', 'max-deletes']],
    ['up to --n a--b c', 8, 8, ['up to', '--n a--b', 'c']],
    ['run: `trueup import a 1` now', 20, 20, ['run:', '`trueup import a 1`', 'now']],
    ['run: `trueup import a 1 b 2` now', 20, 20, ['run: `trueup import', 'a 1 b 2` now']],
    [
      'run: `trueup apply --allow max-deletes --allow max-changed`',
      30,
      30,
      ['run: `trueup apply', '--allow max-deletes', '--allow max-changed`'],
    ],
    ['run: `trueup import a 1', 20, 20, ['run: `trueup import', 'a 1']],
    ['', 5, 5, ['']],
    ['abcde\u0301f', 5, 5, ['abcde\u0301', 'f']],
  ])('%j in %i and %i columns', (text, first, rest, lines) =>
    expect(wrap(text, first, rest)).toEqual(lines),
  );

  test('keeps the words and the width', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', ' ', '語', '👩‍👧', 'e\u0301', ':') }),
        fc.integer({ min: 12, max: 30 }),
        (text, width) => {
          const lines = wrap(text, width);
          for (const line of lines) expect(columns(line)).toBeLessThanOrEqual(width);
          const bare = (one: string): string =>
            one.replaceAll('\\u003a', ':').replaceAll(/\s/g, '');
          expect(bare(lines.join(''))).toBe(bare(text));
        },
      ),
    );
  });

  test('parts no character, however many marks one column has', () => {
    const text = `x${'\u{1d167}'.repeat(128)}bcd`;
    const lines = wrap(text, 2);
    expect(lines.join('')).toBe(text);
    expect(lines.filter((line) => !line.isWellFormed())).toEqual([]);
  });

  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcde…'],
    ['日本語', 4, '日…'],
  ])('%j clipped to %i is %j', (text, room, clipped) => expect(clip(text, room)).toBe(clipped));
});

const difference = (before: Json | undefined, after: Json | undefined): Difference => ({
  path: 'x',
  before,
  after,
  unknown: false,
  sensitive: false,
});
const signsOf = (before: Json | undefined, after: Json | undefined): readonly string[] =>
  rows(difference(before, after)).map(({ sign, text }) => sign + text);

describe('differences', () => {
  test.each<[string, Json | undefined, Json | undefined, readonly string[]]>([
    ['members', [1, 2, 3], [2, 3, 4], ['-1', '+4', ' … 2 unchanged']],
    ['members seen twice', ['a'], ['a', 'a'], ['+"a"', ' … 1 unchanged']],
    ['order alone', [1, 2], [2, 1], ['-[1, 2]', '+[2, 1]']],
    ['what was not set', undefined, 'b', ['+"b"']],
    ['what is set free', ['a'], undefined, ['-"a"']],
    ['a null', undefined, null, ['+null']],
    ['texts', 'a', 'b', ['-"a"', '+"b"']],
    ['lines', 'a\nb\nc', 'a\nx\nc', [' a', '-b', '+x', ' c']],
    ['lines in common', 'a\nb\nc\nd', 'b\nx\nc\ne', ['-a', ' b', '+x', ' c', '-d', '+e']],
    ['a line more', 'a\nb', 'a\nb\nb', [' a', ' b', '+b']],
    [
      'far lines',
      '1\n2\n3\n4\n5\n6\n7\n8\n9',
      '1\n2\n3\n4\n5\n6\n7\n8\nx',
      [' … 6 unchanged lines', ' 7', ' 8', '-9', '+x'],
    ],
    [
      'lists of objects',
      [{ a: 1 }],
      [{ a: 2 }],
      [' [', '   {', '-    "a": 1', '+    "a": 2', '   }', ' ]'],
    ],
  ])('%s', (_, before, after, expected) => expect(signsOf(before, after)).toEqual(expected));

  test('line by line, nothing is lost: kept and removed lines are the old, kept and added the new', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        fc.pre(before.join() !== after.join());
        const shown = rows(difference(before.join('\n'), after.join('\n')));
        fc.pre(!shown.some(({ text }) => text.startsWith('…')));
        expect(shown.filter(({ sign }) => sign !== '+').map(({ text }) => text)).toEqual(before);
        expect(shown.filter(({ sign }) => sign !== '-').map(({ text }) => text)).toEqual(after);
      }),
    );
  });

  test('texts too long to be aligned are removed and added as a whole', () => {
    const text = (word: string): string =>
      Array.from({ length: 600 }, (_, index) => `${word}${index}`).join('\n');
    const shown = rows(difference(text('a'), text('b')));
    expect([shown.length, shown[0]?.sign, shown.at(-1)?.sign]).toEqual([1200, '-', '+']);
  });

  test.each<[Json | undefined, Json | undefined, string | undefined]>([
    [1, 2, '1 → 2'],
    [undefined, { a: [1, 'x'] }, '{"a":[1, "x"]}'],
    [null, undefined, 'null'],
    ['a\nb', 'c', undefined],
    [[1], [2], '[1] → [2]'],
    [[1, 2], [2], undefined],
  ])('%j to %j in one line is %j', (before, after, line) =>
    expect(oneLine(difference(before, after))).toBe(line),
  );

  test.each<[Json | undefined, Json | undefined, string]>([
    [undefined, true, 'not set → true'],
    [1, undefined, '1 → not set'],
    [1, 2, '1 → 2'],
  ])('of an update from %j to %j, both sides are named', (before, after, line) =>
    expect(oneLine(difference(before, after), true)).toBe(line),
  );

  test('what a secret was is unknown, and not said to be nothing', () => {
    const secret = { ...difference(undefined, '(sensitive)'), sensitive: true };
    expect(oneLine(secret, true)).toBe('(sensitive)');
  });

  test('a secret is sent, and not said to change', () => {
    const document = planDocument({ plan: mixed, kinds, meta });
    const said = (format: 'text' | 'html'): string => {
      const shown = renderPlan(document, format, { color: false, width: 100 });
      return /\(sensitive\), [a-z ]+|\((?:is sent|changes)\)/.exec(shown)?.[0] ?? '';
    };
    expect([said('text'), said('html')]).toEqual(['(sensitive), is sent', '(is sent)']);
  });

  test.each([
    ['North region', '"2" (North region)'],
    ['Evil) → "1" (HQ', '"2" ("Evil) → \\"1\\" (HQ")'],
  ])('the name %j behind an id cannot be read as another value', (label, shown) =>
    expect(inline('2', { 2: label })).toBe(shown),
  );

  test('a secret is never quoted', () =>
    expect(inline({ secret: '(sensitive)' })).toBe('{"secret":(sensitive)}'));
});

test('ten thousand unchanged objects are one number', () => {
  const plan = {
    ...quiet,
    changes: Array.from({ length: 10_000 }, (_, index) => keep(index)),
    unmanaged: {},
  };
  const document = planDocument({ plan, kinds, meta, keeps: 'count' });
  expect(document.resource_changes).toEqual([]);
  expect(renderPlan(document, 'text', { color: false, width: 80 })).toBe(
    'No changes. 10000 objects are as declared.\n',
  );
});

test.each([
  [
    'Plan: 0 to create, 3 to adopt (2 with changes), 0 to delete; 0 unchanged.',
    ['Plan: 0 to create,', '3 to adopt (2 with changes),', '0 to delete; 0 unchanged.'],
  ],
])('the last sentence %j is broken between its parts', (sentence, lines) =>
  expect([...closing(sentence, screenOf({ color: false, width: 40 }))]).toEqual(lines),
);

test.each<[value: Json, lines: readonly string[]]>([
  [
    { a: ['${accounts.field-operations.id of all}', 2], b: 'x, "y", z' },
    ['{"a":["${accounts.field-operations.id of all}",', '  2], "b":"x, \\"y\\", z"}'],
  ],
  [{ a: 1, b: '::error::' }, ['{"a":1, "b":"::error::"}']],
  [{}, ['{}']],
])('a body %j is broken only between its members', (value, lines) => {
  const shown = [...jsonLines(value, screenOf({ color: false, width: 40 }), 2)];
  expect(shown.join('\n').slice(2)).toBe(lines.join('\n'));
  expect(JSON.parse(shown.join('\n'))).toEqual(value);
});

test.each([
  ['1', 'Headquarters', 'accounts Headquarters (1)'],
  ['(sensitive)', 'Headquarters', 'accounts Headquarters (sensitive)'],
  ['(sensitive)', null, 'accounts (sensitive)'],
])('the object %j named %j is said as %j', (id, label, said) => {
  expect(objectWords('accounts', id, label)).toBe(said);
});

test.each<[what: string, cell: Partial<AccessCell>, declared: string]>([
  ['another role is declared', { address: 'x.y', declared: 'no_access' }, 'no_access'],
  ['it is as declared', { address: 'x.y' }, 'yes'],
  ['it is not declared', {}, 'no'],
  ['it is inherited', { inherited_from: '1' }, ''],
  ['a role beside it is not declared', { inherited_from: '1', own: ['no_access'] }, 'no'],
])('a table of roles says whether %s', (_, cell, declared) => {
  const cells = [{ user: '7', account: '2', role: 'administrator', ...cell }];
  const { rows } = accessList({ users: [], accounts: [], cells, complete: true });
  expect(rows[0]?.at(-1)).toBe(declared);
});

test('a plan with errors does not say that nothing changes', () => {
  const plan = {
    ...quiet,
    diagnostics: [{ severity: 'error', code: 'ambiguous', summary: 'two objects match' }],
  } as const;
  expect(
    renderPlan(planDocument({ plan, kinds, meta }), 'text', { color: false, width: 100 }),
  ).toMatch(/^Plan with 1 error: 0 to create.*30 unchanged\.\n$/m);
});

test.each([
  ['and nothing is planned', [], 'Plan with 1 error: what is declared was not planned.'],
  [
    'beside what is updated before it is forgotten',
    mixed.changes
      .flatMap((one) => {
        if (one.action !== 'update' || !one.declaredObject) return [];
        const { origin: _, declaredObject: __, ...retired } = one;
        return [retired];
      })
      .slice(0, 1),
    'Plan with 1 error: 1 to update; what is declared was not planned.',
  ],
  [
    'beside what is deleted',
    mixed.changes.filter(({ action, deposed }) => action === 'delete' && !deposed),
    'Plan with 1 error: 1 to delete; what is declared was not planned.',
  ],
])('a plan with errors counts nothing that was not planned, %s', (_, changes, sentence) => {
  const diagnostics = [{ severity: 'error', code: 'cycle', summary: 'a circle' }] as const;
  const plan = { ...quiet, changes, diagnostics };
  expect(
    renderPlan(planDocument({ plan, kinds, meta }), 'text', { color: false, width: 100 }),
  ).toContain(`\n${sentence}\n`);
});

test('a plan without the values of secrets does not say that they are as declared', () => {
  const diagnostics = [{ severity: 'info', code: 'secret-unseen', summary: 'none' }] as const;
  const document = planDocument({ plan: { ...quiet, diagnostics }, kinds, meta });
  expect(renderPlan(document, 'text', { color: false, width: 100 })).toContain(
    '30 objects are as declared, as far as their secrets are known.\n',
  );
});

describe('the progress line', () => {
  const style = { color: false, width: 70 };
  const lines = (total: number, events: readonly Event[]): readonly string[] => {
    const seen: Progress[] = [noProgress(total)];
    for (const event of events) seen.push(advance(seen.at(-1) as Progress, event));
    return seen.map((progress) => progressLine(progress, style));
  };

  test('of reading', () =>
    expect(
      lines(0, [
        { type: 'reading', kind: 'accounts', objects: 500 },
        { type: 'reading', kind: 'accounts', objects: 700 },
        { type: 'reading', kind: 'alert_rules', objects: 10 },
        { type: 'waiting', why: 'rate limited', milliseconds: 1500 },
        { type: 'reading', kind: 'alert_rules', objects: 20 },
      ]),
    ).toEqual([
      '',
      'reading accounts 500',
      'reading accounts 700',
      'reading accounts 700, alert_rules 10',
      'waiting 2 s: rate limited',
      'reading accounts 700, alert_rules 20',
    ]));

  test('of comparing secrets', () =>
    expect(
      lines(0, [
        { type: 'comparing', done: 1, total: 1000 },
        { type: 'comparing', done: 2, total: 1000 },
      ]),
    ).toEqual(['', 'comparing secrets 1/1000', 'comparing secrets 2/1000']));

  test('of applying', () =>
    expect(
      lines(3, [
        { type: 'start', address: 'accounts.a', action: 'create' },
        { type: 'start', address: 'accounts.b', action: 'delete' },
        { type: 'waiting', why: 'rate limited', milliseconds: 1500 },
        {
          type: 'end',
          outcome: { address: 'accounts.a', kind: 'accounts', action: 'create', outcome: 'done' },
        },
        {
          type: 'end',
          outcome: { address: 'accounts.b', kind: 'accounts', action: 'delete', outcome: 'failed' },
        },
      ]),
    ).toEqual([
      '0/3',
      '0/3 · creating accounts.a',
      '0/3 · creating accounts.a · deleting accounts.b',
      'waiting 2 s: rate limited · 0/3 · creating accounts.a · deleting accounts.b'.slice(0, 68) +
        '…',
      '1/3 · deleting accounts.b',
      '2/3 · 1 not done',
    ]));

  test('counts a change once that turns out later not to be done', () => {
    const end = { address: 'accounts.a', kind: 'accounts', action: 'delete' } as const;
    expect(
      lines(1, [
        { type: 'end', outcome: { ...end, outcome: 'done' } },
        { type: 'end', outcome: { ...end, outcome: 'failed' }, late: true },
      ]),
    ).toEqual(['0/1', '1/1', '1/1 · 1 not done']);
  });
});

test('a delete shows what is lost, not what was empty', () => {
  const [resource] = planDocument({ plan: mixed, kinds, meta }).resource_changes.filter(
    ({ change }) => change.actions[0] === 'delete',
  );
  const before = { ...resource!.change.before, note: null, groups: [], settings: {} };
  const emptied = {
    ...resource!,
    change: { ...resource!.change, before },
    patch: patchBetween(before, null),
  };
  expect(differences(emptied)).toEqual(differences(resource!));
  expect(differences(emptied)).not.toEqual([]);
});

test('an apply counts the objects that got another address, alone and with a change', () => {
  const outcome = { kind: 'accounts', action: 'keep', outcome: 'done', id: '1' } as const;
  const text = renderOutcomes(
    [
      { ...outcome, address: 'accounts.b', renamed_from: 'accounts.a' },
      { ...outcome, address: 'accounts.d', action: 'update', renamed_from: 'accounts.c' },
      { ...outcome, address: 'accounts.e' },
    ],
    { color: false, width: 80 },
  );
  expect(text).toContain('> renamed accounts.b, was accounts.a\n');
  expect(text).toContain(
    'Applied: 0 created, 1 updated (1 renamed), 0 deleted, 1 renamed; 1 unchanged.\n',
  );
});

test('an apply says which adopted objects it updated', () => {
  const outcome = { kind: 'accounts', action: 'adopt', outcome: 'done' } as const;
  const text = renderOutcomes(
    [
      { ...outcome, address: 'accounts.a', id: '1', updates: true },
      { ...outcome, address: 'accounts.b', id: '2' },
    ],
    { color: false, width: 80 },
  );
  expect(text).toContain('= adopted, updated accounts.a (id 1)\n');
  expect(text).toContain('= adopted accounts.b (id 2)\n');
  expect(text).toContain('Applied: 0 created, 2 adopted (1 with changes), 0 updated, 0 deleted;');
});

test.each([
  [false, ['= adopted accounts.of["c9", "c10"]', '= adopted alert_rules.r (id 3)']],
  [
    true,
    [
      '= adopted accounts.of["c10"] (id 1)',
      '= adopted alert_rules.r (id 3)',
      '= adopted accounts.of["c9"] (id 2)',
    ],
  ],
])('an apply says once which objects of a kind it only adopted; verbose: %j', (verbose, lines) => {
  const outcome = { action: 'adopt', outcome: 'done' } as const;
  const text = renderOutcomes(
    [
      { ...outcome, kind: 'accounts', address: 'accounts.of["c10"]', id: '1' },
      { ...outcome, kind: 'alert_rules', address: 'alert_rules.r', id: '3' },
      { ...outcome, kind: 'accounts', address: 'accounts.of["c9"]', id: '2' },
      { ...outcome, kind: 'accounts', address: 'accounts.x', id: '4', updates: true },
    ],
    { color: false, width: 100, verbose },
  );
  const last = ['= adopted, updated accounts.x (id 4)', ''];
  expect(text.split('\n').slice(0, -2)).toEqual([...lines, ...last]);
});

test('an id stands in one piece behind its address, or below it', () => {
  const address = `alert_rules.${'r'.repeat(50)}`;
  const outcome = { kind: 'alert_rules', action: 'update', outcome: 'done' } as const;
  const text = renderOutcomes([{ ...outcome, address, id: 'b0000056-97c4' }], {
    color: false,
    width: 80,
  });
  expect(text).toContain(`~ updated ${address}\n    (id b0000056-97c4)\n`);
});

test('what was skipped stands once below each reason, behind what failed, by action and kind', () => {
  const customers = Array.from({ length: 12 }, (_, index) => `c${index}`);
  const skip = (address: string, action: Action, reason: string, more = {}): Outcome => ({
    address,
    kind: address.split('.')[0]!,
    action,
    outcome: 'skipped',
    reason,
    diagnostic: { severity: 'warning', code: 'skipped', summary: `${address} was skipped` },
    ...more,
  });
  const [why, stopped] = ['accounts.new did not succeed', 'the run was interrupted'];
  const outcomes: readonly Outcome[] = [
    ...customers.map((key) => skip(`alert_rules.load["${key}"]`, 'update', stopped)),
    skip('alert_rules.load["new"]', 'create', why),
    skip('alert_rules.offline["new"]', 'create', why),
    skip('groups.new', 'create', why),
    ...customers.map((key) => skip(`alert_rules.offline["${key}"]`, 'update', stopped)),
    skip('groups.now', 'keep', stopped, { renamed_from: 'groups.before' }),
    skip('groups.found', 'adopt', stopped, { updates: true }),
    { address: 'accounts.new', kind: 'accounts', action: 'create', outcome: 'failed' },
  ];
  const lines = (verbose: boolean): readonly string[] =>
    renderOutcomes(outcomes, { color: false, width: 80, verbose }).split('\n').slice(0, -4);
  expect(lines(false)).toEqual([
    '! FAILED: create accounts.new',
    '  skipped because the run was interrupted:',
    '    update alert_rules: load (12), offline (12)',
    '    rename groups.now',
    '    adopt, update groups.found',
    '  skipped because accounts.new did not succeed:',
    '    create alert_rules: load["new"], offline["new"]',
    '    create groups.new',
  ]);
  expect(lines(true)).toHaveLength(3 + outcomes.length - 1);
});

test('a deleted object that did not exist any more is said to have been gone', () => {
  const outcome = {
    address: 'groups.a',
    kind: 'groups',
    action: 'delete',
    outcome: 'done',
  } as const;
  const said = renderOutcomes([{ ...outcome, id: '7', gone: true }], { color: false, width: 80 });
  expect(said.split('\n')[0]).toBe('- deleted groups.a (id 7, was gone already)');
  const last = { ...outcome, action: 'update', id: '7', forgets: true } as const;
  expect(renderOutcomes([last], { color: false, width: 80 }).split('\n')[0]).toBe(
    '~ updated groups.a (id 7), then forgotten',
  );
});

test('why a write failed is left out where another stream says it; a skipped one keeps its reason', () => {
  const outcome = { kind: 'accounts', action: 'create' } as const;
  const error = { severity: 'error', code: 'refused', summary: 'it was refused' } as const;
  const outcomes = (['failed', 'unknown', 'skipped'] as const).map((how) => ({
    ...outcome,
    address: `accounts.${how}`,
    outcome: how,
    ...(how === 'skipped' && { reason: 'skipped: it was refused' }),
    diagnostic: { ...error, summary: `${how}: it was refused` },
  }));
  const said = (diagnosticsApart: boolean): readonly string[] =>
    renderOutcomes(outcomes, { color: false, width: 80, diagnosticsApart }).match(
      /\w+: it was refused|! FAILED: create \S+|\? UNKNOWN: create \S+/g,
    ) ?? [];
  const titles = ['! FAILED: create accounts.failed', '? UNKNOWN: create accounts.unknown'];
  expect(said(true)).toEqual([...titles, 'skipped: it was refused']);
  expect(said(false).toSorted()).toEqual(
    [
      ...['skipped', 'failed', 'unknown'].map((how) => `${how}: it was refused`),
      ...titles,
    ].toSorted(),
  );
});

test.each([
  [['name'], 'Requests: 1 PUT.\n'],
  [
    ['name', 'is_disabled'],
    'Requests: 1 PUT. A PUT also sends attributes that do not change, as they are live.\n',
  ],
])('a PUT of %j is told with what it sends beside the change', (names, sentence) => {
  const document = planDocument({ plan: mixed, kinds, meta });
  const [change] = document.resource_changes;
  const body = Object.fromEntries(names.map((name) => [name, 'x']));
  const one = {
    ...change!,
    patch: [{ op: 'replace' as const, path: '/name', value: 'x' }],
    requests: [{ method: 'PUT', path: '/accounts/2/', body }],
  };
  const plan = { ...document, resource_changes: [one] };
  expect(renderPlan(plan, 'text', { color: false, width: 200 })).toContain(sentence);
});

test('what fails of an adopted object is its update', () => {
  const outcomes = (['failed', 'unknown'] as const).map((outcome) => ({
    kind: 'accounts',
    action: 'adopt' as const,
    address: `accounts.${outcome}`,
    outcome,
    updates: true as const,
  }));
  expect(renderOutcomes(outcomes, { color: false, width: 80 })).toContain(
    '! FAILED: update accounts.failed\n? UNKNOWN: update accounts.unknown\n',
  );
});

test('a plan counts the objects that get another address, alone and with a change', () => {
  const changes = [{ ...keep(1), renamed_from: 'alert_rules.before' }, ...mixed.changes];
  const text = renderPlan(planDocument({ plan: { ...mixed, changes }, kinds, meta }), 'text', {
    color: false,
    width: 200,
  });
  expect(text).toMatch(/ 2 to update \(1 renamed\), 1 to delete, .*1 to rename; \d+ unchanged\.\n/);
});

test('an address that is new for what is kept is shown, and nothing in the cloud changes', () => {
  const plan = { ...quiet, changes: [{ ...keep(1), renamed_from: 'alert_rules.before' }, keep(2)] };
  const text = renderPlan(planDocument({ plan, kinds, meta, keeps: 'count' }), 'text', {
    color: false,
    width: 80,
  });
  expect(text).toContain(`> rename ${keep(1).address}\n`);
  expect(text).toMatch(/No changes in the cloud, 1 renamed\. 2 objects are as declared\.\n$/);
  expect(
    renderPlan(planDocument({ plan, kinds, meta, keeps: 'count' }), 'markdown', {
      color: false,
      width: 80,
    }),
  ).toContain('| `>` rename |');
});

test('a command to type is never broken, however long it is', () => {
  const command = `trueup import alert_rules.a-rule-with-a-rather-long-name 1eec7b81-e4ee-11f1-bb92-4f495a263ecc --env prod`;
  const text = renderDiagnostics(
    [
      {
        severity: 'error',
        code: 'ambiguous',
        summary: 'x',
        detail: `Choose one: ${command}\nor write it down.\n  ${command}`,
      },
    ],
    { color: false, width: 80 },
  );
  expect(text).toContain(`\n  Choose one:\n    ${command}\n  or write it down.\n    ${command}\n`);
});

test.each([
  ['emulator', 'emulator'],
  ['http://127.0.0.1:1/api/v2 http://127.0.0.1:1', 'http://127.0.0.1:1'],
  ['http://127.0.0.1:1 http://127.0.0.1:1', 'http://127.0.0.1:1'],
  [
    'http://127.0.0.1:1/api/v2 http://127.0.0.1:12',
    'http://127.0.0.1:1/api/v2 and http://127.0.0.1:12',
  ],
  [
    'https://www.example.com/api/v2 https://api.example.com',
    'https://www.example.com/api/v2 and https://api.example.com',
  ],
])('names the cloud %s once', (target, told) => {
  expect(cloudSentence({ target })).toBe(told);
});

test('health issues of one cause are one row of a page, which opens to the objects', () => {
  const health = ['a', 'b'].map((name): HealthIssue => ({
    kind: 'alert_rules',
    id: name,
    address: `alert_rules.${name}`,
    code: 'rule-cannot-fire',
    summary: 'the rule cannot fire',
    cause: 'alert_push_destinations.pager is disabled',
  }));
  const pageOf = (some: readonly HealthIssue[]): string =>
    renderDrift({ ...audits.drift, health: some }, 'html', { color: false, width: 80 });
  expect(pageOf(health)).toContain(
    '<code>2 alert_rules</code></th><td><details><summary>alert_push_destinations.pager is disabled, so 2 alert_rules do not work</summary><code>alert_rules.a</code>, <code>alert_rules.b</code></details></td>',
  );
  expect(pageOf(health.slice(1))).toContain('<code>alert_rules.b</code></th><td>the rule cannot');
});

test('of a member in the activity log, it is told whether it was added or removed', () => {
  const sides = { before: { gone: true, role: 'a' }, after: { ntp: 'x', role: 'b' } };
  const drift = audits.drift.drift.flatMap(({ changed_by, ...record }): DriftRecord | [] =>
    changed_by === 'unknown' ? [] : { ...record, changed_by: { ...changed_by, ...sides } },
  );
  const text = renderDrift({ ...audits.drift, drift }, 'text', { color: false, width: 80 });
  expect(text).toMatch(/gone +true → not set\n +ntp +not set → "x"\n +role +"a" → "b"\n/);
});

describe('equal drift is read at once', () => {
  const record = audits.drift.drift.find(
    ({ address }) => address === 'account_authorizations.dana',
  )!;
  const at = (index: number): string => `2026-01-01T11:00:${String(index).padStart(2, '0')}.000Z`;
  const records = Array.from({ length: 40 }, (_, index): DriftRecord => {
    const { changed_by } = record;
    return {
      ...record,
      address: `account_authorizations.dana["c${String(index).padStart(2, '0')}"]`,
      id: String(900 + index),
      changed_by: changed_by === 'unknown' ? changed_by : { ...changed_by, at: at(index) },
    };
  });
  const text = (drift: readonly DriftRecord[], verbose = false): string =>
    renderDrift({ ...audits.drift, drift, diagnostics: [] }, 'text', {
      color: false,
      width: 80,
      verbose,
    });

  test('with its author, and the times of the first and the last change', () =>
    expect(text(records).split('\n').slice(0, 6)).toEqual([
      '~ changed account_authorizations.dana["c00"…"c39"] (40)',
      '  the live object is not as declared · estate.yaml:55:3 · all: --verbose',
      '  updated by lee@example.com (user) from 2026-01-01T11:00:00.000Z to',
      '  2026-01-01T11:00:39.000Z',
      '    declared → live',
      '    role  "full_access_user" → "administrator"',
    ]));

  test.each(['markdown', 'html'] as const)('in %s', (format) => {
    const written = (verbose: boolean): string =>
      renderDrift({ ...audits.drift, drift: records, diagnostics: [] }, format, {
        color: false,
        width: 80,
        verbose,
      }).replaceAll('&quot;', '"');
    const block = 'account_authorizations.dana["c00"…"c39"] (40)';
    expect(written(false)).toContain(block);
    expect(written(false).split('full_access_user').length).toBeLessThan(5);
    expect(written(true)).not.toContain(block);
    expect(written(true).split('full_access_user').length).toBeGreaterThan(40);
  });

  test('also where a plan shows it', () => {
    const drift = ['a', 'b', 'c'].map((key): ResourceDrift => ({
      address: `account_authorizations.dana["${key}"]`,
      kind: 'account_authorizations',
      id: key,
      actions: ['update'],
      changes: [{ path: 'role', applied: 'full_access_user', live: 'administrator' }],
    }));
    const gone = drift.map((one): ResourceDrift => ({ ...one, actions: ['delete'], changes: [] }));
    const written = (some: readonly ResourceDrift[], format: 'text' | 'markdown'): string =>
      renderPlan({ ...planDocument({ plan: quiet, kinds, meta }), resource_drift: some }, format, {
        color: false,
        width: 80,
      });
    const block = 'account_authorizations.dana["a", "b", "c"]';
    expect(written(drift, 'text')).toContain(
      `  ${block} (nothing is sent)\n    role  "full_access_user" → "administrator"\n\n`,
    );
    expect(written(drift, 'markdown')).toContain(`\`${block}\` differ in 1 attribute\n`);
    expect(written(gone, 'text')).toContain(`  ${block} (3) are gone\n`);
    expect(written(gone, 'markdown')).toContain(`\`${block} (3)\` are gone\n`);
    const replaced = gone.map((one, index) => ({ ...one, replaced_by: String(index) }));
    expect(written(replaced, 'text')).toContain(`  ${block} (3) were replaced by other objects\n`);
    expect(written([...gone.slice(1), replaced[0]!], 'markdown')).toContain(
      '`account_authorizations.dana["a"]` was replaced by another object\n',
    );
    const [first, second] = drift as [ResourceDrift, ResourceDrift];
    const other = { ...second, changes: [{ ...second.changes[0]!, live: 'no_access' }] };
    expect(written([first, other], 'text')).toContain('dana["a"] (nothing is sent)\n');
  });

  test('nothing is sent for what is only renamed', () => {
    const renamed = { ...keep(1), renamed_from: 'accounts.former' };
    const { address, kind, id } = renamed;
    const drift: ResourceDrift = {
      address,
      kind,
      id,
      actions: ['update'],
      changes: [{ path: 'name', applied: 'A', live: 'B' }],
    };
    const document = planDocument({ plan: { ...quiet, changes: [renamed] }, kinds, meta });
    const plan = { ...document, resource_drift: [drift] };
    expect(document.resource_changes[0]?.previous_address).toBe('accounts.former');
    expect(renderPlan(plan, 'text', { color: false, width: 80 })).toContain(
      `  ${address} (nothing is sent)\n`,
    );
  });

  test('unless another value, author or status is in it, or all of it is asked for', () => {
    const [first, second] = records as [DriftRecord, DriftRecord];
    const live = [{ ...second.changes[0]!, live: 'read_only_user' }];
    for (const other of [
      { ...second, changes: live },
      { ...second, changed_by: 'unknown' as const },
      { ...second, status: 'settled' as const },
    ])
      expect(text([first, other])).toContain('dana["c01"]\n');
    expect(text(records.slice(0, 2), true)).toContain('dana["c01"]\n');
    expect(text(records.slice(0, 2))).toContain('dana["c00", "c01"]\n');
  });

  test('without an author, within the widest window', () => {
    const unknown = records.slice(0, 3).map((one, index) => ({
      ...one,
      changed_by: 'unknown' as const,
      window: { after: at(index), before: at(index + 30) },
    }));
    expect(text(unknown)).toContain(`changed by: unknown, after ${at(0)} and before\n  ${at(32)}`);
    const open = { ...unknown[0]!, window: { after: null, before: at(9) } };
    expect(text([...unknown, open])).toContain(`changed by: unknown, before ${at(32)}`);
  });
});

test.each(['text', 'markdown', 'html'] as const)(
  '%s names the object of a verdict once',
  (format) => {
    const policy = [
      { rule: 'r', verdict: 'blocked', detail: 'accounts.a-b moves', address: 'accounts.a-b' },
      { rule: 'r', verdict: 'blocked', detail: 'it moves', address: 'accounts.c-d' },
    ] as const;
    const document = { ...planDocument({ plan: quiet, kinds, meta }), policy };
    const shown = renderPlan(document, format, { color: false, width: 80 });
    expect(shown.match(/accounts\.a-b/g)).toHaveLength(1);
    expect(shown.match(/accounts\.c-d/g)).toHaveLength(1);
  },
);

describe('errors of one place', () => {
  const origin = { file: 'a.yaml', line: 1, column: 1 };
  const used_at = { file: 'b.yaml', line: 1, column: 1 };
  const error = (summary: string, more: Partial<Diagnostic> = {}): Diagnostic => ({
    severity: 'error',
    code: 'c',
    summary,
    origin,
    ...more,
  });
  const five = [1, 2, 3, 4, 5];
  const summaries = (all: readonly Diagnostic[]): readonly string[] =>
    errorsBriefly(all).map(({ summary }) => summary);

  test('of the members of a `use` that miss one parameter, three are shown', () => {
    const missing = (name: string) => (key: number) =>
      error(`\`use.all["c\\"${key}"]\`: \`with.${name}\` is missing`);
    expect(summaries(five.flatMap((key) => [missing('a')(key), missing('b')(key)]))).toEqual([
      ...[1, 2, 3].flatMap((key) => [missing('a')(key).summary, missing('b')(key).summary]),
      'and 2 more like this at the same place: use.all["c\\"4"], use.all["c\\"5"]',
      'and 2 more like this at the same place: use.all["c\\"4"], use.all["c\\"5"]',
    ]);
  });

  test('of one in a template, three are shown, whatever the addresses and ids', () => {
    const all = five.map((key) =>
      error(`x.u${key}-a["k${key}"] and x.u${key}-b are one with the router ${key}0`, {
        origin: { ...origin, used_at },
      }),
    );
    expect(summaries(all)).toEqual([
      ...all.slice(0, 3).map(({ summary }) => summary),
      'and 2 more like this at the same place: x.u4-a["k4"] (x.u4-b), x.u5-a["k5"] (x.u5-b)',
    ]);
  });

  test('so it is with the members of a `for_each`', () => {
    const all = five.map((key) => error(`x.a["${key}"] and x.b are identical`));
    expect(summaries(all)).toEqual([
      ...all.slice(0, 3).map(({ summary }) => summary),
      'and 2 more like this at the same place: x.a["4"], x.a["5"]',
    ]);
  });

  test('an expression of theirs names no other object', () => {
    const all = five.map((key) =>
      error(`\${x.b["}"].c} of x.a["${key}"]: \${x.b[each.value.d].id} has no \`d\``),
    );
    expect(summaries(all).at(-1)).toBe(
      'and 2 more like this at the same place: x.a["4"], x.a["5"]',
    );
  });

  test('a file that an error names keeps its folder', () => {
    const all = five.map((key) =>
      error(`x.a["${key}/b.c"] would be removed, but ./sub/b${key}.yaml declares it`),
    );
    expect(summaries(all).at(-1)).toBe(
      'and 2 more like this at the same place: x.a["4/b.c"] (./sub/b4.yaml), x.a["5/b.c"] (./sub/b5.yaml)',
    );
  });

  test('of one other object, three are shown wherever they stand', () => {
    const of = (name: string) =>
      five.map((line) =>
        error(`x.a${line} refers to ${name}, which is declared nowhere.`, {
          address: `x.a${line}`,
          origin: { ...origin, line },
        }),
      );
    const all = [...of('y.b'), ...of('y.c').slice(0, 3)];
    expect(summaries(all)).toEqual([
      ...all.slice(0, 3).map(({ summary }) => summary),
      'and 2 more like this: x.a4, x.a5',
      ...all.slice(5).map(({ summary }) => summary),
    ]);
    expect(errorsBriefly(all)[3]).not.toHaveProperty('origin');
    const warnings = all.map((one) => ({ ...one, severity: 'warning' as const }));
    expect(errorsBriefly(warnings)).toEqual(warnings);
  });

  const absent = (line: number): Diagnostic =>
    error(`x.a${line} has no live object.`, {
      address: `x.a${line}`,
      origin: { ...origin, line },
      detail: `No object that is shown is of user ${line}.`,
    });

  test('of different objects about which they say the same, three are shown', () => {
    const all = five.map(absent);
    expect(summaries(all)).toEqual([
      ...all.slice(0, 3).map(({ summary }) => summary),
      'and 2 more like this: x.a4, x.a5',
    ]);
    const advised = [
      ...all.slice(0, 3),
      ...all.slice(3).map((one) => ({ ...one, detail: 'Invite the user.' })),
    ];
    expect(errorsBriefly(advised)).toEqual(advised);
  });

  test('so it is in a comment, unless all of them are wanted', () => {
    const plan = { ...quiet, diagnostics: five.map(absent) };
    const comment = (verbose: boolean): string =>
      renderPlan(planDocument({ plan, kinds, meta }), 'markdown', {
        color: false,
        width: 80,
        verbose,
      });
    expect(comment(false).match(/has no live object/g)).toHaveLength(3);
    expect(comment(false)).toContain('and 2 more like this: x.a4, x.a5 —');
    expect(comment(true).match(/has no live object/g)).toHaveLength(5);
  });

  test('of two places, the few errors of the second are shown', () => {
    const members = five.map((key) => error(`x.a["${key}"] is wrong`));
    const other = error('x.b is wrong', { origin: { ...origin, line: 2 } });
    expect(summaries([...members, other])).toEqual([
      ...members.slice(0, 3).map(({ summary }) => summary),
      'and 2 more like this at the same place: x.a["4"], x.a["5"]',
      'x.b is wrong',
    ]);
  });

  test('the same error of several files names them, whatever their names', () => {
    const files = ['a.eu.yaml', 'my-b.yaml', 'c.yaml', 'sub/d.x.yaml', 'e.yml'];
    const all = files.map((file) =>
      error(`${file} is not UTF-8.`, { origin: { ...origin, file } }),
    );
    expect(summaries(all).at(-1)).toBe('and 2 more like this: sub/d.x.yaml, e.yml');
  });

  test('long texts are not compared', () => {
    const all = five.map((key) => error(`x.a["${key}"]: ${'${'.repeat(20_000)}`));
    expect(errorsBriefly(all)).toEqual(all);
  });

  test('of five other objects whose names begin with their own, all are shown', () => {
    const all = five.map((line) =>
      error(`x.a${line} refers to x.a${line}-hq, which is declared nowhere.`, {
        address: `x.a${line}`,
        origin: { ...origin, line },
      }),
    );
    expect(errorsBriefly(all)).toEqual(all);
  });

  test('of many, five are named, and how to see all', () => {
    const all = Array.from({ length: 12 }, (_, key) =>
      error('it is wrong', { address: `x.a["${key}"]` }),
    );
    expect(errorsBriefly(all, 'trueup x').at(-1)).toEqual({
      severity: 'error',
      code: 'c',
      summary:
        'and 9 more like this at the same place: x.a["3"], x.a["4"], x.a["5"], x.a["6"], x.a["7"] and 4 more',
      detail: 'All of them: trueup x',
      origin,
    });
  });

  test('each with a command of its own is shown', () => {
    const all = (command: (key: number) => string) =>
      five.map((key) =>
        error(`x.a["${key}"] matches`, {
          detail: `  ${key}: equal\nChoose one: ${command(key)}\nor adopt it.`,
        }),
      );
    const own = all((key) => `trueup import 'x.a["${key}"]' 1`);
    expect(errorsBriefly(own)).toEqual(own);
    expect(errorsBriefly(all(() => 'trueup get x'))).toHaveLength(4);
  });

  test('the use of a template is named if all of the others have it', () => {
    const all = (used: (key: number) => Diagnostic['origin']) =>
      errorsBriefly(five.map((key) => error('it is wrong', { origin: used(key)! }))).at(-1)?.origin;
    const uses = (line: number) => ({ ...origin, used_at: { ...used_at, line } });
    expect(all(uses)).toEqual(origin);
    expect(all((key) => uses(Math.min(key, 4)))).toEqual(uses(4));
  });

  test('constructs of a program have places of their own', () => {
    const all = five.map((key) =>
      error('a.b is wrong', {
        origin: { file: 'cdk.tf.json', line: 0, column: 0, path: `s/${key}` },
      }),
    );
    expect(errorsBriefly(all)).toEqual(all);
  });

  test('each that says something else is shown, and so is each of another place', () => {
    const others = five.flatMap((one) => [
      error(`\`${'abcde'[one - 1]}\` is missing`, { origin: { ...origin, used_at } }),
      error(`\`use.all["a"]\`: \`with.list.${one}\` must be string`),
    ]);
    const apart = five.map((line) => error('x.a is wrong', { origin: { ...origin, line } }));
    expect(errorsBriefly([...others, ...apart])).toEqual([...others, ...apart]);
  });
});

test('a warning about several objects of one place is told once, with their count', () => {
  const at = (line: number, key: number, more: Partial<Diagnostic> = {}): Diagnostic => ({
    severity: 'warning',
    code: 'unknown-value',
    summary: 'it is not known',
    address: `x.a["${key}"]`,
    origin: { file: 'a.yaml', line, column: 1, used_at: { file: 'b.yaml', line: key, column: 1 } },
    ...more,
  });
  const detail = 'Leave it.';
  const other = at(1, 5, { summary: 'another is not known' });
  const { used_at: _, ...bare } = at(3, 6).origin!;
  const all = [at(1, 1), at(2, 1, { detail }), at(1, 2), at(2, 2, { detail }), at(1, 3), other];
  const place = (line: number) => ({ file: 'a.yaml', line, column: 1 });
  expect(briefly(all)).toEqual([
    at(1, 1, { origin: place(1), detail: 'This applies to 3 objects declared here.' }),
    at(2, 1, {
      origin: place(2),
      detail: 'Leave it.\nThis applies to 2 objects declared here.',
    }),
    other,
  ]);
  const ofOneUse = [at(1, 1), at(1, 1, { address: 'x.b' })];
  expect(briefly(ofOneUse).map(({ origin }) => origin)).toEqual([at(1, 1).origin]);
  const members = [at(3, 1, { origin: bare }), at(3, 2, { origin: bare })];
  expect(briefly(members)).toEqual([
    at(3, 1, { origin: bare, detail: 'This applies to 2 objects declared here.' }),
  ]);
  const errors = [1, 2].map((key) => at(1, key, { severity: 'error' }));
  expect(briefly(errors)).toEqual(errors);
});

test('of the objects that a warning lists, three are named', () => {
  const listing = (names: readonly string[]): Diagnostic => ({
    severity: 'warning',
    code: 'silent',
    summary: 'it is silent',
    detail: names.join('\n'),
  });
  const names = ['x.a', 'x.b["k, l"]', 'x.c', 'x.d', 'x.e'];
  expect(briefly([listing(names)])).toMatchObject([{ detail: 'x.a, x.b["k, l"], x.c and 2 more' }]);
  expect(briefly([listing(['x.a', 'x.b'])])).toMatchObject([{ detail: 'x.a, x.b' }]);
  expect(briefly([listing([...names, 'To resume: apply.'])])).toMatchObject([
    { detail: 'x.a, x.b["k, l"], x.c and 2 more\nTo resume: apply.' },
  ]);
  const words = ['x.a is one.', 'x.b is another.'];
  expect(briefly([listing(words)])).toEqual([listing(words)]);
});

test('the lines of one place are shown once, also where several uses of a template or constructs of a loop have it', () => {
  const at = (line: number, address: string) =>
    ({
      severity: 'warning',
      code: 'unknown-value',
      summary: 'it is not known',
      address,
      origin: { file: 'a.yaml', line, column: 1, path: `s/${address}` },
      frame: `> ${line} |`,
    }) as const;
  const shown = errorsBriefly([at(1, 'x.a'), at(1, 'x.b'), at(2, 'x.c')]);
  expect(shown.map(({ address, frame }) => [address, frame])).toEqual([
    ['x.a', '> 1 |'],
    ['x.b', undefined],
    ['x.c', '> 2 |'],
  ]);
});

test('a page shows the first sentences of a rule, and has the others behind a line that counts them', () => {
  const page = (count: number): string => {
    const policy = Array.from({ length: count }, (_, index) => ({
      rule: 'r',
      verdict: 'blocked' as const,
      detail: `sentence ${index}.`,
    }));
    const document = { ...planDocument({ plan: quiet, kinds, meta }), policy };
    return renderPlan(document, 'html', { color: false, width: 80 });
  };
  expect(page(5)).not.toContain('<summary>and');
  const [open = '', rest = ''] = page(8).split('<details><summary>and 3 more</summary>');
  const sentences = (text: string): readonly string[] => text.match(/sentence \d/g) ?? [];
  expect(sentences(open)).toEqual([0, 1, 2, 3, 4].map((index) => `sentence ${index}`));
  expect(sentences(rest)).toEqual([5, 6, 7].map((index) => `sentence ${index}`));
});

test.each([
  [[true], 'BLOCKED by r0. To allow it: --allow r0'],
  [[true, true], 'BLOCKED by r0, r1. To allow them: --allow r0 --allow r1'],
  [[false], 'BLOCKED by r0. No flag allows it: change what is declared, or the policy.'],
  [[true, false], 'BLOCKED by r0, r1. No flag allows r1: change what is declared, or the policy.'],
])('a blocked plan ends with what to do next: %j', (rules, sentence) => {
  const policy = rules.map((allowable, index) => ({
    rule: `r${index}`,
    verdict: 'blocked' as const,
    detail: 'it moves',
    ...(!allowable && { allowable: false as const }),
  }));
  const document = { ...planDocument({ plan: quiet, kinds, meta }), policy };
  const text = renderPlan(document, 'text', { color: false, width: 200 });
  expect(text.trimEnd().split('\n').at(-1)).toBe(sentence);
  // Only there.
  expect(text.match(/--allow/g) ?? []).toHaveLength(sentence.match(/--allow/g)?.length ?? 0);
});

test('of a mask that would be overwritten, no policy is to be changed', () => {
  const rule = 'masked-configuration';
  const one = { rule, verdict: 'blocked', detail: 'no', allowable: false } as const;
  const document = { ...planDocument({ plan: quiet, kinds, meta }), policy: [one] };
  expect(renderPlan(document, 'text', { color: false, width: 200 })).toContain(
    'BLOCKED by masked-configuration. No flag allows it: do what the rule says.\n',
  );
});

test('a saved plan that is blocked names one command, in one piece', () => {
  const policy = ['a', 'b'].map((rule) => ({ rule, verdict: 'blocked' as const, detail: 'no' }));
  const document = { ...planDocument({ plan: quiet, kinds, meta }), policy };
  const again = (flags: readonly string[] = []): string =>
    ['again: trueup plan --out p.plan --target accounts.a', ...flags].join(' ');
  const text = renderPlan(document, 'text', { color: false, width: 60, again });
  expect(text).toContain(`BLOCKED by a, b. To allow them, plan again:
  trueup plan --out p.plan --target accounts.a --allow a --allow b
`);
  expect(text.match(/--allow/g)).toHaveLength(2);
  const command = 'trueup plan --out p.plan --target accounts.a --allow a --allow b';
  const to = (format: 'markdown' | 'html'): string =>
    renderPlan(document, format, { color: false, width: 60, again });
  expect(to('markdown')).toContain(`\nTo allow them, plan again: \`${command}\`\n`);
  expect(to('html')).toContain(`>To allow them, plan again: ${command}</p>`);
  for (const text of [to('markdown'), to('html')]) expect(text.match(/--allow/g)).toHaveLength(2);
});
