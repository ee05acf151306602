// Values of a synthesised stack in the language of declaration files: references by address, locals written out,
// outputs of other stacks resolved. An expression that the language lacks is an error that names it.
import {
  cached,
  defined,
  NAME,
  didYouMean,
  formatAddress,
  holdsNumberToken,
  isList,
  isObject,
  lostNumberToken,
  nameInApi,
  own,
  type Address,
  type Json,
  type JsonObject,
  type Kind,
} from '../../model/index.js';
import { EMPTY, escapeText, textOf, partsOf, type Part } from '../reference-syntax.js';
import { isMap, limits, MOST_BYTES, sizeOf, TOO_LARGE, type Raw } from '../yaml/raw-values.js';
import {
  asTemplate,
  isTraversal,
  templateParts,
  type TraversalStep,
  type TemplateExpression,
  type TemplatePart,
  type Traversal,
} from './template.js';
import { notInText } from '../interpolate.js';
import { complainAt, type ComplaintPlace, type Violation } from '../validation.js';

/** A stack as it was read, and what else is needed to understand it. */
export interface Stack {
  readonly name: string;
  readonly tree: JsonObject;
  /** Kinds by resource type, as in `devicecloud_account`. */
  readonly kinds: ReadonlyMap<string, Kind>;
  /** The name of the lookup that a data source of the kind became. */
  readonly lookup: (kind: Kind, name: string) => string;
  /** The kind of a lookup. */
  readonly found: (lookup: string) => Kind | undefined;
  /** The stack that a `terraform_remote_state` reads, where it is one of those at hand. */
  readonly remote: (name: string) => Stack | undefined;
  /** What `terraform.workspace` is. */
  readonly workspace: string;
  /** Keeps an expression until variables are known. @returns the text that stands for it */
  readonly keep: (expression: StackExpression) => string;
}

/** An expression that is evaluated once variables are known. */
export interface StackExpression {
  /** `${` and `}` included. */
  readonly text: string;
  readonly site: StackPlace;
}

/** Where a value stands: its stack, the steps to it from its block, and whom to tell. */
export interface StackPlace extends ComplaintPlace {
  readonly stack: Stack;
  /** Locals and outputs on the way here, so that none leads back into itself. */
  readonly inside: readonly string[];
  /** Values of locals and outputs on the way here, so that none is worked out for each of its places. */
  readonly known?: Map<string, Raw>;
  /** Whether the value is a secret: nothing of it is repeated. */
  readonly secret?: true;
  /** The `for_each` of the block, as it is written. */
  readonly forEach?: Json;
  /** Whether `each.value` is a text, as each of a set is. */
  readonly ofTexts?: boolean;
  /** What becomes of the value of an expression: it is put in a text, or read as JSON. */
  readonly as?: 'text' | 'json';
}

/** A place inside another one. */
export const placeBelow = (
  { as: _, ...site }: StackPlace,
  ...steps: readonly string[]
): StackPlace => ({ ...site, path: [...site.path, ...steps] });

/** A place as complaints call it. */
export const placeName = ({ path }: StackPlace): string => `\`${path.join('.')}\``;

type Steps = readonly TraversalStep[];

/** How to do without an expression. */
export const OTHER_WAYS =
  'Work the value out in the program, or let Terraform carry out this stack with the provider: `terraform plan`. docs/how-to/cdk.md of the trueup package lists what is evaluated.';
/** Stands in for a value with an error. */
const NOTHING = '';

/** The members of a mapping at a place of a stack, or empty. */
export function blockAt(tree: JsonObject, ...path: readonly string[]): JsonObject {
  let value: Json | undefined = tree;
  for (const step of path) value = isObject(value) ? own(value, step) : undefined;
  return isObject(value) ? value : {};
}

export function rawValueOf(value: Json, site: StackPlace): Raw {
  if (site.path.length > limits.levels) return tooDeep(site);
  if (typeof value === 'string') return textValue(templateParts(value), site);
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    return refuse(
      site,
      'integer-range',
      'the integer is beyond 2^53 and would lose digits',
      'Make it a string: identifiers are strings.',
    );
  if (isList(value))
    return value.map((item, index) => rawValueOf(item, placeBelow(site, String(index))));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const inner = placeBelow(site, key);
      return [keyOf(key, inner), rawValueOf(item, inner)];
    }),
  );
}

export const tooDeep = (site: StackPlace): Raw =>
  refuse(site, 'too-deep', `nested deeper than ${limits.levels} levels`);

/** A value in which no text is a template, as the default of a variable is one. */
export const literalValueOf = (value: Json, site: StackPlace): Raw =>
  rawValueOf(untemplated(value), site);

function untemplated(value: Json): Json {
  if (typeof value === 'string') return asTemplate(value);
  if (isList(value)) return value.map(untemplated);
  if (!isObject(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([key, item]) => [asTemplate(key), untemplated(item)]));
}

/** Keys are templates like any text, and have to be known. */
function keyOf(key: string, site: StackPlace): string {
  const [literal, ...more] = templateParts(key);
  if (typeof literal === 'string' && more.length === 0 && literal !== '__proto__') return literal;
  refuse(site, 'unsupported-expression', `the key \`${key}\` is not a plain string`, OTHER_WAYS);
  return key;
}

function refuse(site: StackPlace, code: string, summary: string, detail?: string): Raw {
  complainAt(site, code, summary, detail);
  return NOTHING;
}

/** The expression that a text is all of. */
export function onlyExpression(parts: readonly TemplatePart[]): TemplateExpression | undefined {
  const [only, ...more] = parts;
  return typeof only === 'object' && more.length === 0 ? only : undefined;
}

/** What is wrong with a text, or with an expression, that holds the digits of a number token. */
export function tokenComplaint(part: TemplatePart): Omit<Violation, 'path'> | undefined {
  const text = typeof part === 'string' ? part : part.text;
  if (!holdsNumberToken(text)) return undefined;
  const what = typeof part === 'string' ? `the string \`${text}\`` : shownExpression(text);
  const { what: why, advice: detail } = lostNumberToken;
  return { code: 'number-token', summary: `${what} ${why}`, detail };
}

/** A text that is one reference keeps its type; a mixed one becomes a text. */
export function textValue(parts: readonly TemplatePart[], site: StackPlace): Raw {
  const only = onlyExpression(parts);
  if (only) return expressionValue(only, site);
  return textOf(
    parts.flatMap((part): readonly Part[] => {
      if (typeof part === 'string') return [literalText(part, site)];
      const value = expressionValue(part, { ...site, as: 'text' });
      if (typeof value === 'string') return partsOf(value);
      if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
      notText(part, value, site);
      return [];
    }),
  );
}

export function notText({ text }: TemplateExpression, value: Raw, site: StackPlace): Raw {
  return refuse(site, 'not-text', ...notInText(text, value));
}

/** One reference that stands in quotes inside of a text that is read as JSON: text, whatever it leads to. */
export function quotedValue(part: TemplateExpression, site: StackPlace): Raw {
  const value = expressionValue(part, { ...site, as: 'text' });
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null || isMap(value) || Array.isArray(value)) return notText(part, value, site);
  return typeof value === 'string' && /^\$\{(?:var|each)\./.test(value) ? EMPTY + value : value;
}

const expressionValue = (part: TemplateExpression, site: StackPlace): Raw =>
  isTraversal(part) ? traversalValue(part, site) : kept(part.text, site);

function literalText(text: string, site: StackPlace): string {
  const complaint = site.secret ? undefined : tokenComplaint(text);
  if (complaint) site.complain({ path: site.path, ...complaint });
  return text;
}

function kept(text: string, site: StackPlace): Raw {
  if (site.secret || !/^\$\{[^]*\}$/.test(text)) return unsupported(text, site);
  const complaint = tokenComplaint({ text, body: text });
  if (!complaint) return site.stack.keep({ text, site });
  site.complain({ path: site.path, ...complaint });
  return NOTHING;
}

/** An expression as complaints call it. */
export const shownExpression = (text: string): string =>
  `the expression ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;

function unsupported(text: string, site: StackPlace): Raw {
  if (site.secret) return literalSecret(site);
  const summary = `${shownExpression(text)} is not evaluated here`;
  return refuse(site, 'unsupported-expression', summary, OTHER_WAYS);
}

function traversalValue({ text, steps }: Traversal, site: StackPlace): Raw {
  const [head, ...rest] = steps;
  switch (head) {
    case 'var':
      return variableValue(text, rest, site);
    case 'local':
      return localValue(text, rest, site);
    case 'each':
      return eachValue(text, rest, site);
    case 'count':
      return rest.length === 1 && rest[0] === 'index' ? '${each.value}' : unsupported(text, site);
    case 'terraform':
      return rest.length === 1 && rest[0] === 'workspace'
        ? escapeText(site.stack.workspace)
        : unsupported(text, site);
    case 'data':
      return rest[0] === 'terraform_remote_state'
        ? outputValue(text, rest.slice(1), site)
        : objectValue(text, rest, 'data', site);
    default:
      return objectValue(text, steps, 'resource', site);
  }
}

/** Whether a variable is one for secrets. Whatever is not clearly false counts as true: Terraform converts "true" and "1". */
export const isSecret = (variable: Json | undefined): boolean =>
  isObject(variable) &&
  ['sensitive', 'ephemeral'].some(
    (name) => ![null, false, 'false'].some((one) => one === (own(variable, name) ?? null)),
  );

/** A sensitive variable is a secret: it comes from the environment, and only to where a secret belongs. */
function variableValue(text: string, [name, ...more]: Steps, site: StackPlace): Raw {
  const { stack } = site;
  const variables = blockAt(stack.tree, 'variable');
  if (typeof name !== 'string') return unsupported(text, site);
  if (!Object.hasOwn(variables, name)) {
    const right = didYouMean(name, Object.keys(variables));
    const summary = `the stack ${stack.name} has no variable \`${name}\`.${right}`;
    return refuse(site, 'unknown-variable', summary);
  }
  const members = namesOf(more);
  if (!isSecret(variables[name]))
    return members ? `\${${['var', name, ...members].join('.')}}` : kept(text, site);
  if (more.length > 0) {
    const summary = `${text} is part of a sensitive variable, which has to be one string`;
    return refuse(site, 'unsupported-expression', summary, 'Give each secret a variable.');
  }
  const { default: initial } = blockAt(variables, name);
  if (initial !== undefined && initial !== null)
    return literalSecret(
      site,
      `the sensitive variable \`${name}\` has a default, which is readable in the stack`,
    );
  return `\${secret.env.TRUEUP_VAR_${name}}`;
}

const ONE_VARIABLE =
  "Make it a variable: `new TerraformVariable(this, 'secret', { sensitive: true })`, without a default; its value comes from TRUEUP_VAR_secret or TF_VAR_secret.";

/** The value is not repeated. */
export const literalSecret = (
  site: StackPlace,
  summary = `${placeName(site)} is secret: it has to be one variable that is marked sensitive`,
): Raw => refuse(site, 'literal-secret', summary, ONE_VARIABLE);

function localValue(text: string, [name, ...more]: Steps, site: StackPlace): Raw {
  const { stack } = site;
  const locals = blockAt(stack.tree, 'locals');
  const local = typeof name === 'string' ? own(locals, name) : undefined;
  if (local === undefined) {
    const right = didYouMean(String(name), Object.keys(locals));
    const summary = `${text}: the stack ${stack.name} has no such local.${right}`;
    return refuse(site, 'unknown-local', summary);
  }
  return within(
    followed(local, `${stack.name} local.${String(name)}`, site, stack),
    more,
    text,
    site,
  );
}

function followed(value: Json, mark: string, site: StackPlace, stack: Stack): Raw {
  const inside = [...site.inside, mark];
  if (site.inside.includes(mark) || site.inside.length >= limits.levels)
    return refuse(site, 'cycle', `these lead back to each other: ${inside.join(' → ')}`);
  const known = site.known ?? new Map<string, Raw>();
  return cached(known, `${mark} ${site.as ?? ''} ${site.secret ?? ''}`, () => {
    const found = rawValueOf(value, { ...site, stack, inside, known });
    return sizeOf(found) > MOST_BYTES + sizeOf(stack.tree)
      ? refuse(site, 'too-large', `${mark} is too large: ${TOO_LARGE}`)
      : found;
  });
}

/** The key that a step names; undefined for a step that names none. */
function stepKey(step: TraversalStep | undefined): string | undefined {
  if (step === undefined || typeof step === 'string') return step;
  return 'key' in step ? String(step.key) : undefined;
}

/** The part of a known value at the remaining steps. */
function within(value: Raw, steps: Steps, text: string, site: StackPlace): Raw {
  let inner = value;
  for (const step of steps) {
    const key = stepKey(step);
    const next: Raw | undefined =
      key !== undefined && (isMap(inner) || isList(inner)) ? own<Raw>(inner, key) : undefined;
    if (next === undefined) return kept(text, site);
    inner = next;
  }
  return inner;
}

function eachValue(text: string, rest: Steps, site: StackPlace): Raw {
  const names = namesOf(rest);
  const right = names && (names[0] === 'value' || (names[0] === 'key' && names.length === 1));
  return right ? `\${each.${names.join('.')}}` : unsupported(text, site);
}

/** Steps into a value as declaration files write them; undefined where they cannot. */
function namesOf(steps: Steps): readonly string[] | undefined {
  const names = steps.map((step) => stepKey(step) ?? '');
  return names.every((name) => /^[^.[\]{}"]+$/.test(name)) ? names : undefined;
}

/** `outputs.NAME` of another stack: what it stands for there. */
function outputValue(text: string, [state, word, output, ...more]: Steps, site: StackPlace): Raw {
  const other =
    typeof state === 'string' && word === 'outputs' ? site.stack.remote(state) : undefined;
  if (!other)
    return refuse(
      site,
      'unknown-stack',
      `${text} is an output of a stack that is not at hand`,
      'Name the whole output folder of the program, or write the identifier itself.',
    );
  const name = stepKey(output) ?? '';
  const { value } = blockAt(other.tree, 'output', name);
  if (value === undefined) {
    const summary = `${text}: the stack ${other.name} has no output \`${name}\``;
    return refuse(site, 'unknown-output', summary, 'Synthesise both stacks again.');
  }
  return within(followed(value, `${other.name} output.${name}`, site, other), more, text, site);
}

/** An attribute of a resource, or of a data source, which is a lookup here. */
function objectValue(
  text: string,
  [type, name, ...more]: Steps,
  section: 'data' | 'resource',
  site: StackPlace,
): Raw {
  const { stack } = site;
  if (typeof type !== 'string') return unsupported(text, site);
  const kind = stack.kinds.get(type);
  if (!kind) {
    if (!Object.hasOwn(blockAt(stack.tree, section), type)) return unsupported(text, site);
    return refuse(
      site,
      'foreign-reference',
      `${text} refers to ${type}, which nothing here can read`,
      'Let Terraform carry out this stack, or write the value as a variable.',
    );
  }
  const [index, ...names] = typeof more[0] === 'object' ? more : [undefined, ...more];
  if (
    typeof name !== 'string' ||
    names.length === 0 ||
    names.some((step) => typeof step !== 'string')
  )
    return unsupported(text, site);
  const attribute = nameInApi(kind, names.join('.'));
  if (section === 'resource') return `\${${addressText(kind, name, index)}.${attribute}}`;
  return index === undefined
    ? `\${lookups.${stack.lookup(kind, name)}.${attribute}}`
    : unsupported(text, site);
}

function addressText(kind: Kind, name: string, index: TraversalStep | undefined): string {
  if (typeof index !== 'object') return `${kind.name}.${name}`;
  if ('by' in index)
    return `${kind.name}.${name}[${index.by === 'count.index' ? 'each.key' : index.by}]`;
  return formatAddress({ kind: kind.name, name, key: String(index.key) });
}

export interface BareAddress extends Omit<Address, 'kind'> {
  readonly kind?: Kind;
}

/** A bare address, as in `depends_on`: of a kind, or of something else; undefined where it has another form. */
export function bareAddress(text: string, { kinds }: Stack): BareAddress | undefined {
  if (templateParts(text).length !== 1 || text.includes('{')) return undefined;
  const [, type = '', name = '', quoted, index] =
    /^([\w-]+)\.([\w-]+)(?:\[(?:("(?:[^"\\]|\\.)*")|(\d+))\])?$/.exec(text) ?? [];
  if (!NAME.test(name)) return undefined;
  const key: string | undefined = quoted === undefined ? index : JSON.parse(quoted);
  return { name, ...defined({ kind: kinds.get(type), key }) };
}
