// Masked values in a document or a list that a write would replace: such a write is blocked.
import type { Kind, Live, Write } from '../../model/index.js';
import { mergedNames } from './document-diff.js';
import { travellingMasks } from './document-merge.js';

/** Dotted paths of the masks that a write would send back or replace, in the document or a list that holds them. */
export function masksSent(
  kind: Kind,
  { fields, patch }: Write,
  live: Live | undefined,
): readonly string[] {
  if (!live) return [];
  return mergedNames(kind).flatMap((name) =>
    Object.hasOwn(fields, name)
      ? travellingMasks(fields[name]!, live.values[name], patch).map((path) => `${name}.${path}`)
      : [],
  );
}

/** Ends the name of a member that JSON text may hold and no object. */
const NOT_READ = ' (not read)';

/** The message for a blocked write, and the ways out. */
export function maskedWords(masks: readonly string[]): {
  readonly what: string;
  readonly out: string;
} {
  const unread = masks.find((path) => path.endsWith(NOT_READ));
  if (unread !== undefined)
    return {
      what: `${unread.slice(0, -NOT_READ.length)} cannot be read, and a PUT would lose it`,
      out: 'take this member out of the object by other means, or set settings.configuration_writes: patch, which sends only what is declared',
    };
  const [reads, they] = masks.length === 1 ? ['reads', 'it'] : ['read', 'them'];
  return {
    what: `${masks.join(', ')} ${reads} back masked, and the write would overwrite ${they}`,
    out: `declare ${they} as "\${secret.env.NAME}", or set settings.configuration_writes: patch, which sends only what is declared, and lists whole`,
  };
}
