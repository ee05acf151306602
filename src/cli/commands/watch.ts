// `trueup watch`: repeats the audit of a project, or of a fleet, prints one line per cycle and exports Prometheus metrics. A cycle that fails is
// reported and counted, and the next one starts at its usual time; cycles never overlap. Reads only.
import { resolve } from 'node:path';
import {
  defined,
  exits,
  isGood,
  refuse,
  totals,
  warning,
  type DriftDocument,
  type Exit,
  errorCode,
} from '../../model/index.js';
import { FLEET_FILE } from '../../fleet/tenant.js';
import { declarationFiles } from '../../platform/declaration-files.js';
import { metricsText, watchSentence, type WatchRecord } from '../../report/metrics.js';
import { AS_DECLARED, failedCycle, type AuditCycle, type RepeatedAudit } from '../audit-cycle.js';
import { audit } from '../run-audit.js';
import { wholeNumber, type Command, type Context } from '../context.js';
import { auditEnd, notifierOf } from '../notify.js';
import { serveMetrics } from '../metrics-server.js';
import { checkFleetOutputs, checkOutputs } from '../output-files.js';
import { withOwnSignal } from '../derived-abort-signal.js';
import { sayingOnce } from '../repeated-messages.js';
import { spanOf } from '../time-arguments.js';
import { version } from '../version.js';
import { withProject } from '../working-context.js';

const SHORTEST = 1000;
/** Share of the period by which a cycle may come later, so that many watchers do not come at once. */
const JITTER = 0.1;

export const run: Command = async (context, paths) => {
  const { flags, clock, out, err, signal, cwd, random } = context;
  const every = spanOf('--every', flags.every ?? '5m');
  if (every < SHORTEST) refuse('usage', '--every takes at least 1s.');
  if (flags.metricsHost !== undefined && flags.metricsPort === undefined)
    refuse('usage', '--metrics-host can be used only with --metrics-port.', {
      detail: 'For example: trueup watch --metrics-port 9464 --metrics-host 0.0.0.0',
    });
  const isFleet =
    paths.length === 0 && declarationFiles.stat(resolve(cwd, FLEET_FILE)) !== undefined;
  if (!isFleet && flags.metricsTenants !== undefined)
    refuse('usage', '--metrics-tenants can be used only in the folder of a fleet.', {
      detail: 'It limits the tenants that have metrics of their own. Leave it out.',
    });
  const file = flags.metricsFile === undefined ? undefined : resolve(cwd, flags.metricsFile);
  if (file !== undefined)
    await (isFleet ? checkFleetOutputs : checkOutputs)(
      context,
      [{ flag: '--metrics-file', path: file }],
      paths,
    );
  const quiet = sayingOnce(context);
  const watched = isFleet
    ? await (await import('./watch-fleet.js')).watchedFleet(context, every)
    : watchedProject(quiet, paths);
  const notify = await notifierOf(quiet, 'watch');
  // A watch begins as if all had been as declared: only what is not is told.
  let result = AS_DECLARED;
  const { metricsPort = '0', metricsHost: host = '127.0.0.1' } = flags;
  const port = wholeNumber('--metrics-port', metricsPort, 0, 65_535);
  const served =
    flags.metricsPort === undefined
      ? undefined
      : await serveMetrics({ host, port }, watched.metrics);
  if (served) err.write(`Metrics at ${served.url}\n`);
  try {
    for (let next = clock.monotonic(); !signal.aborted;) {
      const cycle = await watched.cycle();
      if (signal.aborted) break;
      out.write(`${new Date(clock.now()).toISOString()} ${cycle.words}\n`);
      if (file !== undefined) await writeMetrics(quiet, file, watched.metrics());
      if (cycle.result !== result) await notify(cycle.exit, cycle.ended);
      ({ result } = cycle);
      // A cycle that took longer than its period is not made up for.
      next = Math.max(next + every, clock.monotonic());
      await clock
        .sleep(next - clock.monotonic() + every * JITTER * random.fraction(), signal)
        .catch(() => undefined);
    }
  } finally {
    await watched.close();
    await served?.close();
  }
  return exits.done;
};

function watchedProject(context: Context, paths: readonly string[]): RepeatedAudit {
  let record: WatchRecord = { audits: { success: 0, failure: 0 }, requests: {} };
  return {
    async cycle() {
      const cycle = await withOwnSignal(context.signal, (signal) =>
        once({ ...context, signal }, paths),
      );
      record = grown(record, cycle, context.clock.now() / 1000);
      return cycle;
    },
    metrics: () => metricsText(record, [...context.kinds.keys()], version),
    close: () => Promise.resolve(),
  };
}

interface Cycle extends AuditCycle {
  readonly seconds: number;
  readonly requests: Readonly<Record<string, number>>;
  /** Absent where the audit failed as a whole. */
  readonly document?: DriftDocument;
}

async function once(context: Context, paths: readonly string[]): Promise<Cycle> {
  const { clock } = context;
  const begun = clock.monotonic();
  const seconds = (): number => (clock.monotonic() - begun) / 1000;
  let requests: () => Readonly<Record<string, number>> = () => ({});
  const work = withProject(context, paths, async (site) => {
    requests = () => site.reached.cloud.cost();
    const { document, exit } = await audit(context, site);
    await context.tell(document.diagnostics);
    return {
      words: watchSentence(document, seconds()),
      exit,
      ended: auditEnd(document),
      result: resultOf(document, exit),
      document,
    };
  });
  const cycle = await work.catch((error: unknown) => failedCycle(context, error));
  return { ...cycle, seconds: seconds(), requests: requests() };
}

/** The findings of an audit as text, without times and numbers of requests, which differ between equal audits. */
function resultOf({ drift, expectations, diagnostics }: DriftDocument, exit: Exit): string {
  if (exit === exits.done) return AS_DECLARED;
  return JSON.stringify([
    drift.map(({ address, status, changes }) => [address, status, changes.map(({ path }) => path)]),
    expectations
      .filter(({ verdict }) => verdict !== 'met')
      .map(({ name, verdict }) => [name, verdict]),
    diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ code, address }) => [code, address]),
  ]);
}

function grown(
  before: WatchRecord,
  { seconds, requests, document, exit }: Cycle,
  now: number,
): WatchRecord {
  // True if the audit checked everything.
  const whole = document !== undefined && isGood(exit);
  const { success, failure } = before.audits;
  return {
    ...before,
    audits: whole ? { success: success + 1, failure } : { success, failure: failure + 1 },
    lastAt: now,
    ...(whole && { lastSuccessAt: now }),
    ...defined({ document }),
    seconds,
    requests: Object.fromEntries(totals([before.requests, requests].flatMap(Object.entries))),
  };
}

/** A disk that is full for a while does not end the watch. */
async function writeMetrics({ files, tell }: Context, file: string, text: string): Promise<void> {
  try {
    await files.replace(file, text, 0o644);
  } catch (error) {
    const code = errorCode(error) ?? 'unknown';
    await tell([warning('metrics-unwritten', `${file} could not be written (${code}).`)]);
  }
}
