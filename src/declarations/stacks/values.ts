// Values of a synthesised stack in the language of declaration files: references by address, locals written out,
// outputs of other stacks followed to what they stand for. What cannot be said in it is complained of by name.
import {
  defined,
  NAME,
  didYouMean,
  formatAddress,
  isObject,
  own,
  type Json,
  type JsonObject,
  type Kind,
} from '../../model/index.js';
import { EMPTY, textOf, partsOf, type Part } from '../expression.js';
import { isMap, limits, type Raw } from '../yaml/raw-values.js';
import {
  asTemplate,
  isTraversal,
  templateParts,
  type TraversalStep,
  type TemplatePart,
  type Traversal,
} from './template.js';
import type { Complain } from '../interpolate.js';

/** A stack as it was read, and what else is needed to understand it. */
export interface Stack {
  readonly name: string;
  readonly tree: JsonObject;
  /** Kinds by resource type, as in `devicecloud_account`. */
  readonly kinds: ReadonlyMap<string, Kind>;
  /** What the lookup is called that a data source of the kind became. */
  readonly lookup: (kind: Kind, name: string) => string;
  /** What the lookup of a name finds. */
  readonly found: (lookup: string) => Kind | undefined;
  /** The stack that a `terraform_remote_state` reads, where it is one of those at hand. */
  readonly remote: (name: string) => Stack | undefined;
}

/** Where a value stands: its stack, and whom to tell. */
export interface StackPlace {
  readonly stack: Stack;
  readonly complain: Complain;
  /** Locals and outputs on the way here, so that none leads back into itself. */
  readonly inside: readonly string[];
  /** Whether the value is a secret: nothing of it is repeated. */
  readonly secret?: true;
  /** Whether `each.value` is a text, as each of a set is. */
  readonly ofTexts?: boolean;
}

const FORMS =
  'What can be read is a reference, as in `${TYPE.NAME.attribute}`, `${data.TYPE.NAME.attribute}`, `${var.NAME}`, `${local.NAME}`, `${each.key}` or `${count.index}`; work the value out in the program instead.';
/** What a value becomes that was complained of. */
const NOTHING = '';

/** The members of a mapping at a place of a stack; empty where there is none. */
export function blockAt(tree: JsonObject, ...path: readonly string[]): JsonObject {
  let value: Json | undefined = tree;
  for (const step of path) value = isObject(value) ? own(value, step) : undefined;
  return isObject(value) ? value : {};
}

export function rawValueOf(value: Json, path: readonly string[], site: StackPlace): Raw {
  if (path.length > limits.levels)
    return refuse(site, path, 'too-deep', `nested deeper than ${limits.levels} levels`);
  if (typeof value === 'string') return textValue(templateParts(value), path, site);
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    return refuse(
      site,
      path,
      'integer-range',
      'the integer is beyond 2^53 and would lose digits',
      'Make it a text: identifiers are text.',
    );
  if (Array.isArray(value))
    return (value as readonly Json[]).map((item, index) =>
      rawValueOf(item, [...path, String(index)], site),
    );
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      keyOf(key, path, site),
      rawValueOf(item, [...path, key], site),
    ]),
  );
}

/** A value in which no text is a template, as the default of a variable is one. */
export const literalValueOf = (value: Json, path: readonly string[], site: StackPlace): Raw =>
  rawValueOf(untemplated(value), path, site);

function untemplated(value: Json): Json {
  if (typeof value === 'string') return asTemplate(value);
  if (Array.isArray(value)) return (value as readonly Json[]).map(untemplated);
  return isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, item]) => [asTemplate(key), untemplated(item)]),
      )
    : value;
}

/** Keys are templates like any text, and have to be known. */
function keyOf(key: string, path: readonly string[], site: StackPlace): string {
  const [literal, ...more] = templateParts(key);
  if (typeof literal === 'string' && more.length === 0 && literal !== '__proto__') return literal;
  refuse(
    site,
    [...path, key],
    'unsupported-expression',
    `the key \`${key}\` is not plain text`,
    FORMS,
  );
  return key;
}

function refuse(
  { complain }: StackPlace,
  path: readonly string[],
  code: string,
  summary: string,
  detail?: string,
): Raw {
  complain({ path, code, summary, ...defined({ detail }) });
  return NOTHING;
}

/** A text that is one reference keeps its type; a mixed one becomes a text. */
export function textValue(
  parts: readonly TemplatePart[],
  path: readonly string[],
  site: StackPlace,
): Raw {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && typeof only !== 'string')
    return expressionValue(only, path, site);
  return textOf(
    parts.flatMap((part): readonly Part[] => {
      if (typeof part === 'string') return [part];
      const value = expressionValue(part, path, site);
      if (typeof value === 'string') return partsOf(value);
      if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
      notText(part, path, site);
      return [];
    }),
  );
}

const notText = (
  { text }: Exclude<TemplatePart, string>,
  path: readonly string[],
  site: StackPlace,
): Raw =>
  refuse(
    site,
    path,
    'not-text',
    `${text} is no single value and cannot stand inside a text`,
    'Let it be the whole value.',
  );

/** One reference that stands in quotes inside of a text that is read as JSON: text, whatever it leads to. */
export function quotedValue(
  part: Exclude<TemplatePart, string>,
  path: readonly string[],
  site: StackPlace,
): Raw {
  const value = expressionValue(part, path, site);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (isMap(value) || Array.isArray(value)) return notText(part, path, site);
  return typeof value === 'string' && /^\$\{(?:var|each)\./.test(value) ? EMPTY + value : value;
}

function expressionValue(
  part: Exclude<TemplatePart, string>,
  path: readonly string[],
  site: StackPlace,
): Raw {
  return isTraversal(part) ? traversalValue(part, path, site) : unsupported(part.text, path, site);
}

const unsupported = (text: string, path: readonly string[], site: StackPlace): Raw =>
  site.secret
    ? literalSecret(site, path)
    : refuse(
        site,
        path,
        'unsupported-expression',
        `the expression ${text.length > 200 ? `${text.slice(0, 200)}…` : text} is not evaluated here`,
        FORMS,
      );

function traversalValue(part: Traversal, path: readonly string[], site: StackPlace): Raw {
  const [head, ...rest] = part.steps;
  switch (head) {
    case 'var':
      return variableValue(part, rest, path, site);
    case 'local':
      return localValue(part, rest, path, site);
    case 'each':
      return eachValue(part, rest, path, site);
    case 'count':
      return rest.length === 1 && rest[0] === 'index'
        ? '${each.value}'
        : unsupported(part.text, path, site);
    case 'data':
      return rest[0] === 'terraform_remote_state'
        ? outputValue(part, rest.slice(1), path, site)
        : objectValue(part, rest, true, path, site);
    default:
      return objectValue(part, part.steps, false, path, site);
  }
}

/** Whether a variable is one for secrets. */
export const isSecret = (variable: Json | undefined): boolean =>
  isObject(variable) && (variable['sensitive'] === true || variable['ephemeral'] === true);

/** What is sensitive is a secret: it comes from the environment, and only to where a secret belongs. */
function variableValue(
  { text }: Traversal,
  [name, ...more]: readonly TraversalStep[],
  path: readonly string[],
  site: StackPlace,
): Raw {
  const variables = blockAt(site.stack.tree, 'variable');
  if (typeof name !== 'string') return unsupported(text, path, site);
  if (!Object.hasOwn(variables, name))
    return refuse(
      site,
      path,
      'unknown-variable',
      `the stack ${site.stack.name} has no variable \`${name}\`.${didYouMean(name, Object.keys(variables))}`,
    );
  const members = namesOf(more);
  if (!isSecret(variables[name]))
    return members ? `\${${['var', name, ...members].join('.')}}` : unsupported(text, path, site);
  if (more.length > 0)
    return refuse(
      site,
      path,
      'unsupported-expression',
      `${text} is part of a sensitive variable, which has to be one text`,
      'Give each secret a variable.',
    );
  const { default: initial } = blockAt(variables, name);
  if (initial !== undefined && initial !== null)
    return literalSecret(
      site,
      path,
      `the sensitive variable \`${name}\` has a default, which stands in the stack as it is`,
    );
  return `\${secret.env.TRUEUP_VAR_${name}}`;
}

/** What stands there is not repeated. */
export function literalSecret(
  site: StackPlace,
  path: readonly string[],
  summary = `\`${path.join('.')}\` is secret: it has to be one variable that is marked sensitive`,
): Raw {
  return refuse(
    site,
    path,
    'literal-secret',
    summary,
    "Make it a variable: `new TerraformVariable(this, 'secret', { sensitive: true })`, without a default; its value comes from TRUEUP_VAR_secret or TF_VAR_secret.",
  );
}

function localValue(
  { text }: Traversal,
  [name, ...more]: readonly TraversalStep[],
  path: readonly string[],
  site: StackPlace,
): Raw {
  const locals = blockAt(site.stack.tree, 'locals');
  if (typeof name !== 'string' || !Object.hasOwn(locals, name))
    return refuse(
      site,
      path,
      'unknown-local',
      `${text}: the stack ${site.stack.name} has no such local.${didYouMean(String(name), Object.keys(locals))}`,
    );
  const value = followed(
    locals[name] as Json,
    `${site.stack.name} local.${name}`,
    path,
    site,
    site.stack,
  );
  return within(value, more, text, path, site);
}

function followed(
  value: Json,
  mark: string,
  path: readonly string[],
  site: StackPlace,
  stack: Stack,
): Raw {
  if (site.inside.includes(mark) || site.inside.length >= limits.levels)
    return refuse(
      site,
      path,
      'cycle',
      `these lead back to each other: ${[...site.inside, mark].join(' → ')}`,
    );
  return rawValueOf(value, path, { ...site, stack, inside: [...site.inside, mark] });
}

/** The key that a step names; undefined for a step that names none. */
function stepKey(step: TraversalStep | undefined): string | undefined {
  if (step === undefined || typeof step === 'string') return step;
  return 'key' in step ? String(step.key) : undefined;
}

/** What a known value holds at the remaining steps. */
function within(
  value: Raw,
  steps: readonly TraversalStep[],
  text: string,
  path: readonly string[],
  site: StackPlace,
): Raw {
  let inner: Raw | undefined = value;
  for (const step of steps) {
    const key = stepKey(step);
    if (key === undefined || !(isMap(inner) || Array.isArray(inner)) || !Object.hasOwn(inner, key))
      return unsupported(text, path, site);
    inner = (inner as Readonly<Record<string, Raw>>)[key];
  }
  return inner as Raw;
}

function eachValue(
  { text }: Traversal,
  rest: readonly TraversalStep[],
  path: readonly string[],
  site: StackPlace,
): Raw {
  const names = namesOf(rest);
  const right = names && (names[0] === 'value' || (names[0] === 'key' && names.length === 1));
  return right ? `\${each.${names.join('.')}}` : unsupported(text, path, site);
}

/** Steps into a value as declaration files write them; undefined where they cannot. */
function namesOf(steps: readonly TraversalStep[]): readonly string[] | undefined {
  const names = steps.map((step) => stepKey(step) ?? '');
  return names.every((name) => /^[^.[\]{}"]+$/.test(name)) ? names : undefined;
}

/** `outputs.NAME` of another stack: what it stands for there. */
function outputValue(
  { text }: Traversal,
  [state, word, output, ...more]: readonly TraversalStep[],
  path: readonly string[],
  site: StackPlace,
): Raw {
  const other =
    typeof state === 'string' && word === 'outputs' ? site.stack.remote(state) : undefined;
  if (!other)
    return refuse(
      site,
      path,
      'unknown-stack',
      `${text} is an output of a stack that is not at hand`,
      'Name the whole output folder of the program, or write the identifier itself.',
    );
  const name = stepKey(output) ?? '';
  const { value } = blockAt(other.tree, 'output', name);
  if (value === undefined)
    return refuse(
      site,
      path,
      'unknown-output',
      `${text}: the stack ${other.name} has no output \`${name}\``,
      'Synthesise both stacks anew.',
    );
  return within(
    followed(value, `${other.name} output.${name}`, path, site, other),
    more,
    text,
    path,
    site,
  );
}

/** An attribute of a resource, or of a data source, which is a lookup here. */
function objectValue(
  { text }: Traversal,
  [type, name, ...more]: readonly TraversalStep[],
  isData: boolean,
  path: readonly string[],
  site: StackPlace,
): Raw {
  const kind = typeof type === 'string' ? site.stack.kinds.get(type) : undefined;
  if (!kind) {
    const blocks = blockAt(site.stack.tree, isData ? 'data' : 'resource');
    if (typeof type !== 'string' || !Object.hasOwn(blocks, type))
      return unsupported(text, path, site);
    return refuse(
      site,
      path,
      'foreign-reference',
      `${text} refers to ${type}, which nothing here can read`,
      'Let Terraform carry out this stack, or write the value as a variable.',
    );
  }
  const [index, ...inner] = typeof more[0] === 'object' ? more : [undefined, ...more];
  const [attribute, ...deeper] = inner;
  if (
    typeof name !== 'string' ||
    typeof attribute !== 'string' ||
    deeper.some((step) => typeof step !== 'string')
  )
    return unsupported(text, path, site);
  const names = [attribute, ...deeper].join('.');
  if (isData)
    return index === undefined
      ? `\${lookups.${site.stack.lookup(kind, name)}.${names}}`
      : unsupported(text, path, site);
  return `\${${addressText(kind, name, index)}.${names}}`;
}

function addressText(kind: Kind, name: string, index: TraversalStep | undefined): string {
  if (typeof index !== 'object') return `${kind.name}.${name}`;
  if ('by' in index)
    return `${kind.name}.${name}[${index.by === 'count.index' ? 'each.key' : index.by}]`;
  return formatAddress({ kind: kind.name, name, key: String(index.key) });
}

/** A bare address, as in `depends_on`: of a kind, or of something else; undefined where it has another form. */
export function bareAddress(
  text: string,
  { kinds }: Stack,
): { readonly kind?: Kind; readonly name: string; readonly key?: string } | undefined {
  const steps =
    templateParts(text).length === 1 && !text.includes('{')
      ? text.match(/^([\w-]+)\.([\w-]+)(?:\[(?:("(?:[^"\\]|\\.)*")|(\d+))\])?$/)
      : null;
  if (!steps || !NAME.test(steps[2] as string)) return undefined;
  const [, type, name, quoted, index] = steps as unknown as [
    string,
    string,
    string,
    string | undefined,
    string | undefined,
  ];
  const kind = kinds.get(type);
  const key = quoted === undefined ? index : (JSON.parse(quoted) as string);
  return { name, ...defined({ kind, key }) };
}
