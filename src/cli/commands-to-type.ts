// A command in a message is meant to be typed as it stands, so it names the environment it was said in.
import type { Diagnostic } from '../model/index.js';

const command = /(: trueup (?:import|state \w+|unlock|get|apply|plan)\b[^\n]*)$/gm;

/** Safe to apply twice. */
export function inEnvironment(diagnostics: readonly Diagnostic[], env: string | undefined): readonly Diagnostic[] {
  if (env === undefined) return diagnostics;
  return diagnostics.map((one) =>
    one.detail === undefined ? one : { ...one, detail: one.detail.replaceAll(command, (line) => (line.endsWith(` --env ${env}`) ? line : `${line} --env ${env}`)) },
  );
}
