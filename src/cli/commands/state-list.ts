// `trueup state list`: what is managed, one line each.
import { compareText, exits } from '../../model/index.js';
import type { Command } from '../context.js';
import { readSnapshot } from '../open-state.js';
import { table } from '../tables.js';

export const run: Command = async (context) => {
  const { state } = await readSnapshot(context);
  const rows = Object.entries(state?.resources ?? {}).toSorted(([a], [b]) => compareText(a, b));
  if (rows.length === 0) context.err.write('Nothing is managed here.\n');
  else
    context.out.write(
      table(
        ['address', 'id', 'declared in'],
        rows.map(([address, { id, file }]) => [address, id, file]),
      ),
    );
  return exits.done;
};
