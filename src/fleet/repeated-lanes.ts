// Does work in a limited number of lanes, in one pass or in several. What is not over when the next pass begins goes on,
// keeps its lane, and is not begun a second time; everything else is begun again at its time.

export interface RepeatedLanes<T> {
  /** How many may run now; asked before each begins. */
  readonly lanes: () => number;
  readonly mayStart: () => boolean;
  readonly work: (one: T) => Promise<void>;
}

export function repeatedLanes<T>({ lanes, mayStart, work }: RepeatedLanes<T>) {
  let queue: (readonly [name: string, one: T])[] = [];
  const running = new Map<string, Promise<void>>();
  let idle = (): void => undefined;
  /** What a work threw: nothing is begun before the next pass, and the pass that waits for it, or the next one, throws it. */
  let failure: { readonly error: unknown } | undefined;
  let unsaid: typeof failure;
  const fail = (error: unknown): void => {
    failure ??= { error };
    unsaid ??= failure;
  };
  const start = (): void => {
    while (queue.length > 0 && running.size < lanes() && !failure && mayStart()) {
      const [name, one] = queue.shift()!;
      const job = work(one)
        .catch(fail)
        .finally(() => {
          running.delete(name);
          start();
          if (running.size === 0) idle();
        });
      running.set(name, job);
    }
  };
  return {
    /**
     * Begins all that is not running. Those that waited for a lane come first; what is no more there is not begun.
     * @param until when the pass ends, whatever is open
     * @returns the names of what is open
     * @throws what a work threw; nothing is begun after that, until the next pass
     */
    async pass(all: ReadonlyMap<string, T>, until?: Promise<unknown>): Promise<readonly string[]> {
      const waited = queue.flatMap(([name]) => (all.has(name) ? [name] : []));
      const names = new Set([...waited, ...all.keys()].filter((name) => !running.has(name)));
      queue = [...names].map((name) => [name, all.get(name)!]);
      failure = undefined;
      const over = new Promise<void>((resolve) => (idle = resolve));
      start();
      if (running.size > 0) await Promise.race([over, until ?? over]);
      const thrown = unsaid;
      unsaid = undefined;
      if (thrown) throw thrown.error;
      return [...running.keys(), ...queue.map(([name]) => name)];
    },
    /** Resolves once nothing runs. */
    async settled(): Promise<void> {
      await Promise.allSettled(running.values());
    },
  };
}
