// Expressions of stacks against the real `terraform console`: of thousands that are generated, each has the same value,
// or is wrong for both. What trueup refuses is left out, and has to be little.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { evaluatedHcl, hclMemberAt, startHclBudget } from '../../src/expressions/hcl-evaluation.js';
import { called } from '../../src/expressions/hcl-functions.js';
import { parsedHcl } from '../../src/expressions/hcl-parser.js';
import { HclError, type HclValue } from '../../src/expressions/hcl-values.js';
import { drawn } from '../support/drawn.js';
import { terraformIsHere } from '../support/terraform.js';

/** Stands for an error, and for what is refused or unknown. */
const WRONG = '!';
const REFUSED = '?';

/** What expressions may refer to. */
const locals: Readonly<Record<string, string>> = {
  text: '"Depot é 1"',
  empty: '""',
  digits: '"12"',
  number: '42',
  flag: 'true',
  nothing: 'null',
  list: '["a", "b", "c"]',
  mixed: '[1, "x", true, null]',
  typed: 'tolist(["x", "1"])',
  set: 'toset(["b", "a", "1"])',
  object: '{ name = "n", port = 443, tags = ["t"], "0" = "zero" }',
  map: 'true ? { a = "1", b = "2" } : { c = "3" }',
};

type Texts = fc.Arbitrary<string>;

const words: Texts = fc.oneof(
  fc.constantFrom('a', 'b', 'x-1', ',', '', 'é', ' pad ', '1', '0', 'true', 'false', '-2.5', '1e3'),
  fc.constantFrom(
    '/',
    'Straße',
    'ǅ',
    '<&>',
    '\\n',
    '\\"',
    '$${x}',
    '%%{y}',
    '😀',
    '\\u00e9',
    'e\\u0301',
  ),
);
const numbers: Texts = fc.oneof(
  fc.integer({ min: -3, max: 12 }).map(String),
  fc.constantFrom('0.1', '0.2', '2.5', '1e3', '1.50', '123456789', '1000000', '0.00001', '1e30'),
  fc.constantFrom('12345678901234567890'),
);
const names: Texts = fc.constantFrom('a', 'b', 'name', 'port', 'zz', '0');
const quoted: Texts = words.map((word) => `"${word}"`);
const key: Texts = names.map((name) => `"${name}"`);
const DEPTH = { depthSize: 'small', maxDepth: 3 } as const;

const row = (parts: readonly Texts[], write: (...texts: readonly string[]) => string): Texts =>
  fc.tuple(...parts).map((texts) => write(...texts));
const call = (name: string, ...values: readonly Texts[]): Texts =>
  row(values, (...texts) => `${name}(${texts.join(', ')})`);
const some = (one: Texts, write: (inner: string) => string): Texts =>
  fc.array(one, { maxLength: 3 }).map((all) => write(all.join(', ')));
const binary = (left: Texts, operators: readonly string[], right: Texts): Texts =>
  row([left, fc.constantFrom(...operators), right], (a, operator, b) => `(${a} ${operator} ${b})`);
const choice = (flag: Texts, one: Texts, other: Texts): Texts =>
  row([flag, one, other], (a, b, c) => `(${a} ? ${b} : ${c})`);
const local = (...all: readonly string[]): Texts =>
  fc.constantFrom(...all.map((name) => `local.${name}`));

const FORMATS = ['%s-%s', '%v|%d', '%05d%%', '%-4s|%3s', '%v', '%s'];
const formatted = (any: Texts): Texts =>
  row([fc.constantFrom(...FORMATS), any, any], (verbs = '', one, other) =>
    (verbs.match(/%[-\d]*[a-z]/g) ?? []).length > 1
      ? `format("${verbs}", ${one}, ${other})`
      : `format("${verbs}", ${one})`,
  );

/** Mostly of the types that are wanted. */
const { any: expressions } = fc.letrec<Record<string, string>>((tie) => {
  const [any, text, number, flag, list, map] = [
    tie('any'),
    ...['text', 'number', 'flag', 'list', 'map'].map((name) =>
      fc.oneof({ weight: 25, arbitrary: tie(name) }, { weight: 1, arbitrary: tie('any') }),
    ),
  ] as [Texts, Texts, Texts, Texts, Texts, Texts];
  return {
    leaf: fc.oneof(
      quoted,
      numbers,
      fc.constantFrom('true', 'false', 'null'),
      local(...Object.keys(locals)),
    ),
    any: fc.oneof(DEPTH, tie('leaf'), text, number, flag, list, map, tie('picked')),
    picked: fc.oneof(
      DEPTH,
      tie('leaf'),
      call('element', list, number),
      call('lookup', map, text, any),
      call('lookup', map, key),
      some(any, (inner) => `coalesce(${inner})`),
      row([list, number], (a, b) => `${a}[${b}]`),
      row([map, text], (a, b) => `${a}[${b}]`),
      row([map, names], (a, b) => `(${a}).${b}`),
      choice(flag, any, any),
      list.map((one) => `concat(${one}...)`),
    ),
    text: fc.oneof(
      DEPTH,
      quoted,
      local('text', 'digits', 'object.name', 'list[1]'),
      row([words, any, words], (a, b, c) => `"${a}\${${b}}${c}"`),
      call('join', text, list),
      call('upper', text),
      call('lower', text),
      call('replace', text, text, text),
      call('tostring', any),
      call('jsonencode', any),
      formatted(any),
      choice(flag, text, text),
      call('coalesce', text, text),
    ),
    number: fc.oneof(
      DEPTH,
      numbers,
      local('number', 'object.port'),
      binary(number, ['+', '-', '*', '/', '%'], number),
      number.map((one) => `-${one}`),
      call('length', fc.oneof(text, list, map)),
      call('tonumber', any),
    ),
    flag: fc.oneof(
      DEPTH,
      fc.constantFrom('true', 'false', 'local.flag'),
      binary(any, ['==', '!='], any),
      binary(number, ['<', '<=', '>', '>='], number),
      binary(flag, ['&&', '||'], flag),
      flag.map((one) => `!${one}`),
      call('contains', list, any),
    ),
    list: fc.oneof(
      DEPTH,
      some(any, (inner) => `[${inner}]`),
      some(text, (inner) => `[${inner}]`),
      local('list', 'mixed', 'typed', 'set', 'object.tags'),
      call('split', text, text),
      some(list, (inner) => `concat(${inner})`),
      call('keys', map),
      call('values', map),
      call('tolist', list),
      call('toset', list),
      choice(flag, list, list),
    ),
    map: fc.oneof(
      DEPTH,
      some(
        row(
          [
            fc.oneof(
              names,
              key,
              text.map((one) => `(${one})`),
            ),
            any,
          ],
          (a, b) => `${a} = ${b}`,
        ),
        (inner) => `{${inner}}`,
      ),
      local('object', 'map'),
      some(map, (inner) => `merge(${inner})`),
      choice(flag, map, map),
    ),
  };
});

/** What terraform makes of each: its JSON text. */
async function theirs(sources: readonly string[]): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'expressions-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const tried = sources.map((one) => `try(base64encode(jsonencode(${one})), "${WRONG}"),\n`);
  const declared = Object.entries({ ...locals, all: `[\n${tried.join('')}]` });
  const lines = declared.map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(join(folder, 'main.tf'), `locals {\n${lines.join('')}}\n`);
  const child = spawn('terraform', ['console', '-no-color'], {
    cwd: folder,
    env: { ...process.env, CHECKPOINT_DISABLE: '1', TF_CLI_CONFIG_FILE: '/dev/null' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.end('local.all\n');
  await once(child, 'close');
  const found = stdout.split('\n').filter((line) => line.startsWith('  '));
  if (found.length !== sources.length) throw new Error(`${stdout.slice(-500)} ${stderr}`);
  return found.map((line) => {
    const [, text] = /^ {2}"(.*)",$/.exec(line) ?? [];
    if (text === undefined || text === WRONG) return text ?? REFUSED;
    return Buffer.from(text, 'base64').toString();
  });
}

type Known = ReadonlyMap<string, HclValue>;

const valueOf = async (source: string, known: Known): Promise<HclValue> =>
  evaluatedHcl(
    await parsedHcl(source),
    ([head, name, ...steps]) => {
      const value = head === 'local' ? known.get(String(name?.data)) : undefined;
      if (!value) throw new Error(`${source}: no such local`);
      return steps.reduce(hclMemberAt, value);
    },
    startHclBudget(),
  );

async function ours(source: string, known: Known): Promise<string> {
  try {
    const value = await valueOf(source, known);
    return String(called('jsonencode', [value], () => undefined).data);
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    return error.how === 'refused' ? REFUSED : WRONG;
  }
}

const COUNT = drawn(20_000);
const BATCH = 1_000;

describe.runIf(terraformIsHere('expressions by trueup and by terraform', 1))('expressions', () => {
  it(`of ${COUNT} each has the value that terraform gives it`, { timeout: 900_000 }, async () => {
    const known = new Map<string, HclValue>();
    for (const [name, source] of Object.entries(locals))
      known.set(name, await valueOf(source, known));
    const sources = fc.sample(expressions!, COUNT);
    const unlike: string[] = [];
    const count = { value: 0, wrong: 0, refused: 0 };
    for (let from = 0; from < sources.length; from += BATCH) {
      const batch = sources.slice(from, from + BATCH);
      for (const [index, expected] of (await theirs(batch)).entries()) {
        const source = batch[index]!;
        const found = await ours(source, known);
        if (found === REFUSED) count.refused += 1;
        else if (found === expected) count[found === WRONG ? 'wrong' : 'value'] += 1;
        else unlike.push(`${source}\n  terraform: ${expected}\n  trueup:    ${found}`);
      }
    }
    expect(unlike.join('\n')).toBe('');
    expect(count.refused / COUNT, JSON.stringify(count)).toBeLessThan(0.1);
    expect(count.value / COUNT, JSON.stringify(count)).toBeGreaterThan(0.4);
  });
});
