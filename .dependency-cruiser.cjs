// The import rules. Every module may import the model and the types of the platform; what else it may import is
// listed here, and everything that is not listed is refused.

/** What each module may import beside itself, the model, the types of the platform and Node. */
const allowed = {
  model: [],
  platform: [],
  client: ['^node_modules/undici/'],
  expressions: ['^node_modules/(@cdktn/hcl2json|@marcbachmann|re2js)/'],
  resources: ['^src/reconciler/', '^src/state/store-port\\.ts$', '^node_modules/tldts/'],
  reconciler: [
    '^src/state/store-port\\.ts$',
    '^src/expressions/schema-options\\.ts$',
    '^node_modules/ajv/',
  ],
  state: ['^node_modules/(@aws-sdk|age-encryption|aws4fetch|pg|pg-boss|sax)/'],
  declarations: [
    '^src/resources/role-ladder\\.ts$',
    '^src/expressions/',
    '^node_modules/(ajv|any-ascii|yaml)/',
  ],
  policies: ['^src/(declarations|expressions)/', '^schemas/plan\\.schema\\.json$'],
  fleet: ['^src/declarations/', '^src/state/state-address\\.ts$'],
  report: ['^node_modules/(diff|fast-json-patch|picocolors)/'],
  terraform: [
    '^src/reconciler/(live-collections|recent-writes|plan/(match|document-diff|diff|policy|propose)|apply/(executor|write-operation|pre-image|write-proof|recovery|rechecks))\\.ts$',
    '^src/resources/role-ladder\\.ts$',
    '^src/state/store-port\\.ts$',
    '^node_modules/(@grpc|protobufjs|@msgpack)/',
  ],
  emulator: ['^node_modules/(hono|@hono)/'],
  constructs: ['^src/resources/', '^node_modules/(cdktf|cdktn|constructs)/'],
};

const rules = Object.entries(allowed).map(([module, more]) => ({
  name: `imports-of-${module}`,
  severity: 'error',
  from: { path: `^src/${module}/` },
  to: {
    path: '^(src|test|scripts|schemas|node_modules)/',
    pathNot: [
      `^src/${module}/`,
      ...(module === 'model' ? [] : ['^src/model/', '^src/platform/index\\.ts$']),
      ...more,
    ],
  },
}));

module.exports = {
  forbidden: [
    ...rules,
    {
      name: 'engine-knows-no-vendor',
      comment: 'the engine is given a Provider; what knows the service lies in src/resources/rules',
      severity: 'error',
      from: { path: '^src/(model|reconciler)/' },
      to: { path: '^src/(resources|client)/', reachable: true },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'model-by-its-index',
      comment: 'the model is imported through src/model/index.ts',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/model/' },
      to: { path: '^src/model/', pathNot: '^src/model/index\\.ts$' },
    },
    {
      name: 'platform-is-types',
      comment: 'the real ones are named by the command line only',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(platform|cli)/|^src/index\\.ts$' },
      to: { path: '^src/platform/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'store-port-is-types',
      severity: 'error',
      from: { path: '^src/reconciler/' },
      to: { path: '^src/state/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'kinds-arrive-as-argument',
      comment: 'only the entry points name the resources as a whole',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli|resources)/|^src/index\\.ts$' },
      to: { path: '^src/resources/index\\.ts$' },
    },
    {
      name: 'commander-in-program',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli/program\.ts$' },
      to: { path: '^node_modules/commander/' },
    },
    {
      name: 'cli-starts-light',
      comment: 'what costs time to load is imported by the command that needs it',
      severity: 'error',
      from: { path: '^src/cli/', pathNot: '^src/cli/yaml-output\\.ts$' },
      to: { path: '^node_modules/(?!commander/)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'lazy-by-own-file',
      comment:
        'a bundler has no names for a dynamic import of a CommonJS package: import it statically in a file of trueup, and that file dynamically. The AWS SDK and pg-boss are not bundled',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        path: '^node_modules/(?!@?hono/|@aws-sdk/|pg-boss/)',
        dependencyTypes: ['dynamic-import'],
      },
    },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-undeclared-package',
      comment:
        'the libraries of CDK programs, the AWS SDK and pg-boss are peers, and installed here for tests; gRPC has an install script, and is bundled',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        pathNot: '^node_modules/(@aws-sdk|cdktf|cdktn|constructs|@grpc|pg-boss|protobufjs)/',
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
      },
    },
  ],
  options: {
    doNotFollow: { path: '^node_modules/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
