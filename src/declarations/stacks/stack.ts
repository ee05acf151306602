// Synthesised stacks as desire: each block becomes the piece that a YAML file would hold, and goes the same way from
// there on. What is said of it names the construct, and the line of the program where that is known.
import {
  defined,
  compareText,
  didYouMean,
  equal,
  isObject,
  own,
  type Diagnostic,
  type Json,
  type JsonObject,
  type Kind,
  type Kinds,
  type Origin,
  type Severity,
} from '../../model/index.js';
import type { Piece } from '../collect.js';
import { isMap, type Raw } from '../yaml/raw-values.js';
import { bondsOf, lookupRaw, movedIn, resourceOf, type Bonds } from './blocks.js';
import type { StackRemark, StackFile, StackFiles } from './stack-files.js';
import {
  blockAt,
  isSecret,
  literalValueOf,
  rawValueOf,
  type StackPlace,
  type Stack,
} from './values.js';
import { lineOf } from '../stack-trace.js';
import type { Violation } from '../validation.js';
import { typeIn, type VariableType, type VariableTypes } from './variables.js';

export interface StackBlock {
  readonly pieces: readonly Piece[];
  readonly types: VariableTypes;
  readonly diagnostics: readonly Diagnostic[];
}

interface Work {
  readonly cwd: string;
  readonly kinds: Kinds;
  /** Names of lookups, by the data source that they were. */
  readonly lookups: Map<string, string>;
  readonly types: Map<string, VariableType>;
  /** By section and name: what two stacks say alike is said once. */
  readonly shared: Map<string, Piece>;
  readonly pieces: Piece[];
  readonly diagnostics: Diagnostic[];
}

const PREFIX = 'devicecloud_';

/** @param cwd absolute: files of the program are named from here */
export function desiredOf(
  { stacks, remarks, diagnostics }: StackFiles,
  kinds: Kinds,
  cwd: string,
): StackBlock {
  const work: Work = {
    cwd,
    kinds,
    lookups: new Map(),
    types: new Map(),
    shared: new Map(),
    pieces: [],
    diagnostics: [...diagnostics],
  };
  const types = new Map([...kinds.values()].map((kind) => [PREFIX + kind.singular, kind]));
  const known = new Map<StackFile, Stack>();
  for (const one of stacks) {
    const stack: Stack = {
      name: one.name,
      tree: one.tree,
      kinds: types,
      lookup: (kind, name) => lookupOf(work, one, stack, kind, name),
      found: (lookup) => {
        const raw = work.shared.get(`lookups.${lookup}`)?.raw;
        return [...kinds.values()].find(({ name }) => isMap(raw) && Object.hasOwn(raw, name));
      },
      remote: (name) => remoteOf(one, name, known),
    };
    known.set(one, stack);
  }
  for (const [file, stack] of known) if (file.wanted) takeStack(work, file, stack);
  work.diagnostics.push(...remarks.map((remark) => remarked(work, remark)));
  return {
    pieces: [...work.pieces, ...work.shared.values()],
    types: work.types,
    diagnostics: work.diagnostics,
  };
}

const CROSS = 'cross-stack-reference-input-';

/** The stack whose state a `terraform_remote_state` reads: by the name that the CDK gives it, else by an equal backend. */
function remoteOf(
  from: StackFile,
  name: string,
  known: ReadonlyMap<StackFile, Stack>,
): Stack | undefined {
  const all = [...known].filter(([file]) => file !== from);
  const called = all.find(([file]) => name === CROSS + file.name)?.[1];
  const { backend, config } = blockAt(from.tree, 'data', 'terraform_remote_state', name);
  const alike = ({ tree }: StackFile): boolean =>
    typeof backend === 'string' &&
    equal(own(blockAt(tree, 'terraform', 'backend'), backend), config);
  return called ?? all.find(([file]) => alike(file))?.[1];
}

type Say = (severity: Severity, complaint: Violation, origin?: Origin) => void;

const wholeOf = ({ from, name }: StackFile): Origin => ({
  file: from.file,
  line: 0,
  column: 0,
  path: name,
});

const voiceOf =
  (work: Work, file: StackFile): Say =>
  (severity, { path, code, summary, detail }, origin = wholeOf(file)) =>
    void work.diagnostics.push({
      severity,
      code,
      summary: `${origin.path ?? file.name}: ${summary}`,
      ...defined({ detail }),
      ...(path.length === 0 ? {} : { attribute: path.join('.') }),
      origin,
    });

const pieceOf = (
  { from }: StackFile,
  path: readonly [string, ...string[]],
  raw: Raw,
  origin: Origin,
): Piece => ({
  from,
  path,
  name: path.at(-1) as string,
  raw,
  origin,
  ofStack: true,
});

/**
 * The name of the lookup that a data source becomes when it is first asked for: its own, unless something else has it,
 * as names of data sources are the business of one type in one stack.
 */
function lookupOf(work: Work, file: StackFile, stack: Stack, kind: Kind, name: string): string {
  const type = PREFIX + kind.singular;
  const key = JSON.stringify([file.from.path, type, name]);
  const block = own(blockAt(stack.tree, 'data', type), name);
  const known = work.lookups.get(key);
  if (known !== undefined || !isObject(block)) return known ?? name;
  work.lookups.set(key, name);
  const origin = originOf(work, file, block, `${stack.name}/${type}.${name}`);
  const raw = lookupRaw(kind, block, {
    stack,
    inside: [],
    complain: (complaint) => voiceOf(work, file)('error', complaint, origin),
  });
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name}-${number}`;
    const other = work.shared.get(`lookups.${free}`);
    if (other && !equal(other.raw, raw)) continue;
    if (!other) share(work, pieceOf(file, ['lookups', free], raw, origin));
    work.lookups.set(key, free);
    return free;
  }
}

function takeStack(work: Work, file: StackFile, stack: Stack): void {
  const whole = wholeOf(file);
  const say = voiceOf(work, file);
  const siteOf = (origin: Origin): StackPlace => ({
    stack,
    inside: [],
    complain: (complaint) => say('error', complaint, origin),
  });
  sections(stack, say);
  const bonds = bondsOf(stack, (complaint) => say('error', complaint));
  for (const [name, variable] of Object.entries(blockAt(stack.tree, 'variable'))) {
    const { default: initial, type, validation } = isObject(variable) ? variable : {};
    if (isSecret(variable)) continue;
    if (initial !== undefined)
      share(
        work,
        pieceOf(
          file,
          ['variables', name],
          literalValueOf(initial, ['variable', name, 'default'], siteOf(whole)),
          whole,
        ),
      );
    const shape = typeof type === 'string' ? typeIn(type) : undefined;
    if (shape) work.types.set(name, shape);
    if (validation !== undefined && [validation].flat().length > 0)
      say('warning', {
        path: ['variable', name],
        code: 'unused-validation',
        summary: `the validation of the variable \`${name}\` is not carried out here`,
        detail: 'Check what the program is given in the program.',
      });
  }
  const settings = settingsOf(stack, say, siteOf(whole));
  if (Object.keys(settings).length > 0) share(work, pieceOf(file, ['settings'], settings, whole));
  eachBlock(work, stack, 'data', file, say, (kind, name) => void stack.lookup(kind, name));
  const unbound = new Set(bonds.keys());
  const moved = movedIn(stack);
  const hurried: Origin[] = [];
  eachBlock(work, stack, 'resource', file, say, (kind, name, block, origin) => {
    const key = `${PREFIX}${kind.singular}.${name}`;
    unbound.delete(key);
    if ((block['timeouts'] ?? null) !== null) hurried.push(origin);
    const before = work.diagnostics.length;
    const { raw, depends_on, counted } = resourceOf(
      kind,
      block,
      bonds.get(key) ?? {},
      siteOf(origin),
    );
    // What was complained of is wrong in other ways, too, because of it.
    if (work.diagnostics.length > before) return;
    const recounts = !moved.has(key) && (counted || raw['for_each'] === undefined);
    work.pieces.push({
      ...pieceOf(file, [kind.name, name], raw, origin),
      ...(depends_on.length > 0 && { depends_on }),
      ...(counted && { counted }),
      ...(recounts && { recounts }),
    });
  });
  for (const key of unbound) say('warning', leftOver(key, bonds.get(key) ?? {}));
  const [first, ...others] = hurried;
  if (first) say('warning', untimed(others.length), first);
}

/** One for all of them: it is the same that is to be said. */
function untimed(others: number): Violation {
  const also = others === 0 ? 'is' : `(and of ${others} more of the stack) is`;
  return {
    path: ['timeouts'],
    code: 'unused-timeouts',
    summary: `\`timeouts\` ${also} not used here`,
    detail:
      'Only Terraform keeps them. Here a request without an answer is given up after 30 s, and what became of it is looked for.',
  };
}

function leftOver(key: string, { adopt }: Bonds): Violation {
  const what = adopt === undefined ? 'moved' : 'import';
  return {
    path: [what],
    code: `unused-${what}`,
    summary: `\`${what}\` leads to ${key}, which the stack does not hold, and is left out`,
  };
}

/** What two stacks say alike is one piece; otherwise both are kept, and complained of where names are counted. */
function share({ shared, pieces }: Work, piece: Piece): void {
  const key = piece.path.join('.');
  const first = shared.get(key);
  if (!first) shared.set(key, piece);
  else if (!equal(first.raw, piece.raw)) pieces.push(piece);
}

type Visit = (kind: Kind, name: string, block: JsonObject, origin: Origin) => void;

/** Visits the blocks of our kinds; of the others it says what becomes of them. */
function eachBlock(
  work: Work,
  stack: Stack,
  section: 'resource' | 'data',
  file: StackFile,
  say: Say,
  visit: Visit,
): void {
  for (const [type, blocks] of Object.entries(blockAt(stack.tree, section))) {
    const kind = stack.kinds.get(type);
    for (const [name, block] of Object.entries(isObject(blocks) ? blocks : {})) {
      const origin = originOf(work, file, block, `${stack.name}/${type}.${name}`);
      if (!isObject(block))
        say(
          'error',
          { path: [], code: 'bad-stack', summary: `${type}.${name} is no object` },
          origin,
        );
      else if (kind) visit(kind, name, block, origin);
      else elsewhere(work, section, type, name, stack, say, origin);
    }
  }
}

function elsewhere(
  { kinds }: Work,
  section: string,
  type: string,
  name: string,
  stack: Stack,
  say: Say,
  origin: Origin,
): void {
  if (type === 'terraform_remote_state') return;
  if (!type.startsWith(PREFIX)) {
    const detail = 'It is left as it is; let Terraform carry it out.';
    return say(
      'warning',
      {
        path: [],
        code: 'other-provider',
        summary: `${section} ${type}.${name} belongs to another provider`,
        detail,
      },
      origin,
    );
  }
  if (section === 'data') {
    const detail = `\`trueup get ${type.slice(PREFIX.length)}\` lists records.`;
    return say(
      'warning',
      {
        path: [],
        code: 'unsupported-data',
        summary: `the data source ${type}.${name} is left out: a lookup finds one object of a kind`,
        detail,
      },
      origin,
    );
  }
  const types = [...stack.kinds.keys()];
  const detail = `Types: ${[...kinds.values()].map(({ singular }) => PREFIX + singular).join(', ')}.`;
  say(
    'error',
    {
      path: [],
      code: 'unknown-kind',
      summary: `${type} is no resource type.${didYouMean(type, types)}`,
      detail,
    },
    origin,
  );
}

const silent = new Set([
  '//',
  'resource',
  'data',
  'variable',
  'locals',
  'output',
  'provider',
  'import',
  'moved',
  'terraform',
]);

/** Sections that hold something by name. Read as empty, what they declare would be taken for removed. */
const mappings = ['resource', 'data', 'variable', 'locals', 'output'];

/** Whole sections that have no counterpart here, by name. */
function sections({ tree }: Stack, say: Say): void {
  for (const section of Object.keys(tree).toSorted(compareText)) {
    if (silent.has(section)) continue;
    const detail =
      section === 'removed'
        ? 'Take the object out of the program, or forget it: trueup state rm ADDRESS'
        : 'Take it out of the program, or let Terraform carry out this stack.';
    say('error', {
      path: [section],
      code: 'unsupported-block',
      summary: `\`${section}\` is not supported here`,
      detail,
    });
  }
  for (const section of mappings) {
    const misshapen = [
      own(tree, section),
      ...(section === 'resource' || section === 'data'
        ? Object.values(blockAt(tree, section))
        : []),
    ].some((one) => one !== undefined && !isObject(one));
    if (misshapen)
      say('error', {
        path: [section],
        code: 'bad-stack',
        summary: `\`${section}\` is no mapping of names`,
        detail: 'Synthesise anew: trueup synth',
      });
  }
  const { backend, cloud } = blockAt(tree, 'terraform');
  const [kept] =
    cloud === undefined
      ? Object.keys(isObject(backend) ? backend : {}).filter((name) => name !== 'local')
      : ['cloud'];
  if (kept !== undefined)
    say('info', {
      path: ['terraform'],
      code: 'own-state',
      summary: `the backend \`${kept}\` is Terraform's: trueup keeps a state of its own`,
      detail: 'It is `.trueup/state.json` unless `settings.state` says otherwise.',
    });
}

const credentials = /^(?:(?:mgr|vnd)_api_(?:id|key)|v3_token|(?:iot|flow)_(?:username|password))$/;
const meanwhile: Readonly<Record<string, string>> = {
  v2_url: 'Set TRUEUP_V2_URL.',
  v3_url: 'Set TRUEUP_V3_URL.',
  iot_url: 'Set TRUEUP_IOT_URL.',
  flow_url: 'Set TRUEUP_FLOW_URL.',
  settle_seconds: 'Set TRUEUP_SETTLE_SECONDS.',
  allow: 'Type `--allow RULE`.',
  journal: 'The journal lies beside the state.',
};

/** The provider block: what is a setting of a project becomes one. */
function settingsOf({ tree }: Stack, say: Say, site: StackPlace): Record<string, Raw> {
  const blocks = [blockAt(tree, 'provider')['devicecloud'] ?? []]
    .flat()
    .filter((one): one is JsonObject => isObject(one));
  const settings: Record<string, Raw> = {};
  for (const block of blocks) {
    for (const [name, value] of Object.entries(block))
      if (value !== null && name !== '//') setting(settings, name, value, say, site);
  }
  return settings;
}

function setting(
  settings: Record<string, Raw>,
  name: string,
  value: Json,
  say: Say,
  site: StackPlace,
): void {
  const path = ['provider', name];
  if (name === 'v2_headers' || name === 'roles' || name === 'requests_per_minute')
    settings[name] = rawValueOf(value, path, site);
  else if (name === 'alias')
    say('error', {
      path,
      code: 'unsupported-alias',
      summary: 'a provider with an alias is not supported here',
      detail: 'Plan the stacks of each cloud by themselves, each with its environment.',
    });
  else if (credentials.test(name))
    say('error', {
      path,
      code: 'literal-secret',
      summary: `\`${name}\` cannot stand in a stack`,
      detail: `Credentials come from the environment: TRUEUP_${name.toUpperCase()}.`,
    });
  else
    say('warning', {
      path,
      code: 'unused-setting',
      summary: `\`${name}\` of the provider block is not used here`,
      detail: own(meanwhile, name) ?? 'Only Terraform reads it.',
    });
}

/** The construct's path, and the line of the program where a stack trace tells it. */
function originOf(
  { cwd }: Work,
  { from }: StackFile,
  block: Json | undefined,
  fallback: string,
): Origin {
  const { path, stackTrace } = isObject(block) ? blockAt(block, '//', 'metadata') : {};
  const trace = Array.isArray(stackTrace)
    ? (stackTrace as readonly Json[]).filter((line) => typeof line === 'string')
    : [];
  return {
    file: from.file,
    line: 0,
    column: 0,
    ...lineOf(trace, cwd),
    path: typeof path === 'string' ? path : fallback,
  };
}

const levels: Readonly<Record<string, Severity>> = {
  error: 'error',
  warn: 'warning',
  warning: 'warning',
  info: 'info',
};

function remarked({ cwd }: Work, { path, level, message, trace, from }: StackRemark): Diagnostic {
  const severity = levels[level.slice(level.lastIndexOf('/') + 1)] ?? 'info';
  return {
    severity,
    code: 'program',
    summary: `${path}: ${message}`,
    origin: { file: from.file, line: 0, column: 0, ...lineOf(trace, cwd), path },
  };
}
