// Names, values and messages from elsewhere stay text in every rendering, whatever they hold.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Outcome, Plan } from '../../../src/model/index.js';
import {
  advance,
  ndjson,
  noProgress,
  planDocument,
  progressLine,
  renderDiagnostics,
  renderOutcomes,
} from '../../../src/report/index.js';
import { renderDrift, renderPlan } from '../../../src/report/render.js';
import { code, fence, guard, inert, prose, visible } from '../../../src/report/escaping.js';
import { driftFormats, planFormats } from '../../../src/report/formats.js';
import { diagnosticItems, fitted } from '../../../src/report/markdown.js';
import { columns } from '../../../src/report/text-width.js';
import { kinds } from '../../../src/resources/index.js';
import { arbitraryPlan, hostile } from './arbitrary.js';
import { hostileAudit } from './audits.js';
import { at, keep, meta, quiet } from './plans.js';
import { drawn } from '../../support/drawn.js';

const clock = { now: () => 0, monotonic: () => 0 };

describe('unsafe characters', () => {
  test.each([
    ['\u001b[31m', '\\u001b[31m'],
    ['\u009b', '\\u009b'],
    ['a\tb\r\n', 'a\\tb\\r\\n'],
    ['\u0000\u007f', '\\u0000\\u007f'],
    ['\u202e\u2066', '\\u202e\\u2066'],
    ['\u2028', '\\u2028'],
    ['\u{e0041}', '\\udb40\\udc41'],
    ['\ud83d!', '\\ud83d!'],
    ['##[error]', '\\u0023#[error]'],
    ['##vso[x]', '\\u0023#vso[x]'],
    ['# ## ünï 👩‍👧 [x] \\n', '# ## ünï 👩‍👧 [x] \\n'],
  ])('%j is shown as %j', (text, shown) => expect(visible(text)).toBe(shown));

  test('line feeds stay in what has several lines', () =>
    expect(inert('a\n\u001bb')).toBe('a\n\\u001bb'));
  test.each([
    ['::error::x', '\\u003a:error::x'],
    ['  ::x', '  \\u003a:x'],
    ['a ::x', 'a ::x'],
    ['fe80::1', 'fe80::1'],
  ])('the line %j becomes %j', (line, guarded) => expect(guard(line)).toBe(guarded));
});

describe('Markdown', () => {
  test.each([
    ['no longer declared', 'no longer declared'],
    ['see alert_rules.x.', 'see `alert_rules.x`.'],
    ['**bold** <b>', '`**bold**` `<b>`'],
    ['a|b `c`', '<code>a&#124;b</code> `c`'],
    ['first: `trueup import ADDRESS ID`', 'first: `trueup import ADDRESS ID`'],
    ['Import it: trueup import a.b["c d"] 1', 'Import it: `trueup import a.b["c d"] 1`'],
    ["It is: TRUEUP_STATE='a b' trueup unlock x", "It is: `TRUEUP_STATE='a b' trueup unlock x`"],
    ['Add: removed: [{ from: a.b }]', 'Add: `removed: [{ from: a.b }]`'],
    ['(`a b`), `c|d e`.', '(`a b`), <code>c&#124;d e</code>.'],
    ['a`b c`d `e', '<code>a&#96;b c&#96;d</code> <code>&#96;e</code>'],
    ['`a``b c` ``', '<code>&#96;a&#96;&#96;b c&#96;</code> <code>&#96;&#96;</code>'],
    ['(www.evil.example)', '(`www.evil.example`)'],
    ['@team and #12', '`@team` and `#12`'],
    ['one\ntwo', '<code>one&#92;ntwo</code>'],
    ['https://a.example/b', '`https://a.example/b`'],
  ])('the prose %j becomes %j', (text, markdown) => expect(prose(text)).toBe(markdown));

  test.each([
    ['alert_rules.a', '`alert_rules.a`'],
    ['', '<code></code>'],
    [' a', '<code> a</code>'],
    ['a`b', '<code>a&#96;b</code>'],
    ['a\\|b', '<code>a&#92;&#124;b</code>'],
    ['</code><script>|', '<code>&#60;&#47;code&#62;&#60;script&#62;&#124;</code>'],
  ])('the code %j becomes %j', (text, markdown) => expect(code(text)).toBe(markdown));

  test('a block to paste is one block, below what is said', () => {
    const detail =
      'Write this:\nmoved:\n  - { from: a.b, to: a.c }\nOr type: trueup state mv a.b a.c';
    const note = { severity: 'info', code: 'c', summary: 'Renamed', detail } as const;
    expect(fitted((level) => diagnosticItems([note], level))).toBe(
      [
        '- **info**: Renamed — Write this:<br>Or type: `trueup state mv a.b a.c` `c`',
        '  ```yaml',
        '  moved:',
        '    - { from: a.b, to: a.c }',
        '  ```',
        '',
        '',
      ].join('\n'),
    );
  });

  test('a fence is longer than any run of backticks inside', () => {
    expect([...fence('diff', ['a', '```', '`````x'])]).toEqual([
      '``````diff',
      'a',
      '```',
      '`````x',
      '``````',
    ]);
    expect([...fence('', [])]).toEqual(['```', '```']);
  });
});

/** What no line of any rendering may hold. */
function expectInert(rendering: string): void {
  expect(rendering).not.toMatch(
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/,
  );
  expect(rendering).not.toMatch(/##[a-z]*\[/);
  expect(rendering).not.toMatch(/^\s*::/m);
  expect(rendering).not.toMatch(/[\ud800-\udfff]/u);
}

function expectNarrow(text: string, width: number): void {
  expect(text.split('\n').filter((line) => columns(line) > width)).toEqual([]);
}

/** A line of Markdown without our own structure and without code spans: harmless words should be left. */
function bare(line: string): string {
  return line
    .replace(/^### |^\| (?=[^|])|^- (?=\*\*|allowed)/, '')
    .replaceAll(/`[^`|\\]*`/g, '')
    .replaceAll(/<code>(?:[\p{L}\p{N} .,-]|&#\d+;)*<\/code>/gu, '')
    .replaceAll(/\*\*([^*]*)\*\*|<br>/g, '$1');
}

/** What is no structure of ours and no harmless word, outside fences and code spans. */
function* strange(lines: readonly string[]): Generator<string> {
  let closing: string | undefined;
  let depth = 0;
  let cells: number | undefined;
  for (const line of lines) {
    const opened = /^(`{3,})(?:diff)?$/.exec(line)?.[1];
    const count = line.startsWith('|') ? line.split('|').length : undefined;
    if (closing !== undefined) {
      if (line === closing) closing = undefined;
    } else if (opened !== undefined) closing = opened;
    else if (/^<details><summary>[\w ,;.():]+<\/summary>$/.test(line)) depth += 1;
    else if (line === '</details>') depth -= 1;
    else if (
      !/^(?:[\p{L}\p{N} .,;:()'’!?=≠/–—→·|-])*$/u.test(bare(line)) ||
      /https?:|\bwww\./i.test(bare(line))
    )
      yield line;
    else if (cells !== undefined && count !== undefined && cells !== count) yield line;
    cells = count;
  }
  if (closing !== undefined || depth !== 0) yield 'what was opened is not closed';
}

function expectOurMarkdown(markdown: string): void {
  const [marker, ...lines] = markdown.split('\n');
  expect(marker).toMatch(/^<!-- trueup:\w+ -->$/);
  expect([...strange(lines)]).toEqual([]);
}

describe('every rendering of every plan', () => {
  test('is inert, and no line of the text is too long', () => {
    fc.assert(
      fc.property(arbitraryPlan, fc.integer({ min: 40, max: 120 }), (plan, width) => {
        const document = planDocument({ plan, kinds, meta });
        const text = renderPlan(document, 'text', { color: false, width });
        expectInert(text);
        expectNarrow(text, width);
        const markdown = renderPlan(document, 'markdown', { color: false, width });
        expectInert(markdown);
        expectOurMarkdown(markdown);
        expectInert(renderPlan(document, 'html', { color: false, width }));
        const json = renderPlan(document, 'json', { color: false, width });
        expectInert(json);
        expect(JSON.parse(json)).toMatchObject({ target: meta.target, summary: document.summary });
        const stream = ndjson({ version: '1', clock }).plan(document);
        expectInert(stream);
        for (const line of stream.trimEnd().split('\n'))
          expect(JSON.parse(line)).toMatchObject({ '@module': 'trueup.ui' });
      }),
      { numRuns: drawn(200) },
    );
  });

  test('JSON gives every text back as it was', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...hostile)),
        (reason) => {
          const plan: Plan = { ...quiet, changes: [{ ...keep(1), reason }] };
          const read = JSON.parse(
            renderPlan(planDocument({ plan, kinds, meta }), 'json', { color: false, width: 80 }),
          ) as { resource_changes: [{ reason: string }] };
          expect(read.resource_changes[0].reason).toBe(reason);
        },
      ),
    );
  });
});

describe.each(hostile.map((text) => [text]))('%j', (text) => {
  const diagnostic = {
    severity: 'error',
    code: 'rejected',
    summary: text,
    detail: `${text}\n${text}`,
    address: text,
    attribute: text,
    origin: at(1, text),
    frame: `  1 | ${text}\n${text}`,
  } as const;
  const style = { color: false, width: 60 };

  test('in an audit', () => {
    const document = hostileAudit(text);
    for (const format of driftFormats) expectInert(renderDrift(document, format, style));
    expectOurMarkdown(renderDrift(document, 'markdown', style));
    expectInert(ndjson({ version: text, clock }).drift(document));
    expectNarrow(renderDrift(document, 'text', style), 60);
  });

  test('in the impact of a plan', () => {
    const numbers = { before: 1, after: 2 };
    const rule = {
      rule: text,
      id: text,
      ...numbers,
      unjudged: numbers,
      destinations: { before: [text], after: [text, text] },
      noisy: true,
    };
    const impact = {
      since: text,
      until: text,
      alerts: 3,
      rules: [rule],
      unheard: [{ type: text, alerts: 3, ...numbers }],
      through_sub_accounts: 1,
      unjudged: { groups: 1, routers: 1 },
    };
    const document = planDocument({ plan: quiet, kinds, meta, impact });
    for (const format of planFormats) expectInert(renderPlan(document, format, style));
    expectOurMarkdown(renderPlan(document, 'markdown', style));
    expectInert(ndjson({ version: text, clock }).plan(document));
    expectNarrow(renderPlan(document, 'text', style), 60);
  });

  test('in diagnostics, outcomes, events and the progress line', () => {
    const outcome: Outcome = {
      address: text,
      kind: 'accounts',
      action: 'create',
      outcome: 'failed',
      id: text,
      diagnostic,
    };
    for (const rendering of [
      renderDiagnostics([diagnostic], style),
      renderOutcomes([outcome, { ...outcome, outcome: 'done' }], style),
    ]) {
      expectInert(rendering);
      expectNarrow(rendering, 60);
    }
    const stream = ndjson({ version: text, clock });
    const start = { type: 'start', address: text, action: 'create' } as const;
    const waiting = { type: 'waiting', why: text, milliseconds: 1 } as const;
    expectInert(
      stream.version() +
        stream.event(start) +
        stream.event(waiting) +
        stream.event({ type: 'end', outcome }) +
        stream.outcomes([outcome]) +
        stream.diagnostics([diagnostic]),
    );
    expect((JSON.parse(stream.event(start)) as { '@message': string })['@message']).toBe(
      `${visible(text)}: creating`,
    );
    const line = progressLine(advance(advance(noProgress(2), start), waiting), style);
    expectInert(line);
    expect(line).not.toContain('\n');
    expect(columns(line)).toBeLessThan(60);
  });
});

test.each(driftFormats.filter((format) => format !== 'json'))(
  'megabytes of text are shortened in %s',
  (format) => {
    const text = renderDrift(hostileAudit('x'.repeat(2_000_000)), format, {
      color: false,
      width: 80,
    });
    // Several fields hold that much, and each is shortened.
    expect(text.length).toBeLessThan(1_000_000);
    expect(text).toMatch(/xxx… \(\d+ more characters\)/);
  },
);
