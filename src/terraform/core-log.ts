// The log of a provider in the form that Terraform reads: one JSON object per line, shown or dropped by TF_LOG. Values
// are never logged, so no secret can be.
import type { Clock } from '../platform/index.js';

const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
type Level = (typeof levels)[number];

export type Log = (
  level: Level,
  message: string,
  more?: Readonly<Record<string, string | number>>,
) => void;

/** Lines of at least the level that the environment names; core passes all of stderr on, so nothing is written that nobody asked for. */
export function jsonLog(
  clock: Clock,
  environment: Readonly<Record<string, string | undefined>>,
  write: (line: string) => void,
): Log {
  const least = levelOf(environment['TF_LOG_PROVIDER'] ?? environment['TF_LOG'] ?? '');
  return (level, message, more = {}) => {
    if (levels.indexOf(level) < least) return;
    const timestamp = new Date(clock.now()).toISOString().replace('Z', '000Z');
    write(
      `${JSON.stringify({ '@level': level, '@message': message, '@module': 'provider.devicecloud', '@timestamp': timestamp, ...more })}\n`,
    );
  };
}

/** By core's own rules: nothing said (or `off`) is errors alone, `json` and a word that is no level is everything. */
function levelOf(word: string): number {
  const name = word.toLowerCase();
  return name === '' || name === 'off'
    ? levels.indexOf('error')
    : Math.max(
        levels.findIndex((one) => one === name),
        0,
      );
}
