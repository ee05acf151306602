// Renderings as files. They change only where a person says so: GOLDEN=update npx vitest run test/unit/report
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

const folder = new URL('./golden/', import.meta.url);

/** A page without what is the same on each: its style, its script, and the hashes by which they are let through. */
export const ownPart = (page: string): string =>
  page
    .replace(/(<style>)[^]*?(<\/style>)/, '$1(src/report/html-style.ts)$2')
    .replace(/(<script>)[^]*?(<\/script>)/, '$1(src/report/html-script.ts)$2')
    .replaceAll(/'sha256-[\w+/=]+'/g, "'sha256-…'");

export function expectGolden(name: string, text: string): void {
  const file = new URL(name, folder);
  if (process.env['GOLDEN'] === 'update') {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
  }
  expect(text).toBe(readFileSync(file, 'utf8'));
}
