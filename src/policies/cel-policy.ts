// One policy of a project: a CEL condition over the plan document and the declarations, and its message. What cannot be
// evaluated counts as violated.
import {
  cached,
  defined,
  didYouMean,
  firstNamed,
  isList,
  isObject,
  keysOf,
  own,
  type Json,
  type JsonObject,
  type Kinds,
  type ResourceChange,
} from '../model/index.js';
import { compileExpression, type Compiled, type Problem } from '../expressions/cel.js';
import { closingBrace } from '../expressions/tokens.js';

/** The input of policies: the published plan document, and each declaration in the same JSON form. */
export interface PolicyInput {
  readonly plan: JsonObject;
  readonly declarations: readonly JsonObject[];
  /** Of the run of a fleet: every tenant, and sums. */
  readonly fleet?: JsonObject;
}

export interface PolicyViolation {
  readonly message: string;
  readonly address?: string;
  /** The policy itself is at fault, as far as anybody can tell: the cause, which is the same for other objects. */
  readonly unjudged?: string;
}

/** One evaluation a plan, a change, a declaration or the run of a fleet: the variable that `when` names decides. */
const scopes = {
  plan: ['plan', 'declarations'],
  change: ['plan', 'declarations', 'change'],
  declaration: ['plan', 'declarations', 'declaration'],
  fleet: ['fleet'],
} as const;
export type PolicyScope = keyof typeof scopes;

const actions: readonly ResourceChange['change']['actions'][number][] = [
  'create',
  'update',
  'delete',
  'forget',
  'no-op',
];

/** A string is literal; the others are expressions. */
type MessagePart = string | Compiled;

export interface CompiledPolicy {
  readonly scope: PolicyScope;
  readonly violations: (input: PolicyInput) => readonly PolicyViolation[];
  /** What reads a member that no input has, in words. @param full an input with every member; empty objects hold names of kinds or attributes */
  readonly misnamed: (full: PolicyInput) => string | undefined;
  /** What asks by `has()` for a member that no input has, in words: it is never there. @param full as for `misnamed` */
  readonly neverThere: (full: PolicyInput) => readonly string[];
}

/** A fault of `when` or `message`, in words that continue "`when`: ". */
export interface PolicyFault extends Pick<Problem, 'summary' | 'detail'> {
  readonly field: 'when' | 'message';
}

/** Compiles a policy, or says what is wrong with it. @param kinds all that an object can be: what is compared with another name is never equal */
export function compiledPolicy(
  { when, message }: { readonly when: string; readonly message: string },
  kinds: Kinds,
): CompiledPolicy | readonly PolicyFault[] {
  const scope = scopeOf(when);
  if (isFault(scope)) return [scope];
  const condition = compileExpression(when, scopes[scope]);
  if ('problem' in condition) return [faultOf('when', when, condition.problem)];
  const { type } = condition.value;
  if (type !== 'bool' && type !== 'dyn')
    return [
      { field: 'when', summary: `it gives a value of the type \`${type}\`, not true or false` },
    ];
  const unknown = unknownWord(condition.value, [...kinds.keys()]);
  if (unknown) return [faultOf('when', when, unknown)];
  const parts = messageParts(message, scope);
  if (isFault(parts)) return [parts];
  const asked = new Set(
    [condition.value, ...parts].flatMap((part) =>
      typeof part === 'string' ? [] : part.askedFor(),
    ),
  );
  return {
    scope,
    violations: (input) =>
      subjects(scope, input).flatMap((values) => {
        const found = condition.value.evaluate(values);
        if ('value' in found && found.value === false) return [];
        const address = addressIn(values[scope]);
        const problem = 'problem' in found ? found.problem : notBoolean(found.value);
        const said = problem
          ? unjudged('when', problem, { values, kinds })
          : messageOf(parts, { values, kinds });
        return [{ ...said, ...defined({ address }) }];
      }),
    misnamed: (full) =>
      subjects(scope, full)
        .flatMap((values) =>
          [condition.value, ...parts].flatMap((part) => unknownMember(part, values) ?? []),
        )
        .at(0),
    // What looks at the format version may be for another version of trueup.
    neverThere: (full) =>
      when.includes('format_version')
        ? []
        : subjects(scope, full)
            .slice(0, 1)
            .flatMap((values) => [...asked].flatMap((member) => lacking(member, values) ?? [])),
  };
}

/** Why `has()` of a member is never true. */
function lacking(member: string, values: Readonly<Record<string, Json>>): string | undefined {
  let there: Json | undefined = values;
  const path: string[] = [];
  for (const name of member.replaceAll('[]', '.[]').split('.')) {
    if (name === '[]') there = isList(there) ? there[0] : undefined;
    // An empty one holds names of kinds, or of attributes.
    else if (!isObject(there) || Object.keys(there).length === 0) return undefined;
    else if (!Object.hasOwn(there, name))
      return `\`has(${member})\` is never true: \`${path.join('.')}\` has no \`${name}\`.${didYouMean(name, Object.keys(there))}`;
    else there = there[name];
    path.push(name);
  }
  return undefined;
}

function unknownMember(
  part: MessagePart,
  values: Readonly<Record<string, Json>>,
): string | undefined {
  const found = typeof part === 'string' ? undefined : part.evaluate(values);
  if (!found || !('problem' in found)) return undefined;
  const there = objectOf(found.problem, values);
  return there && Object.keys(there).length > 0 ? whyNot(found.problem, values) : undefined;
}

const KIND =
  /^(?:change|declaration|declarations\[\]|plan\.resource_(?:changes|drift)\[\])\.kind(?:\[\])?$/;
const ACTIONS =
  /^(?:(?:change|plan\.resource_changes\[\])\.change|plan\.resource_drift\[\])\.actions(?:\[\])?$/;

/** The first text that a kind or an action is compared with, and that is none. */
function unknownWord(condition: Compiled, kinds: readonly string[]): Problem | undefined {
  for (const { member, text, ...place } of condition.comparisons()) {
    const what = (KIND.test(member) && 'kind') || (ACTIONS.test(member) && 'action');
    const known = what === 'action' ? actions : kinds;
    if (!what || known.includes(text)) continue;
    return {
      ...place,
      summary: `there is no ${what} \`${text}\`.${didYouMean(text, known)}`,
      detail: `The ${what}s: ${known.join(', ')}.`,
    };
  }
  return undefined;
}

const isFault = (value: object | string): value is PolicyFault =>
  typeof value === 'object' && 'field' in value;

const notBoolean = (value: Json): Fault | undefined =>
  value === true ? undefined : { summary: `it gives ${JSON.stringify(value)}, not true or false` };

interface Judged {
  readonly values: Readonly<Record<string, Json>>;
  readonly kinds: Kinds;
}

function unjudged(
  field: PolicyFault['field'],
  problem: Fault,
  { values, kinds }: Judged,
): PolicyViolation {
  const why = `\`${field}\` cannot be evaluated: `;
  const { hint, advice } = lackingMember(problem, kinds);
  const isInCondition = field === 'when';
  const more = isInCondition ? advice : '';
  return {
    message: `${why}${whyNot(problem, values)}${more}`,
    unjudged: `${why}${problem.summary}${hint}${more}`,
  };
}

/** What holds the attributes of an object: one may have members that another one lacks. */
const OF_OBJECTS: readonly string[] = ['attributes', 'before', 'after'];

/** By the name of a missing member: many objects may lack it. */
const hints = new WeakMap<Kinds, Map<string, string>>();

/** The attribute that may be meant, where no kind has one of the name. */
const nearName = (name: string, kinds: Kinds): string =>
  cached(
    cached(hints, kinds, () => new Map<string, string>()),
    name,
    () => {
      const known = new Set([...kinds.values()].flatMap((one) => Object.keys(one.attributes)));
      const hint = known.has(name) ? '' : didYouMean(name, known);
      return hint === '' ? '' : `.${hint}`;
    },
  );

/** Of an attribute that an object lacks: the name that may be meant, or how a condition passes the objects without it. */
function lackingMember(
  { missing }: Fault,
  kinds: Kinds,
): Readonly<Record<'hint' | 'advice', string>> {
  if (!missing?.of.some((name) => OF_OBJECTS.includes(name))) return { hint: '', advice: '' };
  const isAttribute = OF_OBJECTS.includes(missing.of.at(-1) ?? '');
  const hint = isAttribute ? nearName(missing.name, kinds) : '';
  if (hint !== '') return { hint, advice: '' };
  const path = [...missing.of, missing.name].join('.');
  return {
    hint,
    advice: `. If only some objects have it, write \`has(${path}) &&\` before the condition that reads it`,
  };
}

type Fault = Pick<Problem, 'summary' | 'missing'>;

/** Members that a message names: all that a plan or a declaration can have. */
const MANY = 50;

/** The object that lacks a member. */
function objectOf(
  { missing }: Fault,
  values: Readonly<Record<string, Json>>,
): JsonObject | undefined {
  const there = missing?.of.reduce<Json | undefined>(
    (value, name) => (isObject(value) ? own<Json>(value, name) : undefined),
    values,
  );
  return isObject(there) ? there : undefined;
}

/** With the members that exist where one is missing. */
function whyNot(problem: Fault, values: Readonly<Record<string, Json>>): string {
  const { summary, missing } = problem;
  const there = objectOf(problem, values);
  if (!missing || !there) return summary;
  const names = Object.keys(there);
  return `${summary}.${didYouMean(missing.name, names)} \`${missing.of.join('.')}\` has: ${firstNamed(names, MANY)}`;
}

/** The variables that an expression uses beyond those of the plan. */
function scopeOf(when: string): PolicyScope | PolicyFault {
  const all = compileExpression(when, [...new Set(Object.values(scopes).flat())]);
  if ('problem' in all) return faultOf('when', when, all.problem);
  const fitting = keysOf(scopes).find((scope) => 'value' in compileExpression(when, scopes[scope]));
  if (fitting) return fitting;
  const isMixed = 'problem' in compileExpression(when, [...scopes.change, 'declaration']);
  return isMixed
    ? {
        field: 'when',
        summary: '`fleet` cannot be used in an expression with other variables',
        detail: 'It is evaluated once for all tenants; the others belong to one tenant.',
      }
    : {
        field: 'when',
        summary: '`change` and `declaration` cannot be used in one expression',
        detail:
          'Use `declarations.exists(one, one.address == change.address)` or `plan.resource_changes`.',
      };
}

function faultOf(field: PolicyFault['field'], source: string, problem: Problem): PolicyFault {
  const { summary, detail, start, end } = problem;
  const part = source.slice(start, end);
  const isPart = part !== '' && part !== source;
  return {
    field,
    summary: isPart ? `${summary} (at \`${part}\`)` : summary,
    ...defined({ detail }),
  };
}

function subjects(
  scope: PolicyScope,
  { plan, declarations, fleet }: PolicyInput,
): readonly Readonly<Record<string, Json>>[] {
  // Without a fleet, the condition cannot be evaluated, which is a violation.
  if (scope === 'fleet') return [fleet ? { fleet } : {}];
  const shared = { plan, declarations };
  if (scope === 'plan') return [shared];
  if (scope === 'declaration')
    return declarations.map((declaration) => ({ ...shared, declaration }));
  const changes = plan['resource_changes'];
  return Array.isArray(changes)
    ? (changes as readonly Json[]).map((change) => ({ ...shared, change }))
    : [];
}

const addressIn = (value: Json | undefined): string | undefined =>
  isObject(value) && typeof value['address'] === 'string' ? value['address'] : undefined;

/** Splits at `${…}`; `$${` is a literal `${`. */
function messageParts(message: string, scope: PolicyScope): readonly MessagePart[] | PolicyFault {
  const parts: MessagePart[] = [];
  let at = 0;
  for (let open = message.indexOf('${'); open >= 0; open = message.indexOf('${', at)) {
    if (message[open - 1] === '$' && open > at) {
      parts.push(`${message.slice(at, open - 1)}\${`);
      at = open + 2;
      continue;
    }
    const close = closingBrace(message, open + 2);
    if (close < 0) return { field: 'message', summary: 'a `${` has no closing brace' };
    const source = message.slice(open + 2, close);
    const compiled = compileExpression(source, scopes[scope]);
    if ('problem' in compiled) return faultOf('message', source, compiled.problem);
    parts.push(message.slice(at, open), compiled.value);
    at = close + 1;
  }
  return [...parts, message.slice(at)];
}

function messageOf(parts: readonly MessagePart[], { values, kinds }: Judged): PolicyViolation {
  let text = '';
  for (const part of parts) {
    const made = typeof part === 'string' ? { value: part } : part.evaluate(values);
    // Nothing of the rest: it would continue a sentence that is not there.
    if ('problem' in made) return unjudged('message', made.problem, { values, kinds });
    text += typeof made.value === 'string' ? made.value : JSON.stringify(made.value);
  }
  return { message: text };
}
