// One job of a queue: one tenant of a run. A job names what is to be done and holds no secret: the worker has its own.
import {
  defined,
  durationWords,
  isObject,
  isSecretName,
  refuse,
  sha256,
  tryDuration,
  type JsonObject,
  type QueuedJobs,
} from '../model/index.js';
import { fleetDigest } from './tenant.js';

export interface TenantJob extends QueuedJobs {
  readonly run: string;
  readonly tenant: string;
  /** How often the run was cancelled before: the next time ends this job, too. */
  readonly round: number;
  /** How often it was put back because a server was not reachable. */
  readonly tries: number;
}

/** An audit yields to an apply. */
export const priorityOf = ({ command }: Pick<QueuedJobs, 'command'>): number =>
  command === 'apply' ? 10 : 0;

const isTextList = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.every((one) => typeof one === 'string'));
const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
const orNull = (value: unknown): boolean => value === null || typeof value === 'string';

const fitsFlags = (flags: unknown): boolean =>
  isObject(flags) &&
  isTextList(flags['var']) &&
  isTextList(flags['allow']) &&
  [flags['parallelism'], flags['lockWait'], flags['unmanaged']].every(isText);

/** What a job of the queue holds; undefined for what no version of trueup with this format has written. */
export function tenantJobIn(data: unknown): TenantJob | undefined {
  if (!isObject(data)) return undefined;
  const { run, tenant, command, env, flags, bundle, expiry, round, tries } = data;
  const fits =
    typeof run === 'string' &&
    typeof tenant === 'string' &&
    (command === 'drift' || (command === 'apply' && typeof bundle === 'string')) &&
    orNull(env) &&
    orNull(bundle) &&
    fitsFlags(flags) &&
    [expiry, round, tries].every(isCount);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its members were checked
  return fits ? (data as unknown as TenantJob) : undefined;
}

/** Whether a value is what the jobs of a run have in common. */
export const areQueuedJobs = (value: unknown): boolean =>
  isObject(value) &&
  tenantJobIn({ ...value, run: '', tenant: '', round: 0, tries: 0 }) !== undefined;

/** The queue of a fleet: of those that name their states like this. */
export const queueNameOf = (states: string): string => `trueup-${fleetDigest(states)}`;

/** When the tenant begins, in milliseconds after the others may: always the same for a tenant. */
export function delayOf(tenant: string, spread: number): number {
  const part = Number.parseInt(sha256(`spread/${tenant}`).slice(0, 12), 16) / 16 ** 12;
  return Math.floor(part * spread);
}

const LEAST_EXPIRY = 15 * 60;
/** What pg-boss takes. */
const MOST_EXPIRY = 24 * 60 * 60 - 1;

/** Seconds. @throws Refusal */
export function expiryOf(text: string): number {
  const seconds = Math.ceil((tryDuration(text) ?? 0) / 1000);
  if (seconds >= LEAST_EXPIRY && seconds <= MOST_EXPIRY) return seconds;
  return refuse('usage', `--job-expiry has to be ${durationWords}, from 15m to less than 24h.`, {
    detail: 'Choose at least four times the time that 99 of 100 tenants need.',
  });
}

/** Milliseconds. @throws Refusal */
export function spreadOf(text: string): number {
  const spread = tryDuration(text);
  if (spread !== undefined && spread <= MOST_EXPIRY * 1000) return spread;
  return refuse('usage', `--spread has to be ${durationWords}, less than 24h.`);
}

/** A time with one space between its fields. */
export const spacedOnce = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');

/** What is taken as a time. @param flag of the example */
export const timeForms = (flag: string): string =>
  `Type minute, hour, day, month and day of the week, or one of @hourly, @daily, @weekly, @monthly and @yearly.\nFor example, every six hours: ${flag} "0 */6 * * *"`;

/** With a field left out, pg-boss takes the others for fields that they are not: `0 4 * *` is every minute of an hour. @throws Refusal */
export function cronOf(text: string): string {
  const cron = spacedOnce(text);
  const isFormed = /^(?:@[a-z]+|\S+(?: \S+){4})$/.test(cron);
  if (isFormed && timeFault(cron) !== NEVER) return cron;
  return refuse(
    'usage',
    `--cron ${JSON.stringify(text.slice(0, 80))}: ${isFormed ? NEVER : 'it does not have five fields.'}`,
    {
      detail: timeForms('--cron'),
    },
  );
}

/** The fields of a time as Kubernetes reads them, with the names of their values from the least on. */
const TIME_FIELDS: readonly (readonly [string, number, number, ...(readonly string[])])[] = [
  ['minute', 0, 59],
  ['hour', 0, 23],
  ['day', 1, 31],
  ['month', 1, 12, ...'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')],
  ['day of the week', 0, 6, ...'sun mon tue wed thu fri sat'.split(' ')],
];

/** What is wrong with a time of Kubernetes, if anything is. pg-boss takes more: `L`, `5#2`, and 7 for Sunday. @param text with one space between the fields */
export function timeFault(text: string): string | undefined {
  const fields = text.split(' ');
  if (fields.length !== TIME_FIELDS.length) return 'it does not have five fields.';
  const wrong = TIME_FIELDS.findIndex((one, at) => !fitsField(fields[at] ?? '', one));
  if (wrong < 0) return neverComes(fields) ? NEVER : undefined;
  const [field, least, most, ...names] = TIME_FIELDS[wrong]!;
  const words = names.length === 0 ? '' : ` or ${names[0]} to ${names.at(-1)}`;
  return `${JSON.stringify(fields[wrong]?.slice(0, 80))} is not a valid ${field}: use ${least} to ${most}${words}, \`*\`, lists, ascending ranges, and steps of 1 or more.`;
}

const NEVER = 'no month of it has such a day, so this time never comes.';
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether no month has a day like that. With a day of the week, either is enough. @param fields that fit */
function neverComes([, , day = '', month = '', weekday = '']: readonly string[]): boolean {
  const longest = Math.max(...valuesOf(month, TIME_FIELDS[3]!).map((one) => DAYS[one - 1] ?? 0));
  return /^[*?]$/.test(weekday) && Math.min(...valuesOf(day, TIME_FIELDS[2]!)) > longest;
}

function valuesOf(text: string, field: (typeof TIME_FIELDS)[number]): readonly number[] {
  const [, least, most] = field;
  return text.split(',').flatMap((part) => {
    const [range = '', step] = part.split('/');
    const isAll = /^[*?]$/.test(range);
    const [first = least, last = isAll || step !== undefined ? most : first] = isAll
      ? []
      : range.split('-').map((word) => valueIn(word, field));
    const by = Number(step ?? 1);
    return Array.from({ length: Math.floor((last - first) / by) + 1 }, (_, at) => first + at * by);
  });
}

function valueIn(word: string, [, least, , ...names]: (typeof TIME_FIELDS)[number]): number {
  const named = names.indexOf(word.toLowerCase());
  return named < 0 ? Number(/^\d+$/.exec(word)?.[0]) : least + named;
}

function fitsField(text: string, field: (typeof TIME_FIELDS)[number]): boolean {
  const [, least, most] = field;
  return text.split(',').every((part) => {
    const [, range = ''] = /^([^/]+)(?:\/0*[1-9]\d*)?$/.exec(part) ?? [];
    const [from = '', to = from, ...more] = range.split('-');
    const [first, last] = [valueIn(from, field), valueIn(to, field)];
    const isInside = least <= first && first <= last && last <= most;
    return /^[*?]$/.test(range) || (more.length === 0 && isInside);
  });
}

/** The first of the variables that is named like a secret. @param variables as `name=value` */
export const secretVariable = (variables: readonly string[]): string | undefined =>
  variables
    .map((one) => one.slice(0, Math.max(0, one.indexOf('='))))
    .find((one) => isSecretName(one));

/** What a queue would keep for all who may read it. @throws Refusal */
export function refuseSecretJobs({ var: variables = [] }: QueuedJobs['flags']): void {
  const name = secretVariable(variables);
  if (name !== undefined)
    refuse(
      'secret-in-job',
      `The variable ${name} is named like a secret, and a queue keeps no secrets.`,
      {
        detail: `Set TRUEUP_VAR_${name} in the environment of the workers.`,
      },
    );
}

/** As it is added to a queue. @param startAt when it may begin, in milliseconds since 1970 */
export const queuedJob = (job: TenantJob, startAt?: number) => ({
  data: jobData(job),
  priority: priorityOf(job),
  expiry: job.expiry,
  ...defined({ startAt }),
});

/** As the queue keeps it. */
export const jobData = (job: TenantJob): JsonObject => ({ ...job, flags: { ...job.flags } });

/** What a schedule queues when its time comes. */
export interface ScheduledJobs {
  readonly jobs: QueuedJobs;
  /** Milliseconds within which the tenants begin. */
  readonly spread: number;
  /** As `--select`. */
  readonly select: string | null;
}

/** As the schedule keeps it. */
export const scheduleData = ({ jobs, ...more }: ScheduledJobs): JsonObject => ({
  ...more,
  jobs: { ...jobs, flags: { ...jobs.flags } },
});

/** What a schedule holds; undefined for what no version of trueup with this format has written. */
export function scheduledJobsIn(data: unknown): ScheduledJobs | undefined {
  if (!isObject(data)) return undefined;
  const { jobs, spread, select } = data;
  const fits = areQueuedJobs(jobs) && isCount(spread) && orNull(select);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its members were checked
  return fits ? (data as unknown as ScheduledJobs) : undefined;
}
