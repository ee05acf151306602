// Which targets are one cloud: what a state or a saved plan may be used against.
import { expect, it } from 'vitest';
import { sameTarget } from '../../../src/model/index.js';

it.each([
  ['https://a.example.com/api/v2', 'https://a.example.com/api/v2', true],
  ['https://a.example.com/api/v2', 'https://b.example.com/api/v2', false],
  ['https://a.example.com/api/v2', 'https://a.example.com/api/v2 https://a.example.com', true],
  ['https://a.example.com/api/v2 https://b.example.com', 'https://a.example.com/api/v2', true],
  [
    'https://a.example.com/api/v2 https://a.example.com',
    'https://a.example.com/api/v2 https://b.example.com',
    false,
  ],
  [
    'https://a.example.com/api/v2 https://a.example.com/api/v3',
    'https://a.example.com/api/v2 https://a.example.com',
    true,
  ],
  [
    'https://a.example.com/api/v2 https://a.example.com/api/v3/',
    'https://a.example.com/api/v2 https://b.example.com/api/v3',
    false,
  ],
  ['http://127.0.0.1:4000/api/v2', 'http://localhost:5000/api/v2 http://localhost:5000', true],
  ['http://[::1]:4000/api/v2', 'http://127.0.0.9/api/v2', true],
  ['http://127.0.0.1:4000/api/v2', 'https://a.example.com/api/v2', false],
  ['http://127.0.0.1.example.com/api/v2', 'http://localhost/api/v2', false],
  ['http://localhost.example.com/api/v2', 'http://localhost/api/v2', false],
])('%s and %s: %s', (a, b, same) => {
  expect(sameTarget(a, b)).toBe(same);
  expect(sameTarget(b, a)).toBe(same);
});
