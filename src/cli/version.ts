// The version, and those of the packages a CDK program was tried with, from the one place that states them.
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
