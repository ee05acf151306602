// Expressions of GitHub workflows, as far as the workflows of this project use them.

/** Objects and texts by name; a path that leads nowhere is the empty text. */
export interface Contexts {
  readonly [name: string]: string | Contexts;
}

export interface Scope {
  readonly contexts: Contexts;
  /** Called as in `hashFiles('x')`, with the words between the brackets. */
  readonly functions: Readonly<Record<string, (argument: string) => string | boolean>>;
}

type Value = string | boolean | Contexts;

const TOKEN = /\s*('(?:[^']|'')*'|&&|\|\||==|!=|[()]|[\w.-]+)/y;

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) throw new Error(`not understood: ${text.slice(at)}`);
    tokens.push(token);
  }
  return tokens;
}

const isTrue = (value: Value): boolean => value !== '' && value !== false;

export function evaluated(text: string, scope: Scope): Value {
  const tokens = tokensOf(text);
  const take = (): string => tokens.shift() ?? '';
  const next = (): string | undefined => tokens[0];
  const either = (): Value => chain(both, '||');
  const both = (): Value => chain(compared, '&&');
  function chain(part: () => Value, operator: string): Value {
    let value = part();
    while (next() === operator) {
      take();
      const other = part();
      value = isTrue(value) === (operator === '&&') ? other : value;
    }
    return value;
  }
  function compared(): Value {
    const left = single();
    const operator = next();
    if (operator !== '==' && operator !== '!=') return left;
    take();
    return (left === single()) === (operator === '==');
  }
  function single(): Value {
    const token = take();
    if (token === '(') {
      const value = either();
      take();
      return value;
    }
    if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
    if (token === 'true' || token === 'false') return token === 'true';
    if (next() !== '(') return at(scope.contexts, token);
    take();
    const argument = next() === ')' ? '' : String(single());
    take();
    const known = scope.functions[token];
    if (!known) throw new Error(`There is no function ${token}.`);
    return known(argument);
  }
  const value = either();
  if (tokens.length > 0) throw new Error(`not understood: ${tokens.join(' ')} in ${text}`);
  return value;
}

function at(contexts: Contexts, path: string): Value {
  let value: Value = contexts;
  for (const name of path.split('.')) value = typeof value === 'object' ? (value[name] ?? '') : '';
  return value;
}

export const condition = (text: string, scope: Scope): boolean =>
  isTrue(evaluated(text.replace(/^\$\{\{(.*)\}\}$/s, '$1'), scope));

/** Whether the condition says when it holds after a failure. */
export const looksAtStatus = (text: string): boolean => /\b(always|failure|success)\(/.test(text);

export const filledIn = (text: string, scope: Scope): string =>
  text.replaceAll(/\$\{\{(.*?)\}\}/g, (_, inner: string) => String(evaluated(inner, scope)));
