// What a file says, or may say, of a recorded object. Names stand in its text; values depend on the files that it is read
// with, on their order and on the environment, so they are not asked for: an expression may mean any text.
import { resolve } from 'node:path';
import {
  canonicalAddress,
  isList,
  nearest,
  tryAddress,
  withoutKey,
  type Diagnostic,
  type Kinds,
  type Mention,
  type MentionedObject,
  type OutsideFiles,
} from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import { collect, type Collected, type RawEntry } from './collect.js';
import { reportOf } from './diagnostics-list.js';
import { sourceFilesOf, type SourceFiles } from './file-reader.js';
import { findFiles, type FoundFile } from './paths.js';
import { literalOf, partsOf, type Part } from './reference-syntax.js';
import { blocks } from './vocabulary.js';
import { isMap, type Raw, type RawDocument } from './yaml/raw-values.js';

interface Place {
  readonly files: DeclarationFiles;
  readonly kinds: Kinds;
  /** Absolute. */
  readonly cwd: string;
  /** What templates of PATHs adopt. */
  readonly adopted: readonly Adopted[];
}

interface Adopted {
  readonly template: string;
  readonly kind: string;
  /** An id, or an expression that may be one. */
  readonly id: string;
}

/** What is said of an object; undefined if nothing is. */
type Find = (object: MentionedObject) => Omit<Mention, 'file'> | undefined;

const nothing: Find = () => undefined;

/** @param file relative to the current folder: a YAML file, or a stack (`.tf.json`) */
export async function mentionsIn(place: Place, file: string): Promise<OutsideFiles> {
  const { files, kinds, cwd } = place;
  const found: FoundFile = { file, path: resolve(cwd, file), named: false };
  const library = sourceFilesOf(files, undefined, new Set());
  const stack = file.endsWith('.tf.json') ? await stackOf(place, found) : undefined;
  const report = reportOf(stack?.diagnostics ?? []);
  const collected = await collect({ library, kinds, report }, stack ? [] : [found], {
    brought: stack?.pieces ?? [],
  });
  const errors = report.all().filter(({ severity }) => severity === 'error');
  // No top-level key of it is one of trueup.
  if (errors.some(({ code }) => code === 'no-declarations')) return () => undefined;
  const finds = [
    ownNames(collected),
    ...collected.blocks.map(blockFinds),
    ...lifecycleFinds(place, collected),
    references(collected),
    ...(errors[0] ? [await faultyFinds(place, library, { found, error: errors[0] })] : []),
  ];
  return (object) =>
    finds.flatMap((find) => find(object) ?? []).map((one) => ({ ...one, file }))[0];
}

/** What templates of PATHs adopt. */
export async function adoptedByTemplates(
  { files, kinds, cwd }: Omit<Place, 'adopted'>,
  paths: readonly string[],
): Promise<readonly Adopted[]> {
  const library = sourceFilesOf(files, undefined, new Set());
  const found = findFiles(files, cwd, paths, undefined).files;
  const { templates } = await collect({ library, kinds, report: reportOf([]) }, found);
  return templates.flatMap(({ name: template, raw }) =>
    Object.entries<Raw>(isMap(raw) ? raw : {}).flatMap(([kind, names]) =>
      valuesOf(names, 'adopt').map((id) => ({ template, kind, id })),
    ),
  );
}

async function stackOf({ files, kinds, cwd }: Place, found: FoundFile) {
  const { desiredOf } = await import('./stacks/stack.js');
  const { readStacks } = await import('./stacks/stack-files.js');
  const read = await readStacks(files, [{ ...found, is: 'file' }], undefined);
  return desiredOf(read, kinds, cwd, 'default');
}

/** Declared names, with all members, and names of uses of templates, with which the names of their objects begin. */
function ownNames({ declared, uses }: Collected): Find {
  const origins = new Map(
    [...declared, ...uses].map(({ path, origin }) => [path.join('.'), origin] as const),
  );
  return ({ addresses }) => {
    const names = addresses.map(withoutKey);
    const declares = names.flatMap((name) => origins.get(name) ?? [])[0];
    if (declares) return { origin: declares, why: 'declares it' };
    const use = names.flatMap(beginningsOf).find((name) => origins.has(`use.${name}`));
    if (use === undefined) return undefined;
    return {
      origin: origins.get(`use.${use}`)!,
      why: `uses a template under the name ${use}, and may declare it`,
    };
  };
}

/** Expressions with an object, and `depends_on`: without it, they are errors. */
function references({ declared, templates, uses, lookups, expectations }: Collected): Find {
  const pieces = [...declared, ...templates, ...uses, ...lookups, ...expectations];
  const texts = pieces.map(({ path, raw, depends_on = [], origin }) => ({
    text: [...expressionsIn(raw), ...valuesOf(raw, 'depends_on'), ...depends_on].join('\n'),
    // What a template refers to is its own, if it has that name.
    isOwn: (name: string): boolean => {
      const [kind = '', ...rest] = name.split('.');
      const names = path[0] === 'templates' && isMap(raw) ? raw[kind] : undefined;
      return isMap(names) && Object.hasOwn(names, rest.join('.'));
    },
    origin,
  }));
  return ({ addresses }) => {
    const found = texts.find(({ text, isOwn }) =>
      addresses.some((one) => !isOwn(withoutKey(one)) && refersTo(text, one)),
    );
    return found && { origin: found.origin, why: 'refers to it' };
  };
}

/** The expressions in all texts of a value. */
const expressionsIn = (raw: Raw): readonly string[] =>
  textsIn(raw).flatMap((text) =>
    partsOf(text).flatMap((part) => (typeof part === 'string' ? [] : part.text)),
  );

/** Whether a text holds an address, or the name of its `for_each`. A member whose key is an expression is another one. */
function refersTo(text: string, address: string): boolean {
  const name = withoutKey(address);
  if (!text.includes(name)) return false;
  const holders = text.matchAll(new RegExp(`(?<![\\w.-])${name}(?![\\w-])(\\[[^\\]]*\\])?`, 'g'));
  return [...holders].some(
    ([, index]) => index === undefined || canonicalAddress(name + index) === address,
  );
}

/** `a-b` and `a`, for `accounts.a-b-c`. */
function beginningsOf(address: string): readonly string[] {
  const name = nameOf(address);
  return [...name.matchAll(/-/g)].map(({ index }) => name.slice(0, index));
}

const nameOf = (address: string): string => withoutKey(address).replace(/^.*?\./, '');

/** Whether a text is a value, or may be one once its expressions are filled in. */
const mayBe = (text: string, value: string): boolean => mayMake(partsOf(text), value);

function mayMake(parts: readonly Part[], value: string): boolean {
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (parts.length < 2 && typeof first === 'string') return first === value;
  return (
    (typeof first !== 'string' || value.startsWith(first)) &&
    (typeof last !== 'string' || value.endsWith(last))
  );
}

/** Whether a text is an id, or the path of the object, or may be one. */
function mayBeId(text: string, id: string): boolean {
  const parts = partsOf(text.replace(/\/$/, ''));
  const at = parts.findLastIndex((part) => typeof part === 'string' && part.includes('/'));
  const before = parts[at];
  const step = typeof before === 'string' ? before.slice(before.lastIndexOf('/') + 1) : '';
  return mayMake([...(step === '' ? [] : [step]), ...parts.slice(at + 1)], id);
}

const isFixed = (text: string): boolean => literalOf(text) !== undefined;

/** Whether a text names an object, or the whole `for_each` that it is of. */
const mayName = (text: string, { addresses }: MentionedObject): boolean =>
  [...addresses, ...addresses.map(withoutKey)].some((one) => mayBe(canonicalAddress(text), one));

/** All texts and numbers in a value. */
function textsIn(raw: Raw | undefined): readonly string[] {
  if (isList(raw)) return raw.flatMap(textsIn);
  if (isMap(raw)) return Object.values(raw).flatMap(textsIn);
  return raw === undefined || raw === null ? [] : [String(raw)];
}

/** A text, or all that is in its place, or in the whole block, where it is none. */
const textOr = (raw: Raw | undefined, block: Raw): readonly string[] =>
  typeof raw === 'string' || typeof raw === 'number' ? [String(raw)] : textsIn(block);

function blockFinds({ path: [section = ''], raw, origin }: RawEntry): Find {
  const whyOf = (texts: readonly string[]): string =>
    `holds ${section === 'import' ? 'an' : 'a'} ${section} block that ${texts.every(isFixed) ? 'names' : 'may name'} it`;
  if (!isMap(raw)) {
    const [texts, why] = [textsIn(raw), whyOf([])];
    return ({ addresses }) =>
      texts.some((text) => addresses.some((one) => refersTo(text, one)))
        ? { origin, why }
        : undefined;
  }
  const { from, to, id, lifecycle } = raw;
  // Without a declaration there, a block with this target is an error.
  const [target] = textOr(to, []);
  const isTarget = (object: MentionedObject): boolean =>
    target !== undefined && isFixed(target) && mayName(target, object);
  if (section === 'import') {
    const ids = textOr(id, raw);
    const kind = target === undefined ? undefined : tryAddress(target)?.kind;
    const isImported = (object: MentionedObject): boolean =>
      (kind ?? object.kind) === object.kind && isTaken(ids, target, object);
    const why = whyOf(ids);
    return (object) => (isTarget(object) || isImported(object) ? { origin, why } : undefined);
  }
  // It removes the object, too.
  const isRemoval =
    section === 'removed' &&
    ((isMap(lifecycle) && lifecycle['destroy'] === true && Object.keys(lifecycle).length === 1) ||
      Object.keys(raw).join() === 'from');
  if (isRemoval) return nothing;
  const texts = textOr(from, raw);
  const why = whyOf(texts);
  // A text that is not an address may be meant as one.
  const words = new Set(
    texts.some((text) => isFixed(text) && !tryAddress(text))
      ? texts.join(' ').match(/[\w-]+/g)
      : [],
  );
  return (object) =>
    isTarget(object) ||
    texts.some((text) => mayName(text, object)) ||
    object.addresses.some((one) => words.has(nameOf(one)))
      ? { origin, why }
      : undefined;
}

/** Whether an address takes an object over by its id. One that holds an object already takes none whose id is an expression. */
const isTaken = (
  ids: readonly string[],
  by: string | undefined,
  { id, recorded }: MentionedObject,
): boolean =>
  ids.some((one) => mayBeId(one, id) && (isFixed(one) || by === undefined || !recorded.has(by)));

/** What declarations and templates say with `lifecycle.renamed_from` and `lifecycle.adopt`. */
function lifecycleFinds(
  { kinds, adopted }: Place,
  { declared, templates, uses }: Collected,
): readonly Find[] {
  const adopts = { why: 'may adopt the same object' };
  const ofTemplates = templates.flatMap(({ raw, origin }) =>
    Object.entries(isMap(raw) ? raw : {}).flatMap(([kind, names]) => {
      const ids = kinds.has(kind) ? valuesOf(names, 'adopt') : [];
      // A former name there is one of the template: those of its objects begin with the name of the use.
      return (object: MentionedObject) =>
        object.kind === kind && isTaken(ids, undefined, object) ? { origin, ...adopts } : undefined;
    }),
  );
  const inTemplates = templates.flatMap(({ raw, origin }) =>
    Object.values(isMap(raw) && isMap(raw['use']) ? raw['use'] : {}).map((one) => ({
      name: undefined,
      raw: one,
      origin,
    })),
  );
  const ofUses = [...uses, ...inTemplates].map(({ name, raw, origin }): Find => {
    const given = [...textsIn(raw), ...keysIn(raw)];
    const [template] = textOr(isMap(raw) ? raw['template'] : undefined, []);
    const theirs = adopted.filter((one) => mayBe(template ?? '', one.template));
    const by = isMap(raw) && 'for_each' in raw ? undefined : name;
    return ({ kind, id, recorded }) => {
      // What it made holds objects of its own, unless it names others.
      const isMade =
        by !== undefined && [...recorded].some((one) => one.startsWith(`${kind}.${by}-`));
      const mayGive = !isMade || given.some((text) => isFixed(text) && mayBeId(text, id));
      const isAdopted = theirs.some(
        (one) => one.kind === kind && (isFixed(one.id) ? mayBeId(one.id, id) : mayGive),
      );
      return isAdopted ? { origin, ...adopts } : undefined;
    };
  });
  const own = declared.map(({ path, raw, origin }): Find => {
    const [kind = ''] = path;
    // A member that holds no object may take it over.
    const by = isMap(raw) && 'for_each' in raw ? undefined : path.join('.');
    const [ids, former] = [valuesOf(raw, 'adopt'), valuesOf(raw, 'renamed_from')];
    if (ids.length + former.length === 0) return nothing;
    const why = `${former.every(isFixed) ? 'declares' : 'may declare'} it under another name`;
    const isFormer = (object: MentionedObject): boolean =>
      former.some(
        (text) =>
          mayName(`${kind}.${text}`, object) &&
          (isFixed(text) || by === undefined || !object.recorded.has(by)),
      );
    return (object) => {
      if (object.kind !== kind) return undefined;
      if (isTaken(ids, by, object)) return { origin, ...adopts };
      return isFormer(object) ? { origin, why } : undefined;
    };
  });
  return [...own, ...ofTemplates, ...ofUses];
}

/** The texts of a key, or of one that is meant for it, at any depth. */
function valuesOf(raw: Raw, key: string): readonly string[] {
  if (isList(raw)) return raw.flatMap((one) => valuesOf(one, key));
  if (!isMap(raw)) return [];
  return Object.entries<Raw>(raw).flatMap(([name, value]) =>
    nearest(name, [key]) === undefined ? valuesOf(value, key) : textsIn(value),
  );
}

/** What can be told of a file with an error. */
interface Traces {
  /** Whether something with a name may be declared. */
  readonly declares: (name: string) => boolean;
  /** Whether an address, or an expression that may be one, is in it. */
  readonly names: (object: MentionedObject) => boolean;
  readonly holds: (text: string) => boolean;
}

/** A file with an error may say anything of an object whose name or id is in it. */
async function faultyFinds(
  { files, kinds }: Place,
  library: SourceFiles,
  { found, error: { origin, summary } }: { readonly found: FoundFile; readonly error: Diagnostic },
): Promise<Find> {
  const mention: ReturnType<Find> = {
    origin: origin ?? { file: found.file, line: 1, column: 1 },
    why: `has an error, and may declare it: ${summary}`,
    isFaulty: true,
  };
  const reading = await library.read(found);
  const isText = 'faults' in reading || found.file.endsWith('.tf.json');
  const text = isText ? wholeText(files, found) : '';
  // Letters may be written otherwise.
  if (text === undefined || /\\[uUx]|[\0\uFFFD]/.test(text)) return () => mention;
  const traces = isText ? tracesInText(kinds, text) : tracesIn(reading.documents);
  const adopts = ['adopt', 'import'].some(traces.holds);
  return (object) => {
    const names = object.addresses.flatMap((one) => [nameOf(one), ...beginningsOf(one)]);
    const isMentioned =
      names.some(traces.declares) || traces.names(object) || (adopts && traces.holds(object.id));
    return isMentioned ? mention : undefined;
  };
}

/** Files of other programs, such as lock files, are larger than those of trueup. */
const LONGEST = 64 * 1024 * 1024;

/** Undefined where it cannot be read. */
function wholeText(files: DeclarationFiles, { path }: FoundFile): string | undefined {
  try {
    if (files.stat(path)?.kind !== 'file') return undefined;
    const bytes = files.read(path, LONGEST);
    return bytes.length < LONGEST ? new TextDecoder().decode(bytes) : undefined;
  } catch {
    return undefined;
  }
}

/** Sections in which nothing is declared. */
const VALUES: ReadonlySet<string> = new Set(['settings', 'variables']);

function tracesIn(documents: readonly RawDocument[]): Traces {
  const sections = documents.flatMap(({ root }) => (isMap(root) ? Object.entries<Raw>(root) : []));
  const declared = new Set(
    sections.flatMap(([key, value]) => (VALUES.has(key) ? [] : blockKeys(value))),
  );
  const texts = new Set(documents.flatMap(({ root }) => [...keysIn(root), ...textsIn(root)]));
  const [former = [], adopted = []] = ['renamed_from', 'adopt'].map((key) =>
    documents.flatMap(({ root }) => valuesOf(root, key)),
  );
  return {
    declares: (name) => declared.has(name),
    names: (object) =>
      [...texts].some(
        (text) =>
          (text.startsWith(`${object.kind}.`) && mayName(text, object)) ||
          object.addresses.some((one) => refersTo(text, one)),
      ) ||
      former.some((text) => mayName(`${object.kind}.${text}`, object)) ||
      adopted.some((text) => mayBeId(text, object.id)),
    holds: (text) => texts.has(text),
  };
}

/** All keys in a value. */
const keysIn = (raw: Raw): readonly string[] =>
  isMap(raw) || isList(raw)
    ? [...(isMap(raw) ? Object.keys(raw) : []), ...Object.values<Raw>(raw).flatMap(keysIn)]
    : [];

/** The keys in a value that hold mappings, as those of declarations do, or nothing yet. */
const blockKeys = (raw: Raw): readonly string[] =>
  isMap(raw) || isList(raw)
    ? Object.entries<Raw>(raw).flatMap(([key, value]) => [
        ...(isMap(raw) && (isMap(value) || value === null) ? [key] : []),
        ...blockKeys(value),
      ])
    : [];

/** What may name an object with an expression. */
const REFACTORING = [...Object.keys(blocks), 'renamed_from', 'adopt'];

/** Of a text that is no YAML, too long for that, or a stack. */
function tracesInText(kinds: Kinds, text: string): Traces {
  const words = new Set(text.match(/[\w-]+/g));
  const sections = [...kinds.keys(), 'templates', 'use', ...Object.keys(blocks)].join('|');
  const isOurs =
    text.includes('devicecloud_') ||
    new RegExp(`(?:^|[{,])[ \\t]{0,99}["']?(?:${sections})["']?[ \\t]{0,99}:`, 'm').test(text);
  return {
    declares: (name) => isOurs && words.has(name),
    names: () => isOurs && text.includes('${') && REFACTORING.some((word) => words.has(word)),
    holds: (word) => isOurs && words.has(word),
  };
}
