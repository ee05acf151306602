// What words on the command line mean, without a process: spellings, complaints, and texts made at build time.
import { describe, expect, test } from 'vitest';
import { commands } from '../../../src/cli/command-table.js';
import { answers, doubleDashes, parse, type Parsed } from '../../../src/cli/program.js';

function read(...words: string[]): { parsed: Parsed; out: string; err: string } {
  let out = '';
  let err = '';
  const parsed = parse(
    words,
    (text) => (out += text),
    (text) => (err += text),
  );
  return { parsed, out, err };
}

describe('spellings', () => {
  test.each([
    [['-out=x'], ['--out=x']],
    [['-auto-approve'], ['--auto-approve']],
    [
      ['-detailed-exitcode', '-target=a.b'],
      ['--detailed-exitcode', '--target=a.b'],
    ],
    [
      ['-var', 'a=b'],
      ['--var', 'a=b'],
    ],
    [
      ['-o', 'json'],
      ['-o', 'json'],
    ],
    [['-ojson'], ['-ojson']],
    [
      ['-h', '-', '--out', 'x'],
      ['-h', '-', '--out', 'x'],
    ],
    [
      ['--', '-out=x'],
      ['--', '-out=x'],
    ],
    [['-help'], ['--help']],
    [['-outt=x'], ['-outt=x']],
    [['-formt=json'], ['--formt=json']],
    [
      ['get', '-o=json', '--', '-o=x'],
      ['get', '-ojson', '--', '-o=x'],
    ],
  ])('%j means %j', (given, meant) => expect(doubleDashes(given)).toEqual(meant));

  test('flags arrive with their values, repeated ones in order', () => {
    const { parsed } = read(
      'plan',
      'a.yaml',
      '-out=p',
      '--target',
      'x.a',
      '-target=x.b',
      '--allow',
      'protected',
      '--report',
      'json=r',
    );
    expect(parsed).toMatchObject({
      command: { name: 'plan' },
      args: ['a.yaml'],
      flags: {
        out: 'p',
        target: ['x.a', 'x.b'],
        allow: ['protected'],
        report: ['json=r'],
        format: 'text',
      },
    });
  });

  test('commands of two words', () => {
    expect(read('state', 'mv', 'x.a', 'x.b').parsed).toMatchObject({
      command: { name: 'state mv' },
      args: ['x.a', 'x.b'],
    });
    expect(read('get', 'accounts', '-o', 'csv').parsed).toMatchObject({
      args: ['accounts'],
      flags: { output: 'csv' },
    });
  });
});

test('a flag that is repeatable says so', () => {
  for (const { flags } of commands)
    for (const { spelling, doc, repeat } of flags)
      expect([spelling, doc.includes('repeatable')]).toEqual([spelling, repeat === true]);
});

test('of a flag that takes one value the last one wins', () => {
  const { parsed } = read('plan', '--format', 'json', '--format', 'text');
  expect(parsed).toMatchObject({ flags: { format: 'text' } });
});

describe('complaints', () => {
  test.each([
    [['plan', '--outt', 'x'], /unknown option '--outt'[\s\S]*--out\b/],
    [
      ['plan', '-detailed-exitcod'],
      /unknown option '--detailed-exitcod'[\s\S]*--detailed-exitcode/,
    ],
    [
      ['fleet', 'plan', '--engine', 'pgboss'],
      /--engine: a plan is not queued: .* \(--shard 1\/8\)\. .* fleet apply change.bundle --engine/,
    ],
    [
      ['fleet', 'plan', '--queue', 'postgres://h/d', '--engine', 'pgboss'],
      /--queue: a plan is not/,
    ],
    [['pln'], /unknown command 'pln'[\s\S]*plan/],
    [['state'], /Usage: trueup state/],
    [['state', 'remove'], /unknown command 'remove'/],
    [['plan', '--format', 'html5'], /Allowed choices are text, json, markdown/],
    [['plan', '--allow'], /argument missing/],
    [['import', 'x.a'], /missing required argument 'id'/],
    [['unlock', 'a', 'b'], /too many arguments/],
    [['plan', '--out'], /argument missing/],
    [
      ['export', '--account', 'A', '--account=B'],
      /'--account <.*>' argument 'B' is invalid\. It takes one value, and has one already/,
    ],
    [['apply', ''], /an argument is empty/],
    [['get', 'accounts', ''], /an argument is empty/],
  ])('%j', (words, complaint) => {
    const { parsed, out, err } = read(...words);
    expect(parsed).toEqual({ exit: 1 });
    expect(out).toBe('');
    expect(err.replace(/\s+/g, ' ')).toMatch(complaint);
    expect(err.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('a wrong flag says what to type next', () =>
    expect(read('plan', '--nope').err).toContain('type: trueup plan --help'));
});

describe('help', () => {
  test('asking is no error, and goes to stdout', () => {
    for (const words of [
      [],
      ['--help'],
      ['help'],
      ['plan', '-h'],
      ['help', 'plan'],
      ['--version'],
    ]) {
      const { parsed, out, err } = read(...words);
      expect([words, parsed, err]).toEqual([words, { exit: 0 }, '']);
      expect(out).not.toBe('');
    }
  });

  test('there is an answer for every command, and none is wider than 80 columns', () => {
    const texts = answers();
    for (const { name, doc } of commands) expect(texts[name]).toContain(doc);
    for (const [name, text] of Object.entries(texts))
      expect([name, text.split('\n').filter((line) => line.length > 80)]).toEqual([name, []]);
  });
});
