// Nobody loses the last administrator: not at the end of a run, not between two of its requests, and not where a
// part of it fails. An oracle looks at the cloud after every request.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Estate } from '../../../../src/emulator/index.js';
import { Reference, type Declaration, type JsonObject } from '../../../../src/model/index.js';
import { declare } from '../../../support/planning.js';
import { desire, rig, type Rig } from '../../../support/rig.js';
import { drawn } from '../../../support/drawn.js';

interface Scene {
  /** Parent of each account below the root (`1`); accounts are `2`, `3`, … */
  readonly parents: readonly string[];
  /** `account role` of each authorization; each has a user of its own. */
  readonly roles: readonly (readonly [account: string, role: string])[];
}

const estateOf = ({ parents, roles }: Scene): Estate => ({
  version: 1,
  root: '1',
  next_id: 50,
  records: {
    accounts: [
      { id: '1', name: 'A1', account: null },
      ...parents.map((account, index) => ({
        id: String(index + 2),
        name: `A${index + 2}`,
        account,
      })),
    ],
    account_authorizations: roles.map(([account, role], index) => ({
      id: String(index + 900),
      user: String(index + 700),
      account,
      role,
    })),
  },
});

/** Accounts that somebody administers now. */
function administered(objects: (kind: string) => readonly JsonObject[]): ReadonlySet<string> {
  const parents = new Map(
    objects('accounts').map(({ id, account }) => [
      String(id),
      account === null ? undefined : String(account),
    ]),
  );
  const seats = new Set(
    objects('account_authorizations').flatMap(({ role, account }) =>
      role === 'administrator' ? [String(account)] : [],
    ),
  );
  const above = (id: string): readonly string[] => {
    const line = new Set<string>();
    for (let at: string | undefined = id; at !== undefined && !line.has(at); at = parents.get(at))
      line.add(at);
    return [...line];
  };
  return new Set([...parents.keys()].filter((id) => above(id).some((one) => seats.has(one))));
}

const refused = {
  status: 403,
  headers: { 'content-type': 'application/json' },
  body: '{"errors":[{"detail":"no"}]}',
};

interface Watched {
  readonly cloud: Rig;
  /** Accounts that had an administrator, and once had none. */
  readonly bereft: readonly string[];
}

function watched(
  scene: Scene,
  fails: (method: string, path: string) => boolean = () => false,
  lies: (path: string) => boolean = () => false,
): Watched {
  const bereft: string[] = [];
  let before: ReadonlySet<string> | undefined;
  const cloud: Rig = rig({
    estate: estateOf(scene),
    intercept: async ({ method, path }, proceed) => {
      if (method === 'GET') return proceed();
      before ??= administered(cloud.objects);
      if (fails(method, path)) return refused;
      if (lies(path))
        return { status: 200, headers: { 'content-type': 'application/vnd.api+json' }, body: '' };
      const answer = await proceed();
      const now = administered(cloud.objects);
      for (const id of before) if (!now.has(id)) bereft.push(`${id} after ${method} ${path}`);
      return answer;
    },
  });
  return { cloud, bereft };
}

const allow = ['privilege-escalation', 'max-changed', 'max-deletes', 'first-run'] as const;
const account = (id: string, parent: string | Reference): Declaration =>
  declare(`accounts.a${id}`, { name: `A${id}`, account: parent }, { adopt: id });
const role = (scene: Scene, index: number, to: string): Declaration =>
  declare(`account_authorizations.u${index}`, {
    user: String(index + 700),
    account: scene.roles[index]?.[0] as string,
    role: to,
  });

describe('a move', () => {
  const scene: Scene = {
    parents: ['1', '1', '2'],
    roles: [
      ['2', 'administrator'],
      ['3', 'full_access_user'],
    ],
  };
  const project = desire(account('4', '3'), role(scene, 1, 'administrator'));

  it('waits for the administrator of the new place', async () => {
    const { cloud, bereft } = watched(scene);
    const { plan } = await cloud.plan(project, { allow });
    expect(plan.changes.map(({ address, depends_on }) => [address, depends_on])).toEqual([
      ['account_authorizations.u1', []],
      ['accounts.a4', ['account_authorizations.u1']],
    ]);
    expect((await cloud.apply(project, { allow })).exit).toBe(0);
    expect(bereft).toEqual([]);
  });

  it('is not made where that one could not be promoted', async () => {
    const { cloud, bereft } = watched(scene, (_, path) => path.includes('authorizations'));
    expect((await cloud.apply(project, { allow })).outcomes.map(({ outcome }) => outcome)).toEqual([
      'failed',
      'skipped',
    ]);
    expect(bereft).toEqual([]);
  });

  it('waits for the move of the place it goes to', async () => {
    const two: Scene = { parents: ['1', '5', '2', '1'], roles: [['2', 'administrator']] };
    const { cloud, bereft } = watched(two);
    expect(
      (await cloud.apply(desire(account('4', '3'), account('3', '2')), { allow, parallelism: 1 }))
        .exit,
    ).toBe(0);
    expect(bereft).toEqual([]);
    const failing = watched(two, (_, path) => path.endsWith('/3/'));
    expect(
      (
        await failing.cloud.apply(desire(account('4', '3'), account('3', '2')), { allow })
      ).outcomes.map(({ outcome }) => outcome),
    ).toEqual(['failed', 'skipped']);
    expect(failing.bereft).toEqual([]);
  });

  it('below an account that is made in the same run is judged by what is above it', async () => {
    const below: Scene = { parents: ['1', '1'], roles: [['1', 'administrator']] };
    const made = desire(
      declare('accounts.n', { name: 'N', account: '2' }),
      account('3', new Reference('declared', 'accounts.n', 'id')),
    );
    expect((await watched(below).cloud.plan(made, { allow })).exit).toBe(2);
    const elsewhere: Scene = {
      parents: ['1', '1'],
      roles: [
        ['3', 'read_only_user'],
        ['1', 'no_access'],
      ],
    };
    expect(
      (
        await watched({
          ...elsewhere,
          parents: ['1', '4', '1'],
          roles: [['4', 'administrator']],
        }).cloud.plan(made, { allow })
      ).exit,
    ).toBe(3);
  });
});

it('does not demote on the word of a service that did not promote', async () => {
  const scene: Scene = {
    parents: ['1'],
    roles: [
      ['2', 'administrator'],
      ['2', 'full_access_user'],
    ],
  };
  const { cloud, bereft } = watched(
    scene,
    () => false,
    (path) => path.endsWith('/901'),
  );
  const applied = await cloud.apply(
    desire(role(scene, 0, 'read_only_user'), role(scene, 1, 'administrator')),
    { allow },
  );
  expect(applied.outcomes.map(({ outcome, diagnostic }) => [outcome, diagnostic?.code])).toEqual([
    ['unknown', 'not-shown'],
    ['skipped', 'skipped'],
  ]);
  expect(bereft).toEqual([]);
});

it('holds for trees, moves, roles and failures of all sorts', async () => {
  const scenes = fc.integer({ min: 2, max: 6 }).chain((count) =>
    fc.record({
      parents: fc.tuple(
        ...Array.from({ length: count }, (_, index) =>
          fc.integer({ min: 1, max: index + 1 }).map(String),
        ),
      ),
      roles: fc.array(
        fc.tuple(
          fc.integer({ min: 1, max: count + 1 }).map(String),
          fc.constantFrom('administrator', 'administrator', 'full_access_user'),
        ),
        {
          minLength: 1,
          maxLength: 6,
        },
      ),
      moves: fc.array(
        fc.tuple(fc.integer({ min: 2, max: count + 1 }), fc.integer({ min: 1, max: count + 1 })),
        { maxLength: 4 },
      ),
      changes: fc.array(
        fc.tuple(fc.nat(5), fc.constantFrom('administrator', 'read_only_user', 'no_access')),
        { maxLength: 6 },
      ),
      fails: fc.array(fc.nat(12), { maxLength: 2 }),
      parallelism: fc.constantFrom(1, 10),
    }),
  );
  let carriedOut = 0;
  await fc.assert(
    fc.asyncProperty(scenes, async ({ parents, roles, moves, changes, fails, parallelism }) => {
      const scene = { parents, roles };
      const parentOf = new Map(parents.map((parent, index) => [String(index + 2), parent]));
      const wanted = new Map<string, string>();
      for (const [id, to] of moves) {
        const line: string[] = [];
        for (
          let at: string | undefined = String(to);
          at !== undefined && !line.includes(at);
          at = wanted.get(at) ?? parentOf.get(at)
        )
          line.push(at);
        if (!line.includes(String(id))) wanted.set(String(id), String(to));
      }
      const reroled = new Map(changes.filter(([index]) => index < roles.length));
      const project = desire(
        ...[...wanted].map(([id, to]) => account(id, to)),
        ...[...reroled].map(([index, to]) => role(scene, index, to)),
      );
      let sent = 0;
      const { cloud, bereft } = watched(scene, () => fails.includes(sent++));
      const { exit } = await cloud.plan(project, { allow });
      if (exit !== 2) return;
      carriedOut += 1;
      await cloud.apply(project, { allow, parallelism });
      expect(bereft).toEqual([]);
    }),
    { numRuns: drawn(150) },
  );
  expect(carriedOut).toBeGreaterThan(drawn(30));
});
