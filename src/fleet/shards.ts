// Splits a fleet among processes that do not speak to each other: rendezvous hashing gives each tenant to one shard, and
// another number of shards moves as few tenants as possible.
import { refuse, sha256 } from '../model/index.js';

/** The first is 1. */
export interface Shard {
  readonly index: number;
  readonly total: number;
}

const MOST = 10_000;

/** The shard, from 1, that a tenant belongs to. */
export function shardOf(tenant: string, total: number): number {
  let best = { index: 1, weight: '' };
  for (let index = 1; index <= total; index += 1) {
    const weight = sha256(`${index}/${tenant}`);
    if (weight > best.weight) best = { index, weight };
  }
  return best.index;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** As `--shard` says, or the system that runs the jobs; undefined where there is one process. @throws Refusal */
export function shardIn(flag: string | undefined, environment: Environment): Shard | undefined {
  if (flag !== undefined) {
    const [, index = '', total = ''] = /^(\d{1,5})\/(\d{1,5})$/.exec(flag) ?? [];
    return checked('--shard', Number(index), Number(total));
  }
  const job = environment['JOB_COMPLETION_INDEX'];
  const completions = environment['JOB_COMPLETIONS'];
  const [node, nodes] = [environment['CI_NODE_INDEX'], environment['CI_NODE_TOTAL']];
  const circle = [environment['CIRCLE_NODE_INDEX'], environment['CIRCLE_NODE_TOTAL']];
  if (job) {
    if (!completions)
      refuse('usage', 'JOB_COMPLETION_INDEX is set, and nothing says how many jobs there are.', {
        detail: 'Set JOB_COMPLETIONS to the `completions` of the Job, or type --shard 1/1.',
      });
    return checked('JOB_COMPLETION_INDEX', Number(job) + 1, Number(completions));
  }
  if (node && nodes) return checked('CI_NODE_INDEX', Number(node), Number(nodes));
  return circle[0] && circle[1]
    ? checked('CIRCLE_NODE_INDEX', Number(circle[0]) + 1, Number(circle[1]))
    : undefined;
}

function checked(what: string, index: number, total: number): Shard {
  const isWhole = Number.isInteger(index) && Number.isInteger(total);
  if (isWhole && index >= 1 && index <= total && total <= MOST) return { index, total };
  return refuse('usage', `${what} names no shard.`, {
    detail: `Type it as in: --shard 1/8, where 1 is the first and 8 the number of shards, at most ${MOST}.`,
  });
}
