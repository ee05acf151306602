// Code is found whatever its formatting.
import { describe, expect, it } from 'vitest';
import { locate, replaceOnce } from '../../mutants/locate.js';

describe('a text of the sources', () => {
  it('is found across lines and trailing commas', () => {
    const code = 'const a = f(\n  one,\n  { two: 2 },\n);\n';
    expect(locate(code, 'f(one, { two: 2 })')).toEqual([{ start: 10, end: code.length - 2 }]);
  });

  it('is found as often as it is there', () => {
    expect(locate('a(b); a( b ); a(c)', 'a(b)')).toHaveLength(2);
    expect(locate('a(b)', 'a(c)')).toEqual([]);
  });

  it('is replaced only if it is there once', () => {
    expect(replaceOnce('if (x &&\n  y) z();', 'x && y', 'x')).toBe('if (x) z();');
    expect(() => replaceOnce('x; x;', 'x', 'y')).toThrow('2 times');
    expect(() => replaceOnce('x;', 'z', 'y')).toThrow('0 times');
  });
});
