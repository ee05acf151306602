// What a state in a remote place costs a run, beside a state file: at the speed of a fast cloud, and at the rate limit
// that is the default. The servers are real ones on this machine.
import { startPostgres, startS3, type Server } from '../servers.js';
import { newObjects } from './estate.js';
import { fixed, median, quick, row, seconds, type Run } from './measuring.js';

const RATE = 450;

interface Work {
  readonly count: number;
  readonly faults: readonly string[];
  /** Members of the settings, in one line of YAML. */
  readonly more: string;
}

export async function sharedState(): Promise<void> {
  for (const [name, start, fast] of [
    ['PostgreSQL', startPostgres, 1.15],
    ['S3', startS3, undefined],
  ] as const) {
    const server = await start().catch(() => undefined);
    if (!server) {
      row(`a state in ${name}`, 'no server on this machine: NOT measured', 'not compared', true);
      continue;
    }
    try {
      const creates = { count: 1000, faults: ['latency=20'], more: '' };
      await compare(`1,000 creates, 20 ms server, state in ${name}`, server, creates, fast);
      const limited = { count: quick ? 75 : 225, faults: [], more: `requests_per_minute: ${RATE}` };
      const what = `${limited.count} creates at the default rate limit, state in ${name}`;
      await compare(what, server, limited, 1.05);
    } finally {
      await server.stop();
    }
  }
}

let places = 0;

/** Each beside its neighbour in time: other guests of a machine slow down both. @param reach undefined: only told */
async function compare(
  what: string,
  { url, environment }: Server,
  { count, faults, more }: Work,
  reach: number | undefined,
): Promise<void> {
  const [file, remote]: [Run[], Run[]] = [[], []];
  for (let turn = 0; turn < (quick ? 3 : 5); turn += 1) {
    const project = `turn-${(places += 1)}`;
    const settings = `{ state: { url: "${url}", project: ${project} }, ${more} }`;
    file.push(await newObjects('state-file', count, { faults, settings: `{ ${more} }` }));
    remote.push(await newObjects('state-remote', count, { faults, settings, environment }));
  }
  const ratio = median(remote.map((one, turn) => one.seconds / file[turn]!.seconds));
  row(
    what,
    `${fixed(seconds(remote))} s, ${fixed(ratio)} × the state file (${fixed(seconds(file))} s)`,
    reach === undefined ? 'told only' : `at most ${reach} ×`,
    reach === undefined || ratio <= reach,
  );
}
