// Fills in what is known while loading (`var`, `env`, `each`), and turns what remains into references, templates and
// secrets. Values that are filled in are texts of the same language, escaped, so that no value can become a reference.
import {
  Reference,
  Secret,
  Template,
  didYouMean,
  formatAddress,
  isCredentialName,
  isOwnCredential,
  own,
  type Attribute,
  type Json,
  type Kind,
  type Kinds,
  type Value,
  isTree,
} from '../model/index.js';
import {
  escapeText,
  literalOf,
  partsOf,
  textOf,
  unknownSource,
  type Expression,
  type Part,
} from './expression.js';
import { Word, isMap, type Raw, type RawMap } from './yaml/raw-values.js';
import { ownCredential, type SecretSource } from './secret-source.js';
import { anything, holdsSecret, inside } from './vocabulary.js';
import { mismatch, type Violation } from './validation.js';
import { variableIn, type Environment } from './environment.js';

/** What can be filled in. Texts in `variables` and `each` may hold expressions; those of `environment` are literal. */
export interface Scope {
  readonly variables: ReadonlyMap<string, Raw>;
  readonly environment: Environment;
  readonly each?: { readonly key: string; readonly value: Raw };
  /** What the names of environment variables that give a variable its value begin with. */
  readonly prefixes: readonly string[];
  /** `settings.allow_env` */
  readonly allowed: ReadonlySet<string>;
  /** Called with the name of each variable that is used. */
  readonly using: (name: string) => void;
}

export type Complain = (complaint: Violation) => void;

const isFilled = (text: string): boolean => text.includes('${');

/** Whether there is nothing to do for a value: most are plain, and paths are made for the others only. */
const isPlain = (raw: Raw): boolean =>
  typeof raw === 'string' ? !isFilled(raw) : raw === null || typeof raw !== 'object';

/** `raw` with `var`, `env` and `each` filled in; the same object where there is none. A text that is filled in whole keeps its type, or takes that of its attribute. */
export function substitute(
  raw: Raw,
  attribute: Attribute | undefined,
  path: readonly string[],
  scope: Scope,
  complain: Complain,
): Raw {
  if (isPlain(raw) || raw instanceof Word) return raw;
  if (typeof raw === 'string') return substituteText(raw, attribute, path, scope, complain);
  let changed: Record<string, Raw> | Raw[] | undefined;
  for (const key of Object.keys(raw as RawMap)) {
    const before = (raw as RawMap)[key] as Raw;
    if (isPlain(before)) continue;
    const after = substitute(before, inner(attribute, key), [...path, key], scope, complain);
    if (after === before) continue;
    changed ??= Array.isArray(raw) ? [...(raw as readonly Raw[])] : { ...(raw as RawMap) };
    (changed as Record<string, Raw>)[key] = after;
  }
  return changed ?? raw;
}

const inner = (attribute: Attribute | undefined, step: string): Attribute | undefined =>
  attribute && inside(attribute, step);

export function holdsExpression(raw: Raw): boolean {
  if (typeof raw === 'string') return partsOf(raw).some((part) => typeof part !== 'string');
  if (Array.isArray(raw)) return (raw as readonly Raw[]).some(holdsExpression);
  return isMap(raw) && Object.values(raw).some(holdsExpression);
}

/** Most texts hold references alone, and stay as they are. */
const LOCAL = /\$\{\s*(?:var|env|each)\.|\[\s*each\./;

function substituteText(
  text: string,
  attribute: Attribute | undefined,
  path: readonly string[],
  scope: Scope,
  complain: Complain,
): Raw {
  if (!LOCAL.test(text)) return text;
  const filled = filledText(text, attribute, path, scope, complain);
  if (attribute?.secret !== true || (typeof filled === 'string' && literalOf(filled) === undefined))
    return filled;
  const [first = '', ...more] = partsOf(text).flatMap((part) =>
    typeof part === 'string' ? [] : [part.text],
  );
  complain({
    path,
    code: 'literal-secret',
    summary: `\`${path.join('.')}\` is secret: ${[first, ...more].join(' and ')} cannot stand here, because variables are shown and stored`,
    detail:
      'Write `"${secret.env.NAME}"` or `"${secret.file.PATH}"`, and give the value there, not by --var or in a file of declarations.',
  });
  return first;
}

function filledText(
  text: string,
  attribute: Attribute | undefined,
  path: readonly string[],
  scope: Scope,
  complain: Complain,
): Raw {
  const parts = partsOf(text);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && typeof only !== 'string') {
    const value = fill(only, path, scope, complain);
    if (value !== undefined) return typeof value === 'string' ? typed(value, attribute) : value;
  }
  return textOf(parts.flatMap((part) => spliced(part, path, scope, complain)));
}

function spliced(
  part: Part,
  path: readonly string[],
  scope: Scope,
  complain: Complain,
): readonly Part[] {
  if (typeof part === 'string') return [part];
  if (part.from === 'declared' && part.index && 'each' in part.index)
    return [withKey(part, part.index.each, path, scope, complain)];
  const value = fill(part, path, scope, complain);
  if (value === undefined) return [part];
  if (typeof value === 'object' && value !== null && !(value instanceof Word)) {
    complain({
      path,
      code: 'not-text',
      summary: `${part.text} is no single value and cannot stand inside a text`,
      detail: 'Let it be the whole value.',
    });
    return [part];
  }
  return typeof value === 'string' ? partsOf(value) : [String(value)];
}

function withKey(
  part: Expression & { readonly from: 'declared' },
  at: readonly string[],
  path: readonly string[],
  scope: Scope,
  complain: Complain,
): Expression {
  const value = eachValue(at, part.text, path, scope, complain);
  const key = typeof value === 'string' ? literalOf(value) : undefined;
  if (key !== undefined)
    return {
      ...part,
      index: { key },
      text: `\${${formatAddress({ kind: part.kind, name: part.name, key })}.${part.attribute}}`,
    };
  if (value !== undefined)
    complain({ path, code: 'not-text', summary: `${part.text}: a key must be plain text` });
  return part;
}

/** The value of an expression that is known while loading, as text of the language; undefined for others and after a complaint. */
function fill(
  part: Expression,
  path: readonly string[],
  scope: Scope,
  complain: Complain,
): Raw | undefined {
  switch (part.from) {
    case 'var': {
      scope.using(part.name);
      const value = scope.variables.get(part.name);
      if (value !== undefined)
        return member(value, part.path, `${part.text}: \`${part.name}\``, path, complain);
      const right = didYouMean(part.name, scope.variables.keys());
      complain({
        path,
        names: ['variables', part.name],
        code: 'unknown-variable',
        summary: `the variable \`${part.name}\` has no value.${right}`,
        detail: `Give it one with \`--var ${part.name}=…\`, ${scope.prefixes.map((prefix) => prefix + part.name).join(' or ')}, or \`variables: { ${part.name}: … }\` in a file.`,
      });
      return undefined;
    }
    case 'env': {
      const wrong = credential(part, scope);
      if (wrong) return void complain({ path, ...wrong });
      const value = variableIn(scope.environment, part.name);
      if (value !== undefined) return escapeText(value);
      complain({
        path,
        code: 'unknown-environment',
        summary: `the environment variable ${part.name} is not set`,
        detail: `Type \`export ${part.name}=…\` first.`,
      });
      return undefined;
    }
    case 'each':
      return eachValue(part.path, part.text, path, scope, complain);
    default:
      return undefined;
  }
}

/** What is said of a variable that must not be shown; undefined of any other. */
function credential(
  { name, text }: Expression & { readonly from: 'env' },
  { allowed }: Scope,
): Omit<Violation, 'path'> | undefined {
  if (isOwnCredential(name)) return ownCredential(text, name);
  if (!isCredentialName(name) || allowed.has(name)) return undefined;
  return {
    code: 'credential-in-env',
    summary: `${text}: ${name} is named as a credential is, and the value would be shown and stored`,
    detail: `Where a secret belongs, write \`\${secret.env.${name}}\`. If it is no credential: \`settings: { allow_env: [${name}] }\`.`,
  };
}

function eachValue(
  steps: readonly string[],
  text: string,
  path: readonly string[],
  scope: Scope,
  complain: Complain,
): Raw | undefined {
  if (!scope.each) {
    complain({
      path,
      code: 'no-for-each',
      summary: `${text} stands outside of a \`for_each\``,
      detail: 'Add `for_each: [a, b]` beside the attributes.',
    });
    return undefined;
  }
  if (steps[0] === 'key') return escapeText(scope.each.key);
  return member(
    scope.each.value,
    steps.slice(1),
    `${text}: the value of "${scope.each.key}"`,
    path,
    complain,
  );
}

/** What a mapping or list holds at the steps; items of a list are numbered from 0. @param what what it is called in a complaint */
function member(
  whole: Raw,
  steps: readonly string[],
  what: string,
  path: readonly string[],
  complain: Complain,
): Raw | undefined {
  let value: Raw | undefined = whole;
  for (const step of steps) {
    const known: readonly string[] = isMap(value) || Array.isArray(value) ? Object.keys(value) : [];
    if (!known.includes(step)) {
      complain({
        path,
        code: 'unknown-member',
        summary: `${what} has no \`${step}\`.${didYouMean(step, known)}`,
      });
      return undefined;
    }
    value = (value as RawMap)[step];
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
  if (Array.isArray(raw))
    return (raw as readonly Raw[]).map((item, index) =>
      converted(item, inner(attribute, String(index))),
    );
  if (isMap(raw)) {
    const isAbsent = (item: Raw, within: Attribute | undefined): boolean =>
      item === null &&
      attribute.word === 'object' &&
      within !== undefined &&
      within.word !== 'document';
    return Object.fromEntries(
      Object.entries(raw).flatMap(([key, item]) =>
        isAbsent(item, inner(attribute, key))
          ? []
          : [[key, converted(item, inner(attribute, key))]],
      ),
    );
  }
  if (typeof raw === 'string')
    return attribute.word === 'flag' && /^[01]$/.test(raw) ? raw === '1' : typed(raw, attribute);
  const text = String(raw);
  return ['text', 'choice', 'ref'].includes(attribute.word) && !/\de/.test(text) ? text : raw;
}

/** What references may lead to. */
export interface InterpolationContext {
  readonly kinds: Kinds;
  /** Word for the kind of each lookup by its name; undefined, or no kind, where it is wrong and was complained of. */
  readonly lookups: ReadonlyMap<string, string | undefined>;
  /** Whether references to other objects may stand at a path. */
  readonly references: (path: readonly string[]) => boolean;
  readonly secret: SecretSource;
  readonly complain: Complain;
}

/** The value of `raw`, which ajv found to be of the right shape; the same object where it is plain. Complains of what a schema cannot see. */
export function build(
  raw: Raw,
  attribute: Attribute | undefined,
  path: readonly string[],
  context: InterpolationContext,
): Value {
  if (typeof raw === 'string')
    return isFilled(raw) ? buildText(raw, attribute, path, context) : raw;
  if (raw instanceof Word) {
    if (attribute !== undefined && attribute.word !== 'document')
      context.complain(ambiguous(path, attribute, String(raw)));
    return String(raw);
  }
  if (raw === null || typeof raw !== 'object') return raw;
  let changed: Record<string, Value> | Value[] | undefined;
  for (const key of Object.keys(raw)) {
    const before = (raw as RawMap)[key] as Raw;
    if (isPlain(before)) continue;
    const after = build(before, inner(attribute, key), [...path, key], context);
    if (after === before) continue;
    changed ??= (Array.isArray(raw) ? [...(raw as readonly Raw[])] : { ...(raw as RawMap) }) as
      Record<string, Value> | Value[];
    (changed as Record<string, Value>)[key] = after;
  }
  return changed ?? (raw as Value);
}

function ambiguous(path: readonly string[], attribute: Attribute, word: string): Violation {
  if (attribute.secret === true) return mismatch(path, attribute, null);
  const flagged = /^(?:yes|on)$/i.test(word) ? 'true' : 'false';
  const detail =
    attribute.word === 'flag'
      ? `Write \`${flagged}\`.`
      : `Write "${word}" in quotes if text is meant.`;
  return {
    path,
    code: 'ambiguous-word',
    summary: `\`${path.join('.')}\`: a plain \`${word}\` is text to some readers and ${flagged} to others`,
    detail,
  };
}

function buildText(
  text: string,
  attribute: Attribute | undefined,
  path: readonly string[],
  context: InterpolationContext,
): Value {
  const parts = partsOf(text);
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'string') {
    if (!takesText(attribute, only)) context.complain(mismatch(path, attribute as Attribute, only));
    return only;
  }
  if (parts.length === 1 && only !== undefined)
    return buildWhole(only as Expression, attribute, path, context);
  if (
    attribute &&
    attribute !== anything &&
    (attribute.secret === true || !['text', 'choice', 'ref'].includes(attribute.word))
  ) {
    context.complain(mismatch(path, attribute, text));
    return text;
  }
  const built = parts.map((part) =>
    typeof part === 'string' ? part : buildPart(part, path, context),
  );
  return new Template(built);
}

function takesText(attribute: Attribute | undefined, text: string): boolean {
  if (attribute === undefined || attribute === anything) return true;
  if (attribute.secret === true) return false;
  return (
    attribute.word === 'text' ||
    attribute.word === 'ref' ||
    (attribute.word === 'choice' && (attribute.open || attribute.values.includes(text)))
  );
}

function buildWhole(
  part: Expression,
  attribute: Attribute | undefined,
  path: readonly string[],
  context: InterpolationContext,
): Value {
  if (part.from === 'secret') {
    if (attribute?.secret === true || attribute === anything)
      return buildSecret(part, path, context);
    context.complain({
      path,
      code: 'misplaced-secret',
      summary: `${part.text} may stand only where a secret belongs`,
      detail: 'Elsewhere it would be shown and stored.',
    });
    return part.text;
  }
  if (attribute?.secret === true && (part.from === 'declared' || part.from === 'lookup'))
    context.complain(mismatch(path, attribute, null));
  const reference = buildPart(part, path, context);
  if (
    typeof reference !== 'string' &&
    attribute &&
    attribute !== anything &&
    context.references(path)
  )
    checkTarget(reference, attribute, path, context);
  return reference;
}

function buildSecret(
  { source, name, text }: Expression & { readonly from: 'secret' },
  path: readonly string[],
  context: InterpolationContext,
): Value {
  const secret = context.secret(source, name);
  if (secret instanceof Secret) return secret;
  context.complain({ path, ...secret });
  return text;
}

function buildPart(
  part: Expression,
  path: readonly string[],
  context: InterpolationContext,
): Reference | string {
  if (part.from === 'nowhere')
    context.complain({ path, code: 'bad-reference', summary: part.summary, detail: part.detail });
  if (part.from === 'secret')
    context.complain({
      path,
      code: 'misplaced-secret',
      summary: `${part.text} must be the whole value of a secret attribute`,
      detail: 'It cannot stand inside a text.',
    });
  if (part.from === 'lookup') return buildLookup(part, path, context);
  if (part.from === 'declared') return buildDeclared(part, path, context);
  return part.text;
}

function buildLookup(
  part: Expression & { readonly from: 'lookup' },
  path: readonly string[],
  context: InterpolationContext,
): Reference {
  const kind = context.kinds.get(context.lookups.get(part.name) ?? '');
  if (!context.references(path)) context.complain(noReferences(part, path));
  else if (!context.lookups.has(part.name)) {
    const right = didYouMean(part.name, context.lookups.keys());
    context.complain({
      path,
      names: ['lookups', part.name],
      code: 'unknown-lookup',
      summary: `there is no lookup \`${part.name}\`.${right}`,
      detail: 'Declare it: `lookups: { name: { kind: { attribute: value } } }`.',
    });
  } else if (kind) checkAttribute(kind, part.attribute, part.text, path, context);
  return new Reference('lookup', part.name, part.attribute);
}

function buildDeclared(
  part: Expression & { readonly from: 'declared' },
  path: readonly string[],
  context: InterpolationContext,
): Reference {
  const kind = context.kinds.get(part.kind);
  if (!context.references(path)) context.complain(noReferences(part, path));
  else if (!kind)
    context.complain({ path, code: 'unknown-kind', ...unknownSource(part.kind, context.kinds) });
  else checkAttribute(kind, part.attribute, part.text, path, context);
  const { index } = part;
  return new Reference(
    'declared',
    formatAddress({
      kind: part.kind,
      name: part.name,
      ...(index && 'key' in index ? { key: index.key } : {}),
    }),
    part.attribute,
  );
}

const noReferences = (part: Expression, path: readonly string[]): Violation => ({
  path,
  code: 'misplaced-reference',
  summary: `${part.text} cannot stand here: the value must be known before anything is read`,
  detail: 'Write the value, or `${var.<name>}`, `${env.<NAME>}` or `${each.…}`.',
});

/** What nobody can read back. */
const hidden = (one: Attribute): boolean => holdsSecret(one) || one.wire === 'merge';

function checkAttribute(
  kind: Kind,
  name: string,
  text: string,
  path: readonly string[],
  context: InterpolationContext,
): void {
  const top = name.split('.')[0] as string;
  const attribute = own(kind.attributes, top);
  if (attribute && top === name && !hidden(attribute) && attribute.unstored !== true) return;
  const names = Object.keys(kind.attributes).filter(
    (one) => !hidden(kind.attributes[one] as Attribute) && kind.attributes[one]?.unstored !== true,
  );
  const detail = `Attributes: ${names.join(', ')}.`;
  if (!attribute)
    context.complain({
      path,
      code: 'unknown-attribute',
      summary: `${text}: \`${top}\` is not an attribute of ${kind.name}.${didYouMean(top, names)}`,
      detail,
    });
  else if (hidden(attribute))
    context.complain({
      path,
      code: 'secret-reference',
      summary: `${text}: a secret can be written but not read`,
      detail: 'Write `${secret.env.NAME}` or `${secret.file.PATH}` here too.',
    });
  else if (attribute.unstored === true)
    context.complain({
      path,
      code: 'free-text-reference',
      summary: `${text}: what the service says in its own words is shown, and nothing is made of it`,
      detail,
    });
  else
    context.complain({
      path,
      code: 'partial-reference',
      summary: `${text}: only a whole attribute can be referred to`,
      detail,
    });
}

/** A list where a single value belongs, or the other way round, and an identifier of one kind where another kind's belongs are surely wrong. */
function checkTarget(
  reference: Reference,
  wanted: Attribute,
  path: readonly string[],
  context: InterpolationContext,
): void {
  const name =
    reference.source === 'lookup'
      ? context.lookups.get(reference.target)
      : reference.target.slice(0, reference.target.indexOf('.'));
  const kind = context.kinds.get(name ?? '');
  const attribute = kind && own(kind.attributes, reference.attribute);
  if (!kind || !attribute || hidden(attribute)) return;
  const [expected, found] = [shapeOf(wanted), shapeOf(attribute)];
  if (expected !== found && wanted.word !== 'document') {
    const detail =
      expected === 'a list' && found === 'a single value'
        ? { detail: `Write it in brackets: \`["${String(reference)}"]\`.` }
        : {};
    context.complain({
      path,
      code: 'wrong-type',
      summary: `\`${path.join('.')}\`: ${expected} is expected, and ${String(reference)} is ${found}`,
      ...detail,
    });
    return;
  }
  if (wanted.word !== 'ref') return;
  const { to } = wanted;
  const given = identified(kind, reference.attribute, attribute);
  if (given === to) return;
  const right = context.kinds.get(to);
  const detail = right
    ? `Refer to \`\${${right.name}.<name>.${right.id}}\`.`
    : `Write the identifier itself: ${to} are not managed here.`;
  const what = given === undefined ? 'none' : `one of ${given}`;
  context.complain({
    path,
    code: 'wrong-kind',
    summary: `\`${path.join('.')}\` takes an identifier of ${to}, and ${String(reference)} is ${what}`,
    detail,
  });
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
  if (Array.isArray(value)) return (value as readonly Value[]).map(spell);
  return isTree(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, spell(item)]))
    : (value as Json);
}
