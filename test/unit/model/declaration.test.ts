import { describe, expect, it } from 'vitest';
import {
  Reference,
  referencesIn,
  Secret,
  secretsIn,
  Template,
  type Value,
} from '../../../src/model/index.js';

const hq = new Reference('declared', 'accounts.hq', 'id');
const hook = new Reference('lookup', 'hook', 'id');
const token = new Secret('env.TOKEN', () => 'x');

describe('what values hold', () => {
  const values: Value = {
    name: new Template(['for ', hq]),
    list: [1, hook, { 'a.b': token }],
    none: null,
  };

  it('finds references in the order they were written, inside texts and lists too', () => {
    expect(referencesIn(values)).toEqual([hq, hook]);
  });

  it('finds secrets by their path, with dots inside a name escaped', () => {
    expect([...secretsIn(values)]).toEqual([['list.2.a\\.b', token]]);
    expect([...secretsIn(values, 'at')]).toEqual([['at.list.2.a\\.b', token]]);
    expect([...secretsIn(token, 'at')]).toEqual([['at', token]]);
  });

  it('walks a declaration once, however often its steps ask', () => {
    let walks = 0;
    const counting = new Proxy<Record<string, Value>>(
      { to: [hq] },
      {
        ownKeys: (record) => ((walks += 1), Reflect.ownKeys(record)),
      },
    );
    expect(referencesIn(counting)).toEqual([hq]);
    expect(secretsIn(counting).size).toBe(0);
    expect(referencesIn(counting)).toEqual([hq]);
    expect(walks).toBe(1);
  });

  it('finds nothing in plain values', () => {
    expect(referencesIn('text')).toEqual([]);
    expect(secretsIn({ a: [1, null, 'x'] }).size).toBe(0);
  });
});
