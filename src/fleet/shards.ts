// Splits a fleet among processes that do not communicate: rendezvous hashing gives each tenant to one shard, and
// another number of shards moves as few tenants as possible.
import type { Environment } from '../declarations/environment.js';
import { refuse, sha256 } from '../model/index.js';

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

/** Variables that CI systems give to parallel jobs: the index, the number of jobs, the first index, and what the number is. */
const SYSTEMS = [
  ['JOB_COMPLETION_INDEX', 'JOB_COMPLETIONS', 0, 'the `completions` of the Job'],
  ['CI_NODE_INDEX', 'CI_NODE_TOTAL', 1, 'the number of jobs'],
  ['CIRCLE_NODE_INDEX', 'CIRCLE_NODE_TOTAL', 0, 'the number of jobs'],
  ['BUILDKITE_PARALLEL_JOB', 'BUILDKITE_PARALLEL_JOB_COUNT', 0, 'the `parallelism` of the step'],
  ['SYSTEM_JOBPOSITIONINPHASE', 'SYSTEM_TOTALJOBSINPHASE', 1, 'the number of jobs'],
] as const;

/** As `--shard` says, or the system that runs the jobs; undefined where there is one process. The first is 1. @throws Refusal */
export function shardIn(flag: string | undefined, environment: Environment) {
  if (flag !== undefined) {
    const [, index = '', total = ''] = /^(\d{1,5})\/(\d{1,5})$/.exec(flag) ?? [];
    return checked('--shard', Number(index), Number(total));
  }
  for (const [index, total, first, remedy] of SYSTEMS) {
    if (!environment[index]) continue;
    if (!environment[total])
      refuse('usage', `${index} is set, but the number of jobs is not.`, {
        detail: `Set ${total} to ${remedy}, or type --shard 1/1.`,
      });
    return checked(index, Number(environment[index]) + 1 - first, Number(environment[total]));
  }
  return undefined;
}

function checked(what: string, index: number, total: number) {
  const isWhole = Number.isInteger(index) && Number.isInteger(total);
  if (isWhole && index >= 1 && index <= total && total <= MOST) return { index, total };
  return refuse('usage', `${what} names no shard.`, {
    detail: `For example: --shard 1/8, where 1 is the first and 8 the number of shards, at most ${MOST}.`,
  });
}
