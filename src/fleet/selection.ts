// Selects tenants by labels: `tier=canary,region!=eu`, `*`. All terms have to hold. The name of a tenant is the label
// `tenant`. A label that no tenant has is an error, because a typing error must not select nothing, or everything.
import { didYouMean, refuse, type Origin } from '../model/index.js';
import type { Tenant } from './tenant.js';

export type Selected = (tenant: Pick<Tenant, 'name' | 'labels'>) => boolean;

type Labelled = Pick<Tenant, 'name' | 'labels'>;

/** The label of every tenant that holds its name. */
export const NAME_LABEL = 'tenant';

const KEY = /[A-Za-z][\w./-]*/.source;
const VALUE = /[^\s=!,](?:[^=!,]*[^\s=!,])?/.source;
const TERM = new RegExp(`^(?:(!)?(${KEY})|(${KEY})\\s*(!?=)\\s*(${VALUE}))$`);

/** Why no selection could name a label; undefined where one can. */
export function labelProblem(key: string, value: string): string | undefined {
  if (key === NAME_LABEL) return `the label \`${NAME_LABEL}\` is the name of a tenant`;
  if (!new RegExp(`^${KEY}$`).test(key))
    return 'a label begins with a letter; then come letters, digits, `.`, `/`, `-` and `_`';
  return new RegExp(`^${VALUE}$`).test(value)
    ? undefined
    : 'the value of a label may not be empty, begin or end with a blank, or hold `=`, `!` or `,`';
}

function labelOf({ name, labels }: Labelled, key: string): string | undefined {
  if (key === NAME_LABEL) return name;
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** @param where names the flag or the place @throws Refusal for what is no selection, or names a label that no tenant has */
export function selectionOf(
  expression: string,
  tenants: readonly Labelled[],
  where: { readonly what: string; readonly origin?: Origin },
): Selected {
  const { what, ...more } = where;
  const words = expression.split(',').map((word) => word.trim());
  const keys = new Set([NAME_LABEL, ...tenants.flatMap(({ labels }) => Object.keys(labels))]);
  const terms = words.map((word): Selected => {
    if (word === '*') return () => true;
    const [, not, present, key = present ?? '', sign, value = ''] = TERM.exec(word) ?? [];
    if (key === '')
      return refuse('bad-selection', `${what} ${JSON.stringify(expression)} is not a selection.`, {
        detail: 'For example: tier=canary,region!=eu or tenant=acme or *',
        ...more,
      });
    if (!keys.has(key)) return unknownLabel(key, keys, tenants, where);
    if (present !== undefined) return (one) => (labelOf(one, key) === undefined) === Boolean(not);
    const fits = wildcard(value);
    return (one) => fits(labelOf(one, key)) === (sign === '=');
  });
  return (tenant) => terms.every((term) => term(tenant));
}

function unknownLabel(
  key: string,
  keys: ReadonlySet<string>,
  tenants: readonly Labelled[],
  { what, ...more }: { readonly what: string; readonly origin?: Origin },
): never {
  const isName = tenants.some(({ name }) => name === key);
  return refuse(
    'unknown-label',
    `${what}: no tenant has a label \`${key}\`.${didYouMean(key, keys)}`,
    {
      detail: isName
        ? `To select the tenant of that name: ${NAME_LABEL}=${key}`
        : `Labels: ${[...keys].join(', ')}.`,
      ...more,
    },
  );
}

/** `*` stands for any text. */
function wildcard(pattern: string): (value: string | undefined) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (value) => value === pattern;
  return (value) => {
    if (!value?.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = value.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return value.length - last.length >= at && value.endsWith(last);
  };
}
