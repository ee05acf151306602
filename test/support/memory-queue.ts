// A queue of jobs in memory, which gives each one out again if a test says that it is lost.
import type { FetchedJob, JobQueue, NewJob, UnfinishedJob } from '../../src/state/pg-boss-queue.js';

interface Kept extends NewJob {
  readonly id: string;
  state: UnfinishedJob['state'] | 'completed' | 'cancelled';
  startedOn: Date | null;
  retryCount: number;
}

export interface MemoryQueue extends JobQueue {
  readonly jobs: readonly Kept[];
  /** The process that had it is gone. */
  lose(id: string): void;
  /** So many milliseconds pass. */
  pass(time: number): void;
}

export function memoryQueue(): MemoryQueue {
  const jobs: Kept[] = [];
  let now = 0;
  const waits = ({ state }: Kept): boolean => state === 'created' || state === 'retry';
  const fits = ({ data }: Kept, members: object): boolean =>
    Object.entries(members).every(([name, value]) => data[name] === value);
  const change = (ids: readonly string[], state: Kept['state']): void => {
    for (const job of jobs) if (ids.includes(job.id)) job.state = state;
  };
  return {
    jobs,
    lose: (id) => change([id], 'retry'),
    pass: (time) => void (now += time),
    async add(more) {
      for (const one of more)
        jobs.push({
          ...one,
          id: `j${jobs.length}`,
          state: 'created',
          startedOn: null,
          retryCount: 0,
        });
    },
    async fetch(most) {
      const given = jobs
        .filter(waits)
        .toSorted((one, other) => other.priority - one.priority)
        .slice(0, most);
      return given.map((job): FetchedJob => {
        if (job.startedOn) job.retryCount += 1;
        now += 1;
        const startedOn = new Date(now);
        Object.assign(job, { state: 'active', startedOn });
        const { id, data, retryCount } = job;
        return { id, data, retryCount, createdOn: new Date(0), startedOn };
      });
    },
    complete: async (id) => change([id], 'completed'),
    cancel: async (ids) => change(ids, 'cancelled'),
    beat: async () => undefined,
    isHeld: async ({ id, retryCount }) =>
      jobs.some((job) => job.id === id && job.state === 'active' && job.retryCount === retryCount),
    unfinished: async (members) =>
      jobs.flatMap(({ id, data, state, startedOn }, at) =>
        (waits(jobs[at]!) || state === 'active') && fits(jobs[at]!, members)
          ? [{ id, data, state: state as UnfinishedJob['state'], startedOn }]
          : [],
      ),
    givenUp: async () => 0,
  };
}
