// Normal form and comparison of values that mean nothing.
import { expect, it } from 'vitest';
import { normal, same, type Attribute, type Value } from '../../../src/model/index.js';
import { kindOf } from '../../support/planning.js';

const attribute = (kind: string, name: string): Attribute =>
  kindOf(kind).attributes[name] as Attribute;

it.each<[string, Attribute, Value, Value]>([
  ['an optional choice without text', attribute('alert_rules', 'schedule'), '', null],
  ['an optional choice', attribute('alert_rules', 'schedule'), 'daily', 'daily'],
  ['a text', attribute('accounts', 'name'), '', ''],
])('%s', (_, one, given, expected) => {
  expect(normal(one, given)).toBe(expected);
});

const disabled = attribute('accounts', 'is_disabled');

it.each<[string, Attribute, Value | undefined, Value | undefined, boolean]>([
  ['false, and a flag that is left out', disabled, false, undefined, true],
  ['false, and null', disabled, false, null, true],
  ['a flag that was left out, and false', disabled, undefined, false, true],
  ['true, and a flag that is left out', disabled, true, undefined, false],
  ['false, and true', disabled, false, true, false],
  ['a text of no meaning, and nothing', attribute('accounts', 'name'), 'false', undefined, false],
])('means the same: %s', (_, one, declared, live, expected) => {
  expect(same(one, declared, live)).toBe(expected);
});
