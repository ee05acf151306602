// Mutation tests of the pure files of the plan, as a report: which changed operators, conditions and texts no unit test
// notices. It takes hours for all four; name one by `--mutate src/reconciler/plan/policy.ts`.
const plan = ['plan', 'diff', 'match', 'policy'].map((name) => `src/reconciler/plan/${name}.ts`);

export default {
  mutate: plan,
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutants/stryker.vitest.config.ts' },
  coverageAnalysis: 'perTest',
  // A constant of a module is made once for all tests, so its change would need a process for each.
  ignoreStatic: true,
  disableTypeChecks: false,
  mutator: { excludedMutations: ['StringLiteral'] },
  concurrency: 2,
  tempDirName: '.stryker-tmp',
  ignorePatterns: ['dist'],
  reporters: ['clear-text', 'progress', 'html'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  htmlReporter: { fileName: 'reports/mutation.html' },
  allowEmpty: false,
};
