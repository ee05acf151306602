// `trueup apply` as a process that dies: by SIGKILL, at the boundary of the disk whose number VICTIM_BOUNDARY holds.
// Everything but the wrapped Files port is what the real command wires. VICTIM_LOG names a file that is told each boundary.
import { randomUUID } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { run } from '../../src/cli/commands/apply.js';
import { contextOf } from '../../src/cli/context.js';
import { parse } from '../../src/cli/program.js';
import { Refusal } from '../../src/model/index.js';
import type { Appender, Files } from '../../src/platform/index.js';

const { VICTIM_BOUNDARY, VICTIM_LOG } = process.env;
let passed = 0;

/**
 * One boundary. What lies on the disk after one call is what lies there before the next, so each such moment is counted
 * once. `leave` makes what a process that dies in the middle of a call would leave.
 */
function boundary(name: string, path: string, leave: () => void = () => undefined): void {
  passed += 1;
  if (VICTIM_LOG !== undefined) appendFileSync(VICTIM_LOG, `${name} ${basename(path)}\n`);
  if (passed !== Number(VICTIM_BOUNDARY)) return;
  leave();
  process.kill(process.pid, 'SIGKILL');
}

const half = (text: string): string => text.slice(0, text.length / 2);

function mortal(files: Files): Files {
  const whole = (verb: 'replace' | 'create') => (path: string, text: string, mode: number) => {
    boundary(`before ${verb}`, path);
    boundary(`amid ${verb}`, path, () => writeFileSync(`${path}.${randomUUID()}.tmp`, half(text)));
    return files[verb](path, text, mode);
  };
  const appending = (path: string, appender: Appender): Appender => ({
    close: () => appender.close(),
    write(text) {
      boundary('before append', path);
      boundary('amid append', path, () => appendFileSync(path, half(text)));
      return appender.write(text);
    },
  });
  return {
    ...files,
    replace: whole('replace'),
    create: whole('create'),
    async append(path, mode) {
      boundary('before open', path);
      return appending(path, await files.append(path, mode));
    },
    rename(from, to) {
      boundary('before rename', from);
      return files.rename(from, to);
    },
    remove(path) {
      boundary('before remove', path);
      return files.remove(path);
    },
  };
}

const write = (text: string): boolean => process.stderr.write(text);
const parsed = parse(process.argv.slice(2), write, write);
if ('exit' in parsed) process.exit(parsed.exit);
const given = contextOf(process, parsed.flags, new AbortController().signal);
const context = { ...given, files: mortal(given.files) };
const code = await run(context, parsed.args).catch(async (error: unknown) => {
  if (!(error instanceof Refusal)) throw error;
  await context.tell(error.diagnostics);
  return error.exit;
});
boundary('after everything', '');
process.exit(code);
