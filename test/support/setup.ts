// Properties run with the same numbers every time, so that a red test is red again; FC_SEED=<number> explores others.
import fc from 'fast-check';

const seed = Number(process.env['FC_SEED'] ?? 20_260_901);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
