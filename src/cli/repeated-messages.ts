// For processes that run for weeks: each message is printed once, and the memory for messages is limited.
import { sha256, type Diagnostic } from '../model/index.js';
import { warningsBriefly, type Context } from './context.js';

/** The most printed messages that are kept; the least recently used is dropped first. */
const REMEMBERED = 1000;

/** A context that does not repeat what it said. */
export function sayingOnce(context: Context): Context {
  const said = new Set<string>();
  const isNew = ({ code, address, origin, summary }: Diagnostic): boolean => {
    // Times and numbers of requests, which a service may quote, make no other message.
    const key = sha256(
      [code, address, origin?.file, origin?.line, summary.replaceAll(/\S*\d\S*/g, '')].join(' '),
    );
    const known = said.delete(key);
    said.add(key);
    const [oldest = ''] = said;
    if (said.size > REMEMBERED) said.delete(oldest);
    return !known;
  };
  return {
    ...context,
    tell: (diagnostics) => context.tell(warningsBriefly(context, diagnostics.filter(isNew))),
  };
}
