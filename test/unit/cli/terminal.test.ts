// The status of a terminal: what replaces it clears exactly what it drew.
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { isOneStream, outlet, silentOutlet } from '../../../src/cli/terminal.js';
import { freshFolder } from '../../support/in-process.js';

function terminal(more: object = { isTTY: true, columns: 80, rows: 30 }) {
  const stream = Object.assign(new PassThrough(), more);
  return {
    out: outlet(stream as unknown as NodeJS.WriteStream, {}),
    sent: () => String((stream.read() as Buffer | null) ?? ''),
  };
}

test('one line is drawn over in place', () => {
  const { out, sent } = terminal();
  out.status('one');
  out.status('two');
  out.status(undefined);
  out.status(undefined);
  out.write('text\n');
  expect(sent()).toBe('\r\u001b[2Kone\r\u001b[2Ktwo\r\u001b[2Ktext\n');
});

test('of several lines, all are cleared', () => {
  const { out, sent } = terminal();
  out.status('a\nb\nc');
  out.status('d\ne');
  out.write('text\n');
  out.status('f');
  expect(sent()).toBe(
    '\r\u001b[2Ka\nb\nc\r\u001b[2A\u001b[Jd\ne\r\u001b[1A\u001b[Jtext\n\r\u001b[2Kf',
  );
});

test('what is no terminal shows none', () => {
  const { out, sent } = terminal({});
  out.status('a\nb');
  out.status(undefined);
  expect(sent()).toBe('');
  expect(out.rows).toBe(24);
  expect(terminal().out.rows).toBe(30);
});

test('a run that is not printed gives its status to another', () => {
  const seen: (string | undefined)[] = [];
  const out = silentOutlet((line) => void seen.push(line));
  out.status('reading');
  expect([seen, out.animated, out.terminal]).toEqual([['reading'], true, false]);
  expect(silentOutlet().animated).toBe(false);
});

test('what stderr says is in the text where nobody can read it on another stream', () => {
  const folder = freshFolder();
  const opened = [join(folder, 'a'), join(folder, 'a'), join(folder, 'b'), devNull, '/dev/zero'];
  const [out, same, other, nowhere, device] = opened.map((path) => ({
    fd: openSync(path, path.startsWith('/dev') ? 'r' : 'w'),
  }));
  expect(isOneStream(out!, same!)).toBe(true);
  expect(isOneStream(out!, nowhere!)).toBe(true);
  expect(isOneStream(out!, other!)).toBe(false);
  expect(isOneStream(out!, device!)).toBe(false);
  expect(isOneStream(nowhere!, out!)).toBe(false);
  for (const { fd } of [out!, same!, other!, nowhere!, device!]) closeSync(fd);
});
