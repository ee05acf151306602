// What a declaration file may hold, and how hostile ones end: with a clear complaint, soon, and without their text.
import { describe, expect, it } from 'vitest';
import { Lexer } from 'yaml';
import { limits, type SyntaxFault } from '../../../src/declarations/yaml/raw-values.js';
import { readKeys, readYaml } from '../../../src/declarations/yaml/reader.js';
import { DENIED, FIFO, disk, errors, loading, project } from './project.js';

const faults = (text: string): readonly SyntaxFault[] => {
  const reading = readYaml(text, 2);
  return 'faults' in reading ? reading.faults : [];
};
const values = (text: string): unknown => {
  const reading = readYaml(text, 2);
  if ('faults' in reading) throw new Error(reading.faults.map(({ summary }) => summary).join('\n'));
  return reading.documents.map(({ root }) => root);
};

describe('the profile', () => {
  const refused: readonly (readonly [
    name: string,
    text: string,
    code: string,
    line: number,
    says: RegExp,
  ])[] = [
    ['tag', 'a: !!str x\n', 'yaml-tag', 1, /tags are not allowed/],
    ['local tag', 'a:\n  b: !secret x\n', 'yaml-tag', 2, /tags are not allowed/],
    ['merge key', 'a: &x { b: 1 }\nc: { <<: *x }\n', 'yaml-merge', 2, /merge keys/],
    ['other version', '%YAML 1.1\n---\na: 1\n', 'yaml-directive', 1, /%YAML 1.2/],
    ['tag directive', '%TAG ! tag:x,2000:\n---\na: 1\n', 'yaml-directive', 1, /%YAML 1.2/],
    ['duplicate key', 'a: 1\nb: 2\na: 3\n', 'duplicate-key', 3, /appears twice/],
    ['duplicate key in flow', 'a: { b: 1, "b": 2 }\n', 'duplicate-key', 1, /appears twice/],
    ['number as key', '1: a\n', 'yaml-key', 1, /must be a string/],
    ['null as key', 'a: { ~: b }\n', 'yaml-key', 1, /must be a string/],
    ['mapping as key', '? { a: b }\n: c\n', 'yaml-key', 1, /must be a string/],
    ['sequence as key', '[a]: b\n', 'yaml-key', 1, /must be a string/],
    ['prototype key', 'a:\n  __proto__: { b: 1 }\n', 'yaml-key', 2, /__proto__/],
    ['integer beyond 2^53', 'a: 9007199254740993\n', 'integer-range', 1, /2\^53/],
    ['huge integer', `a: -${'9'.repeat(400)}\n`, 'integer-range', 1, /2\^53/],
    ['infinite number', 'a: .inf\n', 'number-range', 1, /finite/],
    ['number beyond all', 'a: 1e999\n', 'number-range', 1, /finite/],
    ['tab as indentation', 'a:\n\tb: 1\n', 'yaml-syntax', 2, /tab|indentation/],
    ['unknown alias', 'a: *x\n', 'yaml-alias', 1, /no anchor/],
    ['alias around itself', 'a: &x { b: *x }\n', 'yaml-alias', 1, /no anchor/],
    ['unclosed quote', 'a: "hunter2\nb: 1\n', 'yaml-syntax', 3, /missing|quote|valid/],
    ['unclosed bracket', 'a: [1, 2\nb: 1\n', 'yaml-syntax', 2, /`\[` or `\{` is not closed/],
    ['wrong indentation', 'a:\n  b: 1\n c: 2\n', 'yaml-syntax', 3, /valid|indentation/],
    ['two keys on a line', 'a: b: c\n', 'yaml-syntax', 1, /two keys/],
  ];
  it.each(refused)('%s', (_, text, code, line, says) => {
    const [fault] = faults(text);
    expect(fault?.code).toBe(code);
    expect(text.slice(0, fault?.offset).split('\n').length).toBeLessThanOrEqual(line + 1);
    expect(fault?.summary).toMatch(says);
    expect(JSON.stringify(fault)).not.toContain('hunter2');
  });

  const UNQUOTED = 'a `${…}` inside `[…]` or `{…}` is not in quotes';
  const QUOTE = 'a `"` inside the `${…}` ends the string that began with `"`';
  const APOSTROPHE = "a `'` inside the `${…}` ends the string that began with `'`";
  const COLON = 'a string that holds `: ` is not in quotes';
  const MISSING = 'a character is missing here';
  const INVALID = 'this is not valid YAML';
  const TWO_KEYS = 'two keys on one line, or a list where a string is expected';
  const OPEN = 'a `[` or `{` is not closed before this line';
  const COMMENT = 'a `]` or `}` in a comment closes nothing: a comment begins with ` #`';
  const DEEPER = 'a line below is indented further than this key, which has a value';
  // The place is where `^` stands.
  it.each([
    ['a: [$^{b.c.id}]', UNQUOTED],
    ['a: { b: $^{b.c.id}, d: e }', UNQUOTED],
    ['a: [\n  b,\n  pre-$^{b.c.id}\n]', UNQUOTED],
    ['a: [$^{b.c["d"].id}]', UNQUOTED],
    ['a: [x ^[y]]', MISSING],
    ['a: ["${b.c["^d"].id}"]', QUOTE],
    ['a: { f: "g", b: "${b.c["^d"].id}" }', QUOTE],
    ['a: "${b.c["^d"].id}"', QUOTE],
    ['a: ^"${b ? "c" : "d"}"', QUOTE],
    ["a: ^'${b ? 'c' : 'd'}'", APOSTROPHE],
    ["a: ['${b == '^c'}']", APOSTROPHE],
    ['a: "${b}"^c', INVALID],
    ['a: "b"^c', INVALID],
    ['a: ^"${b}": c', TWO_KEYS],
    ['a: { b: c, d: ^Elm: Clinics }', COLON],
    ['a: { b:\n  ^c: d }', 'an indented block is not allowed inside `[…]` or `{…}`'],
    ['a: ^Elm: Clinics', TWO_KEYS],
    ['a: ^%50', 'a plain string cannot begin with `%`'],
    ['a: { b: c #7 }\n^d: e\n', COMMENT],
    ['a: { b: c #7 } # f\n\n  # g\n^d: e\n', COMMENT],
    ['a: { f: g,\n  b: [c\t#7] }\n^d: e\n', COMMENT],
    ['a: { b: "c #7"   # was [f]\n^d: e\n', OPEN],
    ['a: { b: "c #7"   # was {f}}\n^d: e\n', OPEN],
    ['a: { b: "c" # f }\n^d: e\n', OPEN],
    ['a: { b: { c: f },   # see [g]\n^d: e\n', OPEN],
    ['a: { b: c # see [g]\n^d: e\n', OPEN],
    ['a: { b: "c",  # (was {x})}\n^d: e\n', OPEN],
    ['a:\n  b: ^Ticket desk\n    c: true\n', DEEPER],
    ['a:\n  b: ^Ticket desk\n\n    c: true\n', DEEPER],
    ['a:\n  b: ^Ticket desk\n    long name, see: c\n', DEEPER],
    ['a:\n  b: ^Ticket desk\n    - c: true\n', DEEPER],
    ['a:\n  b: ^c: d\n    e: f\n', TWO_KEYS],
    ['a: "${b^', MISSING],
  ])('says of a quote that is missing, or too many: %j', (marked, summary) => {
    const offset = marked.indexOf('^');
    const [fault] = faults(marked.replace('^', ''));
    expect(fault).toMatchObject({ offset, code: 'yaml-syntax', summary });
  });

  it.each([
    ['a: [${b}]', 'Write it in quotes: `"${…}"`, or `\'${…}\'` if it holds a `"`.'],
    ['a: "${b["c"]}"', 'Write the whole string in `\'…\'`, or each inner `"` as `\\"`.'],
    ["a: '${b['c']}'", "Write the whole string in `\"…\"`, or each inner `'` as `''`."],
    ['a: { b: c: d }', 'Write the string in quotes, or an inner key and its value in `{…}`.'],
    [
      'a: b\n  c: d',
      'Begin the keys of one mapping in the same column, and write a string of several lines in quotes.',
    ],
  ])('says how to write %j', (text, detail) => {
    expect(faults(text)[0]?.detail).toBe(detail);
  });

  it('looks for the cause of each error near its place alone', () => {
    const text = `accounts: [${'${a}, '.repeat(20_000)}]\nsettings: {}\n`;
    expect(readKeys(text, 2, (key) => key === 'settings')).toHaveProperty('documents');
  });

  it('says where a key stands that appears twice', async () => {
    const [fault] = await errors(
      'accounts:\n  a: { name: A }\n  b: { name: B }\n  a: { name: C }\n',
    );
    expect(fault).toMatchObject({
      code: 'duplicate-key',
      detail: 'The first is in trueup.yaml:2:3. Remove one of them.',
      origin: { file: 'trueup.yaml', line: 4, column: 3 },
    });
    expect(fault).not.toHaveProperty('first');
  });

  it.each([
    ['plain, as the quick reader takes it', '"A"'],
    ['with an escape, which only the full reader takes', '"\\x41"'],
  ])('refuses the same number of tokens in a text that is %s', async (_, name) => {
    const text = `accounts:\n  a: { name: ${name} }\n`;
    const most = text + '\n'.repeat(limits.tokens - [...new Lexer().lex(text)].length);
    expect((await project(most)).declarations.map((one) => one.values)).toEqual([{ name: 'A' }]);
    const [fault, ...more] = await errors(`${most}\n`);
    expect(fault).toMatchObject({
      code: 'too-large',
      summary: 'the file holds more than 900000 tokens',
      detail: 'Split it into several files.',
    });
    expect(more).toEqual([]);
  });

  it('reads YAML 1.2 core', () => {
    expect(
      values(
        'a: 0o17\nb: 0x1F\nc: 1.5\nd: ~\ne: TRUE\nf: 2026-01-01\ng: 1_000\nh: 9007199254740991\n',
      ),
    ).toEqual([
      { a: 15, b: 31, c: 1.5, d: null, e: true, f: '2026-01-01', g: '1_000', h: 9007199254740991 },
    ]);
  });

  it('follows aliases, in the order of anchors', () => {
    expect(values('a: &x [1]\nb: *x\nc: &x 2\nd: [*x, *x]\n')).toEqual([
      { a: [1], b: [1], c: 2, d: [2, 2] },
    ]);
  });

  it('allows the key `constructor` in a document and pollutes nothing', () => {
    expect(values('a: { constructor: { prototype: 1 } }\n')).toEqual([
      { a: { constructor: { prototype: 1 } } },
    ]);
    expect(({} as Record<string, unknown>)['prototype']).toBeUndefined();
  });
});

describe('hostile files', () => {
  const bomb = `a0: &a0 [x, x, x, x, x, x, x, x, x]\n${Array.from({ length: 20 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]\n`).join('')}`;
  const M = 2 * 1024 * 1024 - 100;
  const hostile: readonly (readonly [name: string, text: () => string, codes: RegExp])[] = [
    ['alias bomb', () => bomb, /^yaml-alias$/],
    ['deep brackets', () => `a: ${'['.repeat(100_000)}`, /^too-deep$/],
    ['deep closed brackets', () => `a: ${'['.repeat(100_000)}${']'.repeat(100_000)}`, /^too-deep$/],
    ['deep braces', () => `a: ${'{a: '.repeat(100_000)}`, /^too-deep$/],
    ['deep dashes', () => `a:\n  ${'- '.repeat(100_000)}x`, /^too-deep$/],
    ['deep questions', () => `${'? '.repeat(100_000)}x`, /^too-deep$/],
    [
      'deep blocks',
      () => Array.from({ length: 1_900 }, (_, n) => `${' '.repeat(n)}a:\n`).join(''),
      /^too-deep$/,
    ],
    [
      '65 levels of blocks',
      () => Array.from({ length: 66 }, (_, n) => `${' '.repeat(n)}a:\n`).join(''),
      /^too-deep$/,
    ],
    ['a million items', () => `a: [${'1,'.repeat(M / 2)}*x]`, /^too-large$/],
    ['a million empty items', () => `a: [${','.repeat(M)}]`, /^too-large$|^yaml-syntax$/],
    ['a million dashes', () => `a:\n${'-\n'.repeat(M / 2)}`, /^too-large$/],
    ['a million comments', () => `a: 1\n${'#\n'.repeat(M / 2)}b: *x\n`, /^too-large$|^yaml-alias$/],
    ['a million blank lines', () => `a: 1\n${'\n'.repeat(M)}b: *x\n`, /^yaml-alias$|^too-large$/],
    ['a million spaces', () => `a: 1\n${' '.repeat(M)}b: *x\n`, /./],
    ['a million anchors', () => `a: [${'&a x,'.repeat(M / 5)}]\n`, /^too-large$/],
    [
      'a long plain scalar over lines',
      () => `a: x\n${'  y\n'.repeat(M / 4)}b: *x\n`,
      /^yaml-alias$|^too-large$/,
    ],
    ['a long key', () => `${'k'.repeat(M)}: *x`, /./],
    ['quotes', () => `a: ${'"'.repeat(M)}`, /./],
    ['backslashes', () => `a: "${'\\\\'.repeat(M / 2)}" *x`, /./],
    ['documents', () => '---\n'.repeat(M / 4) + '*x', /./],
    ['colons', () => `a: ${': '.repeat(M / 2)}`, /./],
    ['questions on lines', () => '?\n'.repeat(M / 2), /./],
    [
      'many keys twice',
      () => Array.from({ length: 100_000 }, (_, n) => `k${n % 99_999}: 1\n`).join(''),
      /^duplicate-key$/,
    ],
    ['block scalar', () => `a: |\n${'  x\n'.repeat(M / 4)}b: *x\n`, /^yaml-alias$/],
  ];
  it.each(hostile)('%s', async (_, text, codes) => {
    const found = await errors({ 'x.yaml': text() }, { paths: ['x.yaml'] });
    expect(found[0]?.code).toMatch(codes);
    expect(found[0]?.origin?.file).toBe('x.yaml');
    expect(JSON.stringify(found).length).toBeLessThan(100_000);
  });
});

describe('files that are no text', () => {
  const accounts = 'accounts:\n  a: { name: x }\n';
  const bad: readonly (readonly [
    name: string,
    content: string | Uint8Array,
    code: string,
    says: RegExp,
  ])[] = [
    ['too large', accounts + '#'.repeat(2 * 1024 * 1024), 'too-large', /larger than 2 MiB/],
    ['30 MB', new Uint8Array(30_000_000).fill(35), 'too-large', /larger than 2 MiB/],
    [
      'invalid UTF-8',
      Buffer.from('accounts:\n  a: { name: \xff }\n', 'latin1'),
      'not-utf8',
      /UTF-8/,
    ],
    ['UTF-16', Buffer.from(`\uFEFF${accounts}`, 'utf16le'), 'not-utf8', /UTF-8/],
    ['a NUL', 'accounts:\n  a: { name: "x\0" }\n', 'control-character', /control character/],
    [
      'an escape character',
      'accounts:\n  a: { name: "\u001b[31m" }\n',
      'control-character',
      /control character/,
    ],
    ['a FIFO', FIFO, 'not-a-file', /not a regular file/],
    ['unreadable', DENIED, 'unreadable', /no permission/],
  ];
  it.each(bad)('%s, named or found', async (_, content, code, says) => {
    for (const paths of [['x.yaml'], []]) {
      const [found] = await errors(
        { 'x.yaml': content, 'ok.yaml': 'accounts:\n  b: { name: y }\n' },
        { paths },
      );
      expect(found?.code).toBe(code);
      expect(found?.summary).toMatch(says);
    }
  });

  it('opens nothing that has become a FIFO since it was read', async () => {
    const tree: Record<string, string> = {
      'x.yaml': 'accounts:\n  a: { name: x }\n',
      'y.yaml': 'accounts:\n  b: { name: y }\n',
    };
    const opened: string[] = [];
    const files = disk(tree);
    const read = (path: string, limit: number): Uint8Array => {
      opened.push(path);
      return files.read(path, limit);
    };
    const { declarations } = await project(tree, { files: { ...files, read } });
    tree['x.yaml'] = FIFO;
    expect(declarations[0]?.at('name')).toEqual({ file: 'x.yaml', line: 1, column: 1 });
    expect(opened).toEqual(['/project/x.yaml', '/project/y.yaml']);
  });

  it('points at the byte that is not UTF-8', async () => {
    const [found] = await errors({
      'x.yaml': Buffer.from('accounts:\n  a: { name: \xff }\n', 'latin1'),
    });
    expect(found?.origin).toEqual({ file: 'x.yaml', line: 2, column: 14 });
  });

  it('accepts a byte order mark, and positions do not count it', async () => {
    const { declarations } = await project('\uFEFFaccounts:\n  a: { name: x }\n');
    expect(declarations[0]?.origin).toEqual({ file: 'trueup.yaml', line: 2, column: 3 });
    expect(
      (await project('\uFEFF# c\naccounts: { a: { name: x } }\n')).declarations[0]?.at('name')
        .column,
    ).toBe(18);
  });

  it('never leaves out a broken file that may be ours', async () => {
    for (const content of [
      'accounts:\n  a: { name: [ }\n',
      '{"accounts": {"a": {"name": [}}}',
      Buffer.from('\uFEFFaccounts:\n  a: { name: x }\n', 'utf16le'),
    ]) {
      expect(
        (await loading({ 'x.yaml': content, 'ok.yaml': 'accounts:\n  b: { name: y }\n' })).project,
      ).toBeUndefined();
    }
    const other = await loading({
      'chart.yaml': 'name: {{ .Values.x }}\n  - [',
      'ok.yaml': 'accounts:\n  b: { name: y }\n',
    });
    expect(other.project?.declarations).toHaveLength(1);
    expect(other.diagnostics.map(({ severity, code }) => [severity, code])).toEqual([
      ['info', 'not-ours'],
    ]);
  });
});

describe('the keys that are read alone', () => {
  const kept = (key: string): boolean => key === 'settings';
  it.each<[text: string, found: unknown]>([
    ['settings: { a: 1 }\naccounts: { a: { name: A } }\n', [{ settings: { a: 1 } }]],
    ['{ accounts: { a: !x 1 }, settings: { a: 1 } }\n', [{ settings: { a: 1 } }]],
    ['accounts:\n  a: "A\nsettings: { a: 1 }\nb: "', [{ settings: { a: 1 } }]],
    ['accounts:\n  a: "A\nsettings: { a: 1 }\n', ['yaml-syntax']],
    ['accounts: { a: [\nsettings: { a: 1 }\nb: 2\nb: 3\n', [{ settings: { a: 1 } }]],
    ['accounts: { a: 1 }\n', []],
    ['accounts: { a: 1, a: 2 }\n---\nsettings: { a: 1 }\n', [{ settings: { a: 1 } }]],
    ['accounts: { a: 1 }\nsettings: { a: 1, a: 2 }\n', ['duplicate-key']],
    ['settings: { a: 1 }\nsettings: { a: 2 }\n', ['duplicate-key']],
    ['settings: { a: !x 1 }\n', ['yaml-tag']],
    ['accounts: { a: 1 }\n settings: { a: 1 }\n', ['yaml-syntax']],
    ["accounts: { a: 'A, settings: { a: 1 }\n", ['yaml-syntax']],
    ['- settings: { a: 1 }\n- !x b\n', ['yaml-tag']],
  ])('%j', (text, found) => {
    const reading = readKeys(text, 2, kept);
    const seen =
      'documents' in reading
        ? reading.documents.map(({ root }) => root)
        : [...new Set(reading.faults.map(({ code }) => code))];
    expect(seen).toEqual(found);
  });
});
