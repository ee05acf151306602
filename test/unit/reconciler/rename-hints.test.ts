// What a plan says of a rename that would delete and create an object: each advice is one that works.
import { expect, test } from 'vitest';
import { renameNotes, renamesIn, renaming } from '../../../src/reconciler/plan/rename-hints.js';
import { Reference, Secret, type Change } from '../../../src/model/index.js';
import { kindOf } from '../../support/planning.js';

const origin = { file: 'site.yaml', line: 3, column: 5 };
const made = { ...origin, used_at: { file: 'customers.yaml', line: 2, column: 3 } };

test.each([
  [
    'a declaration',
    { old: 'accounts.depot', address: 'accounts.store', origin },
    'If it was renamed, write `lifecycle: { renamed_from: "depot" }`, and nothing is sent.\nThe same without a review: trueup state mv accounts.depot accounts.store',
  ],
  [
    'a `use`: in the template, renamed_from would name another object',
    { old: 'accounts.acme-main', address: 'accounts.bravo-main', origin: made },
    "If it was renamed, write `moved: [{ from: 'accounts.acme-main', to: 'accounts.bravo-main' }]`, and nothing is sent.",
  ],
  [
    'a construct',
    {
      old: 'accounts.depot',
      address: 'accounts.store',
      origin: { ...origin, path: 'stack/store' },
    },
    "If it was renamed, write `moved: [{ from: 'accounts.depot', to: 'accounts.store' }]`, and nothing is sent.",
  ],
  [
    'what had a key',
    { old: 'accounts.depot["a"]', address: 'accounts.store', origin: made },
    `write \`moved: [{ from: 'accounts.depot["a"]', to: 'accounts.store' }]\``,
  ],
  [
    'a for_each',
    { old: 'accounts.depot["a"]', address: 'accounts.store["a"]', origin },
    'If the whole for_each was renamed, write `lifecycle: { renamed_from: "depot" }` beside it, and nothing is sent.\n',
  ],
  [
    'a `use` with a for_each',
    { old: 'accounts.old-main["a"]', address: 'accounts.new-main["a"]', origin: made },
    "If the whole for_each was renamed, write `moved: [{ from: 'accounts.old-main', to: 'accounts.new-main' }]`, and nothing is sent.\n",
  ],
  [
    'a key',
    { old: 'accounts.depot["a"]', address: 'accounts.depot["b"]', origin: made },
    `If it was renamed, write \`moved: [{ from: 'accounts.depot["a"]', to: 'accounts.depot["b"]' }]\`, and nothing is sent.`,
  ],
])('%s', (_, { old, ...to }, said) => {
  const name = old.replace('accounts.', '');
  const alone = { waiting: [], isWhole: true, isAsDeclared: true };
  expect(renaming({ address: old, name }, to, alone)).toContain(said);
});

const ofAccounts = (action: string, address: string, name: string, more: object = {}): Change => {
  const object = { name, ...more };
  const values = action === 'create' ? { declaredObject: { declared: object } } : {};
  const old = action === 'create' ? {} : { id: name, before: object };
  const change = { action, address, kind: 'accounts', name: address, depends_on: [] };
  return { ...change, ...values, ...old } as unknown as Change;
};

test.each([
  ['all values are live', true, 'nothing is sent:'],
  ['a value is another one', false, 'nothing is created or deleted:'],
  [
    'a value is not known yet',
    new Reference('declared', 'accounts.new', 'is_disabled'),
    'nothing is created or deleted:',
  ],
  ['a value is secret', new Secret('env.S', () => 's'), 'nothing is created or deleted:'],
])('what a move sends where %s', (_, value, said) => {
  const live = new Map([['accounts', { kind: kindOf('accounts'), byId: new Map() }]]);
  const changes = ['x', 'y'].flatMap((name) => [
    ofAccounts('create', `accounts.new-${name}`, name, { is_disabled: value }),
    ofAccounts('delete', `accounts.old-${name}`, name, { is_disabled: true }),
  ]);
  const [note] = renameNotes(renamesIn(changes, live, []), []);
  expect(note?.detail?.split('\n')[0]).toContain(said);
});

test.each([
  ['of which every member was renamed', [], ["{ from: 'accounts.a', to: 'accounts.b' }"]],
  [
    'of which a member stays, whether or not the plan covers it',
    ['accounts.a["z"]'],
    ['x', 'y'].map((key) => `{ from: 'accounts.a["${key}"]', to: 'accounts.b["${key}"]' }`),
  ],
])('one text to paste moves a for_each %s', (_, more, moves) => {
  const changes = [
    ...['x', 'y'].map((key) => ofAccounts('create', `accounts.b["${key}"]`, key)),
    ...['x', 'y'].map((key) => ofAccounts('delete', `accounts.a["${key}"]`, key)),
  ];
  const addresses = [...changes.map(({ address }) => address), ...more];
  const live = new Map([['accounts', { kind: kindOf('accounts'), byId: new Map() }]]);
  const notes = renameNotes(renamesIn(changes, live, addresses), addresses);
  expect(notes.map(({ detail }) => detail?.split('\n').slice(2))).toEqual([
    moves.map((move) => `  - ${move}`),
  ]);
});
