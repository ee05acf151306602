// Turns one piece of a file into declarations: unfolds `for_each`, fills in variables, checks the shape, makes
// references and secrets. A wrong piece gives only diagnostics.
import {
  addressMistyped,
  asCondition,
  cached,
  defined,
  NAME,
  didYouMean,
  durationWords,
  formatAddress,
  namedId,
  notAnId,
  isList,
  isOwnCredential,
  isTree,
  normalAll,
  object,
  tryAddress,
  walk,
  type Attributes,
  type Collections,
  type Declaration,
  type Diagnostic,
  type Kind,
  type Kinds,
  type Lifecycle,
  type Lookup,
  type Origin,
  tryDuration,
  type Settings,
  type Value,
  type Values,
} from '../model/index.js';
import { roleLadder } from '../resources/role-ladder.js';
import { placeText, type MayHold, type RawEntry } from './collect.js';
import { ENV_NAME } from './reference-syntax.js';
import { expanded, mistakenForEach, notForEach, type Member } from './for-each.js';
import {
  build,
  converted,
  substitute,
  type InterpolationContext,
  type Scope,
} from './interpolate.js';
import { joinedKey } from './template-references.js';
import { errorAt, type Reporting } from './diagnostics-list.js';
import { ownCredential, type SecretSource } from './secret-source.js';
import { isMap, type Raw } from './yaml/raw-values.js';
import {
  check,
  found,
  ofExpression,
  rawValueAt,
  textAt,
  type Complain,
  type Violation,
  type Validators,
} from './validation.js';
import type { Validator } from './validator.js';
import { declarationBodyOf, isBlockSection, settings as settingsAttribute } from './vocabulary.js';

export interface ResolveRun extends Reporting {
  readonly kinds: Kinds;
  readonly collections: Collections;
  readonly validators: Validators;
  /** Complaints made already, so that the members of a `for_each` do not repeat one another. */
  readonly said: Set<string>;
  readonly scope: Scope;
  readonly lookups: InterpolationContext['lookups'];
  readonly secret: SecretSource;
  /** Filled while loading. */
  readonly forms: Map<string, DeclarationForm>;
  readonly unread: MayHold[];
  /** Declarations with errors, which cannot be planned: for checks that look at nothing but references. */
  readonly unusable: Declaration[];
}

/** Records a complaint, with its place and the lines around it. */
export function complain(
  run: ResolveRun,
  piece: RawEntry,
  { path, code, summary, detail, names, within, frame }: Violation,
  address?: string,
): void {
  if (names && run.unread.some((mayHold) => mayHold(...names))) return;
  const full = [...(piece.at ?? piece.path), ...path];
  const place = [piece.from.file, piece.origin.line, full, code];
  const key = JSON.stringify([...place, summary, ...whatDecides(piece, path, address)]);
  if (run.said.has(key)) return;
  run.said.add(key);
  run.report.add(() => {
    const origin = originAt(run, piece, full, within);
    const attribute = path.length === 0 ? undefined : path.join('.');
    return {
      severity: 'error',
      code,
      summary,
      ...defined({ detail, address, attribute }),
      origin,
      ...(origin.path === undefined && { frame: frame ?? run.library.frame(piece.from, origin) }),
    };
  }, JSON.stringify(place));
}

/** A text with an expression that reads the member of a `for_each`, or may do so. */
const READS_MEMBER = /\$\{[^}]*\beach\b|\uE000/;

/** The use of a template, and the member of a `for_each`, whose values may decide what is wrong. What stands there as it is, is wrong once. */
function whatDecides(
  { instance, raw }: RawEntry,
  path: readonly string[],
  address: string | undefined,
): readonly (string | undefined)[] {
  const text = textAt(raw, path) ?? '';
  if (!text.includes('${')) return [];
  return [instance?.prefix, instance?.key, READS_MEMBER.test(text) ? address : undefined];
}

/** The place of a declaration that a program made is its construct; that of a block is its beginning: several documents of a file may hold lists of blocks. */
function originAt(
  { library }: Pick<ResolveRun, 'library'>,
  { from, origin }: Pick<RawEntry, 'from' | 'origin'>,
  path: readonly string[],
  within?: Violation['within'],
): Origin {
  return origin.path === undefined && !isBlockSection(path[0])
    ? {
        file: from.file,
        ...library.locate(from, path, within),
        ...defined({ used_at: origin.used_at }),
      }
    : origin;
}

/** How a tree of attributes is read. */
export interface DeclarationForm {
  readonly attributes: Attributes;
  readonly validator: Validator;
  /** Its name in complaints. */
  readonly what: string;
  /** Whether references to other objects may stand at a path; absent where they may stand nowhere. */
  readonly references?: InterpolationContext['references'];
}

/** Fills in, checks and converts; undefined after a complaint. @param inside steps to what is read of the piece */
export function read(
  run: ResolveRun,
  piece: RawEntry,
  form: DeclarationForm,
  inside: readonly string[] = [],
): Values | undefined {
  const { values, wrong } = tryRead(run, piece, form, (complaint) =>
    complain(run, piece, { ...complaint, path: [...inside, ...complaint.path] }),
  );
  return wrong ? undefined : values;
}

/** Whatever could be made of it, and whether there was a complaint. */
function tryRead(
  run: ResolveRun,
  { raw, ofStack }: RawEntry,
  form: DeclarationForm,
  tell: Complain,
): { readonly values: Values; readonly wrong: boolean } {
  let wrong = false;
  const say: Complain = (complaint) => {
    wrong = true;
    tell(complaint);
  };
  const root = object('', form.attributes);
  const given = substitute(raw, root, { path: [], scope: run.scope, complain: say });
  const filled = ofStack ? converted(given, root) : given;
  const complaints = check(form.validator, form.attributes, filled, form.what);
  for (const complaint of complaints) say(ofExpression(complaint, raw));
  // The value of an attribute that is to be removed does not matter.
  const removed = complaints.flatMap(({ code, path }) =>
    code === 'computed-attribute' ? [path] : [],
  );
  const isRemoved = ({ path }: Violation): boolean =>
    removed.some((one) => one.every((step, index) => path[index] === step));
  const values = build(filled, root, {
    kinds: run.kinds,
    lookups: run.lookups,
    references: form.references ?? (() => false),
    secret: run.secret,
    path: [],
    complain: (complaint) => isRemoved(complaint) || say(complaint),
  });
  return isTree(values) ? { values, wrong } : { values: {}, wrong: true };
}

/** @param ofTenant of a fleet, whose file says some of it */
export function settingsOf(run: ResolveRun, piece: RawEntry, ofTenant: boolean): Partial<Settings> {
  const form: DeclarationForm = {
    attributes: settingsAttribute.attributes,
    validator: run.validators.settings,
    what: 'settings',
  };
  const whole = read(run, { ...piece, raw: longState(piece.raw) }, form);
  const secrets = rawValueAt(piece.raw, ['secrets']);
  if (!whole && secrets !== undefined)
    run.unread.push(
      (section, name) => section === 'secrets' && (!isMap(secrets) || Object.hasOwn(secrets, name)),
    );
  const values = whole ?? {};
  for (const complaint of [
    ...allowEnvErrors(piece.raw),
    ...settingErrors(values),
    ...(ofTenant ? fleetErrors(values) : []),
    ...kindErrors(run.kinds, values),
    ...secretManagerErrors(values),
  ])
    complain(run, piece, complaint);
  return values;
}

/** The state with its address alone, written out. */
function longState(raw: Raw): Raw {
  const state = isMap(raw) ? raw['state'] : undefined;
  const isLong = state === undefined || state === null || isMap(state);
  return isLong || !isMap(raw) ? raw : { ...raw, state: { url: state } };
}

function* settingErrors(values: Values): Generator<Violation> {
  const { policy, requests_per_minute, roles, state } = values;
  const { max_deletes, max_changed_percent } = isTree(policy) ? policy : {};
  const { lock, history, url } = isTree(state) ? state : {};
  const mistyped = typeof url === 'string' && addressMistyped('`state`', url);
  // Without the lines around it: it may hold a password.
  if (mistyped) yield { path: ['state', 'url'], ...mistyped, frame: '' };
  const { keep, days } = isTree(history) ? history : {};
  for (const [path, value, least] of [
    ['policy.max_deletes', max_deletes, 0],
    ['policy.max_changed_percent', max_changed_percent, 0],
    ['requests_per_minute', requests_per_minute, 1],
    ['state.history.keep', keep, 1],
    ['state.history.days', days, 1],
  ] as const)
    if (typeof value === 'number' && value < least)
      yield {
        path: path.split('.'),
        code: 'out-of-range',
        summary: `\`${path}\` must be at least ${least}`,
      };
  const { lease, wait } = isTree(lock) ? lock : {};
  for (const [name, value, zero] of [
    ['lease', lease, false],
    ['wait', wait, true],
  ] as const)
    if (typeof value === 'string' && !(zero && value === '0s') && tryDuration(value) === undefined)
      yield {
        path: ['state', 'lock', name],
        code: 'out-of-range',
        summary: `\`state.lock.${name}\` has to be ${durationWords}`,
      };
  for (const name of isTree(roles) ? Object.keys(roles) : [])
    if (roleLadder.some((one) => one === name))
      yield {
        path: ['roles', name],
        code: 'known-role',
        summary: `\`${name}\` is a known role, which has its rank already`,
        detail: 'Rank custom roles alone.',
      };
}

/** What would be one place for all tenants. */
function* fleetErrors({ target, state }: Values): Generator<Violation> {
  const code = 'fleet-settings';
  if (target === 'emulator')
    yield {
      path: ['target'],
      code,
      summary: '`settings.target: emulator` is one account for the whole folder.',
      detail:
        'For tenants of a fleet: trueup emulator --tenant NAME, and the variables that it prints.',
    };
  if (isTree(state) && state['url'] !== undefined)
    yield {
      path: ['state'],
      code,
      summary: '`settings.state` names a state in a fleet, whose file names it.',
      detail: 'Move it to `state` of the tenant, or of `defaults`, in trueup.fleet.yaml.',
    };
}

/** Kinds of the API reference are read where they are needed: only the others can be named. */
function* kindErrors(kinds: Kinds, { kinds: named }: Values): Generator<Violation> {
  const beyond = [...kinds.values()].flatMap((one) => (one.beyond ? [one.name] : []));
  for (const [index, name] of (isList(named) ? named : []).entries())
    if (typeof name === 'string' && !beyond.includes(name))
      yield {
        path: ['kinds', String(index)],
        code: 'unknown-kind',
        summary: `\`kinds\` names \`${name}\`, which is ${kinds.has(name) ? 'read where it is needed, without being named' : 'not a kind'}.${didYouMean(name, beyond)}`,
        detail: `Name kinds beyond the API reference: ${beyond.join(', ')}.`,
      };
}

/** Commands that cannot be run, and names that say something else already. */
function* secretManagerErrors({ secrets }: Values): Generator<Violation> {
  for (const [name, manager] of Object.entries(isTree(secrets) ? secrets : {})) {
    const path = ['secrets', name];
    if (name === 'env' || name === 'file')
      yield {
        path,
        code: 'bad-name',
        summary: `\${secret.${name}…} names ${name === 'env' ? 'a variable of the environment' : 'a file'} already`,
        detail: 'Give the secret manager another name.',
      };
    const command = isTree(manager) ? manager.command : undefined;
    if (!Array.isArray(command)) continue;
    const words: readonly Value[] = command;
    if (
      words[0] === undefined ||
      words[0] === '' ||
      words.some((word) => String(word).includes('\0'))
    )
      yield {
        path: [...path, 'command'],
        code: 'bad-command',
        summary: `\`secrets.${name}.command\` names no program`,
        detail: 'As in `command: [vault, kv, get, "-field={key}", secret/network]`.',
      };
  }
}

/** Names that `settings.allow_env` writes out: it is read before anything is filled in. */
export function allowedIn(pieces: readonly RawEntry[]): ReadonlySet<string> {
  const lists = pieces.map(({ raw }) => (isMap(raw) ? raw['allow_env'] : undefined));
  return new Set((lists.findLast(isList) ?? []).filter((one) => typeof one === 'string'));
}

function* allowEnvErrors(raw: Raw): Generator<Violation> {
  const given = isMap(raw) ? raw['allow_env'] : undefined;
  for (const [index, name] of [given].flat().entries()) {
    const path = ['allow_env', ...(Array.isArray(given) ? [String(index)] : [])];
    if (typeof name !== 'string') continue;
    if (isOwnCredential(name)) yield { path, ...ownCredential('`allow_env`', name) };
    else if (!ENV_NAME.test(name))
      yield {
        path,
        code: 'bad-name',
        summary: '`allow_env` holds names of environment variables',
        detail: 'Write each name out, as in `allow_env: [SITE_KEY]`.',
      };
  }
}

export function mergeSettings(base: Settings, over: Partial<Settings>): Settings {
  return {
    ...base,
    ...over,
    policy: { ...base.policy, ...over.policy },
    v2_headers: { ...base.v2_headers, ...over.v2_headers },
    roles: { ...base.roles, ...over.roles },
    ...((base.state ?? over.state) && { state: { ...base.state, ...over.state } }),
    ...((base.secrets ?? over.secrets) && { secrets: { ...base.secrets, ...over.secrets } }),
  };
}

export function lookupOf(run: ResolveRun, piece: RawEntry): Lookup | undefined {
  const [name, ...more] = isMap(piece.raw) ? Object.keys(piece.raw) : [];
  if (name === undefined || more.length > 0)
    return void complain(run, piece, {
      path: [],
      code: 'wrong-type',
      summary: `the lookup \`${piece.name}\` must hold exactly one kind`,
      detail: 'As in `hq: { accounts: { name: Headquarters } }`.',
    });
  const kind = run.kinds.get(name);
  if (!kind)
    return void complain(run, piece, {
      path: [name],
      code: 'unknown-kind',
      ...notLookedUp(run, name),
    });
  const form: DeclarationForm = {
    attributes: asCondition(kind.attributes),
    validator: run.validators.where.get(name)!,
    what: `a lookup of ${name}`,
  };
  const raw = isMap(piece.raw) ? (piece.raw[name] ?? null) : null;
  if (isMap(raw) && Object.keys(raw).length === 0)
    return void complain(run, piece, {
      path: [name],
      code: 'missing-attribute',
      summary: `the lookup \`${piece.name}\` asks for nothing`,
      detail: 'Name at least one attribute that tells the object from all others.',
    });
  const asked = read(run, { ...piece, raw }, form, [name]);
  const where = asked && normalAll(form.attributes, asked);
  return where && { name: piece.name, kind: name, where, origin: piece.origin };
}

/** What is said of a lookup of something that is no kind. */
function notLookedUp(
  { kinds, collections }: ResolveRun,
  name: string,
): Pick<Violation, 'summary' | 'detail'> {
  const names = [...kinds.keys()];
  const detail = `Kinds: ${names.join(', ')}.`;
  return collections.has(name)
    ? {
        summary: `\`${name}\` can only be read, and not looked up`,
        detail: `Write the id itself where it belongs. To list the ids: trueup get ${name}\n${detail}`,
      }
    : { summary: `\`${name}\` is not a kind.${didYouMean(name, names)}`, detail };
}

/** Made once a kind. */
function formOf(run: ResolveRun, kind: Kind): DeclarationForm {
  return cached(run.forms, kind.name, () => ({
    attributes: declarationBodyOf(kind),
    validator: run.validators.body.get(kind.name)!,
    what: kind.name,
    references: ([top]) => top !== 'lifecycle',
  }));
}

export function declarationsOf(run: ResolveRun, piece: RawEntry): readonly Declaration[] {
  const { instance, raw } = piece;
  const kind = run.kinds.get(piece.path[0]!)!;
  if (!isMap(raw)) {
    const summary = `${piece.path.join('.')}: a mapping of attributes is expected, not ${found(raw)}`;
    complain(run, piece, { path: [], code: 'wrong-type', summary });
    return membersUnknown(run, piece);
  }
  const around: Scope = instance ? { ...run.scope, instance } : run.scope;
  const { for_each: each, ...body } = raw;
  const say: Complain = (complaint) => complain(run, piece, complaint);
  const { attributes } = formOf(run, kind);
  const mistaken = each === undefined ? mistakenForEach(body, attributes) : undefined;
  if (mistaken !== undefined) {
    say(notForEach(mistaken, kind.name));
    return membersUnknown(run, piece);
  }
  const members = expanded(each, piece, around, say) ?? membersUnknown(run, piece);
  const bare = each === undefined ? piece : { ...piece, raw: body };
  return members.flatMap((member) => {
    // With the spread first, V8 would give each scope a hidden class of its own.
    const scope: Scope = { loops: true, ...around, ...defined({ each: member }) };
    return declarationOf({ ...run, scope }, kind, bare) ?? [];
  });
}

function membersUnknown(run: ResolveRun, { path, name }: RawEntry): readonly [] {
  run.unread.push((section, one) => section === path[0] && one === name);
  return [];
}

function declarationOf(run: ResolveRun, kind: Kind, piece: RawEntry): Declaration | undefined {
  const member = run.scope.each;
  const address = formatAddress({
    kind: kind.name,
    name: piece.name,
    key: joinedKey(piece.instance?.key, member?.key),
  });
  const tell: Complain = (complaint) => complain(run, piece, complaint, address);
  const { values, wrong } = tryRead(run, piece, formOf(run, kind), tell);
  const named = {
    address,
    kind: kind.name,
    name: address.slice(kind.name.length + 1),
    origin: piece.origin,
    at: locator(run, piece),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema was applied
  const declared = values['lifecycle'] as Lifecycle | undefined;
  const isUsable = !wrong && declared !== undefined;
  const wanted = isUsable ? lifecycleOf(kind, declared, piece, member) : NO_LIFECYCLE;
  const error = isUsable ? [...lifecycleErrors(kind, declared, wanted)] : [];
  error.forEach(tell);
  const waits = piece.depends_on && { depends_on: piece.depends_on };
  if (wrong || error.length > 0) {
    run.unusable.push({ ...named, values, lifecycle: {}, ...waits });
    return undefined;
  }
  const former =
    piece.recounts && wanted.renamed_from === undefined ? formerCount(piece, member) : undefined;
  // With the spread first, V8 would give each declaration a hidden class of its own, which takes 264 bytes.
  return {
    values: normalAll(kind.attributes, values),
    lifecycle: wanted,
    ...named,
    ...(piece.origin.path !== undefined && { file: piece.from.file }),
    ...(piece.instance && { file: piece.instance.used.file }),
    ...(former !== undefined && { recounted: formatAddress({ kind: kind.name, ...former }) }),
    ...waits,
  };
}

const NO_LIFECYCLE: Lifecycle = {};

/** With a `count`, the first is what stood there without one; without, it is what was the first. */
function formerCount({ name, counted }: RawEntry, member: Member | undefined) {
  if (!member) return { name, key: '0' };
  return counted && member.key === '0' ? { name } : undefined;
}

/** Holds on to the place alone: ten thousand declarations must not keep what was read of them a second time. */
function locator({ library }: ResolveRun, { from, path, at, origin }: RawEntry): Declaration['at'] {
  return (inner) => originAt({ library }, { from, origin }, [...(at ?? path), ...inner.split('.')]);
}

/** A bare earlier name of a whole `for_each` means the member with the same key; in a template, that of the same instance. */
function lifecycleOf(
  kind: Kind,
  wanted: Lifecycle,
  { raw: body, instance }: RawEntry,
  member: Member | undefined,
): Lifecycle {
  const raw = isMap(body) ? body['lifecycle'] : undefined;
  const written = isMap(raw) ? raw['renamed_from'] : undefined;
  // A number names the object that the same digits in quotes name.
  const lifecycle = { ...wanted, ...defined({ adopt: namedId(kind, wanted.adopt) }) };
  const key = joinedKey(instance?.key, member?.key);
  const isWhole = key === undefined && !instance;
  if (isWhole || !lifecycle.renamed_from || typeof written !== 'string' || !NAME.test(written))
    return lifecycle;
  const name = instance ? `${instance.prefix}-${written}` : written;
  return {
    ...lifecycle,
    renamed_from: formatAddress({ kind: '', name, key }).slice(1),
  };
}

function* lifecycleErrors(
  kind: Kind,
  { adopt }: Lifecycle,
  { ignore_changes: ignored = [], renamed_from: former }: Lifecycle,
): Generator<Violation> {
  if (adopt !== undefined && namedId(kind, adopt) === undefined)
    yield { path: ['lifecycle', 'adopt'], ...notAnId(kind, adopt) };
  if (ignored.length > 0) {
    const names = [...walk(kind.attributes)]
      .filter(([, { computed }]) => computed !== true)
      .map(([path]) => path);
    for (const [index, name] of ignored.entries())
      if (!names.includes(name))
        yield {
          path: ['lifecycle', 'ignore_changes', String(index)],
          code: 'unknown-attribute',
          summary: `\`${name}\` is not an attribute of ${kind.name} that could be ignored.${didYouMean(name, names)}`,
          detail: `Attributes: ${names.join(', ')}.`,
        };
  }
  if (former !== undefined && !tryAddress(`${kind.name}.${former}`))
    yield {
      path: ['lifecycle', 'renamed_from'],
      code: 'bad-name',
      summary: '`lifecycle.renamed_from` is not a valid name',
      detail:
        'Write the earlier name alone, without its kind; with `["key"]` behind it for a member of a `for_each`.',
    };
}

/** Uses of templates may make one address twice; the first stays. */
export function distinctAddresses(
  { report }: ResolveRun,
  declarations: readonly Declaration[],
): readonly Declaration[] {
  const first = new Map<string, Declaration>();
  for (const one of declarations) {
    const other = cached(first, one.address, () => one);
    if (other !== one)
      report.add(() => ({
        severity: 'error',
        code: 'duplicate-declaration',
        summary: `${one.address} is declared twice`,
        detail: `It is declared in ${placeText(other.origin)} already. Rename one of them, or the \`use\` of one.`,
        address: one.address,
        origin: one.origin,
      }));
  }
  return [...first.values()];
}

/** Two declarations cannot be bound to one live object, nor take over one earlier name, nor one that is still declared. */
export function refuseConflicts(run: ResolveRun, declarations: readonly Declaration[]): void {
  const renamed = declarations.filter((one) => one.lifecycle.renamed_from !== undefined);
  const declared = new Map(renamed.length > 0 ? declarations.map((one) => [one.address, one]) : []);
  for (const one of renamed) {
    const other = declared.get(`${one.kind}.${one.lifecycle.renamed_from}`);
    if (other && other !== one) run.report.add(() => stillDeclared(one, other));
  }
  for (const word of ['adopt', 'renamed_from'] as const) {
    const first = new Map<string, Declaration>();
    for (const one of declarations) {
      const value = one.lifecycle[word];
      if (value === undefined) continue;
      const other = cached(first, `${one.kind}.${value}`, () => one);
      if (other !== one) run.report.add(() => conflict(one, other, word, value));
    }
  }
}

const stillDeclared = (one: Declaration, { address, origin }: Declaration): Diagnostic =>
  errorAt(one, 'lifecycle.renamed_from', {
    code: 'renamed-declared',
    summary: `${one.address} was renamed from ${address}, which is declared too`,
    detail: `It is in ${placeText(origin)}. Remove \`lifecycle.renamed_from\`, or rename in two runs: first the one whose name the other takes.`,
  });

function conflict(one: Declaration, other: Declaration, word: string, value: string): Diagnostic {
  const isImported = word === 'adopt' && (one.import_origin ?? other.import_origin) !== undefined;
  const place = word === 'adopt' ? other.import_origin : undefined;
  return errorAt(one, `lifecycle.${word}`, {
    code: word === 'adopt' ? 'adopt-taken' : 'conflicting-renames',
    summary: isImported
      ? `${one.address} and ${other.address} both take over ${value}`
      : `${one.address} and ${other.address} both have \`${word}: ${value}\``,
    detail: `The other is in ${placeText(place ?? other.origin)}. Remove the ${isImported ? 'block or the line' : 'line'} from one of them.`,
  });
}
