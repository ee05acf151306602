// Reads `policies/*.cel.yaml` of the current folder, and their tests. A file that cannot be read, or a policy that does
// not compile, is an error of the project: a policy that is not judged must not let a plan pass.
import { join } from 'node:path';
import {
  didYouMean,
  isList,
  shellWord,
  type Diagnostic,
  type JsonObject,
  type Kinds,
  type Origin,
} from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import { compile } from '../declarations/compile-validator.js';
import {
  complainIn,
  complainOfFault,
  reportOf,
  type Report,
} from '../declarations/diagnostics-list.js';
import { sourceFilesOf, type SourceFiles } from '../declarations/file-reader.js';
import { policySchema, policyTestSchema } from '../declarations/file-schema.js';
import { checkLiteral, type LiteralForm } from '../declarations/literal-check.js';
import { whyNot, type FoundFile } from '../declarations/paths.js';
import { ambiguousWord } from '../declarations/interpolate.js';
import { found as foundWord, type Violation } from '../declarations/validation.js';
import { policy as policyAttributes, policyTest } from '../declarations/vocabulary.js';
import {
  isMap,
  offsetOf,
  type Raw,
  type RawDocument,
  type RawMap,
} from '../declarations/yaml/raw-values.js';
import { compiledPolicy, type CompiledPolicy } from './cel-policy.js';

/** The folder of policies, below the current one. */
const FOLDER = 'policies';
const POLICY_FILE = /\.cel\.ya?ml$/;
const TEST_FILE = /\.test\.ya?ml$/;
/** Who names a file like this means policies. */
const LIKE_POLICY = /\.cel(?:\.|$)/i;
const YAML_FILE = /\.ya?ml$/i;
const NAME_OF_RULE = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

export interface ProjectPolicy extends CompiledPolicy {
  readonly name: string;
  readonly severity: 'error' | 'warning';
  /** Whether `--allow` lets it pass. */
  readonly allow: boolean;
  readonly origin: Origin;
}

export interface PolicyTest {
  readonly name: string;
  readonly policy: string;
  readonly plan?: JsonObject;
  /** Relative to the current folder. */
  readonly plan_file?: string;
  /** The members of `fleet`. */
  readonly fleet?: JsonObject;
  readonly declarations: readonly JsonObject[];
  /** The messages that are expected, in order. */
  readonly violations: readonly string[];
  readonly origin: Origin;
}

interface PolicyDisk {
  readonly files: DeclarationFiles;
  readonly cwd: string;
}

interface Item {
  readonly raw: Raw;
  readonly from: FoundFile;
  /** From the root of its document. */
  readonly path: readonly string[];
  readonly document: RawDocument;
}

interface PolicyReading extends PolicyDisk {
  readonly library: SourceFiles;
  readonly report: Report;
}

/** Names that exist without the project. */
interface KnownNames {
  /** Of rules. */
  readonly taken: readonly string[];
  readonly kinds: Kinds;
}

export async function policiesIn(
  disk: PolicyDisk,
  { taken, kinds }: KnownNames,
): Promise<{
  readonly policies: readonly ProjectPolicy[];
  readonly diagnostics: readonly Diagnostic[];
}> {
  const reading = readingOf(disk);
  const policies = new Map<string, ProjectPolicy>();
  const names = namesIn(reading, FOLDER);
  const isPolicy = (name: string): boolean => POLICY_FILE.test(name);
  for (const item of await itemsIn(reading, names.filter(isPolicy))) {
    const one = policyOf(reading, item, kinds);
    if (!one) continue;
    const { name } = one;
    const other = policies.get(name)?.origin;
    if (!other && !taken.includes(name)) policies.set(name, one);
    else
      placesOf(reading, item).complain(['name'], {
        code: 'duplicate-policy',
        summary: other
          ? `the policy \`${name}\` is in ${other.file}:${other.line} already`
          : `\`${name}\` is a rule of trueup`,
        detail: 'Give this policy another name.',
      });
  }
  const others = names.filter((name) => !isPolicy(name) && !TEST_FILE.test(name));
  await refuseUnread(reading, others);
  return { policies: [...policies.values()], diagnostics: reading.report.all() };
}

/** The tests of policies. @param policies those that a test may name */
export async function policyTestsIn(
  disk: PolicyDisk,
  policies: readonly Pick<ProjectPolicy, 'name' | 'scope'>[],
): Promise<{ readonly tests: readonly PolicyTest[]; readonly diagnostics: readonly Diagnostic[] }> {
  const reading = readingOf(disk);
  const tests: PolicyTest[] = [];
  const known = policies.map(({ name }) => name);
  const names = namesIn(reading, FOLDER).filter((name) => TEST_FILE.test(name));
  for (const item of await itemsIn(reading, names)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema was applied
    const written = checked(reading, item, {
      attributes: policyTest,
      validator: compile(policyTestSchema()),
      what: 'a test of a policy',
    }) as Omit<PolicyTest, 'origin'> | undefined;
    if (!written) continue;
    const { policy, plan, plan_file } = written;
    const { complain, origin } = placesOf(reading, item);
    const tested = policies.find(({ name }) => name === policy);
    const unseen =
      tested?.scope === 'fleet'
        ? (['plan', 'plan_file', 'declarations'] as const)
        : (['fleet'] as const);
    const foreign = unseen.find((name) => written[name] !== undefined);
    const other = tests.find((one) => one.name === written.name && one.policy === policy)?.origin;
    if (!tested)
      complain(['policy'], {
        code: 'unknown-policy',
        summary: `there is no policy \`${policy}\`.${didYouMean(policy, known)}`,
      });
    else if (foreign !== undefined)
      complain([foreign], {
        code: 'other-input',
        summary: `\`${policy}\` does not see \`${foreign}\``,
        detail: 'A policy that uses `fleet` sees only `fleet`; other policies see one plan.',
      });
    else if (plan !== undefined && plan_file !== undefined)
      complain(['plan_file'], {
        code: 'two-plans',
        summary: '`plan` and `plan_file` cannot be used in one test',
      });
    else if (other)
      complain(['name'], {
        code: 'duplicate-test',
        summary: `a test of \`${policy}\` with this name is in ${other.file}:${other.line} already`,
        detail: 'Give this test another name.',
      });
    else tests.push({ ...written, declarations: written.declarations ?? [], origin: origin([]) });
  }
  return { tests, diagnostics: reading.report.all() };
}

const readingOf = (disk: PolicyDisk): PolicyReading => ({
  ...disk,
  library: sourceFilesOf(disk.files, undefined, new Set()),
  report: reportOf([]),
});

/** The names in a folder; what cannot be listed is complained of. */
function namesIn({ files, cwd, report }: PolicyReading, folder: string): readonly string[] {
  try {
    return files.list(join(cwd, folder)).toSorted();
  } catch (error) {
    report.add(() => ({
      severity: 'error',
      code: 'unreadable',
      summary: `cannot list ${folder}: ${whyNot(error)}`,
      detail:
        'Policies are read from policies/*.cel.yaml. Make it a folder that can be read, or rename it.',
    }));
    return [];
  }
}

/** Every policy or test: a document is one of them, or a list. */
async function itemsIn(reading: PolicyReading, names: readonly string[]): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (const name of names) {
    const from = foundIn(reading, `${FOLDER}/${name}`);
    const read = await reading.library.read(from);
    if ('faults' in read) for (const fault of read.faults) complainOfFault(reading, from, fault);
    else items.push(...itemsOf(read.documents, from));
  }
  return items;
}

const foundIn = ({ cwd }: PolicyDisk, file: string): FoundFile => ({
  file,
  path: join(cwd, file),
  named: true,
});

const itemsOf = (documents: readonly RawDocument[], from: FoundFile): readonly Item[] =>
  documents.flatMap((document): readonly Item[] => {
    const { root } = document;
    if (!isList(root)) return [{ raw: root, from, path: [], document }];
    return root.map((raw, index) => ({ raw, from, path: [String(index)], document }));
  });

const DEEPEST = 8;

/** Complains of policies that no pattern finds: in a folder below, or in a file of another name. */
async function refuseUnread(
  reading: PolicyReading,
  names: readonly string[],
  folder = FOLDER,
): Promise<void> {
  for (const name of names.filter((one) => !one.startsWith('.'))) {
    const file = `${folder}/${name}`;
    const isFolder = reading.files.stat(join(reading.cwd, file))?.kind === 'folder';
    if (isFolder && file.split('/').length <= DEEPEST)
      await refuseUnread(reading, namesIn(reading, file), file);
    else if (LIKE_POLICY.test(name) || (await holdsPolicies(reading, file)))
      reading.report.add(() => unreadPolicies(file));
  }
}

async function holdsPolicies(reading: PolicyReading, file: string): Promise<boolean> {
  if (!YAML_FILE.test(file)) return false;
  const from = foundIn(reading, file);
  const read = await reading.library.read(from);
  return (
    'documents' in read &&
    itemsOf(read.documents, from).some(({ raw }) => isMap(raw) && Object.hasOwn(raw, 'when'))
  );
}

function unreadPolicies(file: string): Diagnostic {
  const stem = file.slice(file.lastIndexOf('/') + 1).replace(/(?:\.cel|\.ya?ml)+$/i, '');
  return {
    severity: 'error',
    code: 'unread-policies',
    summary: `${file} looks like policies, and is not read: policies are in ${FOLDER}/*.cel.yaml`,
    detail: `Type \`mv ${shellWord(file)} ${shellWord(`${FOLDER}/${stem}.cel.yaml`)}\`, or remove it.`,
    origin: { file, line: 1, column: 1 },
  };
}

type Said = Pick<Diagnostic, 'code' | 'summary' | 'detail'>;

function placesOf(reading: PolicyReading, { from, path, document }: Item) {
  const origin = (inside: readonly string[]): Origin => {
    const { offset } = offsetOf(document, [...path, ...inside]);
    return { file: from.file, ...reading.library.place(from, offset) };
  };
  return {
    origin,
    complain: (inside: readonly string[], said: Said): void =>
      complainIn(reading, from, origin(inside), said),
  };
}

/** The item, if it has the form; else undefined, and everything that is wrong with it is reported. */
function checked(reading: PolicyReading, item: Item, form: LiteralForm): RawMap | undefined {
  const { complain } = placesOf(reading, item);
  const { raw } = item;
  const wrong: readonly Violation[] = isMap(raw)
    ? checkLiteral(form, raw, ambiguousWord)
    : [
        {
          path: [],
          code: 'wrong-type',
          summary: `a mapping is expected for ${form.what}, not ${foundWord(raw)}`,
        },
      ];
  for (const { path, ...said } of wrong) complain(path, said);
  return wrong.length === 0 && isMap(raw) ? raw : undefined;
}

type WrittenPolicy = Pick<ProjectPolicy, 'name'> &
  Partial<Pick<ProjectPolicy, 'severity' | 'allow'>> &
  Parameters<typeof compiledPolicy>[0];

function policyOf(reading: PolicyReading, item: Item, kinds: Kinds): ProjectPolicy | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema was applied
  const written = checked(reading, item, {
    attributes: policyAttributes,
    validator: compile(policySchema()),
    what: 'a policy',
  }) as WrittenPolicy | undefined;
  if (!written) return undefined;
  const { complain, origin } = placesOf(reading, item);
  const { name, severity = 'error', allow = true } = written;
  if (!NAME_OF_RULE.test(name))
    return void complain(['name'], {
      code: 'bad-name',
      summary: `\`${name}\` is not a valid policy name`,
      detail: 'A name has lower-case letters, digits and single hyphens, as in no-friday-deletes.',
    });
  const compiled = compiledPolicy(written, kinds);
  if ('violations' in compiled) return { ...compiled, name, severity, allow, origin: origin([]) };
  for (const { field, summary, ...rest } of compiled)
    complain([field], { code: 'policy', summary: `${name}: \`${field}\`: ${summary}`, ...rest });
  return undefined;
}
