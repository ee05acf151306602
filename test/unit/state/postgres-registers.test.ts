// Registers in PostgreSQL: what errors without an answer of the server mean.
import { expect, it } from 'vitest';
import { postgresReason } from '../../../src/state/backends/registers/postgres.js';

it.each([
  'Query read timeout',
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
])('a client that ends a wait with %j got no response', (message) => {
  expect(postgresReason(new Error(message))).toBe('it gave no response within 15 s');
});
