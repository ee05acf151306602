// A disk that can lose power. Every durable verb is a row of boundaries; `crashAt(n)` cuts the power at the n-th one,
// after which nothing answers until `reboot()`. What was not forced to the medium is lost, or torn at any byte.
import type { Appender, Files } from '../../src/platform/index.js';
import { seededRandom } from './simulated.js';

export class PowerCut extends Error {}

export interface SimulatedFiles extends Files {
  /** Boundaries passed so far. */
  readonly boundaries: number;
  /** Every file that is on the medium, by path. */
  readonly contents: ReadonlyMap<string, string>;
  /** Called at every boundary with what a power cut right here would leave. */
  onBoundary: ((contents: ReadonlyMap<string, string>) => void) | undefined;
  crashAt(boundary: number): void;
  /** A boundary beside the disk, such as a request: the power may go here as well. */
  pass(): void;
  /** @throws PowerCut after a crash */
  assertPower(): void;
  reboot(): void;
  /** The time that files get when they are written; never past where no clock is set. */
  now: () => number;
  /** Puts text on the medium, as another hand would. */
  put(path: string, text: string): void;
  /** How often `Appender.write` forced the journal to the medium. */
  readonly flushes: number;
}

const failure = (code: string, path: string): Error =>
  Object.assign(new Error(`${code}: ${path}`), { code, path });

export function simulatedFiles(seed = 1): SimulatedFiles {
  const random = seededRandom(seed);
  const medium = new Map<string, { text: string; version: number; at: number }>();
  let [versions, boundaries, flushes, crash, dead] = [0, 0, 0, Infinity, false];

  const set = (path: string, text: string): void =>
    void medium.set(path, { text, version: (versions += 1), at: files.now() });
  const contents = (): Map<string, string> =>
    new Map([...medium].map(([path, { text }]) => [path, text]));
  const alive = (): void => {
    if (dead) throw new PowerCut('the power is off');
  };
  const boundary = (): void => {
    alive();
    files.onBoundary?.(contents());
    boundaries += 1;
    if (boundaries < crash) return;
    dead = true;
    throw new PowerCut(`power cut at boundary ${boundaries}`);
  };
  const must = (path: string): string => {
    const file = medium.get(path);
    if (!file) throw failure('ENOENT', path);
    return file.text;
  };
  /** A file that is written under another name first: the name is taken over whole, or not at all. */
  const appear = async (path: string, text: string): Promise<void> => {
    await Promise.resolve();
    const temporary = `${path}.${random.uuid()}.tmp`;
    boundary();
    set(temporary, text.slice(0, Math.floor(random.fraction() * text.length)));
    boundary();
    medium.delete(temporary);
    set(path, text);
    boundary();
  };

  const files: SimulatedFiles = {
    onBoundary: undefined,
    get boundaries() {
      return boundaries;
    },
    get flushes() {
      return flushes;
    },
    get contents() {
      return contents();
    },
    crashAt(at) {
      crash = at;
    },
    pass: boundary,
    assertPower: alive,
    reboot() {
      [dead, crash, boundaries] = [false, Infinity, 0];
    },
    now: () => Infinity,
    put: set,
    async read(path) {
      await Promise.resolve();
      alive();
      return must(path);
    },
    replace: (path, text) => appear(path, text),
    async create(path, text) {
      alive();
      if (medium.has(path)) throw failure('EEXIST', path);
      await appear(path, text);
    },
    async append(path) {
      boundary();
      if (!medium.has(path)) set(path, '');
      boundary();
      return appender(path);
    },
    async rename(from, to) {
      boundary();
      set(to, must(from));
      medium.delete(from);
      boundary();
    },
    async remove(path) {
      boundary();
      must(path);
      medium.delete(path);
      boundary();
    },
    async makeFolder() {
      alive();
    },
    async list(folder) {
      alive();
      return [...medium.keys()]
        .filter((path) => path.startsWith(`${folder}/`))
        .map((path) => path.slice(folder.length + 1));
    },
    async realPath(path) {
      alive();
      if (
        medium.has(path) ||
        [...medium.keys()].some((one) => one.startsWith(`${path}/`)) ||
        path === '/sim'
      )
        return path;
      throw failure('ENOENT', path);
    },
    async stamp(path) {
      alive();
      return medium.get(path)?.version.toString();
    },
    async size(path) {
      alive();
      const file = medium.get(path);
      return file && Buffer.byteLength(file.text);
    },
    async modified(path) {
      alive();
      return medium.get(path)?.at;
    },
    async touch(path) {
      alive();
      set(path, must(path));
    },
  };

  const appender = (path: string): Appender => ({
    async write(text) {
      await Promise.resolve();
      boundary();
      const before = must(path);
      set(path, before + text.slice(0, Math.floor(random.fraction() * (text.length + 1))));
      boundary();
      set(path, before + text);
      flushes += 1;
      boundary();
    },
    close: () => Promise.resolve(),
  });
  return files;
}
