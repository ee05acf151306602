// The expressions that stand in the texts of declarations: what they may use, and what is said of those that are wrong.
// Loaded only if there is one, because the evaluator loads slowly.
import { compileExpression, RefusedName, type Compiled, type Problem } from '../expressions/cel.js';
import type { CelInput, Members } from '../expressions/cel-values.js';
import { tokensOf } from '../expressions/tokens.js';
import { UnknownValue } from '../expressions/unknown-value.js';
import { cached, defined, didYouMean, isList, mapMembers, own } from '../model/index.js';
import { ofEnvironment, variableIn } from './environment.js';
import { literalOf, partsOf, type ExpressionFrom } from './reference-syntax.js';
import {
  noForEach,
  noTemplate,
  refusedName,
  spell,
  unknownEnvironment,
  unknownParameter,
  unknownVariable,
  type Evaluate,
  type Filling,
} from './interpolate.js';
import type { Violation } from './validation.js';
import { Word, type Raw } from './yaml/raw-values.js';

interface Known {
  readonly made: ReturnType<typeof compileExpression>;
  /** Of variables, those of branches that are not taken as well. */
  readonly names: readonly string[];
}

const FORMS =
  'References are as in `${accounts.site.id}` and `${var.name}`; anything else is an expression, and `$${` is a literal `${`.';

const VARIABLES = ['var', 'env', 'each', 'param'];

/** @param isLive whether a word stands for what is read from the service */
export function evaluatorOf(isLive: (word: string) => boolean): Evaluate {
  const all = new Map<string, Known>();
  const inputs: Inputs = new WeakMap();
  return (part, at) => {
    const { made, names } = cached(all, part.source, () => ({
      made: compileExpression(part.source, VARIABLES),
      names: variablesIn(part.source),
    }));
    names.forEach(at.scope.using);
    const result =
      'problem' in made ? made : made.value.evaluate(valuesOf(part.source, at, inputs));
    if ('value' in result) return spell(result.value);
    const problem = 'problem' in made ? { detail: FORMS, ...result.problem } : result.problem;
    at.complain({
      path: at.path,
      ...violationOf(problem, part, at, isLive),
      within: { text: part.text, start: 2 + problem.start },
    });
    return undefined;
  };
}

type Values = Parameters<Compiled['evaluate']>[0];

/** What expressions were given already: many are given the same. */
type Inputs = WeakMap<object, CelInput>;

function valuesOf(source: string, { scope }: Filling, inputs: Inputs): Values {
  const variable: Members = (name) => {
    const value = scope.variables.get(name);
    return value === undefined ? undefined : inputOf(value, inputs);
  };
  const environment: Members = (name) => {
    const wrong = refusedName(name, scope);
    if (wrong) throw new RefusedName(source.includes(name) ? wrong : { ...wrong, ...UNWRITTEN });
    scope.using(ofEnvironment(name));
    return variableIn(scope.environment, name);
  };
  const { each, instance } = scope;
  return {
    var: variable,
    env: environment,
    each: each
      ? { key: each.key, value: inputOf(each.value, inputs) }
      : () => {
          throw new RefusedName(noForEach('`each`', scope));
        },
    param: instance
      ? inputOf(instance.param, inputs)
      : () => {
          throw new RefusedName(noTemplate('`param`'));
        },
  };
}

/** Of a name that the expression makes: it may come from the environment. */
const UNWRITTEN = {
  summary:
    'the name made here is that of a credential, and the value of the environment variable would be shown and stored',
  detail: 'Where a secret belongs, write `${secret.env.NAME}`.',
};

function variablesIn(source: string): readonly string[] {
  const words = [...tokensOf(source)].filter(({ text }) => !/^\s/.test(text));
  return words.flatMap(({ text }, index) =>
    text === 'var' && words[index + 1]?.text === '.' ? (words[index + 2]?.text ?? []) : [],
  );
}

/** Text that holds a reference or a secret. What stands beside these is not shown. */
function unknown(text: string): UnknownValue {
  const parts = partsOf(text).filter((part) => typeof part !== 'string');
  const malformed = parts.find((part) => part.from === 'nowhere');
  if (malformed)
    return new UnknownValue(
      `the value here holds ${malformed.text}: ${malformed.summary}`,
      'bad-reference',
    );
  const secret = parts.find((part) => part.from === 'secret');
  return secret
    ? new UnknownValue(
        `the value here holds the secret ${secret.text}, and a secret is not allowed inside an expression`,
        'misplaced-secret',
      )
    : new UnknownValue(
        `the value here holds ${parts[0]?.text}, which is read from the service, and an expression is evaluated before anything is read`,
        'live-reference',
      );
}

function inputOf(raw: Raw, inputs: Inputs): CelInput {
  if (typeof raw === 'string') return literalOf(raw) ?? unknown(raw);
  if (raw === null || typeof raw !== 'object') return raw;
  if (raw instanceof Word) return String(raw);
  return cached(inputs, raw, () =>
    isList(raw)
      ? raw.map((one) => inputOf(one, inputs))
      : mapMembers(raw, (one: Raw) => inputOf(one, inputs)),
  );
}

const WHAT_TO_WRITE = {
  'live-reference':
    'A reference must be the whole value, as in `${accounts.site.id}`, or be in a string: `Site ${accounts.site.id}`.',
  'misplaced-secret': 'It is the whole value of a secret attribute: `"${secret.env.NAME}"`.',
  'bad-reference': FORMS,
} as const;

type Said = Pick<Violation, 'code' | 'summary' | 'detail' | 'names'>;

function violationOf(
  { summary, detail, code, missing, unknown }: Problem,
  part: ExpressionFrom<'cel'>,
  { scope }: Filling,
  isLive: (word: string) => boolean,
): Said {
  if (unknown === 'secret')
    return {
      code: 'misplaced-secret',
      summary: `${part.text}: a secret is not allowed inside an expression`,
      detail: WHAT_TO_WRITE['misplaced-secret'],
    };
  if (unknown !== undefined && isLive(unknown))
    return {
      code: 'live-reference',
      summary: `\`${unknown}\` is read from the service, and an expression is evaluated before anything is read`,
      detail: WHAT_TO_WRITE['live-reference'],
    };
  const { of: [variable, ...more] = [], name = '' } = missing ?? {};
  const owner = more.length === 0 ? variable : undefined;
  if (owner === 'var') return unknownVariable(name, scope);
  if (owner === 'env') return unknownEnvironment(name);
  if (owner === 'param' && scope.instance) return unknownParameter(name, scope.instance);
  if (owner === 'each')
    return {
      code: 'unknown-member',
      summary: `${summary}.${didYouMean(name, ['key', 'value'])}`,
      detail: 'Write `each.key` or `each.value`.',
    };
  return {
    code: code ?? 'bad-expression',
    summary,
    ...defined({ detail: detail ?? own<string>(WHAT_TO_WRITE, code ?? '') }),
  };
}
