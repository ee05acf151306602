// Normal form of values that mean nothing.
import { expect, it } from 'vitest';
import { normal, type Attribute, type Value } from '../../../src/model/index.js';
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
