// What apply believes only after it looked, and what it keeps to itself meanwhile.
import { expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/index.js';
import { Secret, type Declaration } from '../../src/model/index.js';
import { declare } from '../support/planning.js';
import { desire, rig } from '../support/rig.js';

const pager = (values: object = {}): Declaration =>
  declare('alert_push_destinations.pager', { name: 'Pager', enabled: true, endpoint: { url: 'https://hooks.example.com/a' }, ...values });

it('does not send a change again over what another hand changed meanwhile', async () => {
  const cloud = rig();
  await cloud.apply(desire(pager()));
  const { fetch } = cloud.emulator;
  const theirs = JSON.stringify({ name: 'Theirs' });
  Object.assign(cloud.emulator, {
    async fetch(request: Request) {
      if (request.method !== 'PATCH') return fetch(request);
      await fetch(new Request(request.url, { method: 'PATCH', headers: request.headers, body: theirs }));
      return new Response(null, { status: 503 });
    },
  });
  const { exit, outcomes } = await cloud.apply(desire(pager({ enabled: false })));
  expect({ exit, outcomes }).toMatchObject({ exit: 1, outcomes: [{ outcome: 'failed', diagnostic: { code: 'moved' } }] });
  expect(cloud.objects('alert_push_destinations')).toMatchObject([{ name: 'Theirs', enabled: true }]);
  expect(cloud.mutations()).toHaveLength(2);
});

it('does not believe a success that changed nothing', async () => {
  const cloud = rig();
  await cloud.apply(desire(pager()));
  cloud.emulator.setFaults([parseFault('status=200,method=PATCH,times=1')]);
  const changed = desire(pager({ enabled: false }));
  expect(await cloud.apply(changed)).toMatchObject({ exit: 1, outcomes: [{ outcome: 'failed', diagnostic: { code: 'not-taken' } }] });
  expect((await cloud.plan(changed)).exit).toBe(2);
  expect(await cloud.apply(changed)).toMatchObject({ exit: 0, outcomes: [{ outcome: 'done' }] });
});

it('counts deletes over runs', async () => {
  const cloud = rig();
  const from = (first: number): ReturnType<typeof desire> =>
    desire(...Array.from({ length: 8 - first }, (_, at) => declare(`accounts.a${first + at}`, { name: `A${first + at}` })));
  await cloud.apply(from(0));
  expect(await cloud.apply(from(3))).toMatchObject({ exit: 0 });
  expect(await cloud.apply(from(6))).toMatchObject({ exit: 3, outcomes: [] });
  expect(cloud.objects('accounts')).toHaveLength(6);
});

it.each([
  ['is put right after a success that changed nothing', 'status=200,method=PATCH,times=1', 'canary-2'],
  ['is taken back after an answer that was lost', 'reset-after,method=PATCH', 'canary-1'],
])('sends a secret again that %s: nobody knows which one is live', async (_, fault, value) => {
  const sent: string[] = [];
  const cloud = rig({ intercept: ({ body = '' }, proceed) => (sent.push(body), proceed()) });
  const signing = (secret: string, enabled: boolean): ReturnType<typeof desire> => desire(pager({ enabled, authentication: { secret: new Secret('env.S', () => secret) } }));
  await cloud.apply(signing('canary-1', true));
  cloud.emulator.setFaults([parseFault(fault)]);
  expect((await cloud.apply(signing('canary-2', false))).exit).not.toBe(0);
  cloud.emulator.setFaults([]);
  expect((await cloud.apply(signing(value, false))).exit).toBe(0);
  expect(sent.filter((body) => body !== '').at(-1)).toContain(value);
  const before = cloud.mutations().length;
  expect((await cloud.apply(signing(value, false))).exit).toBe(0);
  expect(cloud.mutations()).toHaveLength(before);
});

it('has no secret on the disk at any moment', async () => {
  const cloud = rig();
  const seen = new Set<string>();
  cloud.files.onBoundary = (contents) => [...contents].forEach(([path, text]) => text.includes('canary') && seen.add(path));
  for (const value of ['canary-1', 'canary-2']) await cloud.apply(desire(pager({ authentication: { secret: new Secret('env.S', () => value) } })));
  expect(cloud.mutations()).toHaveLength(2);
  expect([...seen]).toEqual([]);
});
