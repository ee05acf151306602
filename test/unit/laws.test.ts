// The laws, as properties over random estates and projects.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bareEstate, type Estate } from '../../src/emulator/index.js';
import {
  canonical,
  Reference,
  NOT_KNOWN,
  Secret,
  type AttributeChange,
  type Change,
  type Declaration,
  type Project,
  type Value,
} from '../../src/model/index.js';
import { compareDeclarations } from '../../src/reconciler/plan/compare-declarations.js';
import { kinds } from '../../src/resources/index.js';
import { renderPlan } from '../../src/report/render.js';
import { planFormats } from '../../src/report/formats.js';
import { declare } from '../support/planning.js';
import { desire, rig } from '../support/rig.js';
import { drawn } from '../support/drawn.js';
import { everyRule } from '../support/rule-names.js';

const CANARY = 'canary-7f3a';
const names = ['a', 'b', 'c', 'd'];
const subset = fc.subarray(names);
const to = (target: string, attribute: string): Reference =>
  new Reference('declared', target, attribute);

/** What a router may be configured with: a few members, a secret among them or in a list. */
const configurations: fc.Arbitrary<Value> = fc
  .record({
    members: fc.dictionary(
      fc.constantFrom('x', 'y', 'z.z'),
      fc.oneof(fc.integer({ max: 2, min: 0 }), fc.constant({ in: 1 })),
    ),
    secret: fc.boolean(),
    removed: fc.subarray(['old', 'older']),
  })
  .map(({ members, secret, removed }) => {
    const password = new Secret('env.P', () => `${CANARY}-p`);
    const gone = removed.length > 0 && {
      wan: Object.fromEntries(removed.map((one) => [one, null])),
    };
    return [
      {
        system: members,
        ...gone,
        ...(secret
          ? { users: [{ name: 'a', password }], wifi: { psk: password } }
          : { users: null, wifi: null }),
      },
      ...(removed.length > 1 ? [[['lan', 'x']]] : []),
    ];
  });
const managed = { configuration: [{ wan: { old: 1, kept: 2 } }, [['dns']]], version_number: 1 };
const routers: Estate = {
  ...bareEstate,
  records: {
    ...bareEstate.records,
    configuration_managers: [7, 8].map((router) => ({
      id: String(router + 10),
      router: String(router),
      ...managed,
    })),
  },
};

/** A project of a few accounts in a tree, destinations with secrets, rules over both, and configurations of routers. */
const projects: fc.Arbitrary<Project> = fc
  .record({
    accounts: fc.array(
      fc.record({ name: fc.string({ minLength: 1, maxLength: 6 }), below: fc.boolean() }),
      { maxLength: 4 },
    ),
    destinations: fc.array(
      fc.record({ name: fc.string({ minLength: 1, maxLength: 6 }), enabled: fc.boolean() }),
      { maxLength: 3 },
    ),
    rules: fc.array(
      fc.record({
        scope: subset,
        targets: subset,
        types: fc.uniqueArray(fc.constantFrom('t1', 't2', 't3', 't4'), { minLength: 1 }),
        schedule: fc.constantFrom(null, 'daily', undefined),
      }),
      { maxLength: 4 },
    ),
    managers: fc.array(configurations, { maxLength: 2 }),
  })
  .map(({ accounts, destinations, rules, managers }) => {
    const out: Declaration[] = accounts.map(({ name, below }, index) =>
      declare(`accounts.${names[index]}`, {
        name: `${name}${index}`,
        ...(below && index > 0 ? { account: to(`accounts.${names[index - 1]}`, 'id') } : {}),
      }),
    );
    out.push(
      ...destinations.map(({ name, enabled }, index) =>
        declare(`alert_push_destinations.${names[index]}`, {
          name: `${name}${index}`,
          enabled,
          authentication: { secret: new Secret(`env.S${index}`, () => `${CANARY}-${index}`) },
        }),
      ),
    );
    out.push(
      ...rules.map(({ scope, targets, types, schedule }, index) =>
        declare(`alert_rules.${names[index]}`, {
          associated_accounts: scope
            .filter((name) => names.indexOf(name) < accounts.length)
            .map((name): Value => to(`accounts.${name}`, 'id')),
          http_destinations: targets
            .filter((name) => names.indexOf(name) < destinations.length)
            .map((name): Value => to(`alert_push_destinations.${name}`, 'destination_config_id')),
          filter_criteria: { alert_type__in: [...types, `only-${index}`] },
          ...(schedule === undefined ? {} : { schedule }),
        }),
      ),
    );
    out.push(
      ...managers.map((configuration, index) =>
        declare(`configuration_managers.${names[index]}`, {
          router: String(7 + index),
          configuration,
        }),
      ),
    );
    return desire(...out);
  });

const changesIn = (change: Change): readonly AttributeChange[] =>
  'changes' in change ? change.changes : [];

/** `<address> <path>` of what only a cloud can tell from the earlier value. */
const notKnown = (changes: readonly Change[]): ReadonlySet<string> =>
  new Set(
    changes.flatMap((change) =>
      changesIn(change).flatMap(({ path, before }) =>
        before === NOT_KNOWN ? [`${change.address} ${path}`] : [],
      ),
    ),
  );

/** Action, address and changed attributes of all that is not kept, but for what is left out. */
const shapeOf = (changes: readonly Change[], left: ReadonlySet<string>): readonly string[] =>
  changes
    .flatMap((change) => {
      const { action, address } = change;
      const paths = changesIn(change).flatMap(({ path }) =>
        left.has(`${address} ${path}`) ? [] : [path],
      );
      const isKept = action === 'keep' || (action === 'update' && paths.length === 0);
      return isKept ? [] : [[action, address, ...paths.toSorted()].join(' ')];
    })
    .toSorted();

const seeds = fc.integer({ min: 1, max: 1_000_000 });
const runs = { numRuns: drawn(60) };
const all = { allow: everyRule };

describe('laws', () => {
  it('a comparison of declarations is the plan after an apply of the earlier ones', async () => {
    await fc.assert(
      fc.asyncProperty(projects, projects, seeds, async (before, second, seed) => {
        // Of an object that is adopted only a cloud knows what differs.
        const known = new Set(before.declarations.map(({ address }) => address));
        const after = desire(
          ...second.declarations.filter(
            ({ kind, address }) => kind !== 'configuration_managers' || known.has(address),
          ),
        );
        const cloud = rig({ seed, estate: routers });
        await cloud.apply(before, all);
        const { plan } = await cloud.plan(after, all);
        const compared = compareDeclarations({ kinds, before, after, label: 'main' });
        const left = notKnown(compared.plan.changes);
        expect(shapeOf(compared.plan.changes, left)).toEqual(shapeOf(plan.changes, left));
        const same = compareDeclarations({ kinds, before, after: before, label: 'main' });
        expect([same.exit, shapeOf(same.plan.changes, new Set())]).toEqual([0, []]);
      }),
      runs,
    );
  });

  it('a plan after an apply is empty', async () => {
    await fc.assert(
      fc.asyncProperty(projects, projects, seeds, async (first, second, seed) => {
        const cloud = rig({ seed, estate: routers });
        for (const project of [first, second]) {
          const applied = await cloud.apply(project, all);
          expect(applied.outcomes.filter((one) => one.outcome !== 'done')).toEqual([]);
          const { plan, exit } = await cloud.plan(project);
          expect([exit, plan.changes.filter((change) => change.action !== 'keep')]).toEqual([
            0,
            [],
          ]);
        }
      }),
      runs,
    );
  });

  it('the order respects references, one way for what comes and the other for what goes', async () => {
    await fc.assert(
      fc.asyncProperty(projects, seeds, async (project, seed) => {
        const cloud = rig({ seed, estate: routers });
        const coming = (await cloud.plan(project)).plan.changes;
        const at = new Map(coming.map((change, index) => [change.address, index]));
        for (const change of coming)
          for (const target of change.depends_on)
            expect(at.get(target)).toBeLessThan(at.get(change.address) as number);
        await cloud.apply(project, { allow: ['first-run'] });
        const going = (await cloud.plan(project, { destroy: true })).plan.changes;
        const last = new Map(going.map((change, index) => [change.address, index]));
        for (const change of coming)
          for (const target of change.depends_on)
            expect(last.get(target)).toBeGreaterThan(last.get(change.address) as number);
      }),
      runs,
    );
  });

  it('the same input gives the same bytes, whatever the order it was written in', async () => {
    await fc.assert(
      fc.asyncProperty(projects, seeds, async (project, seed) => {
        const cloud = rig({ seed, estate: routers });
        const bytes = async (declarations: readonly Declaration[]): Promise<string> =>
          canonical(cloud.document(await cloud.plan({ ...project, declarations })));
        expect(await bytes(project.declarations.toReversed())).toBe(
          await bytes(project.declarations),
        );
      }),
      runs,
    );
  });

  it('policy only ever stops a plan, and never changes what is in it', async () => {
    await fc.assert(
      fc.asyncProperty(projects, projects, seeds, async (first, second, seed) => {
        const cloud = rig({ seed, estate: routers });
        await cloud.apply(first, all);
        const strict = await cloud.plan(second);
        const free = await cloud.plan(second, all);
        expect(cloud.document(free).resource_changes).toEqual(
          cloud.document(strict).resource_changes,
        );
        expect(free.plan.verdicts.map(({ rule, detail }) => [rule, detail])).toEqual(
          strict.plan.verdicts.map(({ rule, detail }) => [rule, detail]),
        );
        expect(free.exit).not.toBe(3);
      }),
      runs,
    );
  });

  it('no secret is in any rendering, in any file, or in any event', async () => {
    await fc.assert(
      fc.asyncProperty(projects, seeds, async (project, seed) => {
        const cloud = rig({ seed, estate: routers });
        const document = cloud.document(await cloud.plan(project));
        const applied = await cloud.apply(project);
        const seen = [
          ...planFormats.map((format) => renderPlan(document, format, { color: false, width: 80 })),
          ...cloud.files.contents.values(),
          JSON.stringify(cloud.events),
          JSON.stringify(applied),
        ];
        expect(seen.join('\n')).not.toContain(CANARY);
      }),
      runs,
    );
  });

  it('reading writes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(projects, projects, seeds, async (first, second, seed) => {
        const cloud = rig({ seed, estate: routers });
        await cloud.apply(first);
        const [before, sent] = [new Map(cloud.files.contents), cloud.mutations().length];
        await cloud.plan(second);
        await cloud.drift(second);
        expect(new Map(cloud.files.contents)).toEqual(before);
        expect(cloud.mutations().length).toBe(sent);
      }),
      runs,
    );
  });
});
