// Who may do what where: every user against every account, with the role that reaches there through the account tree.
// It is made from what was read, and marked where the declarations want something else.
import { append, compareText, type AccessCell, type AccessReview, type Change, type Diagnostic, type Live, type PlanRequest, type Project } from '../model/index.js';
import type { Snapshot } from '../state/store.js';
import { checkTarget, observe, type World } from './observe.js';
import { plan } from './plan.js';
import type { PlanInput } from './plan-input.js';
import type { Desk } from './propose.js';
import { ACCOUNTS, administers, AUTHORIZATIONS, rank } from './roles.js';
import { select } from './select.js';

/** Beyond so many cells only the authorizations themselves are listed, without where they reach. */
const MOST_CELLS = 20_000;

const request: PlanRequest = { targets: [], excludes: [], allow: [], destroy: false };

/** The review of a run of its own: reads accounts and authorizations alone. */
export async function reviewAccess(
  { kinds, cloud, emit, clock }: Desk,
  whole: Project,
  snapshot: Snapshot | undefined,
): Promise<{ readonly access: AccessReview; readonly diagnostics: readonly Diagnostic[] }> {
  const names = [ACCOUNTS, AUTHORIZATIONS];
  checkTarget(snapshot?.state, cloud.target);
  const resources = Object.fromEntries(Object.entries(snapshot?.state.resources ?? {}).filter(([, { kind }]) => names.includes(kind)));
  const world = await observe(cloud, kinds, names, Object.values(resources), emit);
  const ours = ({ kind }: { readonly kind: string }): boolean => names.includes(kind);
  const project = { ...whole, declarations: whole.declarations.filter(ours), lookups: whole.lookups.filter(ours) };
  const state = snapshot && { ...snapshot.state, resources };
  const selection = select(kinds, project, state, request);
  const input: PlanInput = { kinds, project, state, world, selection, secrets: new Map(), compose: cloud.compose, request, now: clock.now() };
  const { changes, diagnostics } = plan(input).plan;
  return { access: accessReview(world, changes) as AccessReview, diagnostics: diagnostics.filter(({ severity }) => severity === 'error') };
}

interface Place {
  readonly id: string;
  readonly name: string;
  readonly depth: number;
  /** Nearest first, itself among them. */
  readonly lineage: readonly string[];
}

/** A review of what was read; null where authorizations were not. `changes`: of the plan, for what is declared. */
export function accessReview(world: World, changes: readonly Change[]): AccessReview | null {
  const authorizations = [...(world.get(AUTHORIZATIONS)?.byId.values() ?? [])];
  if (!world.has(AUTHORIZATIONS)) return null;
  const places = placesOf([...(world.get(ACCOUNTS)?.byId.values() ?? [])], authorizations);
  const declared = declaredRoles(changes);
  const own = new Map<string, AccessCell[]>();
  for (const { id, values } of authorizations) {
    const role = String(values.role ?? '');
    const wanted = declared.get(id);
    append(own, String(values.account), {
      user: String(values.user),
      account: String(values.account),
      role,
      ...(wanted && { address: wanted.address, ...(wanted.role !== role && { declared: wanted.role }) }),
    });
  }
  const users = [...new Set(authorizations.map(({ values }) => String(values.user)))].toSorted(byNumber);
  const whole = users.length * places.length <= MOST_CELLS;
  const cells = places.flatMap(({ id, lineage }) => (whole ? reaching(id, lineage, own) : (own.get(id) ?? [])).toSorted((a, b) => byNumber(a.user, b.user)));
  const accounts = places.map(({ id, name, depth, lineage }) => ({
    id,
    name,
    depth,
    administrators: new Set(lineage.flatMap((above) => (own.get(above) ?? []).filter(({ role }) => administers(role)).map(({ user }) => user))).size,
  }));
  return { users: users.map((id) => ({ id })), accounts, cells, complete: whole };
}

/** The cells of one account: of each user the highest role among its own and those above. */
function reaching(id: string, lineage: readonly string[], own: ReadonlyMap<string, readonly AccessCell[]>): readonly AccessCell[] {
  const best = new Map<string, AccessCell>();
  for (const at of lineage) {
    for (const cell of own.get(at) ?? []) {
      const before = best.get(cell.user);
      if (at === id) best.set(cell.user, cell);
      else if (outranks(cell.role, before?.role))
        best.set(cell.user, { ...(before?.address !== undefined && { address: before.address }), user: cell.user, account: id, role: cell.role, inherited_from: at });
    }
  }
  return [...best.values()];
}

/** Whether an inherited role certainly gives more than what reaches the account from nearer; an unknown role gives more than none. */
function outranks(role: string, nearer: string | undefined): boolean {
  if (rank(role) === 0) return false;
  if (nearer === undefined || rank(nearer) === 0) return true;
  return rank(nearer) < 0 ? administers(role) : rank(role) > rank(nearer);
}

/** The accounts in the order of their tree; one that only an authorization names stands by itself at the end. */
function placesOf(accounts: readonly Live[], authorizations: readonly Live[]): readonly Place[] {
  const byId = new Map(accounts.map((live) => [live.id, live]));
  const children = new Map<string | undefined, Live[]>();
  for (const live of accounts) append(children, byId.has(String(live.values.account)) ? String(live.values.account) : undefined, live);
  const places = new Map<string, Place>();
  const open: { readonly live: Live; readonly above: readonly string[] }[] = [];
  const push = (parent: string | undefined, above: readonly string[]): void => {
    const below = (children.get(parent) ?? []).toSorted((a, b) => compareText(String(b.values.name), String(a.values.name)) || byNumber(b.id, a.id));
    for (const live of below) open.push({ live, above });
  };
  push(undefined, []);
  for (let next = open.pop(); next; next = open.pop()) {
    const { live, above } = next;
    if (places.has(live.id)) continue;
    const lineage = [live.id, ...above];
    places.set(live.id, { id: live.id, name: String(live.values.name ?? live.id), depth: above.length, lineage });
    push(live.id, lineage);
  }
  const strangers = new Set(authorizations.map(({ values }) => String(values.account)).filter((id) => !places.has(id)));
  return [...places.values(), ...[...strangers].toSorted(byNumber).map((id) => ({ id, name: id, depth: 0, lineage: [id] }))];
}

/** By identifier of the authorization: where it is declared, and with which role. */
function declaredRoles(changes: readonly Change[]): ReadonlyMap<string, { readonly address: string; readonly role: string }> {
  return new Map(
    changes.flatMap((change) =>
      change.kind === AUTHORIZATIONS && 'id' in change && 'desired' in change && change.desired
        ? [[change.id, { address: change.address, role: String(change.desired.declared.role ?? '') }] as const]
        : [],
    ),
  );
}

/** Identifiers of digits by their number, all others as text. */
function byNumber(a: string, b: string): number {
  const digits = /^\d+$/;
  return digits.test(a) && digits.test(b) ? a.length - b.length || compareText(a, b) : compareText(a, b);
}
