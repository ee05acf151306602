// Each kind against the emulator in process, the made-up fifth one too: its example creates, reads back and plans
// empty; each attribute changed alone is exactly one change; it is adopted, drifts and goes.
import { describe, expect, it } from 'vitest';
import type { Estate } from '../../src/emulator/index.js';
import {
  normalAll,
  Secret,
  writables,
  type Attribute,
  type Declaration,
  type Kind,
  type Project,
  type Value,
  type Values,
} from '../../src/model/index.js';
import { DESTINATIONS, theirs } from '../support/estate.js';
import { desire, rig, type Rig } from '../support/rig.js';
import { fiveKinds } from '../support/fifth-kind.js';

const estate: Estate = {
  ...theirs,
  records: {
    ...theirs.records,
    groups: [
      { id: '40', name: 'Theirs', account: '1' },
      { id: '7', name: 'Others', account: '1' },
    ],
    routers: [{ id: '12', mac: '003044000001', name: 'Their depot', account: '1' }],
  },
};
const cloudOf = (): Rig => rig({ kinds: fiveKinds, estate });

/** The example with its references pointed at what the estate holds. */
function example(kind: Kind): Values {
  const plain = (value: unknown): Value => {
    if (typeof value === 'string' && value.startsWith('${secret.'))
      return new Secret('env.PAGER_SECRET', () => 'canary-1');
    if (value === '${accounts.example.id}') return '1';
    if (value === '${groups.example.id}') return '40';
    if (value === '${alert_push_destinations.example.destination_config_id}')
      return DESTINATIONS[0];
    if (Array.isArray(value)) return value.map(plain);
    return typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
      : (value as Value);
  };
  return normalAll(kind.attributes, plain(kind.example) as Values);
}

/** Another valid value. */
function other(attribute: Attribute, value: Value | undefined): Value {
  switch (attribute.word) {
    case 'text':
      return attribute.secret
        ? new Secret('env.PAGER_SECRET', () => 'canary-2')
        : attribute.format === 'url'
          ? 'https://hooks.example.com/other'
          : `${typeof value === 'string' ? value : 'a'} x`;
    case 'flag':
      return value !== true;
    case 'integer':
    case 'number':
      return (typeof value === 'number' ? value : 0) + 1;
    case 'choice':
      return attribute.values.find((one) => one !== value) ?? 'x';
    case 'ref':
      return attribute.to === 'accounts'
        ? value === '2'
          ? '1'
          : '2'
        : attribute.to === 'alert_push_destinations'
          ? DESTINATIONS[1]
          : '7';
    case 'list':
    case 'set':
      return [
        ...(Array.isArray(value) ? (value as Value[]).slice(1) : []),
        other(attribute.of, undefined),
      ];
    case 'map':
      return { other: other(attribute.of, undefined) };
    case 'object':
      return Object.fromEntries(
        Object.entries(attribute.attributes).map(([name, inner]) => [
          name,
          other(inner, (value as Values | undefined)?.[name]),
        ]),
      );
    case 'document':
      return attribute.wire === 'merge'
        ? [{ system: { system_id: 'another', users: null }, lan: { mtu: 1500 } }]
        : { data_cap_threshold: { limit: 5 } };
  }
}

const declaration = (kind: Kind, values: Values): Declaration => {
  const origin = { file: 'a.yaml', line: 1, column: 1 };
  return {
    address: `${kind.name}.example`,
    kind: kind.name,
    name: 'example',
    values: normalAll(kind.attributes, values),
    lifecycle: {},
    origin,
    at: () => origin,
  };
};
const one = (kind: Kind, values: Values): Project => desire(declaration(kind, values));
const allow = {
  allow: [
    'privilege-escalation',
    'destination-moved',
    'account-in-use',
    'group-in-use',
    'all-removed',
    'rule-without-destination',
    'last-administrator',
    'first-run',
  ] as const,
};

describe.each([...fiveKinds.values()].map((kind) => [kind.name, kind] as const))(
  '%s',
  (_, kind) => {
    it('is made or adopted from its example, and the next plan is empty', async () => {
      const cloud = cloudOf();
      const applied = await cloud.apply(one(kind, example(kind)), allow);
      expect(applied.outcomes.map((outcome) => [outcome.action, outcome.outcome])).toEqual([
        [kind.operations.create ? 'create' : 'adopt', 'done'],
      ]);
      expect((await cloud.plan(one(kind, example(kind)))).exit).toBe(0);
    });

    it.each(
      writables(kind).filter(([, attribute]) => !attribute.immutable && !attribute.only_false),
    )('has exactly one change where %s alone changes', async (name, attribute) => {
      const cloud = cloudOf();
      await cloud.apply(one(kind, example(kind)), allow);
      const before = cloud.mutations().length;
      const changed = one(kind, {
        ...example(kind),
        [name]: other(attribute, example(kind)[name]),
      });
      const { plan } = await cloud.plan(changed, allow);
      expect(
        plan.changes.map((change) => [
          change.action,
          'changes' in change && [
            ...new Set(change.changes.map((item) => item.path.split('.')[0])),
          ],
        ]),
      ).toEqual([['update', [name]]]);
      expect((await cloud.apply(changed, allow)).exit).toBe(0);
      expect(cloud.mutations().length).toBe(before + 1);
      expect((await cloud.plan(changed)).exit).toBe(0);
    });

    it('refuses another value where it is fixed', async () => {
      const cloud = cloudOf();
      await cloud.apply(one(kind, example(kind)), allow);
      for (const [name, attribute] of writables(kind).filter(
        ([, candidate]) => candidate.immutable,
      )) {
        const { plan, exit } = await cloud.plan(
          one(kind, { ...example(kind), [name]: other(attribute, example(kind)[name]) }),
        );
        expect([exit, plan.diagnostics.map((diagnostic) => diagnostic.code)]).toEqual([
          1,
          ['immutable'],
        ]);
      }
    });

    it('is adopted, not made twice, when the state is lost', async () => {
      const cloud = cloudOf();
      await cloud.apply(one(kind, example(kind)), allow);
      const fresh = rig({ kinds: fiveKinds, estate: cloud.emulator.snapshot() });
      expect(
        (await fresh.plan(one(kind, example(kind)))).plan.changes.map((change) => change.action),
      ).toEqual(['adopt']);
    });

    it('goes when it is declared no more, where it can go', async () => {
      const cloud = cloudOf();
      await cloud.apply(one(kind, example(kind)), allow);
      const applied = await cloud.apply(desire(), allow);
      expect(applied.outcomes.map((outcome) => [outcome.action, outcome.outcome])).toEqual([
        [kind.operations.delete ? 'delete' : 'forget', 'done'],
      ]);
      expect((await cloud.snapshot())?.state.resources).toEqual({});
    });

    it('drifts when another hand changes it, is healed, and no secret is anywhere', async () => {
      const cloud = cloudOf();
      const project = one(kind, example(kind));
      await cloud.apply(project, allow);
      const [name, attribute] = writables(kind).find(
        ([candidate, found]) => !found.immutable && !found.secret && candidate in kind.example,
      ) as [string, Attribute];
      const id = Object.values((await cloud.snapshot())?.state.resources ?? {})[0]?.id as string;
      const elsewhere = rig({ kinds: fiveKinds, estate: cloud.emulator.snapshot() });
      const moves = {
        ...declaration(kind, { ...example(kind), [name]: other(attribute, example(kind)[name]) }),
        lifecycle: { adopt: id },
      };
      expect((await elsewhere.apply(desire(moves), allow)).exit).toBe(0);
      const moved = rig({ kinds: fiveKinds, estate: elsewhere.emulator.snapshot() });
      for (const [path, text] of cloud.files.contents) moved.files.put(path, text);
      const audit = await moved.drift(project);
      expect([
        audit.exit,
        audit.drift.map((record) => [
          record.status,
          [...new Set(record.changes.map((change) => change.path.split('.')[0]))],
        ]),
      ]).toEqual([2, [['changed', [name]]]]);
      expect((await moved.apply(project, allow)).exit).toBe(0);
      expect((await moved.plan(project)).exit).toBe(0);
      expect([...moved.files.contents.values()].join('\n')).not.toMatch(/canary/);
    });
  },
);
