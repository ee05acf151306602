// One block of a synthesised stack, `resource` or `data`, becomes the raw declaration that a YAML file would hold:
// attributes under the API's names, `lifecycle` and `for_each` in our words. What has no counterpart is refused by name.
import {
  defined,
  didYouMean,
  isObject,
  own,
  walk,
  writables,
  type Attribute,
  type Attributes,
  type Json,
  type JsonObject,
  type Kind,
} from '../../model/index.js';
import type { Complain } from '../interpolate.js';
import type { Raw, RawMap } from '../yaml/raw-values.js';
import { stackDocumentOf } from './documents.js';
import { isTraversal, stepsOf, templateParts } from './template.js';
import {
  bareAddress,
  blockAt,
  literalSecret,
  rawValueOf,
  textValue,
  type StackPlace,
  type Stack,
} from './values.js';

/** What all blocks of a stack say about one resource: its `import` and `moved`. */
export interface Bonds {
  readonly adopt?: Json;
  readonly renamed_from?: string;
}

export interface Block {
  readonly raw: RawMap;
  /** Addresses, of all members where a `for_each` is meant. */
  readonly depends_on: readonly string[];
  /** The `for_each` is how many there are. */
  readonly counted: boolean;
}

const META = ['//', 'depends_on', 'lifecycle', 'count', 'for_each'];

const refused: Readonly<Record<string, string>> = {
  provider:
    'Objects of several clouds belong into several stacks, each with an environment of its own.',
  provisioner: 'Run what has to be run beside trueup.',
  connection: 'Run what has to be run beside trueup.',
  dynamic: 'Write the list out in the program.',
};

const SET = /^\$\{toset\(/;

/** `timeouts`, which no object has, are left out. */
export function resourceOf(
  kind: Kind,
  { timeouts: _, ...block }: JsonObject,
  bonds: Bonds,
  site: StackPlace,
): Block {
  const ofTexts = typeof block['for_each'] === 'string' && SET.test(block['for_each']);
  const body = attributesOf(kind.attributes, without(block, site.complain), [], {
    ...site,
    ofTexts,
  });
  const members = membersOf(block, site);
  const lifecycle = lifecycleOf(kind, block['lifecycle'], bonds, site);
  return {
    raw: {
      ...body,
      ...defined({ for_each: members }),
      ...(Object.keys(lifecycle).length > 0 ? { lifecycle } : {}),
    },
    depends_on: waitsFor(block['depends_on'], site),
    counted: isThere(block['count']),
  };
}

/** A data source of a kind: what its lookup asks for. */
export function lookupRaw(kind: Kind, block: JsonObject, site: StackPlace): RawMap {
  for (const word of ['count', 'for_each'] as const)
    if (block[word] !== undefined)
      site.complain(unsupportedWord(word, 'Give each data source a construct of its own.'));
  return { [kind.name]: attributesOf(kind.attributes, without(block, site.complain), [], site) };
}

const unsupportedWord = (word: string, detail: string) => ({
  path: [word],
  code: 'unsupported-block',
  summary: `\`${word}\` is not supported here`,
  detail,
});

/** Naming the provider that a resource has anyway says nothing. */
const isDefault = (word: string, value: Json | undefined): boolean =>
  word === 'provider' && value === 'devicecloud';

function without(block: JsonObject, complain: Complain): JsonObject {
  for (const [word, detail] of Object.entries(refused))
    if (own(block, word) !== undefined && !isDefault(word, block[word]))
      complain(unsupportedWord(word, detail));
  return Object.fromEntries(
    Object.entries(block).filter(([name]) => !META.includes(name) && !Object.hasOwn(refused, name)),
  );
}

/** Null is what Terraform has for absent. */
function attributesOf(
  attributes: Attributes,
  block: JsonObject,
  path: readonly string[],
  site: StackPlace,
): RawMap {
  return Object.fromEntries(
    Object.entries(block).flatMap(([name, value]): readonly (readonly [string, Raw])[] => {
      if (value === null) return [];
      const secret = /^(.+)_wo(_version)?$/.exec(name);
      const attribute = own(attributes, secret?.[1] ?? name);
      if (!secret && attribute?.secret === true) return misnamed([...path, name], site);
      if (secret && attribute?.secret === true)
        return secret[2] === undefined
          ? [[secret[1] as string, secretOf(value, [...path, name], site)]]
          : [];
      return [[name, attributeOf(attribute, value, [...path, name], site)]];
    }),
  );
}

function misnamed(path: readonly string[], { complain }: StackPlace): readonly [] {
  const name = path.join('.');
  complain({
    path,
    code: 'unknown-attribute',
    summary: `\`${name}\` is called \`${name}_wo\` in a stack`,
    detail: 'It is one variable that is marked sensitive.',
  });
  return [];
}

function attributeOf(
  attribute: Attribute | undefined,
  value: Json,
  path: readonly string[],
  site: StackPlace,
): Raw {
  if (attribute?.word === 'document') return stackDocumentOf(value, path, site);
  if (attribute?.word === 'object' && isObject(value))
    return attributesOf(attribute.attributes, value, path, site);
  return rawValueOf(value, path, site);
}

function secretOf(value: Json, path: readonly string[], site: StackPlace): Raw {
  const parts = typeof value === 'string' ? templateParts(value) : [];
  const raw = parts.length === 1 ? textValue(parts, path, { ...site, secret: true }) : undefined;
  return typeof raw === 'string' && (raw === '' || /^\$\{secret\.[^{}]*\}$/.test(raw))
    ? raw
    : literalSecret(site, path);
}

const isThere = (value: Json | undefined): value is Exclude<Json, null> =>
  value !== undefined && value !== null;

function membersOf(block: JsonObject, site: StackPlace): Raw | undefined {
  const { count, for_each: each } = block;
  if (isThere(count) && isThere(each))
    site.complain({
      path: ['count'],
      code: 'unsupported-block',
      summary: '`count` and `for_each` stand side by side',
      detail: 'Keep one of the two.',
    });
  if (isThere(count)) return rawValueOf(count, ['count'], site);
  if (each === undefined || each === null) return undefined;
  const [only, ...more] = typeof each === 'string' ? templateParts(each) : [];
  const set =
    typeof only === 'object' && !isTraversal(only) && more.length === 0
      ? /^toset\((.*)\)$/s.exec(only.body)?.[1]
      : undefined;
  return rawValueOf(set === undefined ? each : (setOf(set) ?? each), ['for_each'], site);
}

/** What stands inside `toset(…)`: a list of texts, or one reference. Undefined for anything else, which is then complained of as a whole. */
function setOf(inner: string): Json | undefined {
  if (stepsOf(inner.trim())) return `\${${inner.trim()}}`;
  try {
    const list = JSON.parse(inner) as Json;
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

const harmless = ['create_before_destroy'];

function lifecycleOf(
  kind: Kind,
  block: Json | undefined,
  { adopt, renamed_from }: Bonds,
  site: StackPlace,
): RawMap {
  const words = isObject(block) ? block : {};
  if (!isObject(block) && block !== undefined && block !== null)
    site.complain({
      path: ['lifecycle'],
      code: 'wrong-type',
      summary: '`lifecycle`: an object is expected',
    });
  for (const word of Object.keys(words)) {
    if (['prevent_destroy', 'ignore_changes', ...harmless].includes(word)) continue;
    const detail = 'Of `lifecycle`, prevent_destroy and ignore_changes are honoured.';
    site.complain({
      path: ['lifecycle', word],
      code: 'unsupported-lifecycle',
      summary: `\`lifecycle.${word}\` is not supported here.${didYouMean(word, ['prevent_destroy', 'ignore_changes'])}`,
      detail,
    });
  }
  const protect = words['prevent_destroy'];
  return {
    ...(protect === undefined || protect === null || protect === false
      ? {}
      : { protect: rawValueOf(protect, ['lifecycle', 'prevent_destroy'], site) }),
    ...ignored(kind, words['ignore_changes'], site),
    ...(adopt === undefined ? {} : { adopt: rawValueOf(adopt, ['lifecycle', 'adopt'], site) }),
    ...defined({ renamed_from }),
  };
}

function ignored(kind: Kind, words: Json | undefined, { complain }: StackPlace): RawMap {
  if (words === undefined || words === null) return {};
  if (words === 'all') return { ignore_changes: writables(kind).map(([name]) => name) };
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string')) {
    complain({
      path: ['lifecycle', 'ignore_changes'],
      code: 'wrong-type',
      summary: '`lifecycle.ignore_changes`: a list of attribute names is expected, or `all`',
    });
    return {};
  }
  const secrets = new Map<string, string>(
    [...walk(kind.attributes)].flatMap(([path, { secret }]) =>
      secret === true ? [[`${path}_wo`, path] as const] : [],
    ),
  );
  return {
    ignore_changes: (words as readonly string[])
      .filter(
        (word) =>
          !/^timeouts\b/.test(word) &&
          (!secrets.has(word.replace(/_version$/, '')) || secrets.has(word)),
      )
      .map((word) => secrets.get(word) ?? word),
  };
}

const OUTPUT = /^data\.terraform_remote_state\.([\w-]+)\.outputs\.([\w-]+)$/;

/** The resource that an entry of `depends_on` names; one of another stack by the output that holds it whole. */
function waitedFor(word: string, stack: Stack): ReturnType<typeof bareAddress> {
  const [, state, output = ''] = OUTPUT.exec(word) ?? [];
  if (state === undefined) return bareAddress(word, stack);
  const other = stack.remote(state);
  const { value } = other ? blockAt(other.tree, 'output', output) : {};
  const [, whole] = typeof value === 'string' ? (/^\$\{([^{}]+)\}$/.exec(value) ?? []) : [];
  return other && whole !== undefined ? bareAddress(whole, other) : undefined;
}

/** Data sources are read before anything is done, so waiting for one means nothing. */
function waitsFor(list: Json | undefined, { stack, complain }: StackPlace): readonly string[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) {
    complain({
      path: ['depends_on'],
      code: 'wrong-type',
      summary: '`depends_on`: a list of addresses is expected',
    });
    return [];
  }
  return (list as readonly Json[]).flatMap((word, index) => {
    if (typeof word === 'string' && /^data\.[\w-]+\.[\w-]+$/.test(word)) return [];
    const found = typeof word === 'string' ? waitedFor(word, stack) : undefined;
    if (found?.kind)
      return [
        found.key === undefined
          ? `${found.kind.name}.${found.name}`
          : `${found.kind.name}.${found.name}[${JSON.stringify(found.key)}]`,
      ];
    complain({
      path: ['depends_on', String(index)],
      code: 'foreign-reference',
      summary: `\`depends_on\` names ${String(word)}, which nothing here can wait for`,
      detail: 'Name resources of this provider, in this stack or another one of the program.',
    });
    return [];
  });
}

/** `import` and `moved` of a stack, by the resource (`TYPE.NAME`) they are about. */
export function bondsOf(stack: Stack, complain: Complain): ReadonlyMap<string, Bonds> {
  const bonds = new Map<string, Bonds>();
  const say = (word: string, summary: string, detail: string): void =>
    complain({ path: [word], code: `unsupported-${word}`, summary, detail });
  const add = (word: string, key: string, bond: Bonds): void => {
    const known = bonds.get(key) ?? {};
    if (Object.keys(bond).some((name) => Object.hasOwn(known, name)))
      say(word, `\`${word}\` leads to ${key} twice`, 'Keep the one that is meant.');
    bonds.set(key, { ...known, ...bond });
  };
  for (const one of listOf(stack.tree['import'])) {
    const { to, id, ...more } = one;
    const target = typeof to === 'string' ? bareAddress(to, stack) : undefined;
    if (
      target?.kind &&
      target.key === undefined &&
      id !== undefined &&
      Object.keys(more).every((word) => word === '//')
    )
      add('import', String(to), { adopt: id });
    else if (!target || target.kind)
      say(
        'import',
        `the import to ${String(to)} is not supported here`,
        `Bind it by hand, as in: trueup import ${target?.kind?.name ?? 'KIND'}.NAME ID`,
      );
  }
  const moves = listOf(stack.tree['moved']).filter((one) => !recounts(one));
  for (const { from, to } of moves) {
    const [former, successor] = [from, to].map((text) =>
      typeof text === 'string' ? bareAddress(text, stack) : undefined,
    );
    if (former && successor && !former.kind && !successor.kind) continue;
    if (
      former?.kind &&
      former.kind === successor?.kind &&
      successor.key === undefined &&
      !moves.some((one) => one.from === to)
    )
      add('moved', String(to), {
        renamed_from:
          former.key === undefined ? former.name : `${former.name}[${JSON.stringify(former.key)}]`,
      });
    else
      say(
        'moved',
        `the move from ${String(from)} to ${String(to)} is not supported here`,
        'Move it by hand, as in: trueup state mv FROM TO',
      );
  }
  return bonds;
}

/** What is meant anyway: with a `count`, the first is what stood there without one. */
const recounts = ({ from, to }: JsonObject): boolean => to === `${String(from)}[0]`;

/** Resources (`TYPE.NAME`) of which a `moved` tells what they were, or became. */
export const movedIn = ({ tree }: Stack): ReadonlySet<string> =>
  new Set(
    listOf(tree['moved'])
      .filter((one) => !recounts(one))
      .flatMap(({ from, to }) => [from, to].map((address) => String(address).replace(/\[.*$/, ''))),
  );

function listOf(value: Json | undefined): readonly JsonObject[] {
  return [value ?? []].flat().filter((one): one is JsonObject => isObject(one));
}
