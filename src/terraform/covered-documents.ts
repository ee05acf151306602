// Members of documents that are named like secrets, in the values that Terraform shows and stores: each undeclared one
// is replaced with trueup's own mask. Like every mask it is never written, and equals any value.
import {
  isEmpty,
  isMask,
  isSecretName,
  isTree,
  mapMembers,
  writables,
  type Diagnostic,
  type Kind,
  type Value,
  type Values,
} from '../model/index.js';

/** Longer than the masks of the service: where it stands, the value itself can be read and compared. */
const COVER = '********';

/** A live document as terraform sees it. What is `held` in clear was declared so, and stays in clear: its drift has to show. */
export const covered = (live: Value, held?: Value): Value =>
  coveredIn(live, [Array.isArray(live) && isTree(held) ? [held] : (held ?? null)]);

/** The items of a list are one place: they move. */
function coveredIn(live: Value, held: readonly Value[]): Value {
  if (Array.isArray(live)) {
    const items = held.flatMap((one) => (Array.isArray(one) ? (one as readonly Value[]) : []));
    return (live as readonly Value[]).map((item) => coveredIn(item, items));
  }
  if (!isTree(live)) return live;
  return mapMembers(live, (item, name) => {
    const known = held.flatMap((one) =>
      isTree(one) && Object.hasOwn(one, name) ? [one[name]!] : [],
    );
    if (!isSecretName(name)) return coveredIn(item, known);
    return saysNothing(item) || known.some(isDeclared) ? item : COVER;
  });
}

const isDeclared = (value: Value): boolean => !isEmpty(value) && !isMask(value);

const saysNothing = (value: Value): boolean =>
  value === '' || typeof value === 'boolean' || !isDeclared(value);

/** True if a document declares a value that is masked in the state of Terraform: it may be a different value. */
export const declaresCovered = (wanted: Value, held: Value): boolean =>
  Array.isArray(held) && isTree(wanted) ? meetsCover([wanted], held) : meetsCover(wanted, held);

function meetsCover(wanted: Value | undefined, held: Value | undefined): boolean {
  if (held === COVER) return wanted !== undefined && isDeclared(wanted);
  if (Array.isArray(held))
    return (
      Array.isArray(wanted) &&
      (held as readonly Value[]).some((item, at) =>
        meetsCover((wanted as readonly Value[])[at], item),
      )
    );
  return (
    isTree(held) &&
    isTree(wanted) &&
    Object.entries(held).some(
      ([name, item]) => Object.hasOwn(wanted, name) && meetsCover(wanted[name], item),
    )
  );
}

/** Errors for masks declared in a document that is sent as declared: the mask would replace the live value. In other documents it stands for the live value. */
export function declaredCovers(kind: Kind, declared: Values): readonly Diagnostic[] {
  const documents = writables(kind).filter(
    ([, { word, wire }]) => word === 'document' && wire !== 'merge',
  );
  return documents
    .filter(([name]) => holdsCover(declared[name]))
    .map(([name]) => ({
      severity: 'error',
      code: 'masked-value',
      summary: `\`${name}\` holds the mask that stands for a secret`,
      detail: 'Write the value itself, or leave the attribute out: what is not declared stays.',
      attribute: name,
    }));
}

const holdsCover = (value: Value | undefined): boolean =>
  value === COVER ||
  ((Array.isArray(value) || isTree(value)) &&
    Object.values<Value>(value).some((item) => holdsCover(item)));
