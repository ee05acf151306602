// Synthesised stacks as configuration: each block becomes the piece of a YAML file, and is processed like one.
// Diagnostics name the construct, and the line of the program if it is known.
import {
  cached,
  defined,
  compareText,
  didYouMean,
  equal,
  isObject,
  own,
  stringsIn,
  type Diagnostic,
  type Json,
  type JsonObject,
  type Kind,
  type Kinds,
  type Origin,
  type Severity,
} from '../../model/index.js';
import type { RawEntry } from '../collect.js';
import { stackExpressionText } from '../reference-syntax.js';
import { isMap, type Raw } from '../yaml/raw-values.js';
import { lookupRaw, resourceOf } from './blocks.js';
import type { FoundFile } from '../paths.js';
import { movedIn, refactoringOf } from './stack-refactoring.js';
import {
  SYNTHESISE_AGAIN,
  type StackRemark,
  type StackFile,
  type StackFiles,
} from './stack-files.js';
import {
  blockAt,
  isSecret,
  literalValueOf,
  placeBelow,
  rawValueOf,
  type StackExpression,
  type StackPlace,
  type Stack,
} from './values.js';
import { lineOf } from '../stack-trace.js';
import type { Violation } from '../validation.js';
import { typeIn, type VariableType } from './variables.js';

export interface StackBlock {
  readonly pieces: readonly RawEntry[];
  readonly types: ReadonlyMap<string, VariableType>;
  readonly expressions: StackExpressions;
  readonly diagnostics: readonly Diagnostic[];
}

/** What is evaluated once variables are known. */
export interface StackExpressions {
  /** By the number in the text that stands for it. */
  readonly kept: readonly StackExpression[];
  /** Those that expressions may refer to. */
  readonly stacks: readonly Stack[];
}

interface Work {
  readonly cwd: string;
  /** Names of lookups, by the data source that they were. */
  readonly lookups: Map<string, string>;
  readonly types: Map<string, VariableType>;
  /** By section and name: what two stacks say alike is said once. */
  readonly shared: Map<string, RawEntry>;
  readonly pieces: RawEntry[];
  readonly diagnostics: Diagnostic[];
}

/** The work on one stack. */
interface StackWork extends Work {
  readonly file: StackFile;
  readonly stack: Stack;
}

const PREFIX = 'devicecloud_';

/** @param cwd absolute: files of the program are named from here */
export function desiredOf(
  { stacks, remarks, diagnostics }: StackFiles,
  kinds: Kinds,
  cwd: string,
  workspace: string,
): StackBlock {
  const kept: StackExpression[] = [];
  const work: Work = {
    cwd,
    lookups: new Map(),
    types: new Map(),
    shared: new Map(),
    pieces: [],
    diagnostics: [...diagnostics],
  };
  const types = new Map([...kinds.values()].map((kind) => [PREFIX + kind.singular, kind]));
  const known = new Map<StackFile, Stack>();
  for (const file of stacks) {
    const stack: Stack = {
      name: file.name,
      tree: file.tree,
      kinds: types,
      lookup: (kind, name) => lookupOf({ ...work, file, stack }, kind, name),
      found: (lookup) => {
        const raw = work.shared.get(`lookups.${lookup}`)?.raw;
        return [...kinds.values()].find(({ name }) => isMap(raw) && Object.hasOwn(raw, name));
      },
      remote: (name) => remoteOf(file, name, known),
      workspace,
      keep: (expression) => stackExpressionText(kept.push(expression) - 1),
    };
    known.set(file, stack);
  }
  for (const [file, stack] of known) if (file.wanted) takeStack({ ...work, file, stack });
  work.diagnostics.push(...remarks.map((remark) => remarked(work, remark)));
  return {
    pieces: [...work.pieces, ...work.shared.values()],
    types: work.types,
    expressions: { kept, stacks: [...known.values()] },
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

/** A construct's place, with the line of the program if its trace shows it. */
const originAt = (
  { cwd }: Work,
  { file }: FoundFile,
  path: string,
  trace: readonly string[] = [],
): Origin => ({ file, line: 0, column: 0, ...lineOf(trace, cwd), path });

const wholeOf = (work: StackWork): Origin => originAt(work, work.file.from, work.file.name);

function say(
  work: StackWork,
  severity: Severity,
  { path, code, summary, detail }: Violation,
  origin = wholeOf(work),
): void {
  const attribute = path.length === 0 ? undefined : path.join('.');
  work.diagnostics.push({
    severity,
    code,
    summary: `${origin.path}: ${summary}`,
    ...defined({ detail, attribute }),
    origin,
  });
}

const siteOf = (work: StackWork, origin = wholeOf(work)): StackPlace => ({
  stack: work.stack,
  path: [],
  inside: [],
  complain: (complaint) => say(work, 'error', complaint, origin),
});

const pieceOf = (
  { file: { from } }: StackWork,
  path: readonly [string, ...string[]],
  raw: Raw,
  origin: Origin,
): RawEntry => ({ from, path, name: path.at(-1)!, raw, origin, ofStack: true });

/**
 * The name of the lookup that a data source becomes when it is first asked for: its own, unless something else has it,
 * as names of data sources are the business of one type in one stack.
 */
function lookupOf(work: StackWork, kind: Kind, name: string): string {
  const { file, stack, lookups, shared } = work;
  const type = PREFIX + kind.singular;
  const key = JSON.stringify([file.from.path, type, name]);
  const block = own(blockAt(stack.tree, 'data', type), name);
  const known = lookups.get(key);
  if (known !== undefined || !isObject(block)) return known ?? name;
  lookups.set(key, name);
  const origin = originOf(work, block, `${type}.${name}`);
  const raw = lookupRaw(kind, block, siteOf(work, origin));
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name}-${number}`;
    const other = shared.get(`lookups.${free}`);
    if (other && !equal(other.raw, raw)) continue;
    if (!other) share(work, pieceOf(work, ['lookups', free], raw, origin));
    lookups.set(key, free);
    return free;
  }
}

function takeStack(work: StackWork): void {
  const { stack } = work;
  const whole = wholeOf(work);
  sections(work);
  for (const [name, variable] of Object.entries(blockAt(stack.tree, 'variable')))
    if (!isSecret(variable)) takeVariable(work, name, isObject(variable) ? variable : {});
  const settings = settingsOf(work);
  if (Object.keys(settings).length > 0) share(work, pieceOf(work, ['settings'], settings, whole));
  eachBlock(work, 'data', (kind, name) => void stack.lookup(kind, name));
  for (const [index, { section, raw }] of refactoringOf(siteOf(work)).entries())
    work.pieces.push(pieceOf(work, [section, String(index)], raw, whole));
  const moved = movedIn(stack.tree);
  const hurried: Origin[] = [];
  eachBlock(work, 'resource', (kind, name, block, origin) => {
    const key = `${PREFIX}${kind.singular}.${name}`;
    if ((block['timeouts'] ?? null) !== null) hurried.push(origin);
    const before = work.diagnostics.length;
    const site = siteOf(work, origin);
    const { raw, depends_on, counted } = resourceOf(kind, block, site);
    // What was complained of is wrong in other ways, too, because of it.
    if (work.diagnostics.length > before) return;
    const recounts = !moved.has(key) && (counted || raw['for_each'] === undefined);
    work.pieces.push({
      ...pieceOf(work, [kind.name, name], raw, origin),
      ...(depends_on.length > 0 && { depends_on }),
      ...(counted && { counted }),
      ...(recounts && { recounts }),
    });
  });
  const [first, ...others] = hurried;
  if (first) say(work, 'warning', untimed(others.length), first);
}

function takeVariable(
  work: StackWork,
  name: string,
  { default: initial, type, validation }: JsonObject,
): void {
  if (initial !== undefined) {
    const raw = literalValueOf(initial, placeBelow(siteOf(work), 'variable', name, 'default'));
    share(work, pieceOf(work, ['variables', name], raw, wholeOf(work)));
  }
  const shape = typeof type === 'string' ? typeIn(type) : undefined;
  if (shape) work.types.set(name, shape);
  if (validation !== undefined && [validation].flat().length > 0)
    say(work, 'warning', {
      path: ['variable', name],
      code: 'unused-validation',
      summary: `the validation of the variable \`${name}\` is not carried out here`,
      detail: 'Check what the program is given in the program.',
    });
}

/** One for all of them: it is the same that is to be said. */
function untimed(others: number): Violation {
  const also = others === 0 ? 'is' : `(and of ${others} more of the stack) is`;
  return {
    path: ['timeouts'],
    code: 'unused-timeouts',
    summary: `\`timeouts\` ${also} not used here`,
    detail:
      'Only Terraform keeps them. Here a request without a response is given up after 30 s, and its outcome is looked for.',
  };
}

/** Equal declarations of two stacks are one; otherwise both are kept, which is an error where names are counted. */
function share({ shared, pieces }: Work, piece: RawEntry): void {
  const first = cached(shared, piece.path.join('.'), () => piece);
  if (first !== piece && !equal(first.raw, piece.raw)) pieces.push(piece);
}

type Visit = (kind: Kind, name: string, block: JsonObject, origin: Origin) => void;

/** Visits the blocks of our kinds; of the others it says what becomes of them. */
function eachBlock(work: StackWork, section: 'resource' | 'data', visit: Visit): void {
  const { stack } = work;
  for (const [type, blocks] of Object.entries(blockAt(stack.tree, section))) {
    const kind = stack.kinds.get(type);
    for (const [name, block] of Object.entries(isObject(blocks) ? blocks : {})) {
      const address = `${type}.${name}`;
      const origin = originOf(work, block, address);
      if (isObject(block) && kind) visit(kind, name, block, origin);
      else if (isObject(block)) elsewhere(work, section, address, origin);
      else {
        const summary = `${address} is not an object`;
        say(work, 'error', { path: [], code: 'bad-stack', summary }, origin);
      }
    }
  }
}

function elsewhere(
  work: StackWork,
  section: 'resource' | 'data',
  address: string,
  origin: Origin,
): void {
  const tell = (severity: Severity, code: string, summary: string, detail: string): void =>
    say(work, severity, { path: [], code, summary, detail }, origin);
  const types = [...work.stack.kinds.keys()];
  const [type = ''] = address.split('.');
  if (type === 'terraform_remote_state') return;
  if (!type.startsWith(PREFIX))
    tell(
      'warning',
      'other-provider',
      `${section} ${address} belongs to another provider`,
      'It is left as it is; let Terraform carry it out.',
    );
  else if (section === 'data')
    tell(
      'warning',
      'unsupported-data',
      `the data source ${address} is left out: a lookup finds one object of a kind`,
      `\`trueup get ${type.slice(PREFIX.length)}\` lists records.`,
    );
  else
    tell(
      'error',
      'unknown-kind',
      `${type} is not a resource type.${didYouMean(type, types)}`,
      `Types: ${types.join(', ')}.`,
    );
}

/** Sections that hold something by name. Read as empty, what they declare would be taken for removed. */
const mappings = ['resource', 'data', 'variable', 'locals', 'output'];

const silent = new Set(['//', ...mappings, 'provider', 'import', 'moved', 'removed', 'terraform']);

/** Whole sections that have no counterpart here, by name. */
function sections(work: StackWork): void {
  const { tree } = work.stack;
  for (const section of Object.keys(tree).toSorted(compareText)) {
    if (silent.has(section)) continue;
    const detail = 'Take it out of the program, or let Terraform carry out this stack.';
    const summary = `\`${section}\` is not supported here`;
    say(work, 'error', { path: [section], code: 'unsupported-block', summary, detail });
  }
  for (const section of mappings) {
    const isNested = section === 'resource' || section === 'data';
    const inner = isNested ? Object.values(blockAt(tree, section)) : [];
    if ([own(tree, section), ...inner].some((one) => one !== undefined && !isObject(one)))
      say(work, 'error', {
        path: [section],
        code: 'bad-stack',
        summary: `\`${section}\` is not a mapping of names`,
        detail: SYNTHESISE_AGAIN,
      });
  }
  for (const section of ['import', 'moved', 'removed'])
    if ([own(tree, section) ?? []].flat().some((one) => !isObject(one)))
      say(work, 'error', {
        path: [section],
        code: 'bad-stack',
        summary: `\`${section}\` is not a list of blocks`,
        detail: SYNTHESISE_AGAIN,
      });
  const { backend, cloud } = blockAt(tree, 'terraform');
  const backends = Object.keys(isObject(backend) ? backend : {});
  const kept = cloud === undefined ? backends.find((name) => name !== 'local') : 'cloud';
  if (kept !== undefined)
    say(work, 'info', {
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

const ours = ['v2_headers', 'roles', 'requests_per_minute'];

/** The provider block: what is a setting of a project becomes one. */
function settingsOf(work: StackWork): Record<string, Raw> {
  const blocks = [blockAt(work.stack.tree, 'provider')['devicecloud'] ?? []].flat();
  const given = blocks
    .flatMap((block) => (isObject(block) ? Object.entries(block) : []))
    .filter(([name, value]) => value !== null && name !== '//');
  const settings: Record<string, Raw> = {};
  for (const [name, value] of given)
    if (ours.includes(name))
      settings[name] = rawValueOf(value, placeBelow(siteOf(work), 'provider', name));
    else refuseSetting(work, name);
  return settings;
}

function refuseSetting(work: StackWork, name: string): void {
  const path = ['provider', name];
  if (name === 'alias')
    say(work, 'error', {
      path,
      code: 'unsupported-alias',
      summary: 'a provider with an alias is not supported here',
      detail: 'Plan the stacks of each cloud by themselves, each with its environment.',
    });
  else if (credentials.test(name))
    say(work, 'error', {
      path,
      code: 'literal-secret',
      summary: `\`${name}\` is not allowed in a stack`,
      detail: `Credentials come from the environment: TRUEUP_${name.toUpperCase()}.`,
    });
  else
    say(work, 'warning', {
      path,
      code: 'unused-setting',
      summary: `\`${name}\` of the provider block is not used here`,
      detail: own(meanwhile, name) ?? 'Only Terraform reads it.',
    });
}

/** The construct's place; of what no construct made, the block's address. */
function originOf(work: StackWork, block: Json | undefined, address: string): Origin {
  const { path, stackTrace } = isObject(block) ? blockAt(block, '//', 'metadata') : {};
  const name = typeof path === 'string' ? path : `${work.stack.name}/${address}`;
  return originAt(work, work.file.from, name, stringsIn(stackTrace));
}

const levels: Readonly<Record<string, Severity>> = {
  error: 'error',
  warn: 'warning',
  warning: 'warning',
};

function remarked(work: Work, { path, level, message, trace, from }: StackRemark): Diagnostic {
  return {
    severity: levels[level.slice(level.lastIndexOf('/') + 1)] ?? 'info',
    code: 'program',
    summary: `${path}: ${message}`,
    origin: originAt(work, from, path, trace),
  };
}
