// A machine on which processes live and die as a test says: what locks are judged by.
import type { LockPort } from '../../src/platform/index.js';

export interface SimulatedMachine {
  /** A new process, as it sees the machine, in a container of its own where one is named. */
  start(container?: { readonly pidNamespace?: string; readonly host?: string }): LockPort;
  /** The heartbeats of all that runs. */
  beat(): void;
  /** Ends a process, as SIGKILL does: the kernel lets go of what it held. */
  kill(pid: number): void;
  /** Everything ends, and the boot id is another. */
  restart(): void;
}

export function simulatedMachine(host = 'box', kernel = true): SimulatedMachine {
  let [boot, pids] = [1, 100];
  const running = new Map<number, string>();
  const held = new Map<string, number>();
  const beating = new Map<number, Set<() => void>>();
  const kill = (pid: number): void => {
    running.delete(pid);
    beating.delete(pid);
    for (const [name, holder] of held) if (holder === pid) held.delete(name);
  };
  return {
    kill,
    restart() {
      boot += 1;
      for (const pid of running.keys()) kill(pid);
    },
    beat: () => [...beating.values()].forEach((works) => works.forEach((work) => work())),
    start({ pidNamespace = 'pid:[1]', host: name = host } = {}) {
      const pid = (pids += 1);
      running.set(pid, `start-${pid}`);
      return {
        host: name,
        bootId: `boot-${boot}`,
        pid,
        pidNamespace,
        every(_, work) {
          const works = beating.get(pid) ?? new Set();
          beating.set(pid, works.add(work));
          return () => void works.delete(work);
        },
        async find(other) {
          const startTime = running.get(other);
          return startTime === undefined ? undefined : { startTime };
        },
        async hold(name) {
          if (!kernel) return 'absent';
          if (held.has(name)) return 'taken';
          held.set(name, pid);
          return { release: async () => void held.delete(name) };
        },
      };
    },
  };
}
