// `trueup sim flip`: changes the status of one SIM through the sample flow. It reads the SIM, shows the change, asks,
// and calls the flow once. If the response is lost, a person has to check the SIM.
import {
  exits,
  own,
  refuse,
  Refusal,
  type Exit,
  type Flipped,
  type Settings,
} from '../../model/index.js';
import type { Flip } from '../../client/index.js';
import { clip, inert, visible } from '../../report/index.js';
import { subscriptions } from '../../resources/subscriptions.js';
import { otherWords } from '../commands-to-type.js';
import { agrees, notApproved, type Command, type Context } from '../context.js';
import { settingsHere } from '../project.js';
import { reach, reachFlow } from '../cloud-connection.js';
import { watch } from '../watch-loop.js';

/** The new state for each state that the flow can change. */
const transitions: Readonly<Record<string, string>> = { ACTIVE: 'PAUSE', PAUSE: 'ACTIVE' };

export const run: Command = async (context) => {
  const { flags, err } = context;
  const flip = asked(context);
  const settings = await settingsHere(context);
  const flow = await reachFlow(context, settings);
  try {
    const before = await stateOf(context, settings, flip);
    const expected = own(transitions, before);
    if (expected === undefined)
      return refuse(
        'not-to-flip',
        `The SIM with the ${named(flip)} is ${shown(before)}: the flow changes ACTIVE to PAUSE and PAUSE to ACTIVE only.`,
      );
    err.write(
      `The SIM with the ${named(flip)} of customer ${shown(flip.customer)} is ${before}. The sample flow will change it to ${expected}.\n`,
    );
    if (!flags.autoApprove && !(await agrees(context, 'Change it?'))) {
      err.write('Nothing was changed.\n');
      return context.signal.aborted ? exits.interrupted : exits.error;
    }
    return ended(context, flip, { before, expected, flipped: await flow.flip(flip) });
  } finally {
    await flow.close();
  }
};

const LONGEST = 100;
/** Text of the service: data, shortened. */
const shown = (text: string): string => clip(visible(text.slice(0, LONGEST + 1)), LONGEST);
const named = ({ by, value }: Flip): string => `${by.toUpperCase()} ${value}`;

/** @throws Refusal, at once where nobody can be asked. */
function asked({ flags, interactive }: Context): Flip {
  const { imsi, msisdn, customer, autoApprove } = flags;
  const by = imsi === undefined ? 'msisdn' : 'imsi';
  const [value = '', ...others] = [imsi, msisdn].filter((one) => one !== undefined);
  const more = { detail: 'For example: trueup sim flip --imsi 240010000000001 --customer 1001' };
  if (others.length > 0 || (imsi ?? msisdn) === undefined)
    refuse('usage', 'One of --imsi and --msisdn names the SIM.', more);
  if (!/^\d{5,20}$/.test(value)) refuse('usage', `--${by} takes digits alone.`, more);
  if (!customer || /\p{Cc}/u.test(customer))
    return refuse('usage', '--customer takes the customer number the SIM belongs to.', more);
  const flip: Flip = { by, value, customer };
  if (!autoApprove && !interactive) {
    const act = ['trueup sim flip', ...otherWords('sim flip', { ...flags, autoApprove: true })];
    notApproved(`To do it without confirmation: ${act.join(' ')}\nTo look first: ${look(flip)}`);
  }
  return flip;
}

const look = ({ by, value }: Flip): string => `trueup get subscriptions --filter ${by}=${value}`;

/** @throws Refusal where the platform does not know exactly this SIM. */
async function stateOf(context: Context, settings: Settings, flip: Flip): Promise<string> {
  const watching = await watch(context);
  const { cloud, close } = await reach(context, settings, watching);
  try {
    for await (const some of cloud.records(subscriptions, { filters: { [flip.by]: flip.value } }))
      for (const { record } of some)
        if (record[flip.by] === flip.value)
          return typeof record['state'] === 'string' ? record['state'] : 'unknown';
    return refuse('no-subscription', `The IoT platform knows no SIM with the ${named(flip)}.`);
  } finally {
    watching.end();
    await close();
  }
}

interface Seen {
  readonly before: string;
  readonly expected: string;
  readonly flipped: Flipped;
}

/** Done is what the flow calls completed and what left the SIM as was announced: anything else that it says proves no more than its refusal. */
function ended(context: Context, flip: Flip, { before, expected, flipped }: Seen): Exit {
  const { class: said, status, request_id = null, request_status = null, diagnostic } = flipped;
  const after = status?.toUpperCase() ?? null;
  const outcome = said === 'applied' && after !== expected ? 'unknown' : said;
  const result = context.masking.value({
    [flip.by]: flip.value,
    customer: flip.customer,
    outcome,
    status_before: before,
    status_after: after,
    request_id,
    request_status,
  });
  if (context.flags.output === 'json')
    context.out.write(`${inert(JSON.stringify(result, null, 2))}\n`);
  else if (outcome === 'applied') context.out.write(lines(result));
  if (outcome === 'applied') return exits.done;
  const why =
    diagnostic?.summary ??
    `it says that its request is ${shown(String(request_status))}, and the SIM ${shown(String(status))}.`;
  const detail = `To look: ${look(flip)}`;
  if (outcome === 'unknown')
    return refuse(
      'outcome-unknown',
      `Whether the SIM with the ${named(flip)} was changed to ${expected} is unknown, and nothing is sent again: ${why}`,
      { detail },
      exits.undecided,
    );
  const summary = `${outcome === 'rejected' ? 'The flow turned it down' : 'Nothing was sent'}: ${why}`;
  throw new Refusal(
    [{ severity: 'error', code: outcome, detail, ...diagnostic, summary }],
    diagnostic?.code === 'interrupted' ? exits.interrupted : exits.error,
  );
}

/** A word and its value a line. */
function lines(result: Readonly<Record<string, string | null>>): string {
  const rows = Object.entries(result).filter(([name]) => name !== 'outcome');
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows
    .map(([name, value]) => `${name.replaceAll('_', ' ').padEnd(width)}${shown(value ?? '')}\n`)
    .join('');
}
