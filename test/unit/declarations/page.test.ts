// Code frames: the right lines, nothing invisible, and never a secret however it is written.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  frame,
  indexLines,
  positionOf,
  redactedColumns,
} from '../../../src/declarations/source-text.js';
import { errors } from './project.js';
import { drawn } from '../../support/drawn.js';

const names = new Set(['authentication', 'secret']);

function framed(text: string, line: number, column: number): string {
  const page = indexLines(text);
  return frame(page, redactedColumns(page, names), { line, column });
}

describe('frames', () => {
  it('show three lines and a caret', () => {
    expect(framed('one\ntwo: x\nthree\nfour', 2, 6)).toBe(
      '  1 | one\n> 2 | two: x\n    |      ^\n  3 | three',
    );
    expect(framed('one', 1, 1)).toBe('> 1 | one\n    | ^');
  });

  it('blank the values of members that are named as secrets', () => {
    for (const name of ['psk', 'wpa_psk', 'passphrase', 'sharedKey', 'api-key', '"private_key"'])
      expect(framed(`a: { ${name}: hunter2, n: 1 }`, 1, 1)).not.toMatch(/hunter2/);
  });

  it('make tabs, control and bidirectional characters visible, one column each', () => {
    expect(framed('\ta\u001b\u202e\u0085b', 1, 6)).toBe('> 1 | →a␛\uFFFD\uFFFDb\n    |      ^');
  });

  it('cut long lines around the place', () => {
    const shown = framed(`${'x'.repeat(500)}Y${'z'.repeat(500)}`, 1, 501).split('\n');
    expect(shown.every((line) => line.length < 76)).toBe(true);
    expect(shown[0]?.[(shown[1] as string).indexOf('^')]).toBe('Y');
  });

  it('show the caret below its place within 80 columns, wherever it stands', () => {
    const text = Array.from({ length: 300 }, (_, index) => String.fromCharCode(0x100 + index)).join(
      '',
    );
    for (let column = 1; column <= 300; column += 1) {
      const [line = '', caret = ''] = framed(text, 1, column).split('\n');
      expect(caret.length).toBeLessThan(76);
      expect(line[caret.indexOf('^')]).toBe(text[column - 1]);
    }
  });

  it('count lines and columns', () => {
    const page = indexLines('ab\r\ncd\n\ne');
    expect([0, 1, 4, 5, 7, 8].map((offset) => positionOf(page, offset))).toEqual(
      [
        [1, 1],
        [1, 2],
        [2, 1],
        [2, 2],
        [3, 1],
        [4, 1],
      ].map(([line, column]) => ({ line, column })),
    );
  });
});

describe('secrets in frames', () => {
  const leaking = [
    'authentication: { secret: hunter2 }',
    'authentication: { "secret": "hunter2" }',
    '{"authentication":{"secret":"hunter2"}}',
    "authentication: { 'secret' : hunter2 }",
    'authentication:\n  secret: hunter2',
    'authentication:\n  secret:\n    hunter2',
    'authentication:\n  secret: |\n    first\n    hunter2\n\n    hunter2',
    'authentication:\n  secret: "first\n\n   hunter2"',
    'authentication:\n  secret: >-\n    hunter2: x',
    'authentication:\n  secret: # note\n    hunter2',
    'authentication:\n  secrt: hunter2',
    'authentification: hunter2',
    'authentication: hunter2',
    'authentication: [hunter2]',
    'authentication:\n- hunter2',
    'authentication:\n  - secret: hunter2',
    '- authentication:\n    secret: hunter2',
    '? secret\n: hunter2',
    '? authentication\n: hunter2',
    'secret:\n{ x: hunter2 }',
    'secret: "${secret.env.A} hunter2"',
    'secret: ${secret.env.A}hunter2',
    'secret: "${secret.env.A}", other: { secret: hunter2 }',
    'client_secret: hunter2',
    'password: hunter2',
    'Secret: hunter2',
    'secret : hunter2',
    'secret:hunter2',
    'SECRET: hunter2',
    '"se cret": 1\nsecret: "x" # hunter2',
    `x: ${'y'.repeat(3000)} secret: hunter2`,
  ];
  it.each(leaking)('%j', (text) => {
    const lines = text.split('\n').length;
    for (const margin of ['', '    ']) {
      const whole = `a: 1\n${text.replaceAll(/^/gm, margin)}\nb: 2\n`;
      for (let line = 1; line <= lines + 2; line += 1)
        for (const column of [1, 40, 3020])
          expect(framed(whole, line, column)).not.toContain('hunter2');
    }
  });

  it.each([
    'secret: "${secret.env.A}"',
    'authentication: { secret: "${secret.file./run/a}" }',
    'authentication:\n  secret: ${secret.env.A} # from CI',
  ])('show where a value comes from: %j', (text) => {
    expect(framed(text, text.split('\n').length, 1)).toContain('${secret.');
  });

  it('hold no literal, wherever it was put and whatever is wrong beside it', async () => {
    const canary = 'hunter2';
    const wrong = fc.constantFrom(
      'nam: x',
      'name: [x',
      'name: "x',
      'enabled: "yes"',
      'enabled: on',
      'name: &a *b',
      'name: !x y',
      '\tname: x',
      'name: x\n    name: y',
      'endpoint: { url: 1 }',
      'name: x',
    );
    const secret = fc.constantFrom(
      `authentication: { secret: ${canary} }`,
      `authentication:\n      secret: ${canary}`,
      `authentication:\n      secret: |\n        ${canary}\n        ${canary}`,
      `authentication: ${canary}`,
      `authentication: { secret: "\${var.v}" }`,
      `authentication: { secret: [${canary}] }`,
      `authentication: { secret: { a: ${canary} } }`,
      `authentication: { secret: "${canary}" , x: 1 }`,
      `authentication: { secret: !x ${canary} }`,
      `authentication: { secret: "\\q${canary}" }`,
      `authentication: { secret: *${canary} }`,
      `authentication:\n      secret: ${canary}: ${canary}`,
      `authentication: { secret: "${canary}`,
      `authentication: { secrets: ${canary} }`,
      `authentication:\n      secret: ${canary}\n      secret: ${canary}`,
      `authentication: { secret: "x\${env.V}" }`,
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(wrong, secret), { minLength: 1, maxLength: 3 }),
        secret,
        async (lines, last) => {
          const text = `alert_push_destinations:\n  a:\n${[...lines, last].map((line) => `    ${line}\n`).join('')}  b: { nam: 1 }\n`;
          const found = await errors(text, {
            variables: { v: canary },
            environment: { V: canary },
          });
          expect(JSON.stringify(found)).not.toContain(canary);
        },
      ),
      { numRuns: drawn(400) },
    );
  });
});
