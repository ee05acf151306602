// The version of trueup, and the tested versions of the CDK packages, from the one place that states them.
import manifest from '../../package.json' with { type: 'json' };
import type { Clock } from '../platform/index.js';

export const version: string = manifest.version;

const {
  cdktf,
  cdktn,
  constructs,
  '@types/node': types,
  '@typescript/native': native,
} = manifest.devDependencies;

export const tried = {
  cdktf,
  cdktn,
  constructs,
  types,
  typescript: native.slice(native.lastIndexOf('@') + 1),
};

/** Who made a document, and when. */
export const madeBy = ({ clock }: { readonly clock: Pick<Clock, 'now'> }) => ({
  trueup_version: version,
  generated_at: new Date(clock.now()).toISOString(),
});
