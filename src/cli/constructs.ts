// The entry point of `trueup/constructs`: the root of a program, with the disk and the environment.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { lineOf } from '../declarations/stack-trace.js';
import { mark, Program } from '../constructs/native/program.js';

export * from '../constructs/native/index.js';

export interface AppProps {
  /** Folder of the documents. Default: `TRUEUP_OUTDIR`, `CDKTF_OUTDIR`, or `trueup.out`. */
  readonly outdir?: string | undefined;
}

const SUFFIX = '.trueup.yaml';

/** The root of a program: `synth()` writes `<outdir>/<stack>.trueup.yaml` for each stack, which is a declaration file. */
export class App extends Program {
  readonly outdir: string;

  constructor({ outdir }: AppProps = {}) {
    super();
    this.outdir = resolve(
      outdir ?? process.env['TRUEUP_OUTDIR'] ?? process.env['CDKTF_OUTDIR'] ?? 'trueup.out',
    );
  }

  /** @throws where anything that is declared cannot be, with everything there is to say; then nothing is written */
  synth(): void {
    const documents = this.documents((trace) => lineOf(trace, process.cwd()));
    mkdirSync(this.outdir, { recursive: true });
    // A stack that is gone must not be read on.
    for (const name of readdirSync(this.outdir))
      if (isOurs(join(this.outdir, name))) rmSync(join(this.outdir, name));
    for (const [stack, text] of documents)
      writeFileSync(join(this.outdir, `${stack}${SUFFIX}`), text);
  }
}

const isOurs = (path: string): boolean =>
  path.endsWith(SUFFIX) && readFileSync(path, 'utf8').startsWith(mark);
