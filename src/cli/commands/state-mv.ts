// `trueup state mv`: gives a managed object another address, and everything that depended on it with it.
import {
  canonicalAddress,
  exits,
  refuse,
  shellWord,
  tryAddress,
  type Entry,
  type Result,
} from '../../model/index.js';
import type { Command } from '../context.js';
import { entryOf, rewrite } from '../open-state.js';

export const run: Command = async (context, args) => {
  const [from = '', to = ''] = args.map(canonicalAddress);
  await rewrite(context, 'state mv', ({ state }) => {
    const entry = entryOf(state, from);
    if (tryAddress(to)?.kind !== entry.kind)
      refuse('usage', `${to} is no address of ${entry.kind}.`, {
        detail: `Type it as in: trueup state mv ${shellWord(from)} ${entry.kind}.another-name`,
      });
    if (state.resources[to])
      refuse('bound', `${to} is bound to ${state.resources[to].id} already.`, {
        detail: `Forget it first: trueup state rm ${shellWord(to)}`,
      });
    const result = (address: string, held: Entry | null): Result => ({
      type: 'result',
      class: 'applied',
      address,
      entry: held,
    });
    const dependents = Object.entries(state.resources).filter(
      ([address, one]) => address !== from && one.depends_on.includes(from),
    );
    const moved = dependents.map(([address, one]) => {
      const depends_on = one.depends_on.map((name) => (name === from ? to : name));
      return result(address, { ...one, depends_on });
    });
    return [result(to, entry), result(from, null), ...moved];
  });
  context.out.write(`${from} is ${to} now.\n`);
  return exits.done;
};
