// What a command in a message names beside itself: PATHs where it takes any, as a shell reads them, and the environment.
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import {
  bundleAgain,
  exportCommand,
  flagWords,
  pathsIn,
  saidOf,
  withCommands,
  eventWithCommands,
  verdictWithCommands,
  typed,
  type Said,
} from '../../../src/cli/commands-to-type.js';
import { maskingOf, Secret } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import type { BundleHead } from '../../../src/state/plan-bundle.js';
import { commands, type CommandSpec } from '../../../src/cli/command-table.js';

const bare: Said = { paths: [], env: undefined, variables: [] };
const said: Said = { ...bare, paths: ['infra', "it's here"], env: 'prod' };
const places = "infra 'it'\\''s here'";
const asFlags = "--path infra --path 'it'\\''s here'";

test.each([
  [{ accounts: 2, groups: 0 }, 'trueup export'],
  [{ accounts: 2, alert_rules: 0, groups: 1 }, 'trueup export accounts groups'],
])('the export of what is unmanaged names kinds beyond the reference: %j', (unmanaged, command) =>
  expect(exportCommand(kinds, unmanaged)).toBe(command),
);

test.each([
  ['trueup plan', said, `trueup plan ${places} --env prod`],
  ['trueup import a.b 1', said, `trueup import a.b 1 ${places} --env prod`],
  [
    'trueup apply --auto-approve',
    { ...said, env: undefined },
    `trueup apply --auto-approve ${places}`,
  ],
  ['trueup state rm a.b', said, `trueup state rm a.b ${asFlags} --env prod`],
  ['trueup unlock x', said, `trueup unlock x ${asFlags} --env prod`],
  [
    'trueup unlock x',
    { ...said, state: "it's/acme" },
    `TRUEUP_STATE='it'\\''s/acme' trueup unlock x ${asFlags} --env prod`,
  ],
  ['trueup import a.b 1', { ...bare, state: 'acme' }, 'TRUEUP_STATE=acme trueup import a.b 1'],
  ['trueup fleet plan', { ...bare, state: 'acme' }, 'trueup fleet plan'],
  ['trueup get accounts', { ...said, env: undefined }, `trueup get accounts ${asFlags}`],
  ['trueup export --update', { ...bare, paths: ['infra'] }, 'trueup export --update infra'],
  ['trueup export', { ...bare, paths: ['infra'] }, 'trueup export --path infra'],
  ['trueup plan', bare, 'trueup plan'],
  ['trueup plan', { ...bare, paths: ['.'] }, 'trueup plan'],
  ['trueup plan', { ...bare, paths: ['.', 'more'] }, 'trueup plan . more'],
  [
    'trueup plan',
    { paths: ['infra'], env: 'prod', variables: ['a=b', "site=it's here"] },
    "trueup plan infra --env prod --var a=b --var 'site=it'\\''s here'",
  ],
  [
    'trueup state rm a.b',
    { ...bare, paths: ['infra'], variables: ['a='] },
    'trueup state rm a.b --path infra --var a=',
  ],
])('%s, said with %j', (command, how, complete) => {
  expect(typed(command, how)).toBe(complete);
  expect(typed(complete, how)).toBe(complete);
});

test('a command about a fleet takes no variables of one tenant', () => {
  const masking = maskingOf();
  const shown = saidOf(masking, {
    ...bare,
    paths: ['base'],
    variables: ['a=of one', 'b=x'],
    ofFleet: ['b=x', 'token=x', 'pin=1234'],
  });
  masking.add(new Secret('env.A', () => '1234'));
  expect(typed('trueup fleet plan --out c', shown)).toBe(
    'trueup fleet plan --out c --var b=x --var token=<value> --var pin=<value>',
  );
  expect(typed('trueup plan', shown)).toBe("trueup plan base --var 'a=of one' --var b=x");
});

describe('a bundle is made again', () => {
  const head = { ...({} as BundleHead), env: 'prod', allow: ['max-deletes'] };
  const asked = {
    select: 'tier=a,region!=eu',
    changed_since: 'main',
    shard: '1/2',
    valid_for: '7d',
    encrypt_to: ['age1a', 'age1b'],
    variables: { n: "it's", token: 'x' },
  };

  test('by a command with all that chose it', () => {
    const again = bundleAgain(maskingOf(), 'c d', { ...head, asked });
    const words =
      "trueup fleet plan --out 'c d' --valid-for 7d --encrypt-to age1a --encrypt-to age1b --allow max-deletes --select 'tier=a,region!=eu' --changed-since main --shard 1/2";
    const rest = "--env prod --var 'n=it'\\''s' --var token=<value>";
    expect(again()).toBe(`again: ${words} ${rest}`);
    expect(again(['--allow protected'])).toBe(`again: ${words} --allow protected ${rest}`);
    const least = { ...head, env: null, allow: [], asked: { variables: {} } };
    expect(bundleAgain(maskingOf(), 'c', least)()).toBe('again: trueup fleet plan --out c');
  });

  test('as before, if an earlier version made it', () => {
    const again = bundleAgain(maskingOf(), 'c', head);
    expect([again(), again(['--allow a', '--allow b'])]).toEqual([
      'again as before.',
      'again as before, with `--allow a --allow b`.',
    ]);
  });
});

test('nothing that a command already has is added', () => {
  const how = { ...said, variables: ['a=b', 'c=<value>'] };
  const whole = `trueup apply --json ${places} --var 'a=x y' --env prod --var c=<value>`;
  expect(typed(`trueup apply --json ${places} --var 'a=x y' --env prod`, how)).toBe(whole);
  expect(typed(whole, how)).toBe(whole);
});

test.each([
  ['apply', 'trueup apply', 'trueup apply apply'],
  ['destroy', 'trueup destroy --auto-approve', 'trueup destroy --auto-approve destroy'],
  ['export', 'trueup export --update', 'trueup export --update export'],
  ['1', 'trueup apply --parallelism 1', 'trueup apply --parallelism 1 1'],
  ['json', 'trueup plan --format json', 'trueup plan --format json json'],
  ['52', 'trueup import a.b 52', 'trueup import a.b 52 52'],
  ['b', 'trueup diff a..b', 'trueup diff a..b b'],
  ['-d ir', 'trueup plan', "trueup plan './-d ir'"],
  ['-', 'trueup plan', 'trueup plan -'],
])('a PATH %s is not taken for a word of the command', (path, command, whole) => {
  const how = { ...bare, paths: [path] };
  expect(typed(command, how)).toBe(whole);
  expect(typed(whole, how)).toBe(whole);
});

test('a command with PATHs of its own keeps them', () => {
  const own = 'trueup diff --format json main..work p/cdktf.out';
  expect(typed(own, said)).toBe(`${own} --env prod`);
  expect(typed('trueup diff --format json main..work', said)).toBe(
    `trueup diff --format json main..work ${places} --env prod`,
  );
});

describe('a value that is not shown', () => {
  const how = { ...said, variables: ['token=<value>', 'a=x=<value>', "it's=<value>"] };
  const rest = "--env prod --var 'a=x=<value>' --var token=<value> --var 'it'\\''s'=<value>";

  test('stands at the end, where every shell refuses it', () => {
    const whole = `trueup plan ${places} ${rest}`;
    expect(typed('trueup plan', how)).toBe(whole);
    expect(typed(whole, how)).toBe(whole);
    const shell = spawnSync('sh', ['-n'], { input: typed('true', { ...how, paths: [] }) });
    expect(shell.status).not.toBe(0);
  });

  test('may be an address to notify', () => {
    const notify = ['slack=https://h.example/a?b=c', 'https://h.example/a?b=c'];
    const words = flagWords('apply', { notify, parallelism: '2' }).join(' ');
    expect(typed(`trueup apply ${words}`, { ...how, variables: [] })).toBe(
      `trueup apply --parallelism 2 ${places} --env prod --notify slack=<value> --notify generic=<value>`,
    );
  });

  test('is not taken from what a shown value quotes', () => {
    const variables = ['a=1 --var b=<value> --var c=2'];
    expect(typed('trueup plan', { ...bare, variables })).toBe(
      "trueup plan --var 'a=1 --var b=<value> --var c=2'",
    );
  });
});

test('an environment is one word', () =>
  expect(typed('trueup doctor', { ...bare, env: 'a b' })).toBe("trueup doctor --env 'a b'"));

test('a command that leaves something out still has the targets of the run', () => {
  const how = { ...bare, scope: ['--target', 'a.b', '--exclude', 'a.c', '--exclude', 'a.d'] };
  const whole = 'trueup apply --exclude a.d --target a.b --exclude a.c';
  expect(typed('trueup apply --exclude a.d', how)).toBe(whole);
  expect(typed(whole, how)).toBe(whole);
  expect(typed('trueup apply --target a.e', how)).toBe('trueup apply --target a.e');
});

test('a command that plans has the scope, unless it has its own', () => {
  const how = { ...bare, scope: ['--target', 'a.b', '--exclude', 'a.c'], paths: ['p'] };
  const whole = 'trueup apply --target a.b --exclude a.c p';
  expect(typed('trueup apply', how)).toBe(whole);
  expect(typed(whole, how)).toBe(whole);
  expect(typed('trueup destroy --target a.d', how)).toBe('trueup destroy --target a.d p');
  expect(typed('trueup validate', how)).toBe('trueup validate p');
});

test('takes --var wherever it takes --env', () => {
  const taking = (flag: string): readonly string[] =>
    commands
      .filter(({ flags }) => flags.some(({ spelling }) => spelling.startsWith(`${flag} `)))
      .map(({ name }) => name);
  expect(taking('--var')).toEqual(taking('--env'));
});

test('shows no value of a variable that holds a secret, or is named as one', () => {
  const masking = maskingOf();
  const variables = ['a=b=c', 'site=long-secret', 'pin=1234', 'x=y', 'password=p'];
  const shown = saidOf(masking, { ...bare, variables });
  masking.add(new Secret('env.A', () => 'long-secret'));
  masking.add(new Secret('env.B', () => '1234'));
  expect(typed('trueup plan', shown)).toBe(
    'trueup plan --var a=b=c --var x=y --var site=<value> --var pin=<value> --var password=<value>',
  );
});

test.each([0x00, 0x07, 0x09, 0x0a, 0x0d, 0x1b, 0x7f, 0x85, 0x9b])(
  'shows no value that holds the control character %i',
  (code) => {
    const character = String.fromCodePoint(code);
    const variables = [`a=x${character}`, `c=${character}[31m`, 'd=x y'];
    const shown = saidOf(maskingOf(), { ...bare, variables });
    expect(typed('trueup plan', shown)).toBe(
      "trueup plan --var 'd=x y' --var a=<value> --var c=<value>",
    );
  },
);

test('in the advice of a diagnostic, every line for itself, and nowhere else', () => {
  const detail =
    'Choose one: trueup import a.b 1\nor drop it: trueup state rm a.b\nand type `trueup apply p`.\nSee: trueup schema';
  const one = { severity: 'error', code: 'c', summary: 'x: trueup plan', detail } as const;
  const complete = {
    ...one,
    detail: `Choose one: trueup import a.b 1 ${places} --env prod\nor drop it: trueup state rm a.b ${asFlags} --env prod\nand type \`trueup apply p\`.\nSee: trueup schema`,
  };
  expect(withCommands([one], said)).toEqual([complete]);
  expect(withCommands([complete], said)).toEqual([complete]);
  expect(withCommands([one], bare)).toEqual([one]);
  const outcome = { address: 'a.b', kind: 'a', action: 'create', outcome: 'unknown' } as const;
  expect(eventWithCommands({ type: 'diagnostic', diagnostic: one }, said)).toEqual({
    type: 'diagnostic',
    diagnostic: complete,
  });
  expect(
    eventWithCommands({ type: 'end', outcome: { ...outcome, diagnostic: one } }, said),
  ).toEqual({ type: 'end', outcome: { ...outcome, diagnostic: complete } });
  expect(eventWithCommands({ type: 'end', outcome }, said)).toEqual({ type: 'end', outcome });
});

test('between backquotes in the words of a verdict, also inside a summary', () => {
  const words = (rest: string): string =>
    `a.b is in doubt; import it: \`trueup import a.b 1${rest}\``;
  const verdict = { rule: 'possible-duplicate', verdict: 'blocked', detail: words('') } as const;
  const complete = { ...verdict, detail: words(` ${places} --env prod`) };
  expect(verdictWithCommands(verdict, said)).toEqual(complete);
  expect(verdictWithCommands(complete, said)).toEqual(complete);
  expect(verdictWithCommands(verdict, bare)).toEqual(verdict);
  const odd = (rest: string): string => `import it: \`trueup import 'a.b["\`id\`"]' 1${rest}\``;
  expect(verdictWithCommands({ ...verdict, detail: odd('') }, said).detail).toBe(
    odd(` ${places} --env prod`),
  );
  const blocked = (detail: string) =>
    ({ severity: 'error', code: 'c', summary: `Blocked by policy: ${detail}.` }) as const;
  expect(withCommands([blocked(words(''))], said)).toEqual([blocked(complete.detail)]);
});

describe('the PATHs of a command line', () => {
  const spec = (name: string): CommandSpec =>
    commands.find((one) => one.name === name) as CommandSpec;
  test.each([
    ['plan', ['a', 'b'], ['a', 'b']],
    ['import', ['a.b', '1', 'c'], ['c']],
    ['state mv', ['a', 'b'], []],
    ['show', ['p'], []],
  ])('%s %j', (name, args, paths) => expect(pathsIn(spec(name), args, {})).toEqual(paths));
});
