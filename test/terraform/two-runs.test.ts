// Two configurations of one cloud that share a journal, applied at once and one after the other by the real terraform:
// each gets objects of its own, whatever looks alike and whoever is killed.
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { box, type Box } from '../support/box.js';
import { executable } from '../support/built.js';
import { theirs } from '../support/estate.js';
import { terraformIsHere, workspace, type Workspace } from '../support/terraform.js';

const here = terraformIsHere('two runs at once', 4);
vi.setConfig({ testTimeout: 120_000 });

const COUNT = 8;

let script: Awaited<ReturnType<typeof executable>>;
beforeAll(async () => {
  if (here)
    script = await executable(fileURLToPath(new URL('./crashing-main.ts', import.meta.url)));
});
afterAll(() => {
  if (here) script.remove();
});

interface Side {
  readonly place: Workspace;
  /** Process ids of its providers so far. */
  readonly providers: () => readonly number[];
  /** Identifiers in its state. */
  readonly ids: () => readonly string[];
}

/** Rules that are equal on both sides and among one another, and accounts that are not. */
const declared = (journal: string, name: string): string => `provider "devicecloud" {
  journal = ${JSON.stringify(journal)}
}
resource "devicecloud_alert_rule" "equal" {
  count               = ${COUNT}
  associated_accounts = ["2"]
  filter_criteria     = { alert_type__in = ["modem_wan_disconnected"] }
}
resource "devicecloud_account" "own" {
  count = 3
  name  = "${name} \${count.index}"
}
`;

async function scene(): Promise<{
  readonly cloud: Box;
  readonly sides: readonly [Side, Side];
  readonly made: () => readonly [number, number];
}> {
  const cloud = await box(theirs);
  const shared = mkdtempSync(join(tmpdir(), 'two-runs-'));
  onTestFinished(async () => {
    await cloud.close();
    rmSync(shared, { recursive: true, force: true });
  });
  const before = [cloud.objects('alert_rules').length, cloud.objects('accounts').length] as const;
  const side = (name: string): Side => {
    const file = join(shared, `${name}.calls`);
    const env = {
      ...cloud.env,
      TRUEUP_TEST_CALLS: file,
      TRUEUP_SETTLE_SECONDS: '1',
      TF_INPUT: '0',
    };
    const place = workspace(declared(join(shared, 'journal'), name), {
      executable: script.file,
      env,
    });
    const state = join(place.folder, 'terraform.tfstate');
    return {
      place,
      providers: () =>
        existsSync(file)
          ? [
              ...new Set(
                [...readFileSync(file, 'utf8').matchAll(/^(\d+) /gm)].map(([, pid]) => Number(pid)),
              ),
            ]
          : [],
      ids() {
        const { resources } = JSON.parse(readFileSync(state, 'utf8')) as {
          readonly resources: readonly {
            readonly instances: readonly {
              readonly attributes: Readonly<Record<string, unknown>>;
            }[];
          }[];
        };
        return resources.flatMap(({ instances }) =>
          instances.map(({ attributes }) =>
            String(attributes['alert_config_id'] ?? `account ${String(attributes['id'])}`),
          ),
        );
      },
    };
  };
  const made = (): readonly [number, number] => [
    cloud.objects('alert_rules').length - before[0],
    cloud.objects('accounts').length - before[1],
  ];
  return { cloud, sides: [side('a'), side('b')], made };
}

async function applied({ place }: Side): Promise<void> {
  const { status, stderr } = await place.run('apply', '-auto-approve', '-parallelism=3');
  expect([status, stderr]).toEqual([0, '']);
}

/** Everything is there once, each object in one state, and nothing is left to do. */
async function isWell({ sides, made }: Awaited<ReturnType<typeof scene>>): Promise<void> {
  expect(made()).toEqual([2 * COUNT, 6]);
  expect(new Set(sides.flatMap(({ ids }) => ids())).size).toBe(2 * (COUNT + 3));
  for (const { place } of sides)
    expect((await place.run('plan', '-detailed-exitcode')).status).toBe(0);
}

describe.runIf(here)('two runs that share a journal', () => {
  it('at once make what each declares', async () => {
    const all = await scene();
    await Promise.all(all.sides.map(applied));
    await isWell(all);
  });

  it('one after the other take nothing of each other', async () => {
    const all = await scene();
    await applied(all.sides[0]);
    await applied(all.sides[1]);
    await isWell(all);
  });

  it.each([
    ['its provider', false],
    ['terraform and its provider', true],
  ])('lose and double nothing where %s is killed', async (_, whole) => {
    const all = await scene();
    const [a, b] = all.sides;
    const child = a.place.start('apply', '-auto-approve', '-parallelism=3');
    const over = once(child, 'close');
    child.stdout?.resume();
    child.stderr?.resume();
    let posts = 0;
    all.cloud.intercept = async ({ method }, proceed) => {
      const answer = await proceed();
      if (method === 'POST' && ++posts === 4) {
        if (whole) child.kill('SIGKILL');
        for (const pid of a.providers())
          if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
      }
      return answer;
    };
    await expect.poll(() => posts, { timeout: 30_000 }).toBeGreaterThan(0);
    await Promise.all([over, applied(b)]);
    await applied(a);
    await isWell(all);
  });
});
