// Settings by flags and variables of the environment that no file holds: the name of the environment, and the settle time.
import { MOST_SETTLE, NAME, refuse } from '../model/index.js';
import type { Context } from './context.js';

/** The environment of `--env` or TRUEUP_ENV. @throws Refusal for an invalid name. */
export function environmentOf({
  flags,
  environment,
}: Pick<Context, 'flags' | 'environment'>): string | undefined {
  const name = flags.env ?? (environment['TRUEUP_ENV'] || undefined);
  if (name !== undefined && !NAME.test(name))
    refuse('usage', 'An environment is named by a letter, then letters, digits, - and _.', {
      detail: 'For example: --env prod',
    });
  return name;
}

/** The settle time: until it has passed, a create without a response may still take effect. @throws Refusal */
export function settleMilliseconds({ environment }: Context): number {
  const text = environment['TRUEUP_SETTLE_SECONDS'];
  if (text === undefined || text === '') return 60_000;
  const seconds = Number(text);
  const most = MOST_SETTLE / 1000;
  if (seconds >= 0 && seconds <= most) return seconds * 1000;
  return refuse('usage', `TRUEUP_SETTLE_SECONDS takes seconds, from 0 to ${most}.`);
}
