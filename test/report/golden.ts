// Renderings as files. They change only where a person says so: GOLDEN=update npx vitest run test/report
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

const folder = new URL('./golden/', import.meta.url);

export function expectGolden(name: string, text: string): void {
  const file = new URL(name, folder);
  if (process.env['GOLDEN'] === 'update') {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
  }
  expect(text).toBe(readFileSync(file, 'utf8'));
}
