// The version of trueup, and the tested versions of the CDK packages, from the one place that states them.
import manifest from '../../package.json' with { type: 'json' };

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
