// Finds the line of a program that made an object, from the stack trace taken at that time.
import { isAbsolute, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isProgramFile, type Origin } from '../model/index.js';

const FRAME = /(?:^|\(|\s)((?:file:\/\/)?[^()]+):(\d+):(\d+)\)?$/;

/** The first line of a trace that is the program's own: source below the folder, no package. */
export function lineOf(trace: readonly string[], folder: string): Omit<Origin, 'path'> | undefined {
  for (const line of trace) {
    const [, place = '', row, column] = FRAME.exec(line.trim()) ?? [];
    const path = place.startsWith('file://') ? tryPath(place) : place;
    const file =
      path !== undefined && isAbsolute(path) ? relative(folder, path).split(sep).join('/') : '';
    if (isProgramFile(file)) return { file, line: Number(row), column: Number(column) };
  }
  return undefined;
}

function tryPath(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}
