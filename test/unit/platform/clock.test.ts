import { beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/platform/clock.js';

const machine = vi.hoisted(() => ({ uptime: 0 }));
vi.mock('node:os', async (original) => ({
  ...(await original<object>()),
  uptime: () => machine.uptime,
}));

describe('the time since the machine started', () => {
  const clock = systemClock();
  const boot = (): number => clock.boot().milliseconds;
  let ahead = 0;
  const now = Date.now.bind(Date);
  beforeEach(() => void vi.spyOn(Date, 'now').mockImplementation(() => now() + ahead));

  it('counts the time that the machine slept, right after it', () => {
    machine.uptime = 1_000_000;
    const before = boot();
    [machine.uptime, ahead] = [1_000_100, 100_000];
    expect(boot() - before).toBeGreaterThanOrEqual(100_000);
  });

  it('never goes back', () => {
    const before = boot();
    [machine.uptime, ahead] = [1_000_050, 0];
    expect(boot()).toBeGreaterThanOrEqual(before);
  });
});
