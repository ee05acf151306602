// For what goes on for weeks: a message is news once, however often its cause returns, and memory does not grow.
import { sha256, type Diagnostic } from '../model/index.js';
import type { Context } from './context.js';

/** Messages that are remembered as said; the one that was needed least lately is forgotten first. */
const REMEMBERED = 1000;

/** A context that does not repeat what it said. */
export function sayingOnce(context: Context): Context {
  const said = new Set<string>();
  const isNew = ({ code, address, summary }: Diagnostic): boolean => {
    const key = sha256(`${code} ${address ?? ''} ${summary}`);
    const known = said.delete(key);
    said.add(key);
    const [oldest = ''] = said;
    if (said.size > REMEMBERED) said.delete(oldest);
    return !known;
  };
  return { ...context, tell: (diagnostics) => context.tell(diagnostics.filter(isNew)) };
}
