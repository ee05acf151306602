// Times on the command line: ISO 8601, or an age such as 24h.
import { refuse } from '../model/index.js';

const MILLISECONDS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds of a span such as `30s`, `5m`, `1h`. @throws Refusal */
export function spanOf(flag: string, text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  return count === undefined
    ? refuse('usage', `${flag} takes a span such as 30s, 5m or 1h.`)
    : Number(count) * MILLISECONDS[unit]!;
}

/** ISO 8601 in UTC of `2026-03-01`, `2026-03-01T12:00:00Z` (UTC where no offset stands) or `7d`. @throws Refusal */
export function timeFrom(flag: string, text: string, now: number): string {
  const [, count, unit = ''] = /^(\d{1,9})([mhdw])$/.exec(text) ?? [];
  const at = count === undefined ? isoTime(text) : now - Number(count) * MILLISECONDS[unit]!;
  const usage = `${flag} takes a time such as 2026-03-01T12:00:00Z, or a span before now such as 30m, 24h, 7d or 2w.`;
  return at >= 0 ? new Date(at).toISOString() : refuse('usage', usage);
}

function isoTime(text: string): number {
  const [, date = '', time = '', offset = ''] =
    /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/i.exec(text) ??
    [];
  const day = Date.parse(date);
  // A day that a month does not have would count into the next one.
  if (Number.isNaN(day) || !new Date(day).toISOString().startsWith(date)) return Number.NaN;
  return time === '' ? day : Date.parse(`${date}T${time}${offset || 'Z'}`);
}
