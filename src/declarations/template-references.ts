// References inside a template: to an object of the template, they mean the one of the same `use`.
import { formatAddress } from '../model/index.js';
import type { Instance } from './collect.js';
import type { Expression, ExpressionFrom } from './reference-syntax.js';

/** Keys of a `for_each` around another: one, because an address has one. */
export const joinedKey = (
  outer: string | undefined,
  inner: string | undefined,
): string | undefined =>
  outer === undefined || inner === undefined ? (outer ?? inner) : `${outer}/${inner}`;

/** @param inner its key, filled in; undefined without one */
export function referenceFrom(
  instance: Instance | undefined,
  part: ExpressionFrom<'declared'>,
  inner: string | undefined,
): Expression {
  const isOwn = instance?.owns(part.kind, part.name) === true;
  if (!isOwn && !(part.index && 'each' in part.index)) return part;
  const key = isOwn ? joinedKey(instance.key, inner) : inner;
  const name = isOwn ? `${instance.prefix}-${part.name}` : part.name;
  const address = formatAddress({ kind: part.kind, name, key });
  const { index: _, ...bare } = part;
  return {
    ...bare,
    name,
    ...(key !== undefined && { index: { key } }),
    text: `\${${address}.${part.attribute}}`,
  };
}
