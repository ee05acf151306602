// Fills in `var`, `env` and `each`, and turns the rest into references, templates and secrets. Filled-in values are
// escaped strings of the same language, so that no value can become a reference.
import {
  mapMembers,
  Reference,
  Secret,
  Template,
  didYouMean,
  formatAddress,
  isCredentialName,
  isList,
  isOwnCredential,
  isSecretName,
  isTree,
  own,
  shownMembers,
  type Attribute,
  type Json,
  type Kind,
  type Kinds,
  type Value,
} from '../model/index.js';
import {
  escapeText,
  literalOf,
  partsOf,
  textOf,
  unknownSource,
  type Expression,
  type ExpressionFrom,
  type Part,
} from './reference-syntax.js';
import type { Instance } from './collect.js';
import { referenceFrom } from './template-references.js';
import { Word, isMap, type Raw, type RawMap } from './yaml/raw-values.js';
import { ownCredential, type SecretSource } from './secret-source.js';
import { anything, holdsSecret, inside } from './vocabulary.js';
import { complainAt, found, mismatch, type ComplaintPlace, type Violation } from './validation.js';
import { ofEnvironment, variableIn, type Environment } from './environment.js';

/** The values that expressions may use. Texts in `variables` and `each` may hold expressions; those of `environment` are literal. */
export interface Scope {
  readonly variables: ReadonlyMap<string, Raw>;
  readonly environment: Environment;
  readonly each?: { readonly key: string; readonly value: Raw };
  /** Whether a `for_each` may stand around the value. */
  readonly loops?: true;
  /** Of what stands in a template. */
  readonly instance?: Instance;
  /** Prefixes of environment variables that give variables their values. */
  readonly prefixes: readonly string[];
  /** `settings.allow_env` */
  readonly allowed: ReadonlySet<string>;
  /** Called with the name of each variable that is used, with `env.` before one of the environment. */
  readonly using: (name: string) => void;
  /** There if anything read holds an expression. */
  readonly evaluate?: Evaluate;
  /** There if a synthesised stack holds an expression. */
  readonly evaluateStack?: EvaluateStack;
  /** Texts with their values filled in, as far as they are the same for all members of a `for_each`. */
  readonly filled: Map<string, Raw>;
}

/** What an expression gives; undefined after a complaint. */
export type Evaluate = (part: ExpressionFrom<'cel'>, at: Filling) => Raw | undefined;

/** What an expression of a stack gives; undefined after a complaint. */
export type EvaluateStack = (number: number, at: Filling) => Raw | undefined;

/** Where a value is filled in, and what with. */
export interface Filling extends ComplaintPlace {
  readonly scope: Scope;
}

const isFilled = (text: string): boolean => text.includes('${');

/** Whether there is nothing to do for a value: most are plain, and paths are made for the others only. */
const isPlain = (raw: Raw): boolean =>
  typeof raw === 'string' ? !isFilled(raw) : raw === null || typeof raw !== 'object';

/** A mapping or list with what `change` makes of its members that are not plain; the same object where that is nothing else. */
function withMembers<T>(
  whole: readonly Raw[] | RawMap,
  change: (member: Raw, key: string) => T,
): T {
  let changed: unknown[] | Record<string, unknown> | undefined;
  for (const key of Object.keys(whole)) {
    const before = own<Raw>(whole, key)!;
    if (isPlain(before)) continue;
    const after = change(before, key);
    if (after === before) continue;
    changed ??= isList(whole) ? [...whole] : { ...whole };
    Reflect.set(changed, key, after);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `change` left alone is of its type as well
  return (changed ?? whole) as T;
}

/** `raw` with `var`, `env` and `each` filled in; the same object where there is none. A text that is filled in whole keeps its type, or takes that of its attribute. */
export function substitute(raw: Raw, attribute: Attribute | undefined, at: Filling): Raw {
  if (raw === null || typeof raw !== 'object' || raw instanceof Word)
    return typeof raw === 'string' ? substituteText(raw, attribute, at) : raw;
  return withMembers<Raw>(raw, (member, key) =>
    substitute(member, inner(attribute, key), { ...at, path: [...at.path, key] }),
  );
}

const inner = (attribute: Attribute | undefined, step: string): Attribute | undefined =>
  attribute && inside(attribute, step);

export function holdsExpression(raw: Raw): boolean {
  if (typeof raw === 'string') return partsOf(raw).some((part) => typeof part !== 'string');
  return (isList(raw) || isMap(raw)) && Object.values(raw).some(holdsExpression);
}

/** Most texts hold references alone, and stay as they are. */
const LOCAL = /\$\{\s*(?:\uE000|(?:var|each|env|param)\.)|\[\s*each\./;
/** Begins what is not surely a reference. */
const MORE = /\$\{(?![a-z_][\w-]*\.[\w.-]*\})/i;

const isCel = (part: Part): boolean => typeof part !== 'string' && part.from === 'cel';

/** Whether any text holds an expression that is more than a reference. */
export function holdsCel(raw: Raw): boolean {
  if (typeof raw === 'string') return MORE.test(raw) && partsOf(raw).some(isCel);
  if (raw === null || typeof raw !== 'object' || raw instanceof Word) return false;
  return (isList(raw) ? raw : Object.values<Raw>(raw)).some(holdsCel);
}

function substituteText(text: string, attribute: Attribute | undefined, at: Filling): Raw {
  if (!at.scope.instance && !LOCAL.test(text) && !holdsCel(text)) return text;
  const filled = filledText(text, attribute, at);
  if (attribute?.secret !== true || (typeof filled === 'string' && literalOf(filled) === undefined))
    return filled;
  const [first = '', ...more] = partsOf(text).flatMap((part) =>
    typeof part === 'string' ? [] : [part.text],
  );
  complainAt(
    at,
    'literal-secret',
    `\`${at.path.join('.')}\` is secret: ${[first, ...more].join(' and ')} is not allowed here, because variables are shown and stored`,
    'Write `"${secret.env.NAME}"` or `"${secret.file.PATH}"`, and give the value there, not by --var or in a file of declarations.',
  );
  return first;
}

function filledText(text: string, attribute: Attribute | undefined, at: Filling): Raw {
  const value = filledOnce(text, at);
  const [only, ...more] = partsOf(text);
  const isWhole = typeof only === 'object' && only.from !== 'cel' && more.length === 0;
  return isWhole && typeof value === 'string' ? typed(value, attribute) : value;
}

/** What may differ between the members of a `for_each`: the text of an expression of a stack does not say. */
const OF_MEMBER = /each|\uE000/;

/** An instance and a `for_each` repeat their texts: what is the same each time is filled in the first time. */
function filledOnce(text: string, at: Filling): Raw {
  const { each, instance, filled } = at.scope;
  const known = instance?.filled ?? (each && filled);
  if (!known || OF_MEMBER.test(text)) return filledNow(text, at);
  const before = known.get(text);
  if (before !== undefined) return before;
  let wrong = false;
  const complain = (complaint: Violation): void => {
    wrong = true;
    at.complain(complaint);
  };
  const value = filledNow(text, { ...at, complain });
  if (!wrong) known.set(text, value);
  return value;
}

function filledNow(text: string, at: Filling): Raw {
  const parts = partsOf(text);
  const [only, ...more] = parts;
  const whole = typeof only === 'object' && more.length === 0 ? fill(only, at) : undefined;
  return whole === undefined ? textOf(parts.flatMap((part) => spliced(part, at))) : whole;
}

function spliced(part: Part, at: Filling): readonly Part[] {
  if (typeof part === 'string') return [part];
  if (part.from === 'declared') return [declaredPart(part, at)];
  const value = fill(part, at);
  if (value === undefined) return [part];
  if (typeof value === 'string') return partsOf(value);
  if (typeof value !== 'object' || value instanceof Word) return [String(value)];
  complainAt(at, 'not-text', ...notInText(part.text, value));
  return [part];
}

/** What is said of null, a list or a mapping inside a string. */
export const notInText = (text: string, value: Raw): readonly [summary: string, detail: string] =>
  value === null
    ? [
        `${text} is null, which is not allowed inside a string`,
        'Set a value, or make it the whole value.',
      ]
    : [
        `${text} is not a single value and is not allowed inside a string`,
        'Make it the whole value.',
      ];

function declaredPart(part: ExpressionFrom<'declared'>, at: Filling): Expression {
  const { index } = part;
  const key = index && ('key' in index ? index.key : eachKey(part, index.each, at));
  return index && key === undefined ? part : referenceFrom(at.scope.instance, part, key);
}

/** Undefined after a complaint. */
function eachKey({ text }: Expression, steps: readonly string[], at: Filling): string | undefined {
  const value = eachValue(steps, text, at);
  const key = typeof value === 'string' ? literalOf(value) : undefined;
  if (key === undefined && value !== undefined)
    complainAt(at, 'not-text', `${text}: a key must be a plain string`);
  return key;
}

/** The value of an expression that is known while loading, as text of the language; undefined for others and after a complaint. */
function fill(part: Expression, at: Filling): Raw | undefined {
  if (part.from === 'var') return variableValue(part, at);
  if (part.from === 'each') return eachValue(part.path, part.text, at);
  if (part.from === 'param') return paramValue(part, at);
  if (part.from === 'cel') return celValue(part, at);
  if (part.from === 'stack')
    return (at.scope.evaluateStack ?? ((_, place) => noStackExpression(place)))(part.number, at);
  if (part.from !== 'env') return undefined;
  const wrong = refusedName(part.name, at.scope, part.text);
  if (wrong) return void at.complain({ path: at.path, ...wrong });
  at.scope.using(ofEnvironment(part.name));
  const value = variableIn(at.scope.environment, part.name);
  if (value !== undefined) return escapeText(value);
  return void at.complain({ path: at.path, ...unknownEnvironment(part.name, at.path.at(-1)) });
}

/** Of a file that holds the character which stands for them. */
export const noStackExpression = (at: Filling): undefined =>
  complainAt(at, 'bad-reference', 'a reference begins with a character that has no meaning');

/** What a member of that name holds, if there is one; otherwise what the expression gives. */
function celValue(part: ExpressionFrom<'cel'>, at: Filling): Raw | undefined {
  const member = part.member && fill(part.member, { ...at, complain: () => undefined });
  return member ?? at.scope.evaluate?.(part, at);
}

type Said = Omit<Violation, 'path'>;

/** @param member that the value is of */
export const unknownEnvironment = (name: string, member = ''): Said => ({
  code: 'unknown-environment',
  summary: `the environment variable ${name} is not set`,
  detail: isSecretName(member)
    ? `A secret is written \`\${secret.env.${name}}\`. Then type \`export ${name}=…\`.`
    : `Type \`export ${name}=…\` first.`,
});

/** What to write where a hyphen, which a name may contain, was meant as a minus sign. */
const minusHint = (name: string, known: Iterable<string>): string =>
  [...known].some((one) => name.startsWith(`${one}-`))
    ? '\nIf `-` is a minus sign, write blanks around it.'
    : '';

export const unknownVariable = (name: string, { variables, prefixes }: Scope): Said => ({
  names: ['variables', name],
  code: 'unknown-variable',
  summary: `the variable \`${name}\` has no value.${didYouMean(name, variables.keys())}`,
  detail: `Set it with \`--var ${name}=…\`, ${prefixes.map((prefix) => prefix + name).join(' or ')}, or \`variables: { ${name}: … }\` in a file of the PATHs.${minusHint(name, variables.keys())}`,
});

function variableValue({ name, path, text }: ExpressionFrom<'var'>, at: Filling): Raw | undefined {
  const { variables, using } = at.scope;
  using(name);
  const value = variables.get(name);
  if (value !== undefined) return member(value, path, `${text}: \`${name}\``, at);
  return void at.complain({ path: at.path, ...unknownVariable(name, at.scope) });
}

function paramValue({ path, text }: ExpressionFrom<'param'>, at: Filling): Raw | undefined {
  const { instance } = at.scope;
  if (!instance) return void at.complain({ path: at.path, ...noTemplate(text) });
  return path[0] !== undefined && Object.hasOwn(instance.param, path[0])
    ? member(instance.param, path, text, at)
    : void at.complain({ path: at.path, ...unknownParameter(path[0] ?? '', instance) });
}

export const noTemplate = (text: string): Said => ({
  code: 'no-template',
  summary: `${text} is used outside of a template`,
  detail: 'Only declarations in `templates` have parameters.',
});

export const unknownParameter = (name: string, { param }: Instance): Said => ({
  code: 'unknown-parameter',
  summary: `the parameter \`${name}\` has no value.${didYouMean(name, Object.keys(param))}`,
  detail: `If \`parameters\` of the template has it, set it in \`with\`, or give it a \`default\`. Otherwise, add it there first.${minusHint(name, Object.keys(param))}`,
});

/** The complaint about a variable that must not be shown; undefined for any other. @param text as it stands in the declaration */
export function refusedName(
  name: string,
  { allowed }: Scope,
  text = `env.${name}`,
): Said | undefined {
  if (isOwnCredential(name)) return ownCredential(text, name);
  if (!isCredentialName(name) || allowed.has(name)) return undefined;
  return {
    code: 'credential-in-env',
    summary: `${text}: ${name} is named like a credential, and its value would be shown and stored`,
    detail: `Where a secret belongs, write \`\${secret.env.${name}}\`. If it is not a credential: \`settings: { allow_env: [${name}] }\`.`,
  };
}

const OF_USE =
  ' A value of the `for_each` of a `use` is passed through its `with`, as in `with: { site: "${each.key}" }`, and is `${param.site}` in the template.';

export const noForEach = (text: string, { loops, instance }: Scope): Said => ({
  code: 'no-for-each',
  summary: `${text} is used outside of a \`for_each\``,
  detail: loops
    ? `Add \`for_each: [a, b]\` beside the attributes.${instance ? OF_USE : ''}`
    : 'No `for_each` can stand here: write the value itself.',
});

function eachValue(
  [first, ...steps]: readonly string[],
  text: string,
  at: Filling,
): Raw | undefined {
  const { each } = at.scope;
  if (!each) return void at.complain({ path: at.path, ...noForEach(text, at.scope) });
  return first === 'key'
    ? escapeText(each.key)
    : member(each.value, steps, `${text}: the value of "${each.key}"`, at);
}

/** The part of a mapping or list at the steps; items of a list are numbered from 0. @param what its name in a complaint */
function member(whole: Raw, steps: readonly string[], what: string, at: Filling): Raw | undefined {
  let value: Raw | undefined = whole;
  for (const step of steps) {
    const known: readonly string[] = isMap(value) || Array.isArray(value) ? Object.keys(value) : [];
    if (!known.includes(step))
      return complainAt(
        at,
        'unknown-member',
        `${what} has no \`${step}\`.${didYouMean(step, known)}`,
        isMap(value) ? `It has ${shownMembers(Object.keys(value))}.` : `It is ${found(value)}.`,
      );
    value = isMap(value) || isList(value) ? own<Raw>(value, step) : undefined;
  }
  return value;
}

/** A text that came from outside, as its attribute wants it. */
function typed(text: string, attribute: Attribute | undefined): Raw {
  if (
    (attribute?.word === 'integer' && /^-?\d{1,15}$/.test(text)) ||
    (attribute?.word === 'number' && /^-?\d{1,15}(?:\.\d{1,9})?$/.test(text))
  )
    return Number(text);
  return attribute?.word === 'flag' && (text === 'true' || text === 'false')
    ? text === 'true'
    : text;
}

/** A value as Terraform gives it to an attribute of another type: texts, numbers and flags become one another, and null is absent. What does not is left, for others to complain of. */
export function converted(raw: Raw, attribute: Attribute | undefined): Raw {
  if (attribute === undefined || attribute.secret === true || raw === null || raw instanceof Word)
    return raw;
  if (isList(raw))
    return raw.map((item, index) => converted(item, inner(attribute, String(index))));
  if (isMap(raw)) {
    const isAbsent = (item: Raw, within: Attribute | undefined): boolean =>
      item === null &&
      attribute.word === 'object' &&
      within !== undefined &&
      within.word !== 'document';
    return Object.fromEntries(
      Object.entries(raw).flatMap(([key, item]) => {
        const within = inner(attribute, key);
        return isAbsent(item, within) ? [] : [[key, converted(item, within)]];
      }),
    );
  }
  if (typeof raw === 'string')
    return attribute.word === 'flag' && /^[01]$/.test(raw) ? raw === '1' : typed(raw, attribute);
  const text = String(raw);
  return isTextual(attribute) && !/\de/.test(text) ? text : raw;
}

/** The targets that references may have, and the place of the value. */
export interface InterpolationContext extends ComplaintPlace {
  readonly kinds: Kinds;
  /** Word for the kind of each lookup by its name; undefined, or no kind, where it is wrong and was complained of. */
  readonly lookups: ReadonlyMap<string, string | undefined>;
  /** Whether references to other objects may stand at a path. */
  readonly references: (path: readonly string[]) => boolean;
  readonly secret: SecretSource;
}

/** The value of `raw`, which ajv found to be of the right shape; the same object where it is plain. Complains of what a schema cannot see. */
export function build(
  raw: Raw,
  attribute: Attribute | undefined,
  context: InterpolationContext,
): Value {
  if (typeof raw === 'string') return isFilled(raw) ? buildText(raw, attribute, context) : raw;
  if (raw instanceof Word) {
    if (attribute !== undefined && attribute.word !== 'document')
      context.complain(ambiguousWord(context.path, attribute, String(raw)));
    return String(raw);
  }
  if (raw === null || typeof raw !== 'object') return raw;
  return withMembers<Value>(raw, (member, key) =>
    build(member, inner(attribute, key), { ...context, path: [...context.path, key] }),
  );
}

/** A plain `yes`, `no`, `on` or `off` where a string or a boolean is meant. */
export function ambiguousWord(
  path: readonly string[],
  attribute: Attribute,
  word: string,
): Violation {
  if (attribute.secret === true) return mismatch(path, attribute, null);
  const flagged = /^(?:yes|on)$/i.test(word) ? 'true' : 'false';
  return {
    path,
    code: 'ambiguous-word',
    summary: `\`${path.join('.')}\`: a plain \`${word}\` is a string to some readers and ${flagged} to others`,
    detail:
      attribute.word === 'flag'
        ? `Write \`${flagged}\`.`
        : `Write "${word}" in quotes if a string is meant.`,
  };
}

function buildText(
  text: string,
  attribute: Attribute | undefined,
  context: InterpolationContext,
): Value {
  const { path, complain } = context;
  const parts = partsOf(text);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) {
    if (typeof only !== 'string') return buildWhole(only, attribute, context);
    if (!takesText(attribute, only)) complain(mismatch(path, attribute!, only));
    return only;
  }
  if (attribute && attribute !== anything && (attribute.secret === true || !isTextual(attribute))) {
    complain(mismatch(path, attribute, text));
    return text;
  }
  return new Template(
    parts.map((part) => (typeof part === 'string' ? part : buildPart(part, context))),
  );
}

const isTextual = ({ word }: Attribute): boolean => ['text', 'choice', 'ref'].includes(word);

function takesText(attribute: Attribute | undefined, text: string): boolean {
  if (attribute === undefined || attribute === anything) return true;
  if (attribute.secret === true) return false;
  return attribute.word === 'choice'
    ? attribute.open || attribute.values.includes(text)
    : isTextual(attribute);
}

function buildWhole(
  part: Expression,
  attribute: Attribute | undefined,
  context: InterpolationContext,
): Value {
  const { path } = context;
  if (part.from === 'secret') {
    if (attribute?.secret === true || attribute === anything) return buildSecret(part, context);
    const summary = `${part.text} is allowed only where a secret belongs`;
    complainAt(context, 'misplaced-secret', summary, 'Elsewhere it would be shown and stored.');
    return part.text;
  }
  if (attribute?.secret === true && (part.from === 'declared' || part.from === 'lookup'))
    context.complain(mismatch(path, attribute, null));
  const reference = buildPart(part, context);
  const isPlaced = attribute && attribute !== anything && context.references(path);
  if (typeof reference !== 'string' && isPlaced) checkTarget(reference, attribute, context);
  return reference;
}

function buildSecret(
  { source, name, text }: ExpressionFrom<'secret'>,
  { path, complain, secret }: InterpolationContext,
): Value {
  const made = secret(source, name);
  if (made instanceof Secret) return made;
  complain({ path, ...made });
  return text;
}

function buildPart(part: Expression, context: InterpolationContext): Reference | string {
  if (part.from === 'nowhere') complainAt(context, 'bad-reference', part.summary, part.detail);
  if (part.from === 'secret')
    complainAt(
      context,
      'misplaced-secret',
      `${part.text} must be the whole value of a secret attribute`,
      'It is not allowed inside a string.',
    );
  if (part.from === 'lookup') return buildLookup(part, context);
  return part.from === 'declared' ? buildDeclared(part, context) : part.text;
}

function buildLookup(part: ExpressionFrom<'lookup'>, context: InterpolationContext): Reference {
  const { kinds, lookups, path } = context;
  const { name, attribute } = part;
  const kind = kinds.get(lookups.get(name) ?? '');
  if (!context.references(path)) noReferences(part, context);
  else if (!lookups.has(name))
    context.complain({
      path,
      names: ['lookups', name],
      code: 'unknown-lookup',
      summary: `there is no lookup \`${name}\`.${didYouMean(name, lookups.keys())}`,
      detail:
        'Declare it, `lookups: { name: { kind: { attribute: value } } }`, or add its file to the PATHs.',
    });
  else if (kind) checkAttribute(kind, part, context);
  return new Reference('lookup', name, attribute);
}

/** A reference whose key could not be computed, which was complained of, names no member: it is no reference. */
function buildDeclared(
  part: ExpressionFrom<'declared'>,
  context: InterpolationContext,
): Reference | string {
  const kind = context.kinds.get(part.kind);
  if (!context.references(context.path)) noReferences(part, context);
  else if (kind) checkAttribute(kind, part, context);
  else {
    const { summary, detail } = unknownSource(part.kind, context.kinds);
    complainAt(context, 'unknown-kind', summary, detail);
  }
  const { kind: kindName, name, index } = part;
  if (index && 'each' in index) return part.text;
  const address = formatAddress({ kind: kindName, name, key: index?.key });
  return new Reference('declared', address, part.attribute);
}

const noReferences = ({ text }: Expression, context: InterpolationContext): void =>
  complainAt(
    context,
    'misplaced-reference',
    `${text} is not allowed here: the value must be known before anything is read`,
    'Write the value, or `${var.<name>}`, `${env.<NAME>}` or `${each.…}`.',
  );

/** Whether the service never shows the value. */
const hidden = (one: Attribute): boolean => holdsSecret(one) || one.wire === 'merge';

function checkAttribute(
  kind: Kind,
  { attribute: name, text }: ExpressionFrom<'declared' | 'lookup'>,
  context: InterpolationContext,
): void {
  const top = name.split('.')[0]!;
  const attribute = own(kind.attributes, top);
  const isReadable = (one: Attribute): boolean => !hidden(one) && one.unstored !== true;
  if (attribute && top === name && isReadable(attribute)) return;
  const names = Object.entries(kind.attributes).flatMap(([each, one]) =>
    isReadable(one) ? [each] : [],
  );
  const say = (code: string, summary: string, detail = `Attributes: ${names.join(', ')}.`): void =>
    complainAt(context, code, `${text}: ${summary}`, detail);
  if (!attribute)
    say(
      'unknown-attribute',
      `\`${top}\` is not an attribute of ${kind.name}.${didYouMean(top, names)}`,
    );
  else if (hidden(attribute))
    say(
      'secret-reference',
      'a secret can be written but not read',
      'Write `${secret.env.NAME}` or `${secret.file.PATH}` here too.',
    );
  else if (attribute.unstored === true)
    say(
      'free-text-reference',
      'what the service says in its own words is shown, and nothing is made of it',
    );
  else say('partial-reference', 'only a whole attribute can be referred to');
}

const quotedInYaml = (text: string): string =>
  text.includes('"') ? `'${text.replaceAll("'", "''")}'` : `"${text}"`;

/** A list where a single value belongs, or the other way round, and an identifier of one kind where another kind's belongs are surely wrong. */
function checkTarget(reference: Reference, wanted: Attribute, context: InterpolationContext): void {
  const { kinds, lookups } = context;
  const where = `\`${context.path.join('.')}\``;
  const name =
    reference.source === 'lookup'
      ? lookups.get(reference.target)
      : reference.target.slice(0, reference.target.indexOf('.'));
  const kind = kinds.get(name ?? '');
  const attribute = kind && own(kind.attributes, reference.attribute);
  if (!kind || !attribute || hidden(attribute)) return;
  const [expected, found] = [shapeOf(wanted), shapeOf(attribute)];
  if (expected !== found && wanted.word !== 'document') {
    const isSingle = expected === 'a list' && found === 'a single value';
    return complainAt(
      context,
      'wrong-type',
      `${where}: ${expected} is expected, and ${String(reference)} is ${found}`,
      isSingle ? `Write it in brackets: \`[${quotedInYaml(String(reference))}]\`.` : undefined,
    );
  }
  if (wanted.word !== 'ref') return;
  const { to } = wanted;
  const given = identified(kind, reference.attribute, attribute);
  if (given === to) return;
  const right = kinds.get(to);
  const what = given === undefined ? 'none' : `one of ${given}`;
  complainAt(
    context,
    'wrong-kind',
    `${where} takes an identifier of ${to}, and ${String(reference)} is ${what}`,
    right
      ? `Refer to \`\${${right.name}.<name>.${right.id}}\`.`
      : `Write the identifier itself: trueup does not manage ${to}.`,
  );
}

const shapes: Readonly<Partial<Record<Attribute['word'], string>>> = {
  list: 'a list',
  set: 'a list',
  map: 'a mapping',
  object: 'a mapping',
  document: 'a document',
};
const shapeOf = ({ word }: Attribute): string => shapes[word] ?? 'a single value';

/** Which kind's objects an attribute identifies: by identifier or by URL. */
function identified(kind: Kind, name: string, attribute: Attribute): string | undefined {
  if (attribute.word === 'ref') return attribute.to;
  return name === kind.id ||
    (attribute.word === 'text' && attribute.format === 'url' && attribute.computed === true)
    ? kind.name
    : undefined;
}

/** The text or tree that a value is read from: the reverse of `build`. Secrets are named by their source. */
export function spell(value: Value): Json {
  if (typeof value === 'string') return escapeText(value);
  if (value instanceof Secret) return `\${secret.${value.source}}`;
  if (value instanceof Reference) return value.toString();
  if (value instanceof Template)
    return textOf(
      value.parts.map((part) =>
        typeof part === 'string'
          ? part
          : { from: 'nowhere', text: part.toString(), summary: '', detail: '' },
      ),
    );
  if (isList(value)) return value.map(spell);
  return isTree(value) ? mapMembers(value, (item) => spell(item)) : value;
}
