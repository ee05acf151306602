// What every generator ends with: files that differ are written; with `--check` nothing is written, and stale files end in
// exit code 1.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** @param gone files that an earlier run wrote and that nothing asks for any more */
export function finish(files: ReadonlyMap<string, string>, gone: readonly string[] = []): void {
  const stale = [...files].filter(
    ([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text,
  );
  if (process.argv.includes('--check')) {
    for (const path of [...stale.map(([path]) => path), ...gone])
      console.error(`stale: ${path} (type \`npm run generate\`)`);
    if (stale.length + gone.length > 0) process.exitCode = 1;
    return;
  }
  for (const [path, text] of stale) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`wrote ${path}`);
  }
  for (const path of gone) {
    rmSync(path);
    console.log(`removed ${path}`);
  }
}

/** A page with the text between the two comments of that name replaced. @throws Error if the page has no such comments */
export function withPart(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- Generated: ${name}. -->`, `<!-- End: ${name}. -->`];
  const [before, rest = ''] = page.split(begin);
  const [old, after] = rest.split(end);
  if (old === undefined || after === undefined)
    throw new Error(`the page has no place for: ${name}`);
  return `${before}${begin}${text}${end}${after}`;
}
