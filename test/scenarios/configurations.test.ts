// Configurations of routers that others configure too, where a PUT replaces the whole document. Each through the
// command and real sockets.
import { afterEach, describe, expect, test } from 'vitest';
import type { Estate } from '../../src/emulator/index.js';
import type { Json, PlanDocument } from '../../src/model/index.js';
import { box, type Box } from '../support/box.js';
import { folder, type Folder } from '../support/cli.js';

const boxes: Box[] = [];
afterEach(async () => {
  for (const one of boxes.splice(0)) await one.close();
});

const wan = { apn: 'theirs', vpn: { tunnels: ['a'] } };
/** Stands in the emulator for a name that it would not hold. */
const NAMED = 'named_by_the_test';
const APPLY = ['apply', '--auto-approve'] as const;

async function cloud(
  configuration: Json,
  behaviours: Parameters<typeof box>[1] = {},
): Promise<
  Box & {
    readonly there: { readonly env: Readonly<Record<string, string>> };
    readonly live: () => Json;
  }
> {
  const estate: Estate = {
    version: 1,
    root: '1',
    records: {
      accounts: [{ id: '1', name: 'Headquarters', account: null }],
      configuration_managers: [{ id: '30', router: '12', account: '1', configuration }],
    },
  };
  const one = await box(estate, behaviours);
  boxes.push(one);
  return Object.assign(one, {
    there: { env: { ...one.env, TRUEUP_SETTLE_SECONDS: '1' } },
    live: () => one.objects('configuration_managers')[0]?.['configuration'] as Json,
  });
}

const declared = (configuration: string, lifecycle = ''): Folder =>
  folder({
    'trueup.yaml': `configuration_managers:\n  depot: { router: "12", configuration: ${configuration}, lifecycle: { adopt: "30"${lifecycle} } }\n`,
  });

describe('a PUT that replaces', () => {
  test.each([
    ['replaces', {}],
    ['merges', { merging_configuration: true }],
  ])('takes nothing away that others configured, on a server that %s', async (_, behaviours) => {
    const one = await cloud([{ wan, lan: { mtu: 1400 } }, [['lan', 'x']]], behaviours);
    const home = declared('[{ lan: { mtu: 1500 } }]');
    await home.expect(0, APPLY, one.there);
    expect(one.live()).toEqual([{ wan, lan: { mtu: 1500 } }, [['lan', 'x']]]);
    await home.expect(0, ['plan', '--detailed-exitcode'], one.there);
    await home.expect(0, ['drift', '--detailed-exitcode'], one.there);
  });

  test('shows what is added and what is removed', async () => {
    const one = await cloud([{ lan: { mtu: 1400, x: 1 } }, []]);
    const home = declared('[{ lan: { x: null }, wan: { up: true } }]');
    const { stdout } = await home.expect(0, ['plan'], one.there);
    expect(stdout).toContain('configuration.0.lan.x   1 → not set');
    expect(stdout).toContain('configuration.0.wan.up  not set → true');
  });

  test.each(['__proto__', '\\u005f_proto__'])(
    'is blocked where a live member named %s would not travel',
    async (name) => {
      const one = await cloud([{ [NAMED]: { mtu: 9000 }, lan: { mtu: 1400 } }, []]);
      one.intercept = async (_, proceed) => {
        const answer = await proceed();
        return new Response((await answer.text()).replaceAll(NAMED, name), {
          status: answer.status,
          headers: answer.headers,
        });
      };
      const home = declared('[{ lan: { mtu: 1500 } }]');
      expect((await home.expect(3, APPLY, one.there)).stdout).toMatch(
        /masked-configuration[^]*__proto__ cannot be read/,
      );
      expect(one.writes()).toEqual([]);
      expect(one.live()).toEqual([{ [NAMED]: { mtu: 9000 }, lan: { mtu: 1400 } }, []]);
    },
  );

  test('shows our members alone, with the version and the digest of the rest', async () => {
    const one = await cloud([{ wan: { apn: 'canary' }, lan: { mtu: 1400 } }, []]);
    const home = declared('[{ lan: { mtu: 1500 } }]');
    for (const format of ['text', 'json', 'markdown', 'html'])
      expect((await home.expect(0, ['plan', '--format', format], one.there)).stdout).not.toContain(
        'canary',
      );
    const plan = JSON.parse(
      (await home.expect(0, ['plan', '--format', 'json', '--out', 'saved.plan'], one.there)).stdout,
    ) as PlanDocument;
    expect(plan.resource_changes[0]?.requests).toMatchObject([
      {
        method: 'PUT',
        body: { configuration: [{ lan: { mtu: 1500 } }] },
        base: { version_number: 1, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown },
      },
    ]);
    expect(home.read('saved.plan')).not.toContain('canary');
    await home.expect(0, ['apply', 'saved.plan'], one.there);
    expect(one.live()).toEqual([{ wan: { apn: 'canary' }, lan: { mtu: 1500 } }, []]);
    expect(home.read('.trueup/state.json')).not.toContain('canary');
  });

  test('is blocked where a mask would travel, says the ways out, and nothing allows it', async () => {
    const one = await cloud([{ users: { admin: { password: '*' } }, lan: { mtu: 1400 } }, []]);
    const home = declared('[{ lan: { mtu: 1500 } }]');
    const { stdout } = await home.expect(3, ['plan'], one.there);
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /BLOCKED masked-configuration: configuration\.0\.users\.admin\.password .*\$\{secret\.env\.NAME\}.*configuration_writes: patch/,
    );
    await home.expect(1, ['plan', '--allow', 'masked-configuration'], one.there);
    await home.expect(3, APPLY, one.there);
    expect(one.writes()).toEqual([]);
  });

  test('is none where the deployment takes PATCH: masks stay where they are', async () => {
    const one = await cloud([{ users: { admin: { password: '*' } }, lan: { mtu: 1400 } }, []], {
      patching_configuration: true,
    });
    const home = declared('[{ lan: { mtu: 1500 } }]');
    home.write(
      'trueup.yaml',
      `settings: { configuration_writes: patch }\n${home.read('trueup.yaml')}`,
    );
    await home.expect(0, APPLY, one.there);
    expect([one.writes(), one.live()]).toEqual([
      ['PATCH /api/v2/configuration_managers/30/'],
      [{ users: { admin: { password: '*' } }, lan: { mtu: 1500 } }, []],
    ]);
  });

  test('that a server carries out in part is an error that names what is gone, by path', async () => {
    const one = await cloud([{ wan: { apn: 'canary' }, lan: { mtu: 1400 } }, []]);
    one.intercept = async (request, proceed) => {
      const answer = await proceed();
      if (request.method === 'PUT')
        one.tamper('configuration_managers', (all) =>
          all.map((record) => ({ ...record, configuration: [{ lan: { mtu: 1500 } }, []] })),
        );
      return answer;
    };
    const { stdout, stderr } = await declared('[{ lan: { mtu: 1500 } }]').expect(
      1,
      APPLY,
      one.there,
    );
    expect((stdout + stderr).replaceAll(/\s+/g, ' ')).toContain(
      'gone or altered: configuration.0.wan',
    );
    expect(stdout + stderr).not.toContain('canary');
  });
});

describe('clearing', () => {
  test('takes everything out where that is meant, masks and all', async () => {
    const one = await cloud([
      { users: { admin: { password: '*' } }, lan: { mtu: 1400 } },
      [['lan', 'x']],
    ]);
    const { stderr } = await declared('[{}, []]').expect(1, ['validate'], one.there);
    expect(stderr).toContain('lifecycle: { clear: true }');
    const home = declared('[{}, []]', ', clear: true');
    expect((await home.expect(0, ['plan'], one.there)).stdout).toContain(
      'the whole live document is replaced',
    );
    await home.expect(0, APPLY, one.there);
    expect(one.live()).toEqual([{}, []]);
  });
});

test('an export keeps the list of removed defaults, and plans empty', async () => {
  const one = await cloud([{ lan: { mtu: 1400 } }, [['lan', 'x']]]);
  const home = folder();
  const { stdout } = await home.expect(0, ['export'], one.there);
  expect(stdout).toContain('      - lan: { mtu: 1400 }\n      - [[lan, x]]\n');
  home.write('trueup.yaml', stdout);
  await home.expect(0, ['plan', '--detailed-exitcode'], one.there);
});
