// Chooses the forge that a flag names. Loaded by the commands that were asked for one, and by no other.
import type { Context } from '../context.js';
import type { Forge } from './forge.js';
import { github } from './github.js';
import { gitlab } from './gitlab.js';

/** @param name one of the choices of the flag @throws Refusal for what the environment lacks */
export const connectForge = (context: Context, name: string): Forge =>
  name === 'github' ? github(context) : gitlab(context);
