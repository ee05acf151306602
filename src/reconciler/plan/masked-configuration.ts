// Values that read back masked in a document that a write would have to send whole: such a write is blocked.
import type { Kind, Live, Value, Write } from '../../model/index.js';
import { mergedNames, travellingMasks } from './document-diff.js';

/** Dotted paths of the masks that a write would have to send back, because it replaces the document that holds them. */
export function masksSent(
  kind: Kind,
  { fields, patch }: Write,
  live: Live | undefined,
): readonly string[] {
  if (patch || !live) return [];
  return mergedNames(kind).flatMap((name) =>
    Object.hasOwn(fields, name)
      ? travellingMasks(fields[name] as Value, live.values[name]).map((path) => `${name}.${path}`)
      : [],
  );
}

/** Ends the name of a member that JSON text may hold and no object. */
const NOT_READ = ' (not read)';

/** What blocks such a write, and the ways out. */
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
    what: `${masks.join(', ')} ${reads} back masked, and a PUT would write the mask over ${they}`,
    out: `declare ${they} as "\${secret.env.NAME}", or set settings.configuration_writes: patch, which sends no masks`,
  };
}
