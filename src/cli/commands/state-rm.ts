// `trueup state rm`: lets objects go. Where an attempt to make one has an outcome that nobody knows, it drops the attempt,
// and what the address held before stays bound. Nothing remote is touched.
import { canonicalAddress, exits, type Result } from '../../model/index.js';
import type { Command } from '../context.js';
import { entryOf, rewrite } from '../open-state.js';

export const run: Command = async (context, args) => {
  const addresses = args.map(canonicalAddress);
  await rewrite(context, 'state rm', ({ state, pending }) =>
    addresses.flatMap((address): readonly Result[] => {
      const attempts = pending.filter((intent) => intent.address === address);
      const dropped = attempts.map((intent): Result => ({
        type: 'result',
        op: intent.op,
        class: 'not_sent',
        address,
      }));
      if (
        attempts.length > 0 &&
        (!state.resources[address] || attempts.some(({ action }) => action === 'create'))
      )
        return dropped;
      entryOf(state, address);
      return [...dropped, { type: 'result', class: 'applied', address, entry: null }];
    }),
  );
  context.out.write(`${addresses.join(', ')}: forgotten. The live objects stay as they are.\n`);
  return exits.done;
};
