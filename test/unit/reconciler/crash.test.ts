// Killed anywhere: at every boundary of the disk and around every request, under every answer the network can give.
// One rerun later there is no duplicate, no orphan and no lost id, and the plan is empty.
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../../src/emulator/index.js';
import { Reference, Secret, type Project } from '../../../src/model/index.js';
import { theirs } from '../../support/estate.js';
import { declare } from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const to = (target: string, attribute: string): Reference =>
  new Reference('declared', target, attribute);

/** Thirteen operations over all kinds: ten creates, three updates; a second project deletes four of them. */
const full: Project = desire(
  declare('accounts.field', { name: 'Field' }),
  declare('accounts.depot', { name: 'Depot', account: to('accounts.field', 'id') }),
  declare('accounts.old', { name: 'Renamed depot' }, { adopt: '2' }),
  ...['a', 'b', 'c'].map((name) =>
    declare(`alert_push_destinations.${name}`, {
      name: `Pager ${name}`,
      enabled: true,
      endpoint: { url: `https://${name}.example.com` },
      authentication: { secret: new Secret('env.S', () => 'canary-secret') },
    }),
  ),
  ...['a', 'b', 'c'].map((name) =>
    declare(`alert_rules.${name}`, {
      associated_accounts: [to('accounts.field', 'id')],
      filter_criteria: { alert_type__in: [`type_${name}`] },
      http_destinations: [to(`alert_push_destinations.${name}`, 'destination_config_id')],
    }),
  ),
  declare(
    'alert_rules.twin1',
    {
      associated_accounts: [to('accounts.depot', 'id')],
      filter_criteria: { alert_type__in: ['twin'] },
    },
    { allow_duplicate: true },
  ),
  declare(
    'alert_rules.twin2',
    {
      associated_accounts: [to('accounts.depot', 'id')],
      filter_criteria: { alert_type__in: ['twin'] },
    },
    { allow_duplicate: true },
  ),
  declare('account_authorizations.dana', { user: '77', account: '1', role: 'read_only_user' }),
  declare('configuration_managers.gate', {
    router: '12',
    configuration: [
      {
        lan: { mtu: 1500 },
        users: { admin: { password: new Secret('env.S', () => 'canary-secret') } },
        wan: { rules: { old: null } },
      },
    ],
  }),
);
const less: Project = desire(
  ...full.declarations.filter(
    (one) =>
      !['alert_rules.c', 'alert_push_destinations.c', 'alert_rules.twin2'].includes(one.address),
  ),
);

const counts = {
  accounts: 4,
  alert_push_destinations: 5,
  alert_rules: 6,
  account_authorizations: 2,
  configuration_managers: 2,
};

async function expectWhole(
  cloud: Rig,
  project: Project,
  expected: Readonly<Record<string, number>>,
): Promise<void> {
  for (const [kind, count] of Object.entries(expected))
    expect([kind, cloud.objects(kind).length]).toEqual([kind, count]);
  const snapshot = await cloud.snapshot();
  expect(snapshot?.pending).toEqual([]);
  const recorded = Object.values(snapshot?.state.resources ?? {}).map(
    (entry) => `${entry.kind} ${entry.id}`,
  );
  expect(new Set(recorded).size).toBe(recorded.length);
  expect(recorded.length).toBe(project.declarations.length);
  expect(await cloud.plan(project, { allow: ['max-deletes', 'max-changed'] })).toMatchObject({
    exit: 0,
  });
  expect([...cloud.files.contents.values()].join('\n')).not.toContain('canary-secret');
  expect(
    cloud.objects('alert_push_destinations').find((one) => one.name === 'Theirs'),
  ).toMatchObject({ enabled: true, endpoint: { url: 'https://theirs.example.com' } });
  expect(cloud.objects('configuration_managers')[0]).toMatchObject({
    configuration: [
      {
        lan: { mtu: 1500 },
        users: { admin: { password: '*' } },
        wan: { rules: { new: { prio: 2 } } },
      },
      [],
    ],
  });
}

/** Runs until it ends or dies; whatever it throws is what a killed process says. */
const attempt = (cloud: Rig, project: Project): Promise<unknown> =>
  cloud
    .apply(project, { allow: ['max-changed', 'first-run'], parallelism: 3 })
    .catch((error: unknown) => error);

async function boundariesOf(project: Project, before?: Project): Promise<number> {
  const cloud = rig({ estate: theirs });
  if (before) await attempt(cloud, before);
  cloud.files.reboot();
  await attempt(cloud, project);
  return cloud.files.boundaries;
}

describe('killed at every boundary of the disk', async () => {
  const making = await boundariesOf(full);
  it.each(Array.from({ length: making }, (_, index) => index + 1))(
    `making, boundary %i of ${making}`,
    async (boundary) => {
      const cloud = rig({ estate: theirs, seed: boundary });
      cloud.files.crashAt(boundary);
      await attempt(cloud, full);
      cloud.files.reboot();
      expect(await attempt(cloud, full)).toMatchObject({ exit: 0 });
      await expectWhole(cloud, full, counts);
    },
  );

  const removing = await boundariesOf(less, full);
  it.each(Array.from({ length: removing }, (_, index) => index + 1))(
    `removing, boundary %i of ${removing}`,
    async (boundary) => {
      const cloud = rig({ estate: theirs, seed: boundary });
      await attempt(cloud, full);
      cloud.files.reboot();
      cloud.files.crashAt(boundary);
      await attempt(cloud, less);
      cloud.files.reboot();
      expect(await attempt(cloud, less)).toMatchObject({ exit: 0 });
      await expectWhole(cloud, less, { ...counts, alert_push_destinations: 4, alert_rules: 4 });
    },
  );
});

describe('killed around every request, whatever the network did', () => {
  const faults = [
    '',
    'reset-before',
    'reset-after',
    'truncate',
    'status=503',
    'late=30000',
    'html',
  ];
  const rows = faults.flatMap((fault) =>
    ['before', 'after'].flatMap((when) =>
      Array.from({ length: 12 }, (_, index) => ({ fault, when, nth: index })),
    ),
  );
  it.each(rows)('$fault, killed $when request $nth', async ({ fault, when, nth }) => {
    const cloud = rig({
      estate: theirs,
      seed: nth + 1,
      ...(fault
        ? {
            faults: ['POST', 'PUT', 'PATCH'].map((method) =>
              parseFault(`${fault},method=${method},after=${Math.floor(nth / 2)},times=1`),
            ),
          }
        : {}),
    });
    let count = 0;
    cloud.onMutation = (moment) => {
      if (moment === when && (count += 1) === nth + 1) cloud.files.crashAt(0);
    };
    await attempt(cloud, full);
    cloud.onMutation = undefined;
    cloud.emulator.setFaults([]);
    cloud.files.reboot();
    expect(await attempt(cloud, full)).toMatchObject({ exit: 0 });
    await expectWhole(cloud, full, counts);
  });
});
