// Reads `policies/*.cel.yaml` of the current folder, and their tests. A file that cannot be read, or a policy that does
// not compile, is an error of the project: a policy that is not judged must not let a plan pass.
import { join } from 'node:path';
import {
  didYouMean,
  errorCode,
  isList,
  type Attributes,
  type Diagnostic,
  type JsonObject,
  type Origin,
} from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import { compile } from '../declarations/compile-validator.js';
import { complainIn, reportOf, type Report } from '../declarations/diagnostics-list.js';
import { sourceFilesOf, type SourceFiles } from '../declarations/file-reader.js';
import { policySchema, policyTestSchema } from '../declarations/file-schema.js';
import type { FoundFile } from '../declarations/paths.js';
import { check, found as foundWord, mismatch } from '../declarations/validation.js';
import { policy as policyAttributes, policyTest } from '../declarations/vocabulary.js';
import {
  isMap,
  offsetOf,
  type Raw,
  type RawDocument,
  type RawMap,
} from '../declarations/yaml/raw-values.js';
import { compiledPolicy, type CompiledPolicy } from './compiled-policy.js';

/** The folder of policies, below the current one. */
const FOLDER = 'policies';
const POLICY_FILE = /\.cel\.ya?ml$/;
const TEST_FILE = /\.test\.ya?ml$/;
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

interface PolicyReading {
  readonly library: SourceFiles;
  readonly report: Report;
}

/** @param taken names of the rules that exist without the project */
export async function policiesIn(
  { files, cwd }: PolicyDisk,
  taken: readonly string[],
): Promise<{
  readonly policies: readonly ProjectPolicy[];
  readonly diagnostics: readonly Diagnostic[];
}> {
  const reading = readingOf(files);
  const policies = new Map<string, ProjectPolicy>();
  for (const item of await itemsIn({ files, cwd }, reading, POLICY_FILE)) {
    const one = policyOf(reading, item);
    if (one && isNameFree(reading, item, one.name, { taken, policies }))
      policies.set(one.name, one);
  }
  return { policies: [...policies.values()], diagnostics: reading.report.all() };
}

/** The tests of policies. @param policies names that a test may give */
export async function policyTestsIn(
  disk: PolicyDisk,
  policies: readonly string[],
): Promise<{ readonly tests: readonly PolicyTest[]; readonly diagnostics: readonly Diagnostic[] }> {
  const reading = readingOf(disk.files);
  const tests: PolicyTest[] = [];
  for (const item of await itemsIn(disk, reading, TEST_FILE)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema was applied
    const written = checked(reading, item, {
      attributes: policyTest,
      schema: policyTestSchema(),
      what: 'a test of a policy',
    }) as Omit<PolicyTest, 'origin'> | undefined;
    if (!written) continue;
    const { policy, plan, plan_file } = written;
    const { complain, origin } = placesOf(reading, item);
    if (!policies.includes(policy))
      complain(['policy'], {
        code: 'unknown-policy',
        summary: `there is no policy \`${policy}\`.${didYouMean(policy, policies)}`,
      });
    else if (plan !== undefined && plan_file !== undefined)
      complain(['plan_file'], {
        code: 'two-plans',
        summary: '`plan` and `plan_file` cannot stand in one test',
      });
    else tests.push({ ...written, declarations: written.declarations ?? [], origin: origin([]) });
  }
  return { tests, diagnostics: reading.report.all() };
}

const readingOf = (files: DeclarationFiles): PolicyReading => ({
  library: sourceFilesOf(files, undefined, new Set()),
  report: reportOf([]),
});

function namesIn({ files, cwd }: PolicyDisk): readonly string[] {
  try {
    return files.list(join(cwd, FOLDER)).toSorted();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return [];
    throw error;
  }
}

/** Every policy or test: a document is one of them, or a list. */
async function itemsIn(
  disk: PolicyDisk,
  reading: PolicyReading,
  pattern: RegExp,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (const name of namesIn(disk).filter((one) => pattern.test(one))) {
    const from = { file: `${FOLDER}/${name}`, path: join(disk.cwd, FOLDER, name), named: true };
    const read = await reading.library.read(from);
    if ('faults' in read)
      for (const { offset, code, summary, detail } of read.faults)
        complainIn(reading, from, placeIn(reading, from, offset), {
          code,
          summary,
          ...(detail !== undefined && { detail }),
        });
    else
      for (const document of read.documents)
        for (const [path, raw] of entriesOf(document.root))
          items.push({ raw, from, path, document });
  }
  return items;
}

const entriesOf = (root: Raw): readonly (readonly [readonly string[], Raw])[] =>
  isList(root) ? root.map((raw, index) => [[String(index)], raw] as const) : [[[], root]];

const placeIn = ({ library }: PolicyReading, from: FoundFile, offset: number): Origin => ({
  file: from.file,
  ...library.place(from, offset),
});

type Said = Pick<Diagnostic, 'code' | 'summary' | 'detail'>;

function placesOf(reading: PolicyReading, { from, path, document }: Item) {
  const origin = (inside: readonly string[]): Origin =>
    placeIn(reading, from, offsetOf(document, [...path, ...inside]).offset);
  return {
    origin,
    complain: (inside: readonly string[], said: Said): void =>
      complainIn(reading, from, origin(inside), said),
  };
}

interface Form {
  readonly attributes: Attributes;
  readonly schema: JsonObject;
  readonly what: string;
}

/** What a string with `${…}` may stand for in declarations, and not here. */
const mayBeFilled: ReadonlySet<string> = new Set(['flag', 'list', 'document']);

/** The item, if it has the form; else undefined, and everything that is wrong with it is reported. */
function checked(reading: PolicyReading, item: Item, form: Form): RawMap | undefined {
  const { complain } = placesOf(reading, item);
  const { raw } = item;
  const wrong = isMap(raw)
    ? [
        ...check(compile(form.schema), form.attributes, raw, form.what),
        ...Object.entries(raw).flatMap(([name, value]) =>
          mayBeFilled.has(form.attributes[name]?.word ?? '') && typeof value === 'string'
            ? [mismatch([name], form.attributes[name]!, value)]
            : [],
        ),
      ]
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

interface WrittenPolicy {
  readonly name: string;
  readonly when: string;
  readonly message: string;
  readonly severity?: 'error' | 'warning';
  readonly allow?: boolean;
}

function policyOf(reading: PolicyReading, item: Item): ProjectPolicy | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema was applied
  const written = checked(reading, item, {
    attributes: policyAttributes,
    schema: policySchema(),
    what: 'a policy',
  }) as WrittenPolicy | undefined;
  if (!written) return undefined;
  const { complain, origin } = placesOf(reading, item);
  const { name, severity = 'error', allow = true } = written;
  if (!NAME_OF_RULE.test(name))
    return void complain(['name'], {
      code: 'bad-name',
      summary: `\`${name}\` is no name of a policy`,
      detail: 'A name has lower-case letters, digits and single hyphens, as in no-friday-deletes.',
    });
  const compiled = compiledPolicy(written);
  if ('violations' in compiled) return { ...compiled, name, severity, allow, origin: origin([]) };
  for (const { field, summary, ...rest } of compiled)
    complain([field], { code: 'policy', summary: `${name}: \`${field}\`: ${summary}`, ...rest });
  return undefined;
}

function isNameFree(
  reading: PolicyReading,
  item: Item,
  name: string,
  {
    taken,
    policies,
  }: { readonly taken: readonly string[]; readonly policies: ReadonlyMap<string, ProjectPolicy> },
): boolean {
  const other = policies.get(name)?.origin;
  if (!taken.includes(name) && !other) return true;
  placesOf(reading, item).complain(['name'], {
    code: 'duplicate-policy',
    summary: other
      ? `the policy \`${name}\` is in ${other.file}:${other.line} already`
      : `\`${name}\` is a rule of trueup`,
    detail: 'Give this policy another name.',
  });
  return false;
}
