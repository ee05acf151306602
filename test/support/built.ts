// A script of the tests as one executable file, as the build makes them.
import { build } from 'esbuild';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `remove` takes it away again. */
export async function executable(
  source: string,
): Promise<{ readonly file: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'four-wire-built-'));
  const file = join(folder, 'script.cjs');
  await build({
    entryPoints: [source],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    banner: { js: '#!/usr/bin/env node' },
    external: ['@aws-sdk/client-s3', '@cdktn/hcl2json', 'pg-boss'],
    logLevel: 'error',
  });
  chmodSync(file, 0o755);
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
