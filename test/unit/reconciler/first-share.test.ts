// Without a state, the limits are a share of everything that the project declares and the service holds, also of kinds
// that a target leaves out of the plan.
import { expect, it } from 'vitest';
import { declare } from '../../support/planning.js';
import { desire, rig } from '../../support/rig.js';

const indexes = [...Array(9).keys()];
const accounts = indexes.map((index) =>
  declare(
    `accounts.a${index}`,
    { name: `Site ${index}`, is_disabled: true },
    { adopt: String(index + 10) },
  ),
);
const destinations = indexes
  .slice(0, 5)
  .map((index) => declare(`alert_push_destinations.d${index}`, { name: `D${index}` }));

it('counts kinds that no target names', async () => {
  const cloud = rig({
    estate: {
      version: 1,
      root: '1',
      next_id: 1000,
      records: {
        accounts: [
          { id: '1', name: 'Root', account: null },
          ...indexes.map((index) => ({
            id: String(index + 10),
            name: `Site ${index}`,
            account: '1',
          })),
        ],
        alert_push_destinations: indexes.slice(0, 5).map((index) => ({
          destination_config_id: `0000000${index}-d000-11f0-8000-0242ac120002`,
          name: `D${index}`,
          enabled: true,
          endpoint: { url: 'https://d.example.com' },
        })),
      },
      users: [],
    } as never,
  });
  const project = desire(...accounts, ...destinations);
  const detail = async (targets: readonly string[]): Promise<readonly (string | undefined)[]> =>
    (await cloud.plan(project, { targets })).plan.verdicts.flatMap(({ rule, verdict, detail }) =>
      rule === 'max-changed' && verdict === 'blocked' ? [detail] : [],
    );
  const whole = await detail([]);
  expect(whole).toEqual([expect.stringContaining('9 of 14 objects')]);
  expect(await detail(accounts.map(({ address }) => address))).toEqual(whole);
});
