// What a guarded change rests on, read again at the moment of the write: an administrator who remains where another one
// is demoted or an account is moved, that an account which is deleted holds nothing, and, once the reading of the plan
// is old, that what is created does not exist. Others may have changed it since the plan was made.
import {
  refuse,
  Refusal,
  type Change,
  type CloudReader,
  type Create,
  type Diagnostic,
  type Entry,
  type Kind,
  type Kinds,
  type Live,
  type PolicyRule,
  type Roles,
  type Value,
  type Values,
} from '../../model/index.js';
import { lineage } from '../administrators.js';
import type { Clock } from '../../platform/index.js';
import { possibleDuplicates } from '../plan/possible-duplicates.js';
import { identityKey, ownRoot } from '../plan/match.js';
import type { World } from '../observe.js';
import { ACCOUNTS, administers, AUTHORIZATIONS, demotes, moves, promotes } from '../roles.js';

export interface Recheck {
  /** Right before the request leaves. @throws Refusal where what the change rests on does not hold any more, or cannot be read */
  before(): Promise<void>;
  /** Once it was carried out. `lost`: nobody administers the account any more; `unread`: nobody could look. */
  after(): Promise<'holds' | 'lost' | 'unread'>;
  /** The account that must keep an administrator. */
  readonly account: string;
}

export interface Rechecks {
  /** Undefined for a change that rests on nothing, or that may happen whatever it leaves behind. @param fields what is sent, references filled */
  of(change: Change, fields: Values): Recheck | undefined;
  /** Told of each change that was carried out. @param entry what the state holds of it now */
  done(change: Change, entry: Entry | null | undefined): void;
}

interface Tools {
  readonly cloud: CloudReader;
  readonly kinds: Kinds;
  readonly roles: Roles;
  readonly allow: readonly PolicyRule[];
  /** Whether an object was deleted just now: a listing may still show it. */
  readonly isDeleted: (kind: string, id: string) => boolean;
  /** Whether an object was there when the plan was made, or was made by the run. */
  readonly isKnown: (kind: string, id: string) => boolean;
  readonly clock: Pick<Clock, 'boot'>;
  readonly settleMilliseconds: number;
}

/** @param world what the plan was made of; @param changes all of the plan */
export function rechecksOf(tools: Tools, world: World, changes: readonly Change[]): Rechecks {
  const { roles, allow } = tools;
  const parents = new Map<string, Value | undefined>([...(world.get(ACCOUNTS)?.byId ?? [])].map(([id, { values }]) => [id, values.account]));
  const administrators = new Map<string, Set<string>>();
  const add = (account: string, id: string): unknown => administrators.set(account, (administrators.get(account) ?? new Set<string>()).add(id));
  for (const live of world.get(AUTHORIZATIONS)?.byId.values() ?? []) if (isAdministrator(live, roles)) add(String(live.values.account), live.id);
  const demoted = new Set(changes.flatMap((change) => (demotes(change, roles) ? [change.id] : [])));
  const above = (account: Value | undefined): readonly string[] => lineage((at) => parents.get(at), account);

  function witness(accounts: readonly string[]): Witness | undefined {
    for (const [index, account] of accounts.entries()) {
      const id = [...(administrators.get(account) ?? [])].find((one) => !demoted.has(one));
      if (id !== undefined) return { id, account, path: accounts.slice(0, index + 1) };
    }
    return undefined;
  }

  const absent = absence(tools, world);
  return {
    of(change, fields) {
      if (change.action === 'create') return absent(change, fields);
      if (change.action === 'delete' && change.kind === ACCOUNTS) return allow.includes('account-in-use') ? undefined : emptiness(tools, change);
      if (allow.includes('last-administrator')) return undefined;
      if (demotes(change, roles)) {
        const account = String(change.before.account);
        return administration(tools, { change, account, witness: witness(above(account)), moved: false });
      }
      if (!moves(change) || !above(change.id).some((at) => administrators.has(at))) return undefined;
      return administration(tools, { change, account: change.id, witness: witness([change.id, ...above(fields.account)]), moved: true });
    },
    done(change, entry) {
      if (entry && change.kind === ACCOUNTS) parents.set(entry.id, entry.observed['account']);
      if (promotes(change, roles)) add(String(change.before.account), change.id);
    },
  };
}

/** An administrator who remains, and the accounts from the one that needs him up to theirs. */
interface Witness {
  readonly id: string;
  readonly account: string;
  readonly path: readonly string[];
}

interface Resting {
  readonly change: Change;
  readonly account: string;
  readonly witness: Witness | undefined;
  /** The account itself goes elsewhere by this change: where it lies now says nothing. */
  readonly moved: boolean;
}

const isAdministrator = ({ values }: Live, roles: Roles): boolean => administers(values.role, roles) && typeof values.user === 'string';

function administration({ cloud, kinds, roles }: Tools, { change, account, witness, moved }: Resting): Recheck {
  const [accounts, authorizations] = [kinds.get(ACCOUNTS) as Kind, kinds.get(AUTHORIZATIONS) as Kind];

  async function stands(one: Witness): Promise<boolean> {
    const [live] = await cloud.find(authorizations, [one.id]);
    return live !== undefined && isAdministrator(live, roles) && String(live.values.account) === one.account;
  }

  /** Whether each account still lies below the next. */
  async function isPath(path: readonly string[]): Promise<boolean> {
    const below = path.slice(moved ? 1 : 0, -1);
    if (below.length === 0) return true;
    const found = new Map((await cloud.find(accounts, below)).map((live) => [live.id, live.values.account]));
    return below.every((id) => String(found.get(id)) === path[path.indexOf(id) + 1]);
  }

  async function isAdministered(): Promise<boolean> {
    const [all, tree] = await Promise.all([cloud.list(authorizations), cloud.list(accounts)]);
    const parents = new Map(tree.objects.map((live) => [live.id, live.values.account]));
    const reach = new Set(lineage((at) => parents.get(at), account));
    return all.objects.some((live) => isAdministrator(live, roles) && reach.has(String(live.values.account)));
  }

  return {
    account,
    async before() {
      if (witness && (await stands(witness)) && (await isPath(witness.path))) return;
      refuse('last-administrator', `${change.address} would leave account ${account} without an administrator: the one who was to remain does not administer it any more.`, {
        detail: 'Plan again.',
      });
    },
    async after() {
      try {
        return (witness && (await stands(witness))) || (await isAdministered()) ? 'holds' : 'lost';
      } catch (error) {
        if (error instanceof Refusal) return 'unread';
        throw error;
      }
    },
  };
}

/** What may name an account, with the filter that finds it. A service that ignores the filter lists everything. */
const holders = [
  [ACCOUNTS, 'account'],
  ['alert_rules', 'associated_accounts'],
  ['alert_rules', 'account'],
] as const;

function emptiness({ cloud, kinds, isDeleted }: Tools, { address, id }: Extract<Change, { action: 'delete' }>): Recheck {
  const names = ({ values }: Live, attribute: string): boolean => [values[attribute]].flat().some((one) => String(one) === id);
  return {
    account: id,
    async before() {
      for (const [name, attribute] of holders) {
        const kind = kinds.get(name);
        const found = kind ? (await cloud.search(kind, { [attribute]: id })).find((live) => !isDeleted(name, live.id) && names(live, attribute)) : undefined;
        if (found)
          refuse('account-in-use', `${address} (account ${id}) holds the ${(kind as Kind).singular.replaceAll('_', ' ')} ${found.id} now, so it was not deleted.`, {
            detail: 'Plan again.',
          });
      }
    },
    after: () => Promise.resolve('holds'),
  };
}

/** A reading that is older than the settle time says nothing any more of what exists: before something is created, the kind is listed again. */
function absence({ cloud, clock, kinds, allow, settleMilliseconds, isDeleted, isKnown }: Tools, world: World): (change: Create, fields: Values) => Recheck {
  const readings = new Map<string, { readonly at: number; readonly found: Promise<readonly Live[]> }>();
  const read = (kind: Kind): Promise<readonly Live[]> => {
    const [known, now] = [readings.get(kind.name), clock.boot().milliseconds];
    if (known && now - known.at <= settleMilliseconds) return known.found;
    const found = cloud.list(kind).then(({ objects }) => objects);
    readings.set(kind.name, { at: now, found });
    found.catch(() => readings.delete(kind.name));
    return found;
  };
  return (change, fields) => ({
    account: '',
    async before() {
      const kind = kinds.get(change.kind) as Kind;
      const collection = world.get(kind.name);
      if (collection?.read_at === undefined || clock.boot().milliseconds - collection.read_at <= settleMilliseconds) return;
      const effective = { ...ownRoot(collection), ...fields };
      const news = (await read(kind)).filter(({ id }) => !isKnown(kind.name, id) && !isDeleted(kind.name, id));
      const wanted = identityKey(kind, effective);
      const like = { ...change, desired: { ...change.desired, declared: effective } };
      const alike = allow.includes('possible-duplicate') ? [] : possibleDuplicates(kind, [like], news, (values) => values).map(({ live }) => live);
      const [found] = [...news.filter(({ values }) => wanted !== undefined && identityKey(kind, values) === wanted), ...alike];
      if (found) refuse('appeared', `${change.address} was not created: ${found.id} equals it, or nearly, and appeared since the plan was made.`, { detail: 'Plan again.' });
    },
    after: () => Promise.resolve('holds'),
  });
}

/** What is said of a demotion or a move after which nobody was left. @param back why the role could not be put back; absent where it was */
export function lostAdministration(change: Change, { account }: Recheck, back?: string): Diagnostic {
  const what = demotes(change) ? 'was updated' : 'was moved';
  const [end, detail] =
    back === undefined
      ? [`the role ${String('before' in change ? change.before.role : '')} was put back.`, 'The other administrator was changed outside of trueup at the same time. Plan again.']
      : [back, `Give somebody the role administrator of account ${account}.`];
  return {
    severity: 'error',
    code: 'last-administrator',
    summary: `${change.address} ${what}, and account ${account} had no administrator afterwards: ${end}`,
    detail,
    address: change.address,
  };
}
