// Tells whether a file that PATHs leave out mentions an object. Only names and ids that stand in the file are compared.
// Values depend on the other files, on their order and on the environment, so nothing is evaluated.
import { resolve } from 'node:path';
import {
  tryAddress,
  withoutKey,
  type FindMention,
  type Mention,
  type RemovedObject,
} from '../model/index.js';
import { collect, type Collected, type RawEntry } from './collect.js';
import { reportOf } from './diagnostics-list.js';
import { faultyMentions, type FilesAndKinds } from './faulty-mentions.js';
import { sourceFilesOf } from './file-reader.js';
import {
  holdsId,
  isLiteral,
  isMisspelled,
  mayName,
  refersTo,
  textsIn,
  usesOf,
  textsBelow,
  wordsIn,
} from './mention-texts.js';
import type { FoundFile } from './paths.js';
import { partsOf } from './reference-syntax.js';
import { isMap, type Raw } from './yaml/raw-values.js';

interface Place extends FilesAndKinds {
  /** Absolute. */
  readonly cwd: string;
  /** Whether any file of the project may adopt: otherwise an id in a use of a template is a number like any other. */
  readonly adopts: boolean;
}

/** One reason for which a file mentions an object. */
type Rule = (object: RemovedObject) => Omit<Mention, 'file'> | undefined;

/** @param file relative to the current folder: a YAML file, or a stack (`.tf.json`) */
export async function mentionsIn(place: Place, file: string): Promise<FindMention> {
  const { files, kinds, cwd, adopts } = place;
  const found: FoundFile = { file, path: resolve(cwd, file), named: false };
  const library = sourceFilesOf(files, undefined, new Set());
  const stack = file.endsWith('.tf.json') ? await stackOf(place, found) : undefined;
  const report = reportOf(stack?.diagnostics ?? []);
  const collected = await collect({ library, kinds, report }, stack ? [] : [found], {
    brought: stack?.pieces ?? [],
  });
  const errors = report.all().filter(({ severity }) => severity === 'error');
  // Its top-level keys are those of another program.
  if (errors.some(({ code }) => code === 'no-declarations')) return () => undefined;
  const { declared, templates, uses, blocks, variables } = collected;
  const given = variables.flatMap(({ raw }) => wordsIn(raw));
  const rules: readonly Rule[] = [
    declaredNames(collected),
    ...blocks.map(blockRule),
    ...[...declared, ...templates, ...(adopts ? uses : [])].map((one) => adoptionRule(one, given)),
    ...declared.map(formerName),
    references(collected),
    ...(errors[0] ? [await faultyMentions(place, library, { found, error: errors[0] })] : []),
  ];
  return (object) => {
    for (const rule of rules) {
      const mention = rule(object);
      if (mention) return { ...mention, file };
    }
    return undefined;
  };
}

async function stackOf({ files, kinds, cwd }: Place, found: FoundFile) {
  const { desiredOf } = await import('./stacks/stack.js');
  const { readStacks } = await import('./stacks/stack-files.js');
  const read = await readStacks(files, [{ ...found, is: 'file' }], undefined);
  return desiredOf(read, kinds, cwd, 'default');
}

/** A declared name mentions all members of its `for_each`; a use of a template, all names that begin with its own. */
function declaredNames({ declared, uses }: Collected): Rule {
  const origins = new Map(
    [...declared, ...uses].map(({ path, origin }) => [path.join('.'), origin] as const),
  );
  return ({ addresses }) => {
    const declares = addresses.flatMap((one) => origins.get(withoutKey(one)) ?? [])[0];
    if (declares) return { origin: declares, why: 'declares it' };
    const use = addresses.flatMap(usesOf).find((name) => origins.has(`use.${name}`));
    if (use === undefined) return undefined;
    return {
      origin: origins.get(`use.${use}`)!,
      why: `uses a template under the name ${use}, and may declare it`,
    };
  };
}

/** References and `depends_on`: without the object, they are errors. */
function references({ declared, templates, uses, lookups, expectations }: Collected): Rule {
  const pieces = [...declared, ...templates, ...uses, ...lookups, ...expectations];
  const texts = pieces.map(({ path, raw, depends_on = [], origin }) => ({
    text: [...expressionsIn(raw), ...textsBelow(raw, 'depends_on'), ...depends_on].join('\n'),
    // In a template, a name that the template declares means the object of the template.
    isOfTemplate: (name: string): boolean => {
      const [kind = '', ...rest] = name.split('.');
      const names = path[0] === 'templates' && isMap(raw) ? raw[kind] : undefined;
      return isMap(names) && Object.hasOwn(names, rest.join('.'));
    },
    origin,
  }));
  return ({ addresses }) => {
    const found = texts.find(({ text, isOfTemplate }) =>
      addresses.some((one) => !isOfTemplate(withoutKey(one)) && refersTo(text, one)),
    );
    return found && { origin: found.origin, why: 'refers to it' };
  };
}

const expressionsIn = (raw: Raw): readonly string[] =>
  textsIn(raw).flatMap((text) =>
    partsOf(text).flatMap((part) => (typeof part === 'string' ? [] : part.text)),
  );

/** A block of `moved`, `removed` or `import`. */
function blockRule({ path: [section = ''], raw, origin }: RawEntry): Rule {
  const block = isMap(raw) ? raw : undefined;
  const { lifecycle, ...named } = block ?? { from: raw };
  // It removes the object, too.
  const isRemoval =
    section === 'removed' &&
    Object.keys(named).join() === 'from' &&
    ['{}', '{"destroy":true}'].includes(JSON.stringify(lifecycle ?? {}));
  if (block && isRemoval) return () => undefined;
  const isImport = section === 'import';
  // The target of an import is declared, too.
  const texts = textsIn(named).filter((text) => !isImport || isLiteral(text));
  const kind = typeof named['to'] === 'string' ? tryAddress(named['to'])?.kind : undefined;
  const mayBeKind = (one: string): boolean => kind === one || isMisspelled(kind, one);
  const ids = isImport && block ? wordsIn(block) : [];
  const names = texts.every(isLiteral) ? 'names' : 'may name';
  const why = `holds ${isImport ? 'an' : 'a'} ${section} block that ${names} it`;
  const isNamed = (object: RemovedObject): boolean =>
    block
      ? texts.some((text) => mayName(text, object))
      : texts.some((text) => object.addresses.some((one) => refersTo(text, one)));
  return (object) =>
    isNamed(object) || (mayBeKind(object.kind) && holdsId(ids, object.id))
      ? { origin, why }
      : undefined;
}

/**
 * `lifecycle.adopt` of the id of the object, and uses of templates, which may adopt an id that they are given. No plan
 * adopts an id that the state holds at another address, so only ids that stand in the file are looked for.
 * @param given the values of its variables
 */
function adoptionRule({ path: [section], raw, origin }: RawEntry, given: readonly string[]): Rule {
  const adopted = textsBelow(raw, 'adopt');
  const isTemplate = section === 'templates';
  const uses = isTemplate && isMap(raw) ? wordsIn(raw['use']) : [];
  const isLiteralAlone = section !== 'use' && adopted.every(isLiteral);
  const ids = isLiteralAlone ? [...adopted, ...uses] : [...wordsIn(raw), ...given];
  const ofAnyKind = isTemplate || section === 'use';
  return ({ kind, id }) =>
    (ofAnyKind || section === kind) && holdsId(ids, id)
      ? { origin, why: 'may adopt the same object' }
      : undefined;
}

/** `lifecycle.renamed_from` of a declaration. In a template, it is a name of the template. */
function formerName({ path: [kind = ''], raw, origin }: RawEntry): Rule {
  const former = textsBelow(raw, 'renamed_from');
  const why = `${former.every(isLiteral) ? 'declares' : 'may declare'} it under another name`;
  return (object) =>
    object.kind === kind && former.some((text) => mayName(`${kind}.${text}`, object))
      ? { origin, why }
      : undefined;
}
