// `trueup state show`: everything that is remembered of one address, as JSON.
import { canonicalAddress, exits, sorted } from '../../model/index.js';
import type { Command } from '../context.js';
import { entryOf, readSnapshot } from '../open-state.js';

export const run: Command = async (context, [given = '']) => {
  const address = canonicalAddress(given);
  const { state } = await readSnapshot(context);
  context.out.write(
    `${JSON.stringify(sorted(context.masking.said({ address, ...entryOf(state, address) })), null, 2)}\n`,
  );
  return exits.done;
};
