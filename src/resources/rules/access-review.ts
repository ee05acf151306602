// The access review: the effective role of every user in every account, through the account tree. It is computed from
// the live objects and marks roles that differ from the declarations.
import {
  append,
  compareText,
  firstNamed,
  keptMembers,
  WHOLE_PLAN,
  type AccessCell,
  type AccessReview,
  type Audited,
  type Change,
  type Diagnostic,
  type Live,
  type LiveObjects,
  type Project,
  type Roles,
} from '../../model/index.js';
import { checkTarget, observe, unreadWarnings } from '../../reconciler/live-collections.js';
import { plan } from '../../reconciler/plan/plan.js';
import type { PlanInput } from '../../reconciler/plan/plan-input.js';
import { observingOf, type PlanContext } from '../../reconciler/plan/propose.js';
import { select } from '../../reconciler/plan/target-selection.js';
import type { Snapshot } from '../../state/store-port.js';
import { ACCOUNTS, AUTHORIZATIONS, rank, surelyInactive, USERS } from './roles.js';

/** The most cells of the matrix; beyond, only the authorizations themselves are listed. */
const MOST_CELLS = 20_000;

/** The review of a run of its own: reads accounts and authorizations alone, and users where the project does. */
export async function reviewAccess(
  context: PlanContext,
  whole: Project,
  snapshot: Snapshot | undefined,
): Promise<Reviewed & { readonly access: AccessReview }> {
  const { kinds, rules, cloud, clock } = context;
  const names: readonly string[] = [
    ACCOUNTS,
    AUTHORIZATIONS,
    ...(reads(whole, USERS) ? [USERS] : []),
  ];
  checkTarget(snapshot?.state, cloud.target);
  const ours = ({ kind }: { readonly kind: string }): boolean => names.includes(kind);
  const resources = keptMembers(snapshot?.state.resources ?? {}, (entry) => ours(entry));
  const state = snapshot && { ...snapshot.state, resources };
  const observing = observingOf(context, state);
  const liveObjects = await observe(observing, names);
  const project = {
    ...whole,
    declarations: whole.declarations.filter(ours),
    lookups: whole.lookups.filter(ours),
  };
  const selection = select(kinds, project, state, WHOLE_PLAN);
  const input: PlanInput = {
    kinds,
    rules,
    project,
    state,
    liveObjects,
    selection,
    secrets: new Map(),
    compose: cloud.compose,
    request: WHOLE_PLAN,
    now: { boot: clock.boot(), wall: clock.now() },
    visibility: observing.visibility,
  };
  const { changes, diagnostics } = plan(input).plan;
  const found = accessReview(liveObjects, changes, project.settings.roles);
  return {
    access: found.access!,
    diagnostics: [
      ...diagnostics.filter(({ severity }) => severity === 'error'),
      ...found.diagnostics,
    ],
  };
}

/**
 * The review of an audit. Where that read authorizations and had no need of accounts, they are read for the review;
 * if they cannot be read, a note says so, and effective roles are unknown.
 */
export async function reviewWith({
  live,
  changes,
  settings: { roles },
  read,
}: Audited): Promise<Reviewed> {
  if (!live.has(AUTHORIZATIONS) || live.has(ACCOUNTS)) return accessReview(live, changes, roles);
  try {
    return accessReview(new Map([...live, ...(await read([ACCOUNTS]))]), changes, roles);
  } catch (error) {
    const { access, diagnostics } = accessReview(live, changes, roles);
    const summary = 'The access review holds no account tree, because accounts could not be read.';
    return { access, diagnostics: [...diagnostics, ...unreadWarnings(error, summary)] };
  }
}

/** A review, null where authorizations were not read; and what has to be known of it. */
interface Reviewed {
  readonly access: AccessReview | null;
  readonly diagnostics: readonly Diagnostic[];
}

const reads = ({ declarations, lookups, settings }: Project, name: string): boolean =>
  settings.kinds?.includes(name) === true ||
  [...declarations, ...lookups].some(({ kind }) => kind === name);

interface Place extends Omit<AccessReview['accounts'][number], 'administrators'> {
  /** Whether it is known what is above: not of an account that only an authorization names, or that is in or below a circle. */
  readonly rooted: boolean;
}

const ADMINISTRATOR = rank('administrator');

/** The role of one authorization. */
interface Grant extends Pick<AccessCell, 'user' | 'account' | 'role'> {
  readonly rank: number;
  readonly declared: { readonly address: string; readonly role: string } | undefined;
}

/** Of what reaches a user in an account, what can still matter further down: the nearest role that is not none, and the highest that is known. */
interface Reach {
  readonly near: Grant;
  readonly high: Grant;
}

type Reaching = ReadonlyMap<string, Reach>;

/** A review of what was read. `changes`: of the plan, for what is declared. */
export function accessReview(
  objects: LiveObjects,
  changes: readonly Change[],
  roles: Roles = {},
): Reviewed {
  const authorizations = objects.get(AUTHORIZATIONS);
  if (!authorizations) return { access: null, diagnostics: [] };
  const declared = declaredRoles(changes);
  const own = new Map<string, Grant[]>();
  const nameless: string[] = [];
  for (const { id, values } of authorizations.byId.values()) {
    const { user, account, role } = values;
    if (typeof user !== 'string' || typeof account !== 'string') nameless.push(id);
    else
      append(own, account, {
        user,
        account,
        role: typeof role === 'string' ? role : '',
        rank: rank(typeof role === 'string' ? role : '', roles),
        declared: declared.get(id),
      });
  }
  const accounts = objects.get(ACCOUNTS)?.byId;
  const { places, circling } = placesOf(accounts ?? new Map<string, Live>(), own);
  const users = [...new Set([...own.values()].flat().map(({ user }) => user))].toSorted(byNumber);
  const inactive = surelyInactive(objects.get(USERS)?.byId.values());
  const complete = users.length * places.length <= MOST_CELLS;
  return {
    access: {
      users: users.map((id) => {
        const email = objects.get(USERS)?.byId.get(id)?.values.email;
        return {
          id,
          ...(typeof email === 'string' && { email }),
          ...(inactive.has(id) && { inactive: true }),
        };
      }),
      ...alongTheTree(places, own, { inactive, complete }),
      complete,
    },
    diagnostics: notes(nameless, circling, [...own.keys()], accounts),
  };
}

/** Goes down the tree and keeps of every account above the present one only what it adds. */
function alongTheTree(
  places: readonly Place[],
  own: ReadonlyMap<string, readonly Grant[]>,
  {
    inactive,
    complete,
  }: { readonly inactive: ReturnType<typeof surelyInactive>; complete: boolean },
): Pick<AccessReview, 'accounts' | 'cells'> {
  const above: { readonly reaching: Reaching; readonly administrators: readonly string[] }[] = [];
  const administrators = new Set<string>();
  const cells: AccessCell[] = [];
  const accounts = places.map(({ id, name, depth, rooted }) => {
    for (const left of above.splice(depth))
      left.administrators.forEach((user) => administrators.delete(user));
    const given = new Map<string, Grant[]>();
    for (const grant of (own.get(id) ?? []).toSorted((a, b) => sortRank(b) - sortRank(a)))
      append(given, grant.user, grant);
    const reaching = reachOf(given, complete ? above.at(-1)?.reaching : undefined);
    const more = [...given]
      .filter(
        ([user, grants]) =>
          grants.some((grant) => grant.rank === ADMINISTRATOR) &&
          !administrators.has(user) &&
          !inactive.has(user),
      )
      .map(([user]) => user);
    more.forEach((user) => administrators.add(user));
    above.push({ reaching, administrators: more });
    for (const user of [...reaching.keys()].toSorted(byNumber))
      cells.push(...cellOf(id, reaching.get(user)!, given.get(user) ?? []));
    return { id, name, depth, administrators: rooted ? administrators.size : null };
  });
  return { accounts, cells };
}

function reachOf(given: ReadonlyMap<string, readonly Grant[]>, inherited: Reaching = new Map()) {
  if (given.size === 0) return inherited;
  const reaching = new Map(inherited);
  for (const [user, grants] of given) {
    const grant = grants[0]!;
    const before = inherited.get(user);
    const nothing = grant.rank === 0 && before !== undefined && before.near.rank !== 0;
    reaching.set(user, {
      near: nothing ? before.near : grant,
      high: before && before.high.rank > grant.rank ? before.high : grant,
    });
  }
  return reaching;
}

/** @param given what authorizations of the account itself give the user, the highest first */
function cellOf(account: string, { near, high }: Reach, given: readonly Grant[]) {
  const { user, role, rank: roleRank, account: from } = outranks(high, near) ? high : near;
  if (from !== account && roleRank === 0 && given.length === 0) return [];
  const own = given.map((grant) => grant.role);
  const declaring = given.filter(({ declared }) => declared !== undefined);
  const wanted = declaring.find((grant) => grant.declared?.role !== grant.role) ?? declaring[0];
  const inherited = from !== account;
  return [
    {
      user,
      account,
      role,
      ...(inherited && { inherited_from: from }),
      ...((inherited ? own.length > 0 : own.length > 1) && { own }),
      ...(wanted?.declared && {
        address: wanted.declared.address,
        ...(wanted.declared.role !== wanted.role && { declared: wanted.declared.role }),
      }),
    },
  ];
}

/** Whether a grant certainly gives more than one that reaches the account from nearer; an unknown role gives more than none. */
function outranks({ rank: given }: Grant, { rank: nearer }: Grant): boolean {
  if (given === 0) return false;
  if (nearer === 0) return true;
  return nearer < 0 ? given === ADMINISTRATOR : given > nearer;
}

/** To sort by: an unknown role stands between none and those that are known. */
const sortRank = ({ rank: given }: Grant): number => (given < 0 ? 0.5 : given);

const nameOf = ({ id, values }: Live): string =>
  typeof values.name === 'string' ? values.name : id;

/** The accounts in the order of their tree, those above one another in a circle as tops; one that only an authorization names stands by itself at the end. */
function placesOf(accounts: ReadonlyMap<string, Live>, own: ReadonlyMap<string, unknown>) {
  const above = new Map(
    [...accounts.values()].map(({ id, values }) => [
      id,
      typeof values.account === 'string' && accounts.has(values.account)
        ? values.account
        : undefined,
    ]),
  );
  const circling = circlesOf(above);
  const children = new Map<string | undefined, Live[]>();
  for (const live of accounts.values())
    append(children, circling.has(live.id) ? undefined : above.get(live.id), live);
  const places: Place[] = [];
  const open: { readonly live: Live; readonly depth: number; readonly rooted: boolean }[] = [];
  const push = (parent: string | undefined, depth: number, rooted: boolean): void => {
    const below = (children.get(parent) ?? []).toSorted(
      (a, b) => compareText(nameOf(b), nameOf(a)) || byNumber(b.id, a.id),
    );
    for (const live of below) open.push({ live, depth, rooted: rooted && !circling.has(live.id) });
  };
  push(undefined, 0, true);
  for (let next = open.pop(); next; next = open.pop()) {
    const { live, depth, rooted } = next;
    places.push({ id: live.id, name: nameOf(live), depth, rooted });
    push(live.id, depth + 1, rooted);
  }
  const unlisted = [...own.keys()].filter((id) => !accounts.has(id)).toSorted(byNumber);
  return {
    places: [...places, ...unlisted.map((id) => ({ id, name: id, depth: 0, rooted: false }))],
    circling: [...circling].toSorted(byNumber),
  };
}

/** Those from which the way up leads back to themselves. */
function circlesOf(above: ReadonlyMap<string, string | undefined>): ReadonlySet<string> {
  const seen = new Set<string>();
  const circling = new Set<string>();
  for (const start of above.keys()) {
    const way = new Set<string>();
    let at: string | undefined = start;
    for (; at !== undefined && !seen.has(at); at = above.get(at)) {
      seen.add(at);
      way.add(at);
    }
    if (at === undefined || !way.has(at)) continue;
    for (let on: string | undefined = at; on !== undefined && !circling.has(on); on = above.get(on))
      circling.add(on);
  }
  return circling;
}

/** @param named accounts of authorizations: what reaches one from above is unknown if no listing of accounts holds it */
function notes(
  nameless: readonly string[],
  circling: readonly string[],
  named: readonly string[],
  accounts: ReadonlyMap<string, Live> | undefined,
): readonly Diagnostic[] {
  const unlisted = accounts ? named.filter((id) => !accounts.has(id)).toSorted(byNumber) : [];
  return [
    ...note(nameless, {
      severity: 'warning',
      code: 'nameless-authorizations',
      summary: 'The service shows authorizations without a user or without an account',
      detail: 'They are not in the access review, and none of them counts as an administrator.',
    }),
    ...note(circling, {
      severity: 'warning',
      code: 'accounts-in-a-circle',
      summary: 'The service puts accounts below one another in a circle',
      detail:
        'The access review shows them as tops of the tree: roles that may reach them from one another are not in it.',
    }),
    ...note(unlisted, {
      severity: unlisted.length === named.length ? 'warning' : 'info',
      code: 'unlisted-accounts',
      summary: 'The service shows authorizations of accounts that no listing of accounts holds',
      detail:
        'v3 ids of accounts may be another id space than v2 ids, or the v2 keys do not reach these accounts. To see the ids that the roles name: trueup get account_authorizations -o json\nTo see those of the accounts: trueup get accounts',
    }),
  ];
}

/** Ends the summary with the first of the identifiers; without any there is nothing to say. */
function note(ids: readonly string[], about: Diagnostic): readonly Diagnostic[] {
  if (ids.length === 0) return [];
  return [{ ...about, summary: `${about.summary}: ${firstNamed(ids, 10)}.` }];
}

/** By identifier of the authorization: where it is declared, and with which role. */
function declaredRoles(changes: readonly Change[]) {
  return new Map(
    changes.flatMap((change) =>
      change.kind === AUTHORIZATIONS &&
      'id' in change &&
      'declaredObject' in change &&
      change.declaredObject
        ? [
            [
              change.id,
              { address: change.address, role: String(change.declaredObject.declared.role ?? '') },
            ] as const,
          ]
        : [],
    ),
  );
}

/** Identifiers of digits by their number, all others as text. */
function byNumber(a: string, b: string): number {
  const digits = /^\d+$/;
  return digits.test(a) && digits.test(b)
    ? a.length - b.length || compareText(a, b)
    : compareText(a, b);
}
