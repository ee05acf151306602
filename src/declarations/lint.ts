// Warnings about a project, without network: declarations that are allowed but are probably mistakes. No kind is named
// here; checks of one kind are in that kind's file.
import {
  cached,
  canonical,
  Template,
  didYouMean,
  duplicatesAllowed,
  firstNamed,
  foldedText,
  groupedBy,
  isClear,
  isEmpty,
  isList,
  isMask,
  isSecretName,
  isTree,
  masksIn,
  mayBeDuplicates,
  mergeOf,
  object,
  own,
  recognisedBy,
  roughIdentity,
  secretsIn,
  writables,
  type Advice,
  type Attribute,
  type Declaration,
  type Diagnostic,
  type Kind,
  type Kinds,
  type Project,
  type Roles,
  type Value,
  type Values,
} from '../model/index.js';
import { placeText } from './collect.js';
import { errorAt } from './diagnostics-list.js';
import { spell } from './interpolate.js';
import { MOST_WORDS } from './validation.js';

/** Warnings, and errors for declarations that no live object could tell apart. */
export function lint(
  project: Pick<Project, 'declarations'> & Partial<Pick<Project, 'settings'>>,
  kinds: Kinds,
): Diagnostic[] {
  const ranked = project.settings?.roles ?? {};
  const byAddress = new Map(project.declarations.map((one) => [one.address, one]));
  const advice = project.declarations.flatMap((one): Diagnostic[] => {
    const kind = kinds.get(one.kind);
    if (!kind) return [];
    const found = [
      ...(kind.lint?.(one, (address) => byAddress.get(address)) ?? []),
      ...strangeIn(object('', kind.attributes), one.values, { kind: one.kind, ranked }),
      ...literalSecrets(kind, one.values),
    ];
    return found.map((each) => ({
      severity: 'warning',
      ...each,
      address: one.address,
      origin: each.attribute === undefined ? one.origin : one.at(each.attribute),
    }));
  });
  return [
    ...advice,
    ...project.declarations.flatMap((one) => mergedBadly(one, kinds.get(one.kind))),
    ...identicals(project.declarations, kinds),
  ];
}

/** Documents that no service could take over as they are declared: with masks, with a secret for a path, or empty by mistake. */
function mergedBadly(one: Declaration, kind: Kind | undefined): readonly Diagnostic[] {
  const documents = kind ? writables(kind).filter(([, { wire }]) => wire === 'merge') : [];
  return documents.flatMap(([name]) => {
    const { tree, removed = [] } = mergeOf(one.values[name]);
    const hidden = [...secretsIn(removed, '1').keys()].map((path) => `${name}.${path}`);
    return [
      ...hidden.map((path) =>
        errorAt(one, path, {
          code: 'misplaced-secret',
          summary: `${one.address}: \`${path}\` is a secret, and a path to take out is none`,
          detail: 'Write the path itself.',
        }),
      ),
      ...masksIn(tree).map((path) =>
        errorAt(one, `${name}${Array.isArray(one.values[name]) ? '.0' : ''}.${path}`, {
          code: 'masked-value',
          summary: `${one.address}: \`${path}\` is a mask, not a value`,
          detail:
            'Write `"${secret.env.NAME}"`. If it is left out, a PUT can change nothing of the document, because that would overwrite it.',
        }),
      ),
      ...clearedBadly(one, name),
    ];
  });
}

/** Everything is taken out of a document only where both its parts are empty and `lifecycle.clear` says so. */
function clearedBadly(one: Declaration, name: string): readonly Diagnostic[] {
  const [empty, meant] = [isClear(one.values[name]), one.lifecycle.clear === true];
  if (empty === meant) return [];
  const unmeant = {
    code: 'clear',
    summary: `${one.address}: \`${name}: [{}, []]\` would take everything out of the ${name}`,
    detail: `To clear it, write \`lifecycle: { clear: true }\` beside it; to manage nothing of it, leave \`${name}\` out.`,
  };
  const unfounded = {
    code: 'clear',
    summary: `${one.address}: \`lifecycle.clear\` needs \`${name}: [{}, []]\``,
    detail: `Write exactly that, or remove \`clear\`.`,
  };
  return [empty ? errorAt(one, name, unmeant) : errorAt(one, 'lifecycle.clear', unfounded)];
}

/** Members of documents that are named as secrets are, and whose value is written down. */
function literalSecrets(kind: Kind, values: Values): readonly Advice[] {
  const documents = writables(kind).filter(
    ([name, { word }]) => word === 'document' && Object.hasOwn(values, name),
  );
  const shown = 'What is shown leaves the value out, and so does the state; the file holds it.';
  return documents.flatMap(([name, { wire }]) =>
    [...literalsIn(values[name]!, name)].map((path) => ({
      code: 'literal-secret',
      summary: `\`${path}\` is named like a secret, and its value is in the file`,
      detail:
        wire === 'merge'
          ? `Write \`"\${secret.env.NAME}"\`. If the service shows the value masked, the next plan is an error until you do. ${shown}`
          : shown,
      attribute: path,
    })),
  );
}

function* literalsIn(value: Value, path: string): Generator<string> {
  if (!Array.isArray(value) && !isTree(value)) return;
  for (const [name, item] of Object.entries<Value>(value)) {
    if (isTree(value) && isSecretName(name) && isLiteral(item)) yield `${path}.${name}`;
    else yield* literalsIn(item, `${path}.${name}`);
  }
}

/** A text or number that is there, and no mask: of that an error tells. */
const isLiteral = (value: Value): boolean =>
  typeof value === 'number' ||
  value instanceof Template ||
  (typeof value === 'string' && value !== '' && !isMask(value));

/** Words that an open list does not name, and that are not `ranked` as custom roles are. */
function strangeIn(
  attribute: Attribute,
  value: Value,
  run: { readonly kind: string; readonly ranked: Roles },
  path = '',
): readonly Advice[] {
  if (attribute.word === 'object')
    return Object.entries(isTree(value) ? value : {}).flatMap(([name, item]) => {
      const inner = own(attribute.attributes, name);
      return inner ? strangeIn(inner, item, run, path === '' ? name : `${path}.${name}`) : [];
    });
  if (attribute.word === 'list' || attribute.word === 'set')
    return isList(value) ? value.flatMap((item) => strangeIn(attribute.of, item, run, path)) : [];
  if (attribute.word !== 'choice' || typeof value !== 'string') return [];
  const { values } = attribute;
  if (values.includes(value) || Object.hasOwn(run.ranked, value)) return [];
  const all = values.length > MOST_WORDS ? `; all of them: \`trueup schema ${run.kind}\`` : '';
  return [
    {
      code: 'unknown-value',
      summary: `\`${path}\`: \`${value}\` is not a known value.${didYouMean(value, values)}`,
      detail: `Known: ${firstNamed(values, MOST_WORDS)}${all}. This list is not complete: if yours is right, leave it.`,
      attribute: path,
    },
  ];
}

/** Declarations that would be recognised by the same live object. */
function identicals(declarations: readonly Declaration[], kinds: Kinds): readonly Diagnostic[] {
  if (declarations.length < 2) return [];
  const buckets = groupedBy(declarations, ({ kind: name, values }) => {
    const kind = kinds.get(name);
    return kind && roughIdentity(kind, values);
  });
  return buckets.flatMap((bucket) => (bucket.length > 1 ? identicalAmong(bucket, kinds) : []));
}

const exactly = (kind: Kind, { values }: Declaration): string =>
  canonical(
    recognisedBy(kind, values).map((name) =>
      isEmpty(values[name])
        ? null
        : [name, spell(foldedText(kind.attributes[name]!, values[name]!))],
    ),
  );

function identicalAmong(bucket: readonly Declaration[], kinds: Kinds): readonly Diagnostic[] {
  const first = new Map<string, Declaration>();
  return bucket.flatMap((one) => {
    const kind = kinds.get(one.kind);
    if (!kind) return [];
    const other = cached(first, exactly(kind, one), () => one);
    return other === one || mayBeDuplicates(one.lifecycle, other.lifecycle)
      ? []
      : [identical(kind, one, other)];
  });
}

function identical(kind: Kind, one: Declaration, other: Declaration): Diagnostic {
  const what =
    kind.identity === 'content'
      ? 'identical'
      : `equal in ${recognisedBy(kind, one.values)
          .map((name) => `\`${name}\``)
          .join(' and ')}`;
  return {
    severity: 'error',
    code: 'identical-declarations',
    summary: `${one.address} and ${other.address} are ${what}`,
    detail: `trueup could not tell which of them a live object belongs to. The other is in ${placeText(other.origin)}. Remove one, or write ${duplicatesAllowed(one.origin, other.origin)} on both, or let each adopt an object of its own.`,
    address: one.address,
    origin: one.origin,
  };
}
