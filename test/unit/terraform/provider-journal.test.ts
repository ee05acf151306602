// What is promised beyond terraform's own state: whoever is killed, and whenever, the next apply leaves one object.
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../../src/emulator/index.js';
import type { Values } from '../../../src/model/index.js';
import { Core, providerRig, type ProviderRig } from '../../support/provider.js';
import { theirs } from '../../support/estate.js';
import { kindOf } from '../../support/planning.js';
import { PowerCut } from '../../support/simulated-files.js';

const RULE = 'devicecloud_alert_rule';
const rule = {
  associated_accounts: ['2'],
  filter_criteria: { alert_type__in: ['modem_wan_disconnected'] },
};
const ACCOUNT = 'devicecloud_account';

const rulesOf = (world: ProviderRig): number => world.objects('alert_rules').length - 1;
const entriesOf = async (world: ProviderRig): Promise<number> => {
  const text = world.files.contents.get('/sim/.trueup/terraform/loopback.json');
  return text === undefined
    ? 0
    : Object.keys((JSON.parse(text) as { resources: object }).resources).length;
};

/** A whole terraform run: refresh what the state holds, create what it lacks, end well. */
async function converge(world: ProviderRig): Promise<void> {
  const { provider, kill } = await world.start({ settle: 60 });
  const core = new Core(provider);
  const state = await core.apply(RULE, null, rule);
  await provider.close();
  kill();
  const next = await world.start();
  const again = new Core(next.provider);
  expect(await again.isEmpty(RULE, await again.read(RULE, state), rule)).toBe(true);
  await next.provider.close();
  next.kill();
}

/** How many boundaries of the disk a create passes. */
async function boundaries(): Promise<number> {
  const world = providerRig({ estate: theirs });
  const { provider } = await world.start();
  await new Core(provider).apply(RULE, null, rule);
  await provider.close();
  return world.files.boundaries;
}

describe('a provider that is killed', () => {
  it('at any boundary of the disk leaves no second object', async () => {
    const last = await boundaries();
    expect(last).toBeGreaterThan(10);
    for (let boundary = 1; boundary <= last; boundary += 1) {
      const world = providerRig({ estate: theirs, seed: boundary });
      const { provider, kill } = await world.start();
      world.files.crashAt(boundary);
      await new Core(provider)
        .apply(RULE, null, rule)
        .then(() => provider.close())
        .catch((error: unknown) => {
          if (!(error instanceof PowerCut)) throw error;
        });
      kill();
      world.files.reboot();
      await converge(world);
      expect([boundary, rulesOf(world), await entriesOf(world)]).toEqual([boundary, 1, 0]);
    }
  });

  it('between the answer and the state of terraform leaves an object that the next create takes', async () => {
    const world = providerRig({ estate: theirs });
    const { provider, kill } = await world.start();
    const lost = await new Core(provider).apply(RULE, null, rule);
    kill();
    const next = await world.start();
    const core = new Core(next.provider);
    const state = await core.apply(RULE, null, rule);
    expect(state['alert_config_id']).toBe(lost['alert_config_id']);
    expect(world.mutations()).toEqual(['POST /api/v2/alert_rules/']);
    // Another one of the same content is another one.
    const twin = await core.apply(RULE, null, rule);
    expect(twin['alert_config_id']).not.toBe(lost['alert_config_id']);
  });

  it('is followed by a create that waits for the object of before, where the service shows it late', async () => {
    const world = providerRig({ estate: theirs, faults: [parseFault('stale=30000')] });
    const { provider, kill } = await world.start();
    const lost = await new Core(provider).apply(RULE, null, rule);
    kill();
    const next = await world.start();
    const state = await new Core(next.provider).apply(RULE, null, rule);
    expect(state['alert_config_id']).toBe(lost['alert_config_id']);
    expect(world.mutations()).toEqual(['POST /api/v2/alert_rules/']);
    expect(world.clock.elapsed()).toBeGreaterThanOrEqual(30_000);
    expect(world.clock.elapsed()).toBeLessThan(60_000);
  });

  it('leaves nothing to another run that goes on, nor to one of the same run', async () => {
    const world = providerRig({ estate: theirs });
    const first = await world.start();
    await new Core(first.provider).apply(RULE, null, rule);
    await first.provider.close();
    first.kill(false);
    const alias = await world.start({ run: first.run });
    await new Core(alias.provider).apply(RULE, null, rule);
    await alias.provider.close();
    const other = await world.start();
    await new Core(other.provider).apply(RULE, null, rule);
    expect(rulesOf(world)).toBe(3);
  });

  it('takes back no object that a state has shown', async () => {
    const world = providerRig({ estate: theirs });
    const first = await world.start();
    const state = await new Core(first.provider).apply(RULE, null, rule);
    await first.provider.close();
    first.kill();
    const next = await world.start();
    const core = new Core(next.provider);
    await core.plan(RULE, state, rule);
    await next.provider.close();
    next.kill();
    const third = await world.start();
    await new Core(third.provider).apply(RULE, null, rule);
    expect(rulesOf(world)).toBe(2);
  });

  it('takes back no object that a state has shown while another run held the lock', async () => {
    let [holds, go, reached] = [false, (): void => undefined, (): void => undefined];
    const held = new Promise<void>((done) => (reached = done));
    const world = providerRig({
      estate: theirs,
      async intercept({ method, path }, proceed) {
        if (holds && method === 'POST' && path.includes('accounts')) {
          holds = false;
          reached();
          await new Promise<void>((done) => (go = done));
        }
        return proceed();
      },
    });
    const first = await world.start();
    const state = await new Core(first.provider).apply(RULE, null, rule);
    await first.provider.close();
    first.kill();
    holds = true;
    const busy = await world.start();
    const other = new Core(busy.provider).apply(ACCOUNT, null, { name: 'Depot' });
    await held;
    const planning = await world.start();
    await new Core(planning.provider).plan(RULE, state, rule);
    await planning.provider.close();
    expect(planning.log).toEqual([]);
    planning.kill(false);
    const applying = await world.start({ run: planning.run });
    const twin = new Core(applying.provider).apply(RULE, null, rule);
    go();
    await other;
    expect((await twin)['alert_config_id']).not.toBe(state['alert_config_id']);
    await busy.provider.close();
    await applying.provider.close();
    applying.kill();
    busy.kill();
    await converge(world);
    expect([...world.files.contents.keys()].filter((path) => path.includes('note'))).toEqual([]);
  });

  it('takes what a state has shown for no create that was left open', async () => {
    let [posts, reached] = [0, (): void => undefined];
    const second = new Promise<void>((done) => (reached = done));
    const world = providerRig({
      estate: theirs,
      async intercept({ method }, proceed) {
        posts += method === 'POST' ? 1 : 0;
        if (method !== 'POST' || posts !== 2) return proceed();
        reached();
        return new Promise(() => undefined);
      },
    });
    const first = await world.start();
    const killed = new Core(first.provider);
    const state = await killed.apply(RULE, null, rule);
    void killed.apply(RULE, null, rule);
    await second;
    first.kill();
    const planning = await world.start();
    await new Core(planning.provider).plan(RULE, state, rule);
    await planning.provider.close();
    planning.kill(false);
    const applying = await world.start({ run: planning.run });
    const twin = await new Core(applying.provider).apply(RULE, null, rule);
    expect(twin['alert_config_id']).not.toBe(state['alert_config_id']);
    expect(rulesOf(world)).toBe(2);
    await applying.provider.close();
    applying.kill();
    await converge(world);
    const last = await world.start();
    await new Core(last.provider).plan(RULE, state, rule);
    await last.provider.close();
    expect(await entriesOf(world)).toBe(0);
  });

  it('sends the secret again to what it takes', async () => {
    const type = 'devicecloud_alert_push_destination';
    const wanted = { name: 'Pager', authentication: { secret_wo: 's1', secret_wo_version: 1 } };
    const world = providerRig({ estate: theirs });
    const first = await world.start();
    await new Core(first.provider).apply(type, null, wanted);
    first.kill();
    const next = await world.start();
    await new Core(next.provider).apply(type, null, {
      ...wanted,
      authentication: { secret_wo: 's2', secret_wo_version: 1 },
    });
    expect(world.mutations().map((one) => one.split(' ')[0])).toEqual(['POST', 'PATCH']);
    for (const text of world.files.contents.values()) expect(text).not.toMatch(/"s[12]"/);
  });
});

async function byAnotherHand(
  world: ProviderRig,
  fields: Values = { associated_accounts: ['1'] },
): Promise<void> {
  const cloud = world.connect(new AbortController().signal);
  const write = { verb: 'create' as const, fields };
  await cloud.send(kindOf('alert_rules'), cloud.compose(kindOf('alert_rules'), write), write);
}

describe('a create without an answer', () => {
  const lossy = (times: number): ProviderRig => {
    let left = times;
    return providerRig({
      estate: theirs,
      async intercept({ method }, proceed) {
        const answer = await proceed();
        if (method !== 'POST' || left === 0) return answer;
        left -= 1;
        return { status: 502, headers: {}, body: '' };
      },
    });
  };

  it('is found', async () => {
    const world = lossy(1);
    const core = new Core((await world.start()).provider);
    const state = await core.apply(RULE, null, rule);
    expect([world.mutations().length, rulesOf(world)]).toEqual([1, 1]);
    expect(await core.isEmpty(RULE, await core.read(RULE, state), rule)).toBe(true);
  });

  it('is found among ten of the same content', async () => {
    const world = lossy(4);
    const core = new Core((await world.start()).provider);
    const states = await Promise.all(
      Array.from({ length: 10 }, () => core.apply(RULE, null, rule)),
    );
    expect(new Set(states.map((state) => state['alert_config_id'])).size).toBe(10);
    expect(rulesOf(world)).toBe(10);
  });

  it('that did nothing is sent once more', async () => {
    let left = 1;
    const world = providerRig({
      estate: theirs,
      intercept: ({ method }, proceed) =>
        method === 'POST' && left-- > 0
          ? Promise.resolve({ status: 503, headers: {}, body: '' })
          : proceed(),
    });
    await new Core((await world.start()).provider).apply(RULE, null, rule);
    expect(rulesOf(world)).toBe(1);
  });

  it('is looked for before another one is made', async () => {
    let [posts, later] = [0, undefined as (() => void) | undefined];
    const world = providerRig({
      estate: theirs,
      intercept({ method }, proceed) {
        if (method === 'POST') posts += 1;
        else if (posts === 1 && later) {
          const go = later;
          later = undefined;
          go();
        }
        return method === 'POST' && posts === 1
          ? Promise.resolve({ status: 503, headers: {}, body: '' })
          : proceed();
      },
    });
    const core = new Core((await world.start()).provider);
    const second = new Promise<unknown>(
      (done) => (later = () => done(core.apply(RULE, null, { associated_accounts: ['1'] }))),
    );
    await Promise.all([core.apply(RULE, null, rule), second]);
    expect(rulesOf(world)).toBe(2);
  });

  it('is a question where an equal object comes to light that is older than what was there before', async () => {
    let posted = false;
    const hidden = new Set<string>();
    const world: ProviderRig = providerRig({
      estate: theirs,
      async intercept({ method }, proceed) {
        posted ||= method === 'POST' && hidden.size > 0;
        if (method === 'POST') return posted ? { status: 503, headers: {}, body: '' } : proceed();
        const answer = await proceed();
        if (posted || hidden.size === 0) return answer;
        const page = JSON.parse(answer.body) as { data: { readonly alert_config_id?: string }[] };
        page.data = page.data.filter(({ alert_config_id: id }) => !hidden.has(String(id)));
        return { ...answer, body: JSON.stringify(page) };
      },
    });
    await byAnotherHand(world, rule);
    const older = String(world.objects('alert_rules').at(-1)?.['alert_config_id']);
    await byAnotherHand(world);
    hidden.add(older);
    const { errors } = await new Core((await world.start()).provider).tryApply(RULE, null, rule);
    expect(errors[0]?.detail).toContain(`${older}: equal to what was sent`);
    expect(errors[0]?.detail).toContain(`terraform import devicecloud_alert_rule.<name> ${older}`);
  });

  it('is a question where another object appeared, and an import answers it', async () => {
    let calm = false;
    const world: ProviderRig = providerRig({
      estate: theirs,
      async intercept({ method }, proceed) {
        if (method !== 'POST' || calm) return proceed();
        calm = true;
        await byAnotherHand(world);
        return { status: 503, headers: {}, body: '' };
      },
    });
    const { provider, kill } = await world.start();
    const { state, errors } = await new Core(provider).tryApply(RULE, null, rule);
    expect(state).toBeNull();
    expect(errors[0]?.summary).toContain('It is not clear whether the alert rule was created');
    expect(errors[0]?.detail).toContain('differs in associated_accounts, filter_criteria');
    expect(errors[0]?.detail).not.toContain('import');
    await provider.close();
    kill();
    const next = await world.start();
    const core = new Core(next.provider);
    expect((await core.tryApply(RULE, null, rule)).errors).toHaveLength(1);
    const id = String(world.objects('alert_rules').at(-1)?.['alert_config_id']);
    await next.provider.close();
    const third = await world.start();
    const last = new Core(third.provider);
    await last.import(RULE, id);
    await last.apply(RULE, null, rule);
    expect(rulesOf(world)).toBe(2);
  });

  /** Creates of one run that got no answer, while somebody made as many; `reads` counts from then on. */
  async function doubtful(
    count: number,
  ): Promise<{ readonly world: ProviderRig; reads: () => number }> {
    let [left, reads] = [0, 0];
    const world: ProviderRig = providerRig({
      estate: theirs,
      async intercept({ method }, proceed) {
        if (method === 'GET') reads += 1;
        if (method !== 'POST' || left === 0) return proceed();
        left = 0;
        await byAnotherHand(world);
        return { status: 503, headers: {}, body: '' };
      },
    });
    const { provider, kill } = await world.start();
    for (let index = 0; index < count; index += 1) {
      left = 1;
      expect((await new Core(provider).tryApply(RULE, null, rule)).errors[0]?.summary).toContain(
        'is not clear',
      );
    }
    kill();
    reads = 0;
    return { world, reads: () => reads };
  }

  it('is asked about once a process, of the service and of the person', async () => {
    const { world, reads } = await doubtful(3);
    const core = new Core((await world.start()).provider);
    const first = (await core.tryApply(RULE, null, rule)).errors;
    expect(first.map(({ summary }) => summary)).toEqual(
      Array.from({ length: 3 }, () =>
        expect.stringMatching(/It is not clear whether the alert rule was created/),
      ),
    );
    const asked = reads();
    for (let index = 0; index < 4; index += 1) {
      // The lock is let go in between.
      await world.clock.sleep(5_000);
      const { errors } = await core.tryApply(RULE, null, rule);
      expect(errors).toEqual([
        expect.objectContaining({
          summary: expect.stringMatching(
            /not created: what became of 3 earlier creates of alert_rules/,
          ),
        }),
      ]);
    }
    expect(reads()).toBe(asked);
    // Another kind has no part in it, and does not ask either.
    await core.apply(ACCOUNT, null, { name: 'Depot', account: '1' });
    expect(rulesOf(world)).toBe(3);
  });

  it('is looked at again once a candidate has an owner', async () => {
    const { world } = await doubtful(1);
    const core = new Core((await world.start()).provider);
    expect((await core.tryApply(RULE, null, rule)).errors).toHaveLength(1);
    await world.clock.sleep(5_000);
    await core.import(RULE, String(world.objects('alert_rules').at(-1)?.['alert_config_id']));
    await core.apply(RULE, null, rule);
    expect(rulesOf(world)).toBe(2);
  });

  it('is followed by no other while the objects keep changing that it is looked for among', async () => {
    let [restless, lost, reach] = [false, false, (): void => undefined];
    const reached = new Promise<void>((done) => (reach = done));
    const world: ProviderRig = providerRig({
      estate: theirs,
      async intercept({ method, path }, proceed) {
        if (method === 'POST' && !lost) {
          lost = true;
          await proceed();
          reach();
          return new Promise(() => undefined);
        }
        if (method === 'GET' && restless && path.includes('alert_rules'))
          await byAnotherHand(world);
        return proceed();
      },
    });
    const killed = await world.start();
    void new Core(killed.provider).apply(RULE, null, rule);
    await reached;
    killed.kill();
    restless = true;
    const next = new Core((await world.start()).provider);
    const { errors } = await next.tryApply(RULE, null, rule);
    expect(errors).toEqual([
      expect.objectContaining({ summary: expect.stringMatching(/kept changing/) }),
    ]);
    restless = false;
    const posts = (): number =>
      world
        .objects('alert_rules')
        .filter(
          ({ filter_criteria: by }) => JSON.stringify(by) === JSON.stringify(rule.filter_criteria),
        ).length;
    await next.apply(RULE, null, rule);
    expect(posts()).toBe(1);
  });
});

describe('the lock', () => {
  it('is let go when nothing is under way, and another process waits for it', async () => {
    const world = providerRig({ estate: theirs });
    const cores = await Promise.all([world.start(), world.start()]).then((all) =>
      all.map(({ provider }) => new Core(provider)),
    );
    const states = await Promise.all(
      cores.flatMap((core, side) =>
        Array.from({ length: 5 }, (_, index) =>
          core.apply(ACCOUNT, null, { name: `Depot ${side} ${index}`, account: '1' }),
        ),
      ),
    );
    expect(new Set(states.map((state) => state['id'])).size).toBe(10);
    expect(world.objects('accounts')).toHaveLength(12);
  });

  it('is waited for no longer than terraform wants', async () => {
    const world = providerRig({
      estate: theirs,
      intercept: ({ method }, proceed) =>
        method === 'POST' ? new Promise(() => undefined) : proceed(),
    });
    void new Core((await world.start()).provider).apply(ACCOUNT, null, { name: 'Depot' });
    const { provider } = await world.start();
    const waiting = new Core(provider).tryApply(ACCOUNT, null, { name: 'Yard' });
    await world.clock.sleep(2_000);
    await provider.stopProvider();
    expect((await waiting).errors).toEqual([
      expect.objectContaining({
        summary: 'Terraform was interrupted before anything of this was sent',
      }),
    ]);
  });

  it('is waited for in vain for ten minutes, then told with what to type and where', async () => {
    const world = providerRig({
      estate: theirs,
      intercept: ({ method }, proceed) =>
        method === 'POST' ? new Promise(() => undefined) : proceed(),
    });
    void new Core((await world.start()).provider).apply(ACCOUNT, null, { name: 'Depot' });
    const { errors } = await new Core((await world.start()).provider).tryApply(ACCOUNT, null, {
      name: 'Yard',
    });
    expect(errors).toEqual([
      expect.objectContaining({
        summary: expect.stringMatching(/is locked by "terraform"/),
        detail: expect.stringMatching(/trueup unlock \S+ \(in a folder.*loopback\.json/),
      }),
    ]);
    expect(world.clock.elapsed()).toBeGreaterThanOrEqual(600_000);
  });
});
