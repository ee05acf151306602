// Values of one identity have one rough identity: otherwise two declarations of one object would not be compared.
import { describe, expect, it } from 'vitest';
import { normalAll, roughIdentity, type Values } from '../../../src/model/index.js';
import { identityKey } from '../../../src/reconciler/plan/match.js';
import { kinds } from '../../../src/resources/index.js';

const rows: readonly (readonly [what: string, kind: string, one: Values, other: Values])[] = [
  [
    'an escaped text',
    'accounts',
    { name: 'A & B', account: '1' },
    { name: 'A &amp;amp; B', account: '1' },
  ],
  [
    'an id and its address',
    'accounts',
    { name: 'A', account: '1' },
    { name: 'A', account: '/api/v2/accounts/1/' },
  ],
  ['an e-mail address', 'users', { email: 'Dana@Example.com ' }, { email: 'dana@example.com' }],
  ['a MAC address', 'routers', { mac: '00:30:44:AA:BB:CC' }, { mac: '003044aabbcc' }],
  [
    'sets in another order',
    'alert_rules',
    { associated_accounts: ['2', '1'], http_destinations: ['b', 'a'] },
    { associated_accounts: ['/accounts/1/', '2'], http_destinations: ['a', 'b'] },
  ],
  [
    'nothing in several forms',
    'alert_rules',
    { associated_accounts: ['1'], associated_groups: [], settings: {}, schedule: null },
    { associated_accounts: ['1'], settings: null },
  ],
];

describe('rough identity', () => {
  it.each(rows)('is equal for %s', (_what, name, one, other) => {
    const kind = kinds.get(name)!;
    const [left, right] = [one, other].map((values) => normalAll(kind.attributes, values));
    expect(identityKey(kind, left!)).toBe(identityKey(kind, right!));
    expect(roughIdentity(kind, left!)).toBe(roughIdentity(kind, right!));
  });

  it('differs for another name', () => {
    const kind = kinds.get('accounts')!;
    expect(roughIdentity(kind, { name: 'A' })).not.toBe(roughIdentity(kind, { name: 'B' }));
  });
});
