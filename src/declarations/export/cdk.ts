// Writes a live estate as a TypeScript program for cdktf or cdktn: one construct per object, references as properties,
// and `importFrom`, so that its stacks bind to the live objects and change nothing.
import {
  camel,
  deletedLast,
  holdsExact,
  referencesIn,
  wireText,
  type Kinds,
} from '../../model/index.js';
import {
  literalCode,
  codeMembers,
  type Code,
  type CodeMember,
  type ExportLanguage,
} from './code.js';
import {
  exportedEntriesOf,
  remarksOf,
  showing,
  unique,
  type ExportedDeclaration,
  type ExportedObjects,
} from './declarations.js';

export type CdkLibrary = 'cdktf' | 'cdktn';

/** Versions of the packages that the program needs; ours is `trueup`. */
export type Versions = Readonly<
  Record<CdkLibrary | 'constructs' | 'trueup' | 'typescript' | 'types', string>
>;

/** File texts by name: `main.ts`, and what runs and checks it. */
export function writeCdk(
  kinds: Kinds,
  estate: ExportedObjects,
  library: CdkLibrary,
  versions: Versions,
): ReadonlyMap<string, string> {
  const entries = inOrder([...exportedEntriesOf(kinds, estate).values()].flat());
  if (entries.length === 0) return new Map();
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  return new Map([
    ['main.ts', program(entries, kinds, library)],
    [
      'cdktf.json',
      json({ language: 'typescript', app: 'npx tsc && node --enable-source-maps build/main.js' }),
    ],
    [
      'package.json',
      json({
        name: 'estate',
        version: '0.0.0',
        private: true,
        type: 'module',
        dependencies: {
          [library]: versions[library],
          constructs: versions.constructs,
          trueup: `^${versions.trueup}`,
        },
        devDependencies: { '@types/node': versions.types, typescript: versions.typescript },
      }),
    ],
    [
      'tsconfig.json',
      json({ compilerOptions: { ...compilerOptions, outDir: 'build' }, files: ['main.ts'] }),
    ],
  ]);
}

const compilerOptions = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  sourceMap: true,
  types: ['node'],
};

const addressOf = ({ kind, name }: ExportedDeclaration): string => `${kind.name}.${name}`;

/** Orders declarations: referenced ones before those that refer to them, otherwise as they came. */
function inOrder(entries: readonly ExportedDeclaration[]): readonly ExportedDeclaration[] {
  const byAddress = new Map(entries.map((entry) => [addressOf(entry), entry]));
  const ordered = new Set<ExportedDeclaration>();
  const visiting = new Set<ExportedDeclaration>();
  const visit = (entry: ExportedDeclaration): void => {
    if (visiting.has(entry)) return;
    visiting.add(entry);
    for (const { target } of referencesIn(entry.values)) visit(byAddress.get(target)!);
    ordered.add(entry);
  };
  entries.forEach(visit);
  return [...ordered];
}

const pascal = (snake: string): string => camel(`_${snake}`);

const named = (name: string): string =>
  camel(`${name[0]?.toLowerCase()}${name.slice(1)}`.replaceAll('-', '_'));

const RESERVED =
  'app stack undefined globalThis arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield'.split(
    ' ',
  );

/** The program so far: constants by address, and the names that are taken. */
interface CdkContext {
  readonly kinds: Kinds;
  /** Addresses that something refers to. */
  readonly wanted: ReadonlySet<string>;
  readonly constants: Map<string, string>;
  readonly ids: Map<string, string>;
  readonly names: Set<string>;
  readonly paths: Set<string>;
}

function program(
  entries: readonly ExportedDeclaration[],
  kinds: Kinds,
  library: CdkLibrary,
): string {
  const wanted = new Set(
    entries.flatMap(({ values }) => referencesIn(values).map(({ target }) => target)),
  );
  const context: CdkContext = {
    kinds,
    wanted,
    constants: new Map(),
    ids: new Map(entries.map((entry) => [addressOf(entry), entry.id ?? ''])),
    names: new Set(RESERVED),
    // The second one no scope can hold: the library looks children up in a plain object.
    paths: new Set(['devicecloud', 'constructor']),
  };
  const statements = entries.map((entry) => statement(entry, context));
  const classes = [
    'DevicecloudProvider',
    ...new Set(entries.map(({ kind }) => pascal(kind.singular))),
  ].toSorted();
  return `// Written by trueup export. Once the objects are imported, the calls of importFrom may go. Under Terraform, what has
// createBeforeDestroy is deleted after what names it was changed, from the apply on that follows the import.
import { App, TerraformStack } from '${library}';
import { ${classes.join(', ')} } from 'trueup/${library}';

const app = new App();
const stack = new TerraformStack(app, 'estate');

// Addresses and credentials come from the environment: TRUEUP_V2_URL and the others that trueup doctor names.
new DevicecloudProvider(stack, 'devicecloud');

${statements.join('\n')}
app.synth();
`;
}

/** One object, with a constant for it where others refer to it. */
function statement(entry: ExportedDeclaration, context: CdkContext): string {
  const { kind, name, id, values, secrets, masked, isEqual } = entry;
  const address = addressOf(entry);
  const path = unique(
    context.paths.has(name) ? `${name}-${kind.singular.replaceAll('_', '-')}` : name,
    context.paths,
  );
  context.paths.add(path);
  const hints = [
    ...secrets.map(
      (one) =>
        `${camel(one)} reads back masked and is left out; to manage it, write ${camel(one)}Wo, a sensitive TerraformVariable, and ${camel(one)}WoVersion`,
    ),
    ...masked.map((one) => `${one} reads back masked and is left out`),
    ...(isEqual && id !== undefined
      ? ['Nothing but its identifier tells it from another: importFrom has to stay']
      : []),
  ];
  const members = [
    ...codeMembers(kind.attributes, values, languageOf(context)),
    ...(deletedLast(kind, context.kinds) ? [LAST] : []),
  ];
  const made = `new ${pascal(kind.singular)}(stack, ${quoted(path)}, ${written({ members }, '')})`;
  const remarks = [...remarksOf(entry), ...hints].map((text) => `// ${text}\n`).join('');
  if (!context.wanted.has(address))
    return `${remarks}${made}${id === undefined ? '' : `.importFrom(${quoted(id)})`};\n`;
  const short = named(name);
  const constant = unique(
    context.names.has(short) ? named(`${name}_${kind.singular}`) : short,
    context.names,
    '',
  );
  context.names.add(constant);
  context.constants.set(address, constant);
  return `${remarks}const ${constant} = ${made};\n${id === undefined ? '' : `${constant}.importFrom(${quoted(id)});\n`}`;
}

const LAST: CodeMember = ['lifecycle', { members: [['createBeforeDestroy', 'true']] }];

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

function languageOf({ constants, ids }: CdkContext): ExportLanguage {
  const language: ExportLanguage = {
    quoted,
    nameOf: camel,
    keyOf: (key) => (IDENTIFIER.test(key) ? key : quoted(key)),
    referring({ target, attribute }) {
      const constant = constants.get(target);
      return constant === undefined ? quoted(ids.get(target)!) : `${constant}.${camel(attribute)}`;
    },
    document: (value) =>
      holdsExact(value) ? quoted(wireText(value)) : literalCode(value, language),
  };
  return language;
}

const WIDEST = 120;

/** On one line while it fits. */
function written(code: Code, margin: string): string {
  const line = inline(code);
  if (typeof code === 'string' || margin.length + line.length < WIDEST) return line;
  const inner = `${margin}  `;
  const isList = 'items' in code;
  const parts = isList
    ? code.items.map((item) => written(item, inner))
    : code.members.map(([key, item]) => `${key}: ${written(item, inner)}`);
  if (parts.length === 0) return line;
  const lines = parts.map((part) => `${inner}${part},\n`).join('');
  return isList ? `[\n${lines}${margin}]` : `{\n${lines}${margin}}`;
}

function inline(code: Code): string {
  if (typeof code === 'string') return code;
  if ('items' in code) return `[${code.items.map(inline).join(', ')}]`;
  const members = code.members.map(([key, item]) => `${key}: ${inline(item)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** Every text ends in a synthesised stack, where `${` and `%{` begin templates. */
function quoted(text: string): string {
  const inner = showing(JSON.stringify(text.replace(/[$%](?=\{)/g, '$&$&'))).slice(1, -1);
  return `'${inner.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
