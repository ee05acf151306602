// Turns one block of a synthesised stack, `resource` or `data`, into a raw declaration as in a YAML file: attributes
// under the API's names, trueup's `lifecycle` and `for_each`. Anything without an equivalent is refused by name.
import {
  defined,
  didYouMean,
  formatAddress,
  isList,
  isObject,
  keptMembers,
  nameInApi,
  own,
  walk,
  writables,
  type Attribute,
  type Attributes,
  type Json,
  type JsonObject,
  type Kind,
} from '../../model/index.js';
import { complainAt, type Complain, type Violation } from '../validation.js';
import type { Raw, RawMap } from '../yaml/raw-values.js';
import { stackDocumentOf } from './documents.js';
import { isTraversal, stepsOf, templateParts } from './template.js';
import {
  bareAddress,
  blockAt,
  literalSecret,
  onlyExpression,
  placeBelow,
  rawValueOf,
  textValue,
  type BareAddress,
  type StackPlace,
  type Stack,
} from './values.js';

const META = ['//', 'depends_on', 'lifecycle', 'count', 'for_each'];

const refused: Readonly<Record<string, string>> = {
  provider:
    'Objects of several clouds belong into several stacks, each with an environment of its own.',
  provisioner: 'Run what has to be run beside trueup.',
  connection: 'Run what has to be run beside trueup.',
  dynamic: 'Write the list out in the program.',
};

const SET = /^\$\{toset\(/;

/** The place of what the `for_each` of a block repeats. */
export function repeatedPlace({ for_each: forEach }: JsonObject, site: StackPlace): StackPlace {
  const ofTexts = typeof forEach === 'string' && SET.test(forEach);
  return { ...site, ofTexts, ...defined({ forEach }) };
}

/** `timeouts`, which no object has, are left out. */
export function resourceOf(kind: Kind, { timeouts: _, ...block }: JsonObject, site: StackPlace) {
  const attributes = without(block, site.complain);
  const inner = repeatedPlace(block, site);
  const body = attributesOf(kind.attributes, attributes, inner);
  const members = repetitionOf(block, site);
  const lifecycle = lifecycleOf(kind, block['lifecycle'], inner);
  const treated = Object.keys(lifecycle).length > 0 ? lifecycle : undefined;
  return {
    raw: { ...body, ...defined({ for_each: members, lifecycle: treated }) } as RawMap,
    /** Addresses, of all members where a `for_each` is meant. */
    depends_on: waitsFor(block['depends_on'], site),
    /** The `for_each` is how many there are. */
    counted: isThere(block['count']),
  };
}

/** A data source of a kind: what its lookup asks for. */
export function lookupRaw(kind: Kind, block: JsonObject, site: StackPlace): RawMap {
  for (const word of ['count', 'for_each'] as const)
    if (block[word] !== undefined)
      site.complain(unsupportedWord(word, 'Give each data source a construct of its own.'));
  const attributes = Object.entries(without(block, site.complain));
  const asked = Object.fromEntries(
    attributes.map(([name, value]) => [nameInApi(kind, name), value]),
  );
  return { [kind.name]: attributesOf(kind.attributes, asked, site) };
}

const unsupportedWord = (word: string, detail: string) => ({
  path: [word],
  code: 'unsupported-block',
  summary: `\`${word}\` is not supported here`,
  detail,
});

function without(block: JsonObject, complain: Complain): JsonObject {
  for (const [word, detail] of Object.entries(refused)) {
    // Naming the provider that a resource has anyway says nothing.
    const isDefault = word === 'provider' && block[word] === 'devicecloud';
    if (own(block, word) !== undefined && !isDefault) complain(unsupportedWord(word, detail));
  }
  return keptMembers(block, (_, name) => !META.includes(name) && !Object.hasOwn(refused, name));
}

/** Null is what Terraform has for absent. */
function attributesOf(attributes: Attributes, block: JsonObject, site: StackPlace): RawMap {
  return Object.fromEntries(
    Object.entries(block).flatMap(([name, value]): readonly (readonly [string, Raw])[] => {
      if (value === null) return [];
      const inner = placeBelow(site, name);
      const [, secret, version] = /^(.+)_wo(_version)?$/.exec(name) ?? [];
      const attribute = own(attributes, secret ?? name);
      if (attribute?.secret !== true) return [[name, attributeOf(attribute, value, inner)]];
      if (secret === undefined) return misnamed(inner);
      return version === undefined ? [[secret, secretOf(value, inner)]] : [];
    }),
  );
}

function misnamed(site: StackPlace): readonly [] {
  const name = site.path.join('.');
  const summary = `\`${name}\` is called \`${name}_wo\` in a stack`;
  complainAt(site, 'unknown-attribute', summary, 'It is one variable that is marked sensitive.');
  return [];
}

function attributeOf(attribute: Attribute | undefined, value: Json, site: StackPlace): Raw {
  if (attribute?.word === 'document') return stackDocumentOf(value, site);
  if (attribute?.word === 'object' && isObject(value))
    return attributesOf(attribute.attributes, value, site);
  return rawValueOf(value, site);
}

function secretOf(value: Json, site: StackPlace): Raw {
  const parts = typeof value === 'string' ? templateParts(value) : [];
  const raw = parts.length === 1 ? textValue(parts, { ...site, secret: true }) : undefined;
  return typeof raw === 'string' && (raw === '' || /^\$\{secret\.[^{}]*\}$/.test(raw))
    ? raw
    : literalSecret(site);
}

const isThere = (value: Json | undefined): value is Exclude<Json, null> =>
  value !== undefined && value !== null;

/** What a block is repeated for: its `count` or `for_each`. */
export function repetitionOf(block: JsonObject, site: StackPlace): Raw | undefined {
  const { count, for_each: each } = block;
  if (isThere(count) && isThere(each))
    site.complain({
      path: ['count'],
      code: 'unsupported-block',
      summary: '`count` and `for_each` are both set',
      detail: 'Keep one of the two.',
    });
  if (isThere(count)) return rawValueOf(count, placeBelow(site, 'count'));
  if (!isThere(each)) return undefined;
  const only = typeof each === 'string' ? onlyExpression(templateParts(each)) : undefined;
  const [, set] = (only && !isTraversal(only) && /^toset\((.*)\)$/s.exec(only.body)) || [];
  const members = set === undefined ? undefined : setOf(set);
  return rawValueOf(members ?? each, placeBelow(site, 'for_each'));
}

/** The content of `toset(…)`: a list of texts, or one reference. Undefined for anything else, which is then an error as a whole. */
function setOf(inner: string): Json | undefined {
  if (stepsOf(inner.trim())) return `\${${inner.trim()}}`;
  try {
    const list: Json = JSON.parse(inner);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

const honoured = ['prevent_destroy', 'ignore_changes'];
const harmless = ['create_before_destroy'];

function lifecycleOf(kind: Kind, block: Json | undefined, site: StackPlace): RawMap {
  const words = isObject(block) ? block : {};
  if (isThere(block) && !isObject(block))
    site.complain(wrongType(['lifecycle'], 'an object is expected'));
  for (const word of Object.keys(words))
    if (![...honoured, ...harmless].includes(word))
      site.complain({
        path: ['lifecycle', word],
        code: 'unsupported-lifecycle',
        summary: `\`lifecycle.${word}\` is not supported here.${didYouMean(word, honoured)}`,
        detail: 'Of `lifecycle`, prevent_destroy and ignore_changes are honoured.',
      });
  const { prevent_destroy: protect, ignore_changes: names } = words;
  const given = (word: string, value: Json | undefined): Raw | undefined =>
    value === undefined ? undefined : rawValueOf(value, placeBelow(site, 'lifecycle', word));
  return defined({
    protect: given('prevent_destroy', protect === null || protect === false ? undefined : protect),
    ignore_changes: ignored(kind, names, site),
  });
}

const wrongType = (path: readonly string[], what: string): Violation => ({
  path,
  code: 'wrong-type',
  summary: `\`${path.join('.')}\`: ${what}`,
});

function ignored(
  kind: Kind,
  words: Json | undefined,
  { complain }: StackPlace,
): readonly string[] | undefined {
  if (!isThere(words)) return undefined;
  if (words === 'all') return writables(kind).map(([name]) => name);
  if (!isList(words) || !words.every((word) => typeof word === 'string')) {
    const what = 'a list of attribute names is expected, or `all`';
    return void complain(wrongType(['lifecycle', 'ignore_changes'], what));
  }
  const secrets = new Map<string, string>(
    [...walk(kind.attributes)].flatMap(([path, { secret }]) =>
      secret === true ? [[`${path}_wo`, path] as const] : [],
    ),
  );
  return words
    .filter(
      (word) =>
        !/^timeouts\b/.test(word) &&
        (!secrets.has(word.replace(/_version$/, '')) || secrets.has(word)),
    )
    .map((word) => secrets.get(word) ?? word);
}

const OUTPUT = /^data\.terraform_remote_state\.([\w-]+)\.outputs\.([\w-]+)$/;

/** The resource that an entry of `depends_on` names; one of another stack by the output that holds it whole. */
function waitedFor(word: string, stack: Stack): BareAddress | undefined {
  const [, state, output = ''] = OUTPUT.exec(word) ?? [];
  if (state === undefined) return bareAddress(word, stack);
  const other = stack.remote(state);
  const { value } = other ? blockAt(other.tree, 'output', output) : {};
  const [, whole] = typeof value === 'string' ? (/^\$\{([^{}]+)\}$/.exec(value) ?? []) : [];
  return other && whole !== undefined ? bareAddress(whole, other) : undefined;
}

/** Data sources are read before anything is done, so waiting for one means nothing. */
function waitsFor(list: Json | undefined, { stack, complain }: StackPlace): readonly string[] {
  if (!isThere(list)) return [];
  if (!isList(list)) {
    complain(wrongType(['depends_on'], 'a list of addresses is expected'));
    return [];
  }
  return list.flatMap((word, index) => {
    if (typeof word === 'string' && /^data\.[\w-]+\.[\w-]+$/.test(word)) return [];
    const found = typeof word === 'string' ? waitedFor(word, stack) : undefined;
    if (found?.kind) return [formatAddress({ ...found, kind: found.kind.name })];
    complain({
      path: ['depends_on', String(index)],
      code: 'foreign-reference',
      summary: `\`depends_on\` names ${String(word)}, which nothing here can wait for`,
      detail: 'Name resources of this provider, in this stack or another one of the program.',
    });
    return [];
  });
}
