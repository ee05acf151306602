// What a process that runs for weeks keeps of each part of its work: nothing.
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { run as drift } from '../../../src/cli/commands/fleet-drift.js';
import type { Command } from '../../../src/cli/context.js';
import { ownController, withOwnSignal } from '../../../src/cli/derived-abort-signal.js';
import { isObject } from '../../../src/model/index.js';
import { fleetOf } from '../../support/fleet-home.js';
import { inProcess } from '../../support/in-process.js';

/** Signals that Node.js derived from this one, and what listens to it. */
function keptAt(signal: AbortSignal): number {
  const derived = Object.getOwnPropertySymbols(signal)
    .filter(({ description }) => description === 'kDependantSignals')
    .map((key): unknown => Reflect.get(signal, key));
  const count = derived.map((one) => (isObject(one) ? Number(one['size']) : 0));
  return getEventListeners(signal, 'abort').length + count.reduce((sum, one) => sum + one, 0);
}

test('a signal of its own ends with its parent and for its reason, until it is released', () => {
  const parent = new AbortController();
  const [one, other] = [ownController(parent.signal), ownController(parent.signal)];
  one.release();
  parent.abort(new Error('SIGTERM'));
  expect([one.signal.aborted, other.signal.aborted]).toEqual([false, true]);
  expect(other.signal.reason).toBe(parent.signal.reason);
  expect(ownController(parent.signal).signal.reason).toBe(parent.signal.reason);
});

test('work that fails releases its signal', async () => {
  const { signal } = new AbortController();
  const work = withOwnSignal(signal, () => Promise.reject(new Error('x')));
  await expect(work).rejects.toThrow('x');
  expect(keptAt(signal)).toBe(0);
});

test('a signal that another one was derived from is noticed', () => {
  const { signal } = new AbortController();
  const derived = AbortSignal.any([signal]);
  // Node.js 24 records it when something listens.
  derived.addEventListener('abort', () => undefined);
  expect([derived.aborted, keptAt(signal)]).toEqual([false, 1]);
});

test('the tenants of a fleet, and their requests, leave nothing', async () => {
  const home = await fleetOf(['acme', 'globex']);
  const { signal } = new AbortController();
  const audited: Command = (context, args) => drift({ ...context, signal }, args);
  const { code, stdout } = await inProcess(audited, ['fleet', 'drift'], home);
  expect([code, stdout]).toEqual([0, expect.stringContaining('2 tenants: 2 with drift.')]);
  expect(keptAt(signal)).toBe(0);
});
