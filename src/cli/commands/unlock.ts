// `trueup unlock`: removes a lock whose holder cannot be proven gone, on a person's word.
import { exits } from '../../model/index.js';
import type { Command } from '../context.js';
import { storeHere } from '../open-state.js';

export const run: Command = async (context, [id = '']) => {
  await (await storeHere(context)).unlock(id);
  context.out.write('Unlocked.\n');
  return exits.done;
};
