// Services that show late what was written: whole runs.
import { expect, it } from 'vitest';
import { theirs } from '../support/estate.js';
import { declare } from '../support/planning.js';
import { desire, rig } from '../support/rig.js';

const rule = declare('alert_rules.r', { associated_accounts: ['2'], filter_criteria: { alert_type__in: ['modem_wan_disconnected'] } });

it('a young object that a replica does not show is deleted, and not let go', async () => {
  let hidden = false;
  const cloud = rig({
    estate: theirs,
    async intercept({ method, path }, proceed) {
      const answer = await proceed();
      return hidden && method === 'GET' && path.includes('alert_rules') && cloud.clock.elapsed() < 5000
        ? { ...answer, body: JSON.stringify({ data: [], meta: { next: null } }) }
        : answer;
    },
  });
  await cloud.apply(desire(rule));
  hidden = true;
  expect(await cloud.apply(desire(), { allow: ['all-removed'] })).toMatchObject({ exit: 0, outcomes: [{ action: 'delete', outcome: 'done' }] });
  expect(cloud.objects('alert_rules')).toHaveLength(1);
});
