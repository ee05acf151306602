// Which of the names of a v2 header counts; what is wrong with them is shown through the command.
import { expect, test } from 'vitest';
import { headerNames } from '../../../src/cli/header-names.js';

test.each([
  [undefined, {}, {}],
  ['', {}, {}],
  ['{"X-MGR-API-ID":"X-Env"}', {}, { 'X-MGR-API-ID': 'X-Env' }],
  [
    '{"X-MGR-API-ID":"X-Env","X-VND-API-ID":"X-Other"}',
    { 'X-MGR-API-ID': 'X-Set' },
    { 'X-MGR-API-ID': 'X-Set', 'X-VND-API-ID': 'X-Other' },
  ],
  // Names that change places are still four.
  [
    '{"X-MGR-API-ID":"X-VND-API-ID","X-VND-API-ID":"X-MGR-API-ID"}',
    {},
    { 'X-MGR-API-ID': 'X-VND-API-ID', 'X-VND-API-ID': 'X-MGR-API-ID' },
  ],
])('%s and %j', (TRUEUP_V2_HEADERS, settings, expected) => {
  const own = Object.fromEntries(
    ['X-MGR-API-ID', 'X-MGR-API-KEY', 'X-VND-API-ID', 'X-VND-API-KEY'].map((name) => [name, name]),
  );
  expect(headerNames({ TRUEUP_V2_HEADERS }, settings)).toEqual({ ...own, ...expected });
});

test.each([
  [undefined, { 'X-MGR-API-ID': 'X-MGR-API-KEY' }, 'two of the v2 headers'],
  ['{"X-MGR-API-ID":"X-Same"}', { 'X-VND-API-ID': 'x-same' }, 'two of the v2 headers'],
  [undefined, { 'X-MGR-API-ID': 'X:Y' }, 'not a valid header name'],
])('%s and %j are refused', (TRUEUP_V2_HEADERS, settings, words) => {
  expect(() => headerNames({ TRUEUP_V2_HEADERS }, settings as Record<string, string>)).toThrow(
    words,
  );
});
