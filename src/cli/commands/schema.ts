// `trueup schema`: the JSON Schema of a declaration file.
import { exits } from '../../model/index.js';
import { noSuchKind, type Command } from '../context.js';

export const run: Command = async ({ kinds, collections, out }, [name]) => {
  const { declarationsSchema, kindSchema } = await import('../../declarations/index.js');
  const kind =
    name === undefined ? undefined : (kinds.get(name) ?? noSuchKind(name, [...kinds.keys()]));
  out.write(
    `${JSON.stringify(kind ? kindSchema(kind) : declarationsSchema(kinds, collections), null, 2)}\n`,
  );
  return exits.done;
};
