// `templates` and `use`: makes of each use the pieces that its template stands for, with their places in both files.
import {
  NAME,
  cached,
  defined,
  didYouMean,
  mapMembers,
  nameWords,
  type Kinds,
} from '../model/index.js';
import { placeText, type Collected, type Instance, type RawEntry } from './collect.js';
import { expanded, mistakenForEach, type Member } from './for-each.js';
import { substitute, type Scope } from './interpolate.js';
import { joinedKey } from './template-references.js';
import { complain, type ResolveRun } from './resolve-declaration.js';
import type { Parameters, ParametersOf } from './template-parameters.js';
import { found as foundWord, ofExpression, type Violation } from './validation.js';
import { isMap, MOST_BYTES, sizeOf, TOO_LARGE, type Raw, type RawMap } from './yaml/raw-values.js';

interface Template {
  readonly piece: RawEntry;
  readonly objects: readonly RawEntry[];
  readonly uses: readonly RawEntry[];
  /** Undefined after a complaint. */
  readonly parameters: Parameters | undefined;
}

interface Work {
  readonly run: ResolveRun;
  readonly templates: ReadonlyMap<string, Template>;
  /** Addresses, without keys, that an instance of each template holds. */
  readonly addresses: Map<string, ReadonlySet<string>>;
  readonly used: Set<string>;
  instances: number;
}

const MOST_INSTANCES = 25_000;

/** The pieces of all uses; made one after the other, because they may be many. */
export async function templatePieces(
  run: ResolveRun,
  { templates, uses }: Pick<Collected, 'templates' | 'uses'>,
): Promise<Iterable<RawEntry>> {
  if (templates.length === 0 && uses.length === 0) return [];
  const { parametersReader } = await import('./template-parameters.js');
  const parametersOf = parametersReader();
  const all = new Map(
    templates.flatMap((piece) => {
      const template = templateOf(run, piece, parametersOf);
      return template ? [[piece.name, template]] : [];
    }),
  );
  const work: Work = {
    run,
    templates: withoutCircles(run, all),
    addresses: new Map(),
    used: new Set(),
    instances: 0,
  };
  return piecesOf(work, uses);
}

function* piecesOf(work: Work, uses: readonly RawEntry[]): Generator<RawEntry> {
  for (const use of uses) yield* instancesOf(work, use);
  // What could not be read may use any of them.
  if (work.run.unread.length > 0) return;
  for (const [name, { piece }] of work.templates)
    if (!work.used.has(name)) adviseUnused(work.run, piece);
}

function adviseUnused({ report, library }: ResolveRun, { from, name, origin }: RawEntry): void {
  report.add(() => ({
    severity: 'warning',
    code: 'unused-template',
    summary: `no \`use\` names the template \`${name}\``,
    origin,
    frame: library.frame(from, origin),
  }));
}

function templateOf(
  run: ResolveRun,
  piece: RawEntry,
  parametersOf: ParametersOf,
): Template | undefined {
  const say = (violation: Violation): void => complain(run, piece, violation);
  if (!isMap(piece.raw)) {
    const summary = `the template \`${piece.name}\`: a mapping is expected, not ${foundWord(piece.raw)}`;
    return void say({ path: [], code: 'wrong-type', summary });
  }
  const { parameters = {}, use, ...rest } = piece.raw;
  return {
    piece,
    parameters: parametersOf(withFilledDefaults(run, piece, parameters), (violation) =>
      say(ofExpression(violation, piece.raw)),
    ),
    uses: use === undefined ? [] : within(run, piece, 'use', use),
    objects: Object.entries(rest).flatMap(([section, whole]) =>
      run.kinds.has(section)
        ? within(run, piece, section, whole)
        : (say(unknownSection(section, run.kinds)), []),
    ),
  };
}

/** The schema, with variables and expressions in the defaults filled in, as they are in `with`. */
function withFilledDefaults(run: ResolveRun, piece: RawEntry, schema: Raw): Raw {
  const properties = isMap(schema) ? schema['properties'] : undefined;
  if (!isMap(schema) || !isMap(properties)) return schema;
  const filled = (one: Raw, name: string): Raw => {
    if (!isMap(one) || one['default'] === undefined) return one;
    const path = ['parameters', 'properties', name, 'default'];
    const place = {
      path,
      scope: run.scope,
      complain: (violation: Violation) =>
        complain(
          run,
          piece,
          violation.code === 'no-template' ? parameterInDefault(path) : violation,
        ),
    };
    return { ...one, default: substitute(one['default'], undefined, place) };
  };
  return { ...schema, properties: mapMembers(properties, filled) };
}

const parameterInDefault = (path: readonly string[]): Violation => ({
  path,
  code: 'no-template',
  summary: 'a default is the same for every use, so it cannot name a parameter',
  detail:
    'Write the value, or an expression over `var` and `env`. Where the default is used, `${param.…}` may stand in its place.',
});

const unknownSection = (section: string, kinds: Kinds): Violation => {
  const words = ['parameters', 'use', ...kinds.keys()];
  return {
    path: [section],
    code: 'unknown-section',
    summary: `\`${section}\` is not allowed in a template.${didYouMean(section, words)}`,
    detail: `A template holds ${words.join(', ')}.`,
  };
};

/** The named things of a section of a template. */
function within(
  run: ResolveRun,
  piece: RawEntry,
  section: string,
  whole: Raw,
): readonly RawEntry[] {
  if (!isMap(whole)) {
    const summary = `\`${section}\`: a mapping of names is expected, not ${foundWord(whole)}`;
    complain(run, piece, { path: [section], code: 'wrong-type', summary });
    return [];
  }
  return Object.entries(whole).flatMap(([name, raw]) => {
    const at = [...piece.path, section, name];
    if (!NAME.test(name)) {
      const summary = `\`${name.slice(0, 80)}\` is not a valid name`;
      const detail = `A name ${nameWords}`;
      complain(run, piece, { path: [section, name], code: 'bad-name', summary, detail });
      return [];
    }
    const origin = { file: piece.from.file, ...run.library.locate(piece.from, at) };
    return [{ from: piece.from, path: [section, name], at, name, raw, origin }];
  });
}

/** The template that a use names, where that is written as it should be. */
const templateNamed = ({ raw }: RawEntry): string | undefined =>
  isMap(raw) && typeof raw['template'] === 'string' ? raw['template'] : undefined;

const MOST_LEVELS = 32;

/** Without uses that lead back to a template they stand in, or too far: those are complained of. */
function withoutCircles(
  run: ResolveRun,
  templates: ReadonlyMap<string, Template>,
): ReadonlyMap<string, Template> {
  const heights = new Map<string, number>();
  const open: Step[] = [];
  const wrong = new Set<RawEntry>();
  const visit = (name: string): number => {
    const uses = templates.get(name)?.uses ?? [];
    const inner = uses.map((use) => {
      const to = templateNamed(use) ?? '';
      const circle = open.slice(open.findIndex((one) => one.name === to));
      const isCircle = open.some((one) => one.name === to);
      const isDeep = open.length + (heights.get(to) ?? 0) > MOST_LEVELS;
      if (isCircle) refuseCircle(run, circle, use);
      else if (isDeep) refuseDepth(run, use);
      if (!isCircle && !isDeep) return followed(to, use);
      wrong.add(use);
      return 0;
    });
    return 1 + Math.max(0, ...inner);
  };
  const followed = (name: string, use?: RawEntry): number =>
    cached(heights, name, () => {
      open.push({ name, ...defined({ use }) });
      const height = visit(name);
      open.pop();
      return height;
    });
  for (const name of templates.keys()) followed(name);
  return new Map(
    Array.from(templates, ([name, one]) => [
      name,
      { ...one, uses: one.uses.filter((use) => !wrong.has(use)) },
    ]),
  );
}

/** A template, and the use that led to it. */
interface Step {
  readonly name: string;
  readonly use?: RawEntry;
}

function refuseDepth(run: ResolveRun, use: RawEntry): void {
  complain(run, use, {
    path: ['template'],
    code: 'too-deep',
    summary: `templates use one another over more than ${MOST_LEVELS} levels`,
  });
  run.unread.push(() => true);
}

function refuseCircle(run: ResolveRun, circle: readonly Step[], closing: RawEntry): void {
  const names = [...circle, circle[0]!].map(({ name }) => `\`${name}\``);
  const places = circle.slice(1).flatMap(({ use }) => (use ? [placeText(use.origin)] : []));
  complain(run, closing, {
    path: ['template'],
    code: 'template-circle',
    summary: `the template ${names.join(' uses ')}: a circle has no end`,
    detail: `${places.length > 0 ? `The other uses are in ${places.join(', ')}. ` : ''}Remove one of them.`,
  });
  run.unread.push(() => true);
}

interface Use {
  readonly template: Template;
  readonly name: string;
  readonly given: Raw;
  readonly members: readonly (Member | undefined)[];
  readonly scope: Scope;
}

function* instancesOf(work: Work, piece: RawEntry): Generator<RawEntry> {
  const { instance: outer } = piece;
  const prefix = prefixed(piece.name, outer);
  const unknown = (): void => void work.run.unread.push((_, name) => name.startsWith(`${prefix}-`));
  const use = useOf(work, piece);
  if (!use) return unknown();
  const around = outer?.loops ?? [];
  const used = outer?.used ?? { file: piece.from.file, origin: piece.origin };
  const objects = use.template.objects.map((one) => made(one, prefix, used));
  const uses = use.template.uses.map((one) => withPlace(one, used));
  for (const member of use.members) {
    work.instances += 1;
    if (work.instances > MOST_INSTANCES) {
      if (work.instances === MOST_INSTANCES + 1) refuseMany(work.run, piece);
      return;
    }
    const param = parametersFor(work, piece, use, member);
    if (!param) {
      unknown();
      continue;
    }
    const instance: Instance = {
      prefix,
      ...defined({ key: joinedKey(outer?.key, member?.key) }),
      loops: member ? [...around, { key: member.key, origin: piece.origin }] : around,
      param,
      filled: new Map(),
      owns: (kind, name) => addressesIn(work, use.name).has(`${kind}.${name}`),
      used,
    };
    for (const one of objects) yield { ...one, instance };
    for (const one of uses) yield* instancesOf(work, { ...one, instance });
  }
}

const prefixed = (name: string, outer: Instance | undefined): string =>
  outer ? `${outer.prefix}-${name}` : name;

function refuseMany(run: ResolveRun, piece: RawEntry): void {
  complain(run, piece, {
    path: [],
    code: 'too-many',
    summary: `the project uses templates more than ${MOST_INSTANCES} times`,
    detail: 'Split it into several projects.',
  });
  run.unread.push(() => true);
}

const withPlace = (piece: RawEntry, { origin }: Instance['used']): RawEntry => {
  const { file, line, column } = origin;
  return { ...piece, origin: { ...piece.origin, used_at: { file, line, column } } };
};

/** What all instances of a use have in common. */
function made(piece: RawEntry, prefix: string, used: Instance['used']): RawEntry {
  const name = `${prefix}-${piece.name}`;
  return { ...withPlace(piece, used), path: [piece.path[0]!, name], name };
}

/** Undefined after a complaint. */
function useOf({ run, templates, used }: Work, piece: RawEntry): Use | undefined {
  const { instance: outer } = piece;
  const say = (violation: Violation): undefined => void complain(run, piece, violation);
  if (!isMap(piece.raw)) {
    const summary = `\`use.${piece.name}\`: a mapping is expected, not ${foundWord(piece.raw)}`;
    return say({ path: [], code: 'wrong-type', summary, detail: EXAMPLE });
  }
  const { template: named, with: given = {}, for_each: each, ...more } = piece.raw;
  for (const word of Object.keys(more))
    say({
      path: [word],
      code: 'unknown-attribute',
      summary: `\`${word}\` is not a key of a \`use\`.${didYouMean(word, WORDS)}`,
      detail: `Its keys are ${WORDS.join(', ')}.`,
    });
  const known = { template: named, with: given };
  if (each === undefined && mistakenForEach(more, known) !== undefined) return undefined;
  if (typeof named !== 'string')
    return say({
      path: named === undefined ? [] : ['template'],
      code: named === undefined ? 'missing-attribute' : 'wrong-type',
      summary: `\`use.${piece.name}.template\`: the name of a template is expected`,
      detail: EXAMPLE,
    });
  const template = templates.get(named);
  if (!template)
    return say({
      path: ['template'],
      names: ['templates', named],
      code: 'unknown-template',
      summary: `there is no template \`${named.slice(0, 80)}\`.${didYouMean(named, templates.keys())}`,
      detail:
        'Declare it, `templates: { name: { parameters: { … }, accounts: { … } } }`, or name its file as a PATH.',
    });
  used.add(named);
  const scope = outer ? { ...run.scope, instance: outer } : run.scope;
  const members = expanded(each, piece, scope, ({ summary, ...violation }) =>
    say({ ...violation, summary: whoseOf(piece) + summary }),
  );
  return members && { template, name: named, given, members, scope };
}

const WORDS = ['template', 'with', 'for_each'];
const EXAMPLE = 'As in `use: { acme: { template: site, with: { title: Acme } } }`.';

/** What `with` gives, and the defaults; undefined after a complaint. */
function parametersFor(
  { run }: Work,
  piece: RawEntry,
  { template, name, given, scope }: Use,
  member: Member | undefined,
): RawMap | undefined {
  let wrong = false;
  const say = ({ summary, ...violation }: Violation): void => {
    wrong = true;
    complain(run, piece, { ...violation, summary: whoseOf(piece, member) + summary });
  };
  const around: Scope = { ...scope, loops: true, ...defined({ each: member }) };
  const place = { path: ['with'], scope: around };
  const filled = substitute(given, undefined, { ...place, complain: say });
  if (wrong || !template.parameters) return undefined;
  if (!isMap(filled)) {
    const summary = `\`with\`: a mapping of parameters is expected, not ${foundWord(filled)}`;
    return void say({ path: ['with'], code: 'wrong-type', summary });
  }
  if (sizeOf(filled) > MOST_BYTES) {
    const summary = `\`with\` is too large: ${TOO_LARGE}`;
    return void say({ path: ['with'], code: 'too-large', summary });
  }
  const where = `The template \`${name}\` is in ${placeText(template.piece.origin)}.`;
  const param = template.parameters(filled, (violation) => {
    const { detail = '', ...more } = ofExpression(violation, piece.raw);
    say({ ...more, detail: `${detail} ${where}`.trim() });
  });
  return wrong ? undefined : param;
}

/** Begins a complaint about one of several: its name and key are those in the addresses of its objects. */
function whoseOf({ name, instance: outer }: RawEntry, member?: Member): string {
  const key = joinedKey(outer?.key, member?.key);
  if (!outer && key === undefined) return '';
  return `\`use.${prefixed(name, outer)}${key === undefined ? '' : `[${JSON.stringify(key)}]`}\`: `;
}

/** Those of uses inside it as well. */
function addressesIn(work: Work, name: string): ReadonlySet<string> {
  return cached(work.addresses, name, () => {
    const { objects = [], uses = [] } = work.templates.get(name) ?? {};
    const inner = uses.flatMap((use) =>
      [...addressesIn(work, templateNamed(use) ?? '')].map((address) =>
        address.replace('.', `.${use.name}-`),
      ),
    );
    return new Set([...objects.map(({ path }) => path.join('.')), ...inner]);
  });
}
