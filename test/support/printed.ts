// What a page prints is what the command says: blocks of Markdown, the commands typed in them, and the answers printed
// below, where a line of `…` stands for any number of lines.
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { folder, type Folder } from './cli.js';
import { TRUEUP } from './command.js';

interface Block {
  readonly language: string;
  readonly text: string;
}

interface Step {
  readonly command: string;
  readonly printed: string;
}

export const blocksOf = (markdown: string): readonly Block[] =>
  [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language as string,
    text: text as string,
  }));

/** The files that a page shows: blocks that begin with a comment that is a name. */
export const filesOf = (markdown: string): Readonly<Record<string, string>> =>
  Object.fromEntries(blocksOf(markdown).flatMap(fileIn));

/** The name and the content of the file that a block shows, or nothing. */
function fileIn({ text }: Block): readonly (readonly [string, string])[] {
  const [heading = '', name] = /^(?:\/\/|#) ([\w./-]+)\n/.exec(text) ?? [];
  if (name === undefined) return [];
  // JSON has no comments.
  return [[name, name.endsWith('.json') ? text.slice(heading.length) : text]];
}

/** The commands of all `console` blocks, in order. */
export const stepsOf = (markdown: string): readonly Step[] => blocksOf(markdown).flatMap(stepsIn);

const stepsIn = ({ language, text }: Block): readonly Step[] =>
  (language === 'console' ? text.split(/^\$ /m) : []).flatMap((part) => {
    const [command = '', ...lines] = part.trimEnd().split('\n');
    return command === '' ? [] : [{ command, printed: lines.join('\n').trimEnd() }];
  });

/** The printed lines, where identifiers and times may be others. */
export function pattern(printed: string): RegExp {
  const lines = printed
    .split('\n')
    .map((line) => (line === '…' ? '[^]*' : line.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${lines.join('\n')}$`);
}

/** Identifiers and times by what they are, wherever and whenever it runs. */
export const anywhere = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
    .trimEnd();

/** A PATH on which `trueup` is the built command. */
export function pathWithCommand(): string {
  const bin = folder().path;
  writeFileSync(join(bin, 'trueup'), `#!/bin/sh\nexec '${process.execPath}' '${TRUEUP}' "$@"\n`);
  chmodSync(join(bin, 'trueup'), 0o755);
  return `${bin}:${process.env['PATH']}`;
}

/** Types the steps in a folder, one after another, and expects of each what is printed below it. */
export function replay(steps: readonly Step[], cwd: string): void {
  const env = { PATH: pathWithCommand() };
  for (const { command, printed } of steps) {
    const { stdout } = spawnSync('bash', ['-c', `{ ${command}; } 2>&1`], {
      cwd,
      env,
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(anywhere(`$ ${command}\n${stdout}`)).toMatch(
      pattern(anywhere(`$ ${command}\n${printed}`)),
    );
  }
}

/** Follows a page from top to bottom: writes each file that it shows, and types each command. */
export function follow(markdown: string, { path, write }: Pick<Folder, 'path' | 'write'>): void {
  for (const block of blocksOf(markdown)) {
    for (const [name, text] of fileIn(block)) write(name, text);
    replay(stepsIn(block), path);
  }
}
