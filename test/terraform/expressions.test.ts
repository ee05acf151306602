// Expressions of stacks against the real `terraform console`: thousands of generated ones, with the same answers. What
// may differ is what trueup refuses, and no more than a few per cent of them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { evaluatedHcl, memberAt, startHclBudget } from '../../src/expressions/hcl-evaluation.js';
import { called } from '../../src/expressions/hcl-functions.js';
import { parsedHcl } from '../../src/expressions/hcl-parser.js';
import { HclError, type HclValue } from '../../src/expressions/hcl-values.js';
import { terraformIsHere } from '../support/terraform.js';

const WRONG = '!';
const REFUSED = '?';

/** Locals that expressions may refer to. */
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

const spliced = (parts: readonly fc.Arbitrary<string>[], join_: (texts: string[]) => string) =>
  fc.tuple(...parts).map(join_);

const words = fc.constantFrom('a', 'b', 'x-1', ',', '', 'é', ' pad ', '1', '0', 'true', 'false', '-2.5', '1e3', '/', 'Straße', 'ǅ', '<&>', '\\n', '\\"', '$${x}', '%%{y}', '😀', '\\u00e9', 'e\\u0301');
const numbers = fc.oneof(
  fc.integer({ min: -3, max: 12 }).map(String),
  fc.constantFrom('0', '0.1', '0.2', '2.5', '1e3', '1.50', '123456789', '1000000', '12345678901234567890', '0.00001', '1e30', '7'),
);
const DEPTH = { depthSize: 'small', maxDepth: 3 } as const;
const names = fc.constantFrom('a', 'b', 'name', 'port', 'zz', '0');

const expressions = fc.letrec<{ any: string; leaf: string; text: string; number: string; flag: string; list: string; map: string; call: string }>((tie) => {
  const [any, text, number, flag, list, map, call] = (['any', 'text', 'number', 'flag', 'list', 'map', 'call'] as const).map((name) => tie(name)) as fc.Arbitrary<string>[] as [fc.Arbitrary<string>, fc.Arbitrary<string>, fc.Arbitrary<string>, fc.Arbitrary<string>, fc.Arbitrary<string>, fc.Arbitrary<string>, fc.Arbitrary<string>];
  const fn = (name: string, ...args: readonly fc.Arbitrary<string>[]) =>
    spliced(args, (texts) => `${name}(${texts.join(', ')})`);
  const wide = (wanted: fc.Arbitrary<string>) => fc.oneof({ weight: 25, arbitrary: wanted }, { weight: 1, arbitrary: any });
  const [t, n, f, l, m] = [text, number, flag, list, map].map(wide) as [fc.Arbitrary<string>, fc.Arbitrary<string>, fc.Arbitrary<string>, fc.Arbitrary<string>, fc.Arbitrary<string>];
  const some = (one: fc.Arbitrary<string>, max = 3) => fc.array(one, { maxLength: max });
  const literal = words.map((word) => `"${word}"`);
  return {
    leaf: fc.oneof(literal, numbers, fc.constantFrom('true', 'false', 'null'), fc.constantFrom(...Object.keys(locals)).map((name) => `local.${name}`)),
    any: fc.oneof(DEPTH, tie('leaf'), text, number, flag, list, map, call),
    call,
    text: fc.oneof(
      DEPTH,
      literal,
      fc.constantFrom('local.text', 'local.digits', 'local.object.name', 'local.list[1]'),
      spliced([words, any, words], ([before, value, after]) => `"${before}\${${value}}${after}"`),
      fn('join', t, l),
      fn('upper', t),
      fn('lower', t),
      fn('replace', t, t, t),
      fn('tostring', any),
      fn('jsonencode', any),
      spliced([fc.constantFrom('%s-%s', '%v|%d', '%05d%%', '%-4s|%3s', '%v', '%s'), any, any], ([verbs, one, two]) => `format("${verbs}", ${(verbs!.match(/%[-\d]*[a-z]/g) ?? []).length > 1 ? `${one}, ${two}` : one})`),
      spliced([f, t, t], ([a, b, c]) => `(${a} ? ${b} : ${c})`),
      fn('coalesce', t, t),
    ),
    number: fc.oneof(
      DEPTH,
      numbers,
      fc.constantFrom('local.number', 'local.object.port'),
      spliced([n, fc.constantFrom('+', '-', '*', '/', '%'), n], ([a, o, b]) => `(${a} ${o} ${b})`),
      n.map((a) => `-${a}`),
      fn('length', fc.oneof(t, l, m)),
      fn('tonumber', any),
    ),
    flag: fc.oneof(
      DEPTH,
      fc.constantFrom('true', 'false', 'local.flag'),
      spliced([any, fc.constantFrom('==', '!='), any], ([a, o, b]) => `(${a} ${o} ${b})`),
      spliced([n, fc.constantFrom('<', '<=', '>', '>='), n], ([a, o, b]) => `(${a} ${o} ${b})`),
      spliced([f, fc.constantFrom('&&', '||'), f], ([a, o, b]) => `(${a} ${o} ${b})`),
      f.map((a) => `!${a}`),
      fn('contains', l, any),
    ),
    list: fc.oneof(
      DEPTH,
      some(any).map((items) => `[${items.join(', ')}]`),
      some(t).map((items) => `[${items.join(', ')}]`),
      fc.constantFrom('local.list', 'local.mixed', 'local.typed', 'local.set', 'local.object.tags'),
      fn('split', t, t),
      some(l).map((lists) => `concat(${lists.join(', ')})`),
      fn('keys', m),
      fn('values', m),
      fn('tolist', l),
      fn('toset', l),
      spliced([f, l, l], ([a, b, c]) => `(${a} ? ${b} : ${c})`),
    ),
    map: fc.oneof(
      DEPTH,
      fc.array(fc.tuple(fc.oneof(names, names.map((one) => `"${one}"`), t.map((one) => `(${one})`)), any), { maxLength: 3 }).map((members) => `{${members.map(([key, value]) => `${key} = ${value}`).join(', ')}}`),
      fc.constantFrom('local.object', 'local.map', '{}'),
      some(m).map((maps) => `merge(${maps.join(', ')})`),
      spliced([f, m, m], ([a, b, c]) => `(${a} ? ${b} : ${c})`),
    ),
    // oxlint-disable-next-line no-dupe-keys -- the values of calls that may be of any type
    ...{
      call: fc.oneof(
        DEPTH,
        tie('leaf'),
        fn('element', l, n),
        fn('lookup', m, t, any),
        fn('lookup', m, names.map((one) => `"${one}"`)),
        some(any).map((all) => `coalesce(${all.join(', ')})`),
        spliced([l, n], ([a, b]) => `${a}[${b}]`),
        spliced([m, t], ([a, b]) => `${a}[${b}]`),
        spliced([m, names], ([a, b]) => `(${a}).${b}`),
        spliced([f, any, any], ([a, b, c]) => `(${a} ? ${b} : ${c})`),
        l.map((one) => `concat(${one}...)`),
      ),
    },
  };
});

/** What terraform makes of each: its JSON text, or what stands for an error or what is unknown. */
async function theirs(sources: readonly string[]): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'expressions-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const tried = sources.map((source) => `try(base64encode(jsonencode(${source})), "${WRONG}"),\n`);
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
    if (text === undefined) return REFUSED;
    return text === WRONG ? WRONG : Buffer.from(text, 'base64').toString();
  });
}

const spent = { parse: 0, chars: 0 };
async function valueOf(source: string, known: ReadonlyMap<string, HclValue>): Promise<HclValue> {
  let t = performance.now(); const parsed = await parsedHcl(source); spent.parse += performance.now() - t; spent.chars += source.length;
  return evaluatedHcl(
    parsed,
    ([head, name, ...steps]) => {
      const value = head === 'local' ? known.get(String(name?.data)) : undefined;
      if (!value) throw new HclError(`${head} is not here`, 'refused');
      return steps.reduce(memberAt, value);
    },
    startHclBudget(),
  );
}

async function ours(source: string, known: ReadonlyMap<string, HclValue>): Promise<string> {
  try {
    const text = called('jsonencode', [await valueOf(source, known)], () => undefined).data;
    return String(text);
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    return error.how === 'refused' ? `${REFUSED} ${error.message}` : WRONG;
  }
}

const COUNT = Math.ceil((20_000 * Number(process.env['FC_RUNS'] ?? 100)) / 100);
const BATCH = 1_000;

describe.runIf(terraformIsHere('expressions by trueup and by terraform', 1))('expressions', () => {
  it(`of ${COUNT} none has another value than in terraform`, { timeout: 240_000 }, async () => {
    const seed = Number(process.env['FC_SEED'] ?? 20_261_126);
    const known = new Map<string, HclValue>();
    for (const [name, source] of Object.entries(locals)) known.set(name, await valueOf(source, known));
    const sources = fc.sample(expressions.any, { numRuns: COUNT, seed });
    const took = { theirs: 0, ours: 0 };
    writeFileSync('/tmp/exprs.json', JSON.stringify(sources));
    const unlike: string[] = [];
    const count = { alike: 0, wrong: 0, refused: 0 };
    for (let from = 0; from < sources.length; from += BATCH) {
      const batch = sources.slice(from, from + BATCH);
      let t = performance.now();
      const told = await theirs(batch);
      took.theirs += performance.now() - t; t = performance.now();
      for (const [index, expected] of told.entries()) {
        const source = batch[index]!;
        const found = await ours(source, known);
        if (found.startsWith(REFUSED)) count.refused += 1;
        else if (found !== expected) unlike.push(`${source}\n  terraform: ${expected}\n  trueup:    ${found}`);
        else if (found === WRONG) count.wrong += 1;
        else count.alike += 1;
      }
      took.ours += performance.now() - t;
    }
    console.log(JSON.stringify({ ...count, ...took, ...spent }));
    expect(unlike.slice(0, 20).join('\n')).toBe('');
    expect(count.refused).toBeLessThan(COUNT * 0.1);
    expect(count.alike).toBeGreaterThan(COUNT * 0.4);
  });
});
