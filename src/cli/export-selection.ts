// The objects that an export writes, and what is read beside them to name them: all that is live and not managed, or
// the kinds, the account and the filters that were asked for.
import {
  cached,
  defined,
  exits,
  firstNamed,
  labelOf,
  labelsIn,
  objectsIn,
  refuse,
  Refusal,
  targetsOf,
  tryAddress,
  unescapeAll,
  warning,
  type CloudReader,
  type Diagnostic,
  type Kind,
  type LabelOf,
  type Live,
  type Settings,
} from '../model/index.js';
import { ACCOUNTS } from '../resources/rules/roles.js';
import { accountsOf, accountTree, type AccountTree } from './account-tree.js';
import { noSuchKind, type Context } from './context.js';
import { exported, type Exported } from './export-values.js';
import { filterFlags } from './filter-flags.js';
import { ignoredFilters } from './ignored-filters.js';
import type { Workplace } from './working-context.js';

export interface ExportedObject extends Exported, Pick<Live, 'id'> {
  /** Ids of the accounts that it belongs to. */
  readonly accounts: readonly string[];
}

export interface ExportSelection {
  /** What is written, with unescaped texts and without secrets. */
  readonly chosen: ReadonlyMap<Kind, readonly ExportedObject[]>;
  /** Labels of everything that was read. */
  readonly labels: LabelOf;
  readonly tree: AccountTree;
  /** Names of each kind that the state holds. */
  readonly taken: ReadonlyMap<string, ReadonlySet<string>>;
  /** The id of the account that was asked for. */
  readonly root?: string;
}

/** What the command line asks for. */
export interface ExportRequest {
  readonly wanted: readonly Kind[];
  readonly filters: ReadonlyMap<Kind, Readonly<Record<string, string>>>;
  /** Kinds that are read: those wanted, what they may refer to, and accounts where they decide. */
  readonly read: readonly Kind[];
}

type Selecting = Pick<Context, 'kinds' | 'flags' | 'masking' | 'tell'>;

/** @param names kinds; none means all, of those beyond the API reference what the settings name or the state holds @throws Refusal for what does not exist */
export function exportRequest(
  { kinds, flags }: Pick<Selecting, 'kinds' | 'flags'>,
  names: readonly string[],
  { kinds: named = [] }: Pick<Settings, 'kinds'> = {},
  snapshot?: Workplace['snapshot'],
): ExportRequest {
  const also = new Set([...named, ...namesIn(snapshot).keys()]);
  const asked = new Set(
    names.map((name) => kinds.get(name) ?? noSuchKind(name, [...kinds.keys()])),
  );
  if (flags.filter !== undefined && asked.size === 0)
    refuse('usage', '--filter needs a KIND: each kind has its own filters.', {
      detail: 'For example: trueup export accounts --filter name=…',
    });
  const used = ({ name, beyond }: Kind): boolean =>
    !beyond || names.includes(name) || also.has(name);
  const wanted = asked.size === 0 ? [...kinds.values()].filter(used) : [...asked];
  const needed = new Set(
    wanted.flatMap(({ name, attributes }) => [name, ...targetsOf(attributes)]),
  );
  if (byAccount(flags)) needed.add(ACCOUNTS);
  return {
    wanted,
    filters: new Map(wanted.map((kind) => [kind, filterFlags(kind, flags.filter)])),
    read: [...kinds.values()].filter((kind) => needed.has(kind.name) && used(kind)),
  };
}

/** The names of the state, without keys, by kind. */
function namesIn(snapshot: Workplace['snapshot']): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  for (const address of Object.keys(snapshot?.state.resources ?? {})) {
    const { kind, name } = tryAddress(address) ?? {};
    if (kind !== undefined && name !== undefined)
      cached(names, kind, () => new Set<string>()).add(name);
  }
  return names;
}

const byAccount = ({ account, split }: Context['flags']): boolean =>
  (account ?? split) !== undefined;

/** Reads the cloud, and chooses. What is left out without having been asked to is told. @throws Refusal where nothing wanted can be read, or the account is not known */
export async function exportSelection(
  context: Selecting,
  { cloud, snapshot }: { readonly cloud: CloudReader } & Pick<Workplace, 'snapshot'>,
  request: ExportRequest,
): Promise<ExportSelection> {
  const { flags, tell } = context;
  const read = await readAll(context, cloud, request);
  const labels = labelsIn(
    new Map([...read].map(([kind, { byId }]) => [kind.name, { kind, byId }] as const)),
  );
  const tree = accountTree(
    [...read].flatMap(([{ name }, { live }]) => (name === ACCOUNTS ? live : [])),
  );
  const root = flags.account === undefined ? undefined : tree.chosen(flags.account);
  const known = flags.all ? undefined : snapshot;
  const bound = new Set(Object.values(known?.state.resources ?? {}).flatMap(objectsIn));
  const chosen = new Map<Kind, readonly ExportedObject[]>();
  const told: Diagnostic[] = [];
  for (const kind of request.wanted) {
    const found = read.get(kind);
    if (!found) continue;
    const { live, byId } = found;
    const { passes, warnings } = await filterOf(cloud, kind, request.filters.get(kind) ?? {});
    told.push(...warnings);
    const meant = live.filter(({ id }) => !bound.has(`${kind.name} ${id}`) && passes(id));
    const { within, across } =
      root === undefined
        ? { within: meant, across: [] }
        : divided(kind, meant, (id) => tree.isWithin(root, id));
    chosen.set(
      kind,
      within.flatMap(({ id }) => byId.get(id) ?? []),
    );
    told.push(...within.flatMap((one) => (byId.get(one.id) ? [] : withheld(kind, one, context))));
    if (across.length > 0) told.push(acrossAccounts(kind, across, labels));
  }
  await tell(told);
  return { chosen, labels, tree, taken: namesIn(known), ...defined({ root }) };
}

interface Read {
  /** Everything, with unescaped texts. */
  readonly live: readonly Live[];
  /** Without secrets, and without the objects that need one. */
  readonly byId: ReadonlyMap<string, ExportedObject>;
}

/** Kinds that no credentials are there for are left out: with a warning where they are wanted. */
async function readAll(
  { flags, masking, tell }: Selecting,
  cloud: CloudReader,
  { wanted, read }: ExportRequest,
): Promise<ReadonlyMap<Kind, Read>> {
  const found = new Map<Kind, Read>();
  const unread: Diagnostic[] = [];
  for (const kind of read) {
    try {
      const { objects } = await cloud.list(kind);
      const live = objects.map((one) => ({ ...one, values: unescapeAll(one.values) }));
      const byId = new Map<string, ExportedObject>();
      for (const one of live) {
        const without = exported(kind, one.values, masking);
        if (!('secret' in without))
          byId.set(one.id, { id: one.id, accounts: accountsOf(kind, one), ...without });
      }
      found.set(kind, { live, byId });
    } catch (error) {
      if (!(error instanceof Refusal) || error.diagnostics[0]?.code !== 'no-target') throw error;
      if (kind.name === ACCOUNTS && byAccount(flags)) throw error;
      if (wanted.includes(kind)) unread.push(...error.diagnostics);
    }
  }
  if (!wanted.some((kind) => found.has(kind))) throw new Refusal(unread, exits.error);
  await tell(
    unread.map((one) => ({
      ...one,
      severity: 'warning',
      summary: `These are left out: ${one.summary}`,
    })),
  );
  return found;
}

/** Asks the service which objects pass, as `get` does. The warnings are of filters that it ignored. */
async function filterOf(cloud: CloudReader, kind: Kind, filters: Readonly<Record<string, string>>) {
  if (Object.keys(filters).length === 0) return { passes: () => true, warnings: [] };
  const passing = new Set<unknown>();
  const check = ignoredFilters(kind, filters);
  for await (const page of cloud.records(kind, { filters })) {
    check.add(page);
    for (const { values } of page) passing.add(values[kind.id]);
  }
  return { passes: (id: string) => passing.has(id), warnings: check.warnings() };
}

/** Objects of which all accounts are inside, and those of which only some are. */
function divided(kind: Kind, objects: readonly Live[], isInside: (account: string) => boolean) {
  const within: Live[] = [];
  const across: Live[] = [];
  for (const one of objects) {
    const accounts = accountsOf(kind, one);
    const inside = accounts.filter(isInside).length;
    if (inside > 0) (inside === accounts.length ? within : across).push(one);
  }
  return { within, across };
}

/** Objects that a message names at most. */
const FEW = 3;

function acrossAccounts(kind: Kind, objects: readonly Live[], labels: LabelOf): Diagnostic {
  const names = objects.map(({ id, values }) => labelOf(kind, values, labels) ?? id);
  return warning(
    'other-accounts',
    `${kind.name} that also name accounts outside of the one asked for are left out: ${firstNamed(names, FEW)}.`,
    'To export them, too, name the account above all of these.',
  );
}

function withheld(kind: Kind, { id, values }: Live, { masking }: Selecting): readonly Diagnostic[] {
  const found = exported(kind, values, masking);
  if (!('secret' in found)) return [];
  const summary = `The ${kind.singular.replaceAll('_', ' ')} ${id} is left out: its ${found.secret} holds the value of a secret.`;
  const advice = 'Change it where it is live, or declare it by hand.';
  return [warning('secret-withheld', summary, advice)];
}
