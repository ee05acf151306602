// Durations in the notation of Go and Terraform: `90s`, `1h30m`, `1.5m`.

const MILLISECONDS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const UNITS = Object.keys(MILLISECONDS).join('|');
const NUMBER = String.raw`(?:\d+(?:\.\d*)?|\.\d+)`;
const WHOLE = new RegExp(`^\\+?(?:${NUMBER}(?:${UNITS}))+$`);
const PART = new RegExp(`(${NUMBER})(${UNITS})`, 'g');

/** Milliseconds above zero; undefined if the text is not a duration. */
export function tryDuration(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  const sum = [...text.matchAll(PART)].reduce(
    (total, [, count, unit = '']) => total + Number(count) * MILLISECONDS[unit]!,
    0,
  );
  return sum > 0 && Number.isFinite(sum) ? sum : undefined;
}

/** Continues "it has to be …". */
export const durationWords = 'a length of time above zero, as in "90s", "10m" or "1h30m"';
