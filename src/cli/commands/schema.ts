// `trueup schema`: what a declaration file may hold, as JSON Schema.
import { didYouMean, exits, refuse } from '../../model/index.js';
import type { Command } from '../context.js';

export const run: Command = async ({ kinds, collections, out }, [name]) => {
  const { declarationsSchema, kindSchema } = await import('../../declarations/index.js');
  const kind = name === undefined ? undefined : kinds.get(name);
  if (name !== undefined && !kind)
    refuse(
      'unknown-kind',
      `There is no kind named ${JSON.stringify(name)}.${didYouMean(name, kinds.keys())}`,
      { detail: `Kinds: ${[...kinds.keys()].join(', ')}.` },
    );
  out.write(
    `${JSON.stringify(kind ? kindSchema(kind) : declarationsSchema(kinds, collections), null, 2)}\n`,
  );
  return exits.done;
};
