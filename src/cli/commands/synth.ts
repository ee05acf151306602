// `trueup synth`: runs the CDK program of the current folder, and lists the stacks that it wrote.
import { join, relative, resolve } from 'node:path';
import { exits } from '../../model/index.js';
import type { Command } from '../context.js';
import { programIn, synthesise } from '../cdk-program.js';

export const run: Command = async (context) => {
  const { cwd, flags, files, out } = context;
  const program = await programIn(context, cwd);
  const output = resolve(cwd, flags.output ?? program.output);
  await files.makeFolder(output);
  const written = await synthesise(context, program, output);
  for (const path of written) out.write(`wrote ${relative(cwd, join(output, path))}\n`);
  return exits.done;
};
