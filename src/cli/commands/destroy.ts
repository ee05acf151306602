// `trueup destroy`: plans and applies the deletion of everything.
import type { Command } from '../context.js';
import { requestOf } from '../working-context.js';
import { change } from './apply.js';

export const run: Command = (context, paths) =>
  change(context, paths, { ...requestOf(context), destroy: true });
