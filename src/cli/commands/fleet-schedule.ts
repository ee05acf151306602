// `trueup fleet schedule`: audits at times, begun by whichever worker is there. An apply is never scheduled: nobody has
// seen what it would change.
import { readFleet } from '../../fleet/fleet-file.js';
import { cronOf, scheduleData, scheduledJobsIn, spreadOf } from '../../fleet/tenant-job.js';
import { exits, refuse, type Exit, type JsonObject } from '../../model/index.js';
import { declarationFiles } from '../../platform/declaration-files.js';
import type { JobQueues } from '../../state/pg-boss-queue.js';
import { visible } from '../../report/escaping.js';
import { timeWords } from '../../report/words.js';
import type { Command, Context } from '../context.js';
import { fleetHere } from '../fleet-context.js';
import { jobsOf, queueWords, withQueue } from '../fleet-queue.js';
import { environmentOf } from '../environment-settings.js';
import { sharedPlaces } from '../fleet-command.js';

const EXAMPLE = 'For example: trueup fleet schedule drift --cron "0 3 * * *"';

/** @throws Refusal for words that say nothing, or not enough */
function checkWords({ cron, remove, spread }: Context['flags'], command: string | undefined): void {
  if (command !== undefined && command !== 'drift')
    refuse('usage', `${command} cannot be scheduled, because nobody would review its changes.`, {
      detail: EXAMPLE,
    });
  if (command === undefined && (cron !== undefined || spread !== undefined || remove))
    refuse(
      'usage',
      `Name the command ${remove ? 'whose schedule is to end' : 'to be scheduled'}.`,
      {
        detail: remove ? 'For example: trueup fleet schedule drift --remove' : EXAMPLE,
      },
    );
  if (cron !== undefined && remove) refuse('usage', '--cron and --remove cannot be used together.');
  if (command !== undefined && cron === undefined && !remove)
    refuse('usage', '--cron is missing: nothing says when.', {
      detail: `${EXAMPLE}\nTo see what is scheduled: trueup fleet schedule`,
    });
  if (cron !== undefined) cronOf(cron);
}

export const run: Command = async (context, [command]) => {
  const { flags, cwd } = context;
  checkWords(flags, command);
  const { states } = await readFleet({ files: declarationFiles, cwd });
  return withQueue(context, states, async (_, queues, queue): Promise<Exit> => {
    const prefix = `${queue}.`;
    const own = `${prefix}${['drift', environmentOf(context) ?? []].flat().join('.')}`;
    if (flags.remove) {
      await endSchedule(context, queues, own);
      return exits.done;
    }
    if (flags.cron !== undefined) {
      const cron = cronOf(flags.cron);
      await queues.schedule({ name: own, cron, data: await scheduledData(context) });
    }
    return list(context, queues, prefix);
  });
};

/** @throws Refusal where there is no such schedule */
export async function endSchedule(
  context: Context,
  queues: Pick<JobQueues, 'schedules' | 'unschedule'>,
  name: string,
): Promise<void> {
  const env = environmentOf(context);
  const of = env === undefined ? 'without --env' : `with --env ${env}`;
  if (!(await queues.schedules()).some((one) => one.name === name))
    refuse('nothing-scheduled', `no audit ${of} is scheduled`, {
      detail: `To see what is: trueup fleet schedule${queueWords(context)}`,
    });
  await queues.unschedule(name);
  context.out.write('The schedule is removed. Queued tenants stay queued.\n');
}

async function scheduledData(context: Context): Promise<JsonObject> {
  const { flags } = context;
  const jobs = jobsOf(context, 'drift');
  const spread = flags.spread === undefined ? 0 : spreadOf(flags.spread);
  const { fleet } = await fleetHere({ ...context, flags: { ...flags, shard: '1/1' } });
  await sharedPlaces(context, fleet.results);
  return scheduleData({ jobs, spread, select: flags.select ?? null });
}

async function list(context: Context, queues: JobQueues, prefix: string): Promise<Exit> {
  const { out } = context;
  const all = (await queues.schedules()).filter(({ name }) => name.startsWith(prefix));
  for (const { cron, data } of all) {
    const { jobs, spread = 0, select = null } = scheduledJobsIn(data) ?? {};
    const env = jobs?.env ? ` --env ${jobs.env}` : '';
    const part = select === null ? '' : ` --select ${select}`;
    const within = spread > 0 ? `, spread over ${timeWords(spread)}` : '';
    out.write(`${visible(`drift${env}${part}: ${cron} UTC${within}`)}\n`);
  }
  if (all.length === 0)
    out.write(
      `Nothing is scheduled. To schedule an audit: trueup fleet schedule drift --cron "0 3 * * *"${queueWords(context)}\n`,
    );
  return exits.done;
}
