// What stands in a queue: the jobs of a run, which hold no secret, when they begin, and when they count as lost.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  cronOf,
  delayOf,
  expiryOf,
  jobData,
  priorityOf,
  queueNameOf,
  refuseSecretJobs,
  scheduleData,
  scheduledJobsIn,
  spreadOf,
  tenantJobIn,
  timeFault,
  type TenantJob,
} from '../../../src/fleet/tenant-job.js';

const job: TenantJob = {
  command: 'apply',
  env: 'prod',
  flags: { var: ['x=y'], lockWait: '5m' },
  bundle: 'b',
  expiry: 900,
  run: 'r',
  tenant: 'acme',
  round: 1,
  tries: 0,
};

describe('a job', () => {
  test('is read as it was written', () => {
    const written: unknown = JSON.parse(JSON.stringify(jobData(job)));
    expect(tenantJobIn(written)).toEqual(job);
    expect(tenantJobIn({ ...job, command: 'drift', bundle: null, env: null })).toBeDefined();
  });
  test.each([
    ['no object', null],
    ['a plan, which nobody queues', { ...job, command: 'plan' }],
    ['an apply without its bundle', { ...job, bundle: null }],
    ['no tenant', { ...job, tenant: undefined }],
    ['a number as environment', { ...job, env: 1 }],
    ['no flags', { ...job, flags: undefined }],
    ['a text as variables', { ...job, flags: { var: 'x=y' } }],
    ['a switch as time', { ...job, flags: { lockWait: true } }],
    ['a negative round', { ...job, round: -1 }],
    ['half a try', { ...job, tries: 0.5 }],
    ['no expiry', { ...job, expiry: undefined }],
  ])('is not %s', (_, data) => {
    expect(tenantJobIn(data)).toBeUndefined();
  });
  test('of an apply goes before one of an audit', () => {
    expect(priorityOf({ command: 'apply' })).toBeGreaterThan(priorityOf({ command: 'drift' }));
  });
  test('holds variables', () => {
    refuseSecretJobs({});
    expect(refuseSecretJobs({ var: ['site=Paris', 'hook=https://x/?token=1'] })).toBeUndefined();
  });
  test.each([
    [['site=Paris', 'api_token=1'], 'api_token'],
    [['Password=a=b'], 'Password'],
  ])('holds no variable that is named like a secret: %j', (named, secret) => {
    expect(() => refuseSecretJobs({ var: named })).toThrow(
      `The variable ${secret} is named like a secret`,
    );
  });
});

describe('times', () => {
  test.each([
    ['15m', 900],
    ['2h', 7200],
    ['23h59m59s', 86_399],
  ])('a job counts as lost after %s', (text, seconds) => {
    expect(expiryOf(text)).toBe(seconds);
  });
  test.each(['14m59s', '0', '24h', 'soon', ''])('but not after %j', (text) => {
    expect(() => expiryOf(text)).toThrow('from 15m to less than 24h');
  });
  test.each(['24h', '0s', 'wide'])('tenants are not spread over %j', (text) => {
    expect(() => spreadOf(text)).toThrow('--spread has to be');
  });
  test('a tenant begins within the spread, and always at the same moment of it', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 86_400_000 }), (tenant, spread) => {
        const delay = delayOf(tenant, spread);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThan(spread);
        expect(delayOf(tenant, spread)).toBe(delay);
      }),
    );
  });
  test('tenants are spread evenly', () => {
    const parts = Array.from({ length: 4 }, () => 0);
    for (let at = 0; at < 2000; at += 1) parts[delayOf(`tenant-${at}`, 4)]! += 1;
    for (const count of parts) expect(Math.abs(count - 500)).toBeLessThan(100);
  });
});

test('a fleet has one queue, however its states are written, and shares it with no other', () => {
  const name = queueNameOf('postgres://host/db?schema=${tenant}');
  expect(name).toMatch(/^trueup-[0-9a-f]{16}$/);
  expect(queueNameOf('postgresql://HOST:5432/db/?schema=${tenant}')).toBe(name);
  expect(queueNameOf('postgres://host/other?schema=${tenant}')).not.toBe(name);
  // Their results are at one place.
  const others = ['s3://b/red-${tenant}', 's3://b/blue-${tenant}', 's3://b/${tenant}'];
  const schemas = ['red_${tenant}', 'blue_${tenant}'].map(
    (schema) => `postgres://host/db?schema=${schema}`,
  );
  expect(new Set([name, ...[...others, ...schemas].map(queueNameOf)]).size).toBe(6);
});

test('a schedule is read as it was written', () => {
  const { run: _, tenant: __, round: ___, tries: ____, ...jobs } = job;
  const scheduled = { jobs: { ...jobs, command: 'drift' as const }, spread: 5, select: null };
  const written: unknown = JSON.parse(JSON.stringify(scheduleData(scheduled)));
  expect(scheduledJobsIn(written)).toEqual(scheduled);
  expect(scheduledJobsIn({ ...scheduled, spread: 'wide' })).toBeUndefined();
  expect(scheduledJobsIn({ ...scheduled, jobs: {} })).toBeUndefined();
  expect(scheduledJobsIn(undefined)).toBeUndefined();
});

test.each([
  ['0 0 31 2 *', true],
  ['0 0 30,31 feb ?', true],
  ['0 0 31 4-6/2 *', true],
  ['0 0 29 2 *', false],
  ['0 0 31 2 mon', false],
  ['0 0 1,31 2 *', false],
  ['0 0 20/5 2 *', false],
  ['0 0 31 2-3 *', false],
  ['0 0 31 4/3 *', false],
  ['0 0 31 * *', false],
])('the time %s never comes: %s', (text, never) => {
  expect(timeFault(text)?.includes('never comes') ?? false).toBe(never);
  const taken = () => {
    try {
      return cronOf(text);
    } catch (error) {
      return String(error);
    }
  };
  expect(taken().includes('never comes')).toBe(never);
});

test('a time of the queue has one space between its fields', () => {
  expect(cronOf('  0 3  * *\t* ')).toBe('0 3 * * *');
  expect(cronOf('@daily')).toBe('@daily');
});

describe('a time of Kubernetes', () => {
  test.each([
    '17 2 * * *',
    '*/15 0-6,22,23 1-31/2 * ?',
    '0 0 * JAN-mar,12 *',
    '5/15 00 1 1 mon-Fri,0',
    '59 23 31 12 6',
  ])('%s is taken', (text) => expect(timeFault(text)).toBeUndefined());

  test.each([
    ['99 99 99 99 99', '"99" is not a valid minute'],
    ['a b c d e', '"a" is not a valid minute'],
    ['*/0 * * * *', '"*/0" is not a valid minute'],
    ['5-1 * * * *', '"5-1" is not a valid minute'],
    [', * * * *', '"," is not a valid minute'],
    ['1, * * * *', '"1," is not a valid minute'],
    ['-5 * * * *', '"-5" is not a valid minute'],
    ['1-2-3 * * * *', '"1-2-3" is not a valid minute'],
    ['*-5 * * * *', '"*-5" is not a valid minute'],
    ['*/5/2 * * * *', '"*/5/2" is not a valid minute'],
    ['jan * * * *', '"jan" is not a valid minute'],
    ['0 24 * * *', '"24" is not a valid hour'],
    ['0 0 0 * *', '"0" is not a valid day:'],
    ['0 0 L * *', '"L" is not a valid day:'],
    ['0 0 1W * *', '"1W" is not a valid day:'],
    ['0 0 * 0 *', '"0" is not a valid month'],
    ['0 0 * FOO *', '"FOO" is not a valid month: use 1 to 12 or jan to dec, `*`'],
    ['0 0 * mon *', '"mon" is not a valid month'],
    ['0 0 * * 7', '"7" is not a valid day of the week: use 0 to 6 or sun to sat'],
    ['0 0 * * fri-mon', '"fri-mon" is not a valid day of the week'],
    ['0 0 * * 5#2', '"5#2" is not a valid day of the week'],
  ])('%s is refused', (text, why) => expect(timeFault(text)).toContain(why));
});
