// Terraform expressions one by one: the values are those that `terraform console` 1.11.4 gave. Thousands of generated ones
// are compared with it in test/terraform/expressions.test.ts.
import { describe, expect, it } from 'vitest';
import { evaluatedHcl, startHclBudget } from '../../../src/expressions/hcl-evaluation.js';
import { called, functionNames } from '../../../src/expressions/hcl-functions.js';
import { parsedHcl } from '../../../src/expressions/hcl-parser.js';
import {
  ANY,
  BOOL,
  NUMBER,
  HclError,
  STRING,
  unified,
  type HclType,
} from '../../../src/expressions/hcl-values.js';

async function value(source: string): Promise<string> {
  const known = await parsedHcl(source);
  const made = evaluatedHcl(
    known,
    ([head]) => {
      throw new HclError(`no ${head}`, 'refused');
    },
    startHclBudget(),
  );
  return String(called('jsonencode', [made], () => undefined).data);
}

async function wrong(source: string): Promise<string> {
  try {
    return `no error, but ${await value(source)}`;
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    return `${error.how}: ${error.message}`;
  }
}

describe('the value of an expression', () => {
  it.each([
    ['1 + 2 * 3', '7'],
    ['0.1 + 0.2', '0.3'],
    ['0.1 + 0.2 == 0.3', 'true'],
    ['2 / 3', `0.${'6'.repeat(153)}7`],
    ['length("ab") / length("abc")', '0.6666666666666666667'],
    ['1 / 3 * 3', '1'],
    ['-7 % 3', '-1'],
    ['7 % 0', '7'],
    ['5.5 % 2', '1.5'],
    ['length("a") % 0.00005', '0'],
    ['12345678901234567890123 + 1', '12345678901234567890124'],
    ['1e-7', '0.0000001'],
    ['-0', '-0'],
    ['"5" + 1', '6'],
    ['1 < "2"', 'true'],
    ['"1" == 1', 'false'],
    ['null == tostring(null)', 'true'],
    ['[] == tolist([])', 'false'],
    ['{ a = 1 } == { a = 1 }', 'true'],
    ['!"true" || 1 != 2', 'true'],
    ['true ? 1 : "x"', '"1"'],
    ['true ? [1] : ["a", "b"]', '["1"]'],
    ['true ? 1 : [][0]', '1'],
    ['true ? { a = 1 } : { b = "x" }', '{"a":"1"}'],
    ['true ? null : 1', 'null'],
    ['"x${1.50}${true}"', '"x1.5true"'],
    ['"${[1]}"', '[1]'],
    ['"5%${"x~y"}$$${b}"', '"5%x~y$${b}"'],
    ['"%${join("#", ["a", "]"])}"', '"%a#]"'],
    ['"a\\n\\u00e9\\"$${b}%%{c}"', '"a\\né\\"${b}%{c}"'],
    ['"e\\u0301" == "\\u00e9"', 'true'],
    ['{ b = 1, "a" = 2, (upper("c")) = 3, é = 4 }', '{"C":3,"a":2,"b":1,"é":4}'],
    ['{ a = 1, a = 2 }', '{"a":2}'],
    ['{ a = { b = [1, 2] } }.a.b[1]', '2'],
    ['({ "0" = 5 })[0]', '5'],
    ['["a", "b"]["1"]', '"b"'],
    ['join("-", ["a", 1], toset(["c", "b"]))', '"a-1-b-c"'],
    ['join(",", [["a"], ["b"]]...)', '"a,b"'],
    ['split("", "héy")', '["h","é","y"]'],
    ['split(",", "")', '[""]'],
    ['format("%05d|%-5s|%5s|%v|%%", -42, "é", true, 1000000)', '"-0042|é    | true|1e+06|%"'],
    ['format("%v %v", 0.00001, [1, null])', '"1e-05 [1,null]"'],
    ['replace("héy", "", "-")', '"-h-é-y-"'],
    ['upper("straße ﬁ")', '"STRAßE ﬁ"'],
    ['lower("İ ΑΣ")', '"i ασ"'],
    ['concat([1], ["a"])', '[1,"a"]'],
    ['concat(tolist([1]), tolist(["a"]))', '["1","a"]'],
    ['merge({ a = 1 }, null, { a = 2, b = 3 })', '{"a":2,"b":3}'],
    ['lookup({ a = 1 }, "b", "z")', '"z"'],
    ['length("👨‍👩‍👧é")', '2'],
    ['element(["a", "b"], 5)', '"b"'],
    ['element(tolist(["a", "b"]), -1)', '"b"'],
    ['contains(["a", 1], "1")', 'false'],
    ['keys({ b = 1, a = 2 })', '["a","b"]'],
    ['values({ b = 1, a = "x" })', '["x",1]'],
    ['coalesce("", null, 5)', '"5"'],
    ['jsonencode("<&>\\u2028")', '"\\"\\\\u003c\\\\u0026\\\\u003e\\\\u2028\\""'],
    ['{ "é" = 1, z = 2, "😀" = 3, "\\uffff" = 4 }', '{"z":2,"é":1,"\uffff":4,"😀":3}'],
    ['toset(["b", 1, "b", null])', '["1","b",null]'],
    ['toset([10, 9, 1])', '[1,9,10]'],
    ['tonumber("1e3")', '1000'],
    ['tostring(1e30)', `"1${'0'.repeat(30)}"`],
    ['\n join(\n ",",\n ["a"]) ', '"a"'],
  ])('of %s', async (source, expected) => {
    expect(await value(source.startsWith('\n') ? `"\${${source}}"` : source)).toBe(expected);
  });

  it('is that of twenty functions', () => {
    expect(functionNames).toHaveLength(20);
    expect(functionNames.join(' ')).toBe(
      'coalesce concat contains element format join jsonencode keys length lookup lower merge replace split tolist tonumber toset tostring upper values',
    );
  });
});

describe('no value', () => {
  it.each([
    ['join("-")', 'wrong: at least one list is required'],
    ['upper()', 'wrong: `upper` takes 1 arguments, not 0'],
    ['upper("a", "b")', 'wrong: `upper` takes 1 arguments, not 2'],
    ['upper(null)', 'wrong: argument 1 of `upper` is null'],
    ['upper([])', 'wrong: expected a string, found a list'],
    ['join(",", [null])', 'wrong: an item is null'],
    ['join(",", [[1]])', 'wrong: the members of a list are of other types than expected'],
    ['tolist([1, true])', 'wrong: the members of a list are of other types than expected'],
    ['true ? 1 : [1]', 'wrong: the branches are of types that have nothing in common'],
    ['null ? 1 : 2', 'wrong: the condition is null'],
    ['null + 1', 'wrong: an operand is null'],
    ['"a" < 1', 'wrong: expected a number, found a string that is not a number'],
    ['"x${null}"', 'wrong: null is not allowed inside a string'],
    ['["a"][1]', 'wrong: the list has 1 items, and none with this index'],
    ['toset(["a"])[0]', 'wrong: a set has no members'],
    ['{ a = 1 }.b', 'wrong: there is no member `b`'],
    ['{ (null) = 1 }', 'wrong: a key is null'],
    ['format("%s")', 'wrong: `%s` has no value'],
    ['format("a", 1)', 'wrong: `format` has more values than verbs'],
    ['format("%d", 1.5)', 'wrong: `%d` takes an integer'],
    ['false && [][0]', 'wrong: the list has 0 items, and none with this index'],
    ['element([], 0)', 'wrong: an empty list has no elements'],
    ['join(', 'wrong: missing expression'],
    ['1 +', 'wrong: missing expression'],
    ['(]', 'wrong: brackets that do not match'],
    ['1 / 0', 'refused: a division by zero'],
    ['1e3000 * 1e3000', 'refused: a number is too large or too small'],
    ['1e999999999', 'refused: a number is too large or too small'],
    ['tonumber("1e999999999")', 'refused: a number is too large or too small'],
    ['tonumber("1e9x")', 'wrong: expected a number, found a string that is not a number'],
    ['sha256("a")', 'refused: the function `sha256`'],
    ['constructor()', 'refused: the function `constructor`'],
    ['[for x in ["a"] : x]', 'refused: `for` expressions'],
    ['["a"][*].b', 'refused: `splat` expressions'],
    ['"%{ if true }a%{ endif }"', 'refused: a directive `%{…}`'],
    ['"$%{ if true }a$%{ endif }"', 'refused: a directive `%{…}`'],
    ['"a ${~ 1 ~} b"', 'refused: `~`'],
    ['length("क्षि")', 'refused: the length of text with Indic conjuncts'],
    ['format("%9s", "क्षि")', 'refused: the length of text with Indic conjuncts'],
    ['1 # one', 'refused: `#`'],
    ['1 /* one */', 'refused: `/*`'],
    ['<<E\na\nE\n', 'refused: `<<`'],
    ['replace("a", "/a/", "b")', 'refused: `replace` with a regular expression'],
    ['format("%x", 1)', 'refused: the verb `%x` of `format`'],
    ['format("%s", null)', 'refused: a null without a type in `format`'],
    ['toset([[1], [2]])', 'refused: a set of anything but strings, numbers and booleans'],
    ['true ? 1 : [[][0]]', 'refused: a branch that is not taken and has an error'],
    ['path.module', 'refused: no path'],
  ])('for %s', async (source, expected) => {
    expect(await wrong(source)).toContain(expected);
  });
});

it('finds that many types have nothing in common', () => {
  const object = (of: HclType): HclType => ({ kind: 'object', members: new Map([['k', of]]) });
  const many = Array.from({ length: 6_000 }, (_, at) => object(at % 2 === 0 ? STRING : NUMBER));
  expect(unified([...many, STRING])).toBeUndefined();
  expect(unified([...many, STRING, ANY])).toBe(ANY);
  const numbers = Array.from({ length: 40_000 }, () => NUMBER);
  expect(unified([...numbers, BOOL])).toBeUndefined();
});

describe('an expression without end', () => {
  const nested = (open: string, close: string, levels: number): string =>
    `${open.repeat(levels)}1${close.repeat(levels)}`;

  it.each([
    ['brackets', nested('(', ')', 10_000), 'more than 20000 characters'],
    ['brackets below the limit of characters', nested('[', ']', 9_000), 'more than 100 levels'],
    ['calls', nested('upper(', ')', 2_000), 'more than 100 levels'],
    ['templates', nested('"${', '}"', 2_000), 'more than 100 levels'],
    ['operators', `1${'+1'.repeat(9_000)}`, 'more than 200 operators'],
    ['operators behind a percent sign', `"%\${1${'+1'.repeat(9_000)}}"`, 'more than 200 operators'],
    ['levels behind a percent sign', `"%\${${nested('[', ']', 2_000)}}"`, 'more than 100 levels'],
    ['negations', `${'!'.repeat(10_000)}true`, 'more than 200 operators'],
    ['conditions', `${'true?1:'.repeat(2_000)}2`, 'more than 200 operators'],
    ['brackets that a quote hides', `")${nested('(', ')', 9_000)}`, ''],
    ['strings', `"${'x'.repeat(20_000)}"`, 'more than 20000 characters'],
    [
      'a string that is replaced by itself',
      `replace(${nested('replace(', ', "a", "aaaaaaaaaaaaaaaa")', 8).replace('1', '"a"')}, "a", "b")`,
      'too many steps, or too long a string',
    ],
    [
      'a list that joins itself',
      `join(join("x", [${'"aaaaaaaaaa",'.repeat(1_000)}]), [${'"a",'.repeat(500)}])`,
      'too many steps, or too long a string',
    ],
  ])('of %s is refused', async (_, source, expected) => {
    expect(await wrong(source)).toContain(expected);
    expect(await value('1 + 1')).toBe('2');
  });

  it('stops at the limits, and not before', async () => {
    expect(await value(nested('[', ']', 100))).toBe(nested('[', ']', 100));
    expect(await value(`1${'+1'.repeat(200)}`)).toBe('201');
  });
});
