// Results that a backend did not take, kept on the disk of this machine until the next run here records them.
import { dirname, join } from 'node:path';
import { isObject, MOST_SETTLE, type Result } from '../../../model/index.js';
import type { Clock, Files, Random } from '../../../platform/index.js';
import { ifThere, withDisk } from '../../disk-errors.js';
import { checkedLine, decodeWave, parseCheckedLine } from '../../journal-text.js';
import type { Session } from '../../store-port.js';

const MODE = 0o600;
/** Milliseconds for which results are kept that settle no open intent, longer than any settle time. Their intents may be in a state that has the same location on another server. */
const KEPT = 2 * MOST_SETTLE;

interface RescueFile {
  readonly path: string;
  readonly results: readonly Result[];
  readonly isOver: boolean;
}

interface RescueTools {
  readonly files: Files;
  readonly random: Random;
  readonly clock: Pick<Clock, 'now'>;
  /** How earlier builds told the project in its place. */
  readonly before?: string;
}

export type RescueFolder = ReturnType<typeof rescueIn>;

/** @param folder absolute @param of what tells one project in one place from another */
export function rescueIn(folder: string, of: string, tools: RescueTools) {
  const { files, random } = tools;
  const path = join(folder, `${random.uuid()}.jsonl`);
  let begun = false;
  return {
    /** The file that holds them, for people. */
    path,
    /** Durable when resolved. */
    keep: (lines: string) =>
      withDisk(path, async () => {
        await files.makeFolder(dirname(path));
        const { write, close } = await files.append(path, MODE);
        try {
          await write(`${begun ? '' : checkedLine({ of })}${lines}`);
          begun = true;
        } finally {
          await close();
        }
      }),

    find: (): Promise<readonly RescueFile[]> =>
      withDisk(folder, async () => {
        const names = (await ifThere(files.list(folder))) ?? [];
        const found = await Promise.all(
          names
            .filter((name) => name.endsWith('.jsonl'))
            .map((name) => readRescue(tools, join(folder, name), of)),
        );
        return found.flat();
      }),

    forget: (one: string) => withDisk(one, async () => void (await ifThere(files.remove(one)))),
  };
}

async function readRescue(
  { files, clock, before }: RescueTools,
  path: string,
  of: string,
): Promise<readonly RescueFile[]> {
  const [first = '', ...lines] = ((await ifThere(files.read(path))) ?? '').split('\n');
  const header = parseCheckedLine(first);
  const found = isObject(header) ? header['of'] : undefined;
  if (found === undefined || (found !== of && found !== before)) return [];
  // The last line is empty, or was cut.
  const results = decodeWave(lines.slice(0, -1), path, 2);
  const isOver = clock.now() - ((await files.modified(path)) ?? Infinity) > KEPT;
  return [{ path, results: results.filter((record) => record.type === 'result'), isOver }];
}

/** Records results that an earlier run of this machine could not record, as far as they are still unknown. */
export async function recordRescued(rescue: RescueFolder, session: Session): Promise<void> {
  const open = new Set(session.snapshot.pending.map(({ op }) => op));
  for (const { path, results, isOver } of await rescue.find()) {
    const missing = results.filter(({ op }) => op !== undefined && open.has(op));
    if (missing.length > 0) await session.record(...missing);
    if (missing.length > 0 || isOver) await rescue.forget(path);
  }
}
