// Absence needs proof: a listing that changes while it is read can miss an object, so what it lacks is looked for again.
// What both readings lack counts as deleted, unless it was created recently (recent-writes.ts).
import type { CloudReader, Kind, Live } from '../model/index.js';

/** More ids than this are looked for by a second listing instead of one by one. */
const LOOKS = 20;

/** The second look: a few ids one by one, more by another listing. */
export const lookAgain = async (
  cloud: Pick<CloudReader, 'find' | 'list'>,
  kind: Kind,
  ids: readonly string[],
): Promise<readonly Live[]> =>
  ids.length <= LOOKS || kind.operations.by_ids
    ? cloud.find(kind, ids)
    : (await cloud.list(kind)).objects;
