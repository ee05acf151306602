// Lines that a process without the lock leaves beside a store for the next holder. Each note is a file of its own, so
// that no process waits; an incomplete line is ignored.
import { basename, dirname, join } from 'node:path';
import type { Files, Random } from '../../../platform/index.js';
import { MODE } from './session.js';
import type { Notes } from '../../store-port.js';
import { ifThere, withDisk } from '../../disk-errors.js';

/** @param path of the state, absolute */
export function notesBeside(
  path: string,
  { files, random }: { readonly files: Files; readonly random: Random },
): Notes {
  const [folder, prefix] = [dirname(path), `${basename(path)}.note.`];
  return {
    leave: (lines) =>
      withDisk(path, () =>
        files.create(
          join(folder, `${prefix}${random.uuid()}`),
          lines.map((line) => `${line}\n`).join(''),
          MODE,
        ),
      ),
    read: () =>
      withDisk(path, async () => {
        const found = ((await ifThere(files.list(folder))) ?? [])
          .filter((name) => name.startsWith(prefix))
          .map((name) => join(folder, name));
        const texts = await Promise.all(found.map((one) => ifThere(files.read(one))));
        return {
          lines: texts.flatMap((text = '') => text.split('\n').slice(0, -1)),
          forget: () =>
            withDisk(
              path,
              async () => void (await Promise.all(found.map((one) => ifThere(files.remove(one))))),
            ),
        };
      }),
  };
}
