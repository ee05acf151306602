import { beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/platform/clock.js';

describe('the time since the machine started', () => {
  const machine = { uptime: 0, beforeAnswer: (): void => undefined };
  const clock = systemClock(() => {
    machine.beforeAnswer();
    return machine.uptime;
  });
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

  it('is not ahead after the process stood still while it asked', async () => {
    machine.uptime = 2_000_000;
    const begun = clock.monotonic();
    const passed = (): number => clock.monotonic() - begun;
    await clock.sleep(20);
    machine.beforeAnswer = () => {
      machine.beforeAnswer = () => undefined;
      while (passed() < 120);
      machine.uptime += 0.12;
    };
    boot();
    expect(passed()).toBeGreaterThanOrEqual(120);
    await clock.sleep(20);
    machine.uptime = 2_000_000 + passed() / 1000;
    const known = boot();
    expect(known - 2_000_000_000).toBeLessThanOrEqual(passed() + 20);
  });
});
