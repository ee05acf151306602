// The words of `fleet schedule` that are refused before a queue is asked, and a schedule that is not there.
import { describe, expect, test } from 'vitest';
import { endSchedule, run } from '../../../src/cli/commands/fleet-schedule.js';
import type { Command } from '../../../src/cli/context.js';
import { fleetOf } from '../../support/fleet-home.js';
import { inProcess } from '../../support/in-process.js';

const schedule = ['fleet', 'schedule'];

test.each([
  [['drift', '--cron', '0 4 * *'], 'does not have five fields'],
  [['drift', '--cron', '0 0 4 * * *'], 'does not have five fields'],
  [['drift', '--cron', ''], 'does not have five fields'],
  [['drift', '--cron', '@every 1h'], 'one of @hourly, @daily, @weekly, @monthly and @yearly'],
  [['drift', '--cron', '@every 1h'], 'For example, every six hours: --cron "0 */6 * * *"'],
  [['drift'], 'To see what is scheduled: trueup fleet schedule'],
  [['drift', '--spread', '2h'], '--cron is missing'],
  [['--spread', '2h'], 'Name the command to be scheduled.'],
  [['--remove'], 'For example: trueup fleet schedule drift --remove'],
  [['apply', '--cron', '0 4 * * *'], 'apply cannot be scheduled'],
  // The fleet of this test has no place for results: so far it gets.
  [['drift', '--cron', '0 4 * * *'], 'where all workers can reach them'],
  [['drift', '--cron', '@daily'], 'where all workers can reach them'],
  [['drift', '--remove'], 'where all workers can reach them'],
  [[], 'where all workers can reach them'],
])('%j', async (words, said) => {
  const { code, stderr } = await inProcess(run, [...schedule, ...words], await fleetOf(['acme']));
  expect(code).toBe(1);
  expect(stderr).toContain(said);
});

describe('a schedule that ends', () => {
  const ended: string[] = [];
  const queues = {
    schedules: async () => [{ name: 'q.drift.prod', cron: '0 4 * * *', data: {} }],
    unschedule: async (name: string) => void ended.push(name),
  };
  const ending =
    (name: string): Command =>
    async (context) => {
      await endSchedule(context, queues, name);
      return 0;
    };
  test('is one that is there', async () => {
    const home = { cwd: '/', env: {} };
    const words = [...schedule, 'drift', '--remove', '--env'];
    const wrong = await inProcess(
      ending('q.drift.prodd'),
      [...words, 'prodd', '--queue', 'postgres://h/d'],
      home,
    );
    expect([wrong.code, ended]).toEqual([1, []]);
    expect(wrong.stderr).toContain('no audit with --env prodd is scheduled');
    expect(wrong.stderr).toContain('trueup fleet schedule --queue postgres://h/d ');
    const right = await inProcess(ending('q.drift.prod'), [...words, 'prod'], home);
    expect([right.code, ended]).toEqual([0, ['q.drift.prod']]);
  });
});
