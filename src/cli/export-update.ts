// `export --update`: writes what was changed outside of trueup into the declarations, in place. All of it or nothing: the
// edited files are planned before one of them is written.
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  cached,
  changesOf,
  errorDiagnostic,
  exits,
  firstNamed,
  liveObjectWords,
  note,
  objectsIn,
  paired,
  refuse,
  Refusal,
  walk,
  writes,
  type AttributeChange,
  type Change,
  type Declaration,
  type Diagnostic,
  type Exit,
  type Project,
} from '../model/index.js';
import type { LiveDifference, UpdatedFile } from '../declarations/writing.js';
import { declarationFiles } from '../platform/declaration-files.js';
import type { DeclarationFiles } from '../platform/index.js';
import type { Proposal } from '../reconciler/plan/plan.js';
import { exportCommand, scopeWords, typed, updateCommand } from './commands-to-type.js';
import type { Context } from './context.js';
import { chosen, loadProject, wholeProject } from './project.js';
import { requestOf, tellWarnings, withProject, type ProjectContext } from './working-context.js';

export const updateDeclarations = (context: Context, paths: readonly string[]): Promise<Exit> =>
  withProject(context, paths, async (site) => {
    const files = new Map<string, string>();
    const before = await proposalOf(context, site, site.project);
    const changes = judged(context, site, before);
    const differences = changes.flatMap(({ declaration, drifted }) =>
      drifted.map(({ path, before: live, after: declared }): LiveDifference => ({
        declaration,
        path,
        declared,
        live,
      })),
    );
    const errors = errorsIn(before);
    const { updatesOf } = await import('../declarations/writing.js');
    const { files: updated, refusals } = updatesOf(differences, {
      kinds: context.kinds,
      read: (file) => unmarked(cached(files, file, () => textOf(join(context.cwd, file)))),
      holds: context.masking.holds,
      blocked: (address) => blockWords(before, [address]),
      ...objectsOf(context, site, before),
    });
    if (errors.length > 0) {
      const concerned = new Set([...concernedBy(errors, before), ...addressesOf(refusals)]);
      throw new Refusal([...errors, unwritten(context, differences, concerned)]);
    }
    await tellWarnings(context, site);
    await context.tell(untouched(context, site, before, changes));
    if (refusals.length > 0)
      throw new Refusal([...refusals, unwritten(context, differences, addressesOf(refusals))]);
    if (updated.size === 0) {
      context.err.write(
        'Nothing to update: no declared value was changed only outside of trueup.\n',
      );
      return exits.done;
    }
    await checkPlan(context, site, { paths, updated, differences });
    site.watch.end();
    await show(context, updated);
    if (context.flags.dryRun) context.err.write('Nothing was written: --dry-run.\n');
    else await write(context, files, updated);
    return exits.done;
  });

const MARK = '\uFEFF';

const textOf = (path: string): string =>
  Buffer.from(declarationFiles.read(path, Infinity)).toString();

/** A text without its byte order mark. */
const unmarked = (text: string): string => (text.startsWith(MARK) ? text.slice(1) : text);

async function proposalOf(
  context: Context,
  site: ProjectContext,
  project: Project,
): Promise<Proposal> {
  const { propose } = await import('../reconciler/plan/propose.js');
  return propose(site.context, project, site.snapshot, { ...requestOf(context), audit: true });
}

const errorsIn = ({ plan }: Pick<Proposal, 'plan'>): readonly Diagnostic[] =>
  plan.diagnostics.filter(({ severity }) => severity === 'error');

/** The addresses of errors; undefined stands for all. */
type Concerned = Set<string | undefined>;

const addressesOf = (errors: readonly Diagnostic[]): Concerned =>
  new Set(errors.map(({ address }) => address));

/** A plan for an address covers what it refers to, so it has the errors of that as well. */
function concernedBy(errors: readonly Diagnostic[], { plan }: Proposal): Concerned {
  const concerned = addressesOf(errors);
  for (const { address, depends_on } of plan.changes)
    if (depends_on.some((one) => concerned.has(one))) concerned.add(address);
  return concerned;
}

const isMeant = ({ flags: { target = [] } }: Pick<Context, 'flags'>, address: string): boolean =>
  target.length === 0 || target.some((one) => address === one || address.startsWith(`${one}[`));

const changesIn = (context: Context, { plan }: Proposal): readonly Change[] =>
  paired(plan.changes)
    .map(([change]) => change)
    .filter(({ address }) => isMeant(context, address));

interface Judged {
  readonly declaration: Declaration;
  /** What was changed outside of trueup alone, what only the declaration changes, and what both change. */
  readonly drifted: readonly AttributeChange[];
  readonly pending: readonly AttributeChange[];
  readonly both: readonly AttributeChange[];
}

/** A value of an object to which nothing was ever applied is nobody's change: the live one is taken. */
function judged(
  context: Context,
  { project, snapshot }: ProjectContext,
  proposal: Proposal,
): readonly Judged[] {
  const declarations = new Map(project.declarations.map((one) => [one.address, one]));
  const entries = snapshot?.state.resources ?? {};
  return changesIn(context, proposal).flatMap((change): readonly Judged[] => {
    const declaration = declarations.get(change.address);
    if (!declaration || change.previous_id !== undefined) return [];
    const entry = entries[change.renamed_from ?? change.address];
    const { attributes } = context.kinds.get(change.kind)!;
    const isFresh = entry === undefined || Object.keys(entry.applied).length === 0;
    const secrets = [...walk(attributes)].flatMap(([path, { secret }]) => (secret ? path : []));
    const changes = changesOf(change).filter(({ path }) => !secrets.includes(path));
    const isDrifted = ({ drifted }: AttributeChange): boolean => isFresh || drifted === true;
    const outside = changes.filter(isDrifted);
    return [
      {
        declaration,
        drifted: outside.filter(({ edited }) => edited !== true),
        pending: changes.filter((one) => !isDrifted(one)),
        both: outside.filter(({ edited }) => edited === true),
      },
    ];
  });
}

/** The object of each address, and the address of each object that is declared. */
function objectsOf({ kinds }: Context, { project, snapshot }: ProjectContext, { plan }: Proposal) {
  const addresses = new Map<string, string>();
  const ids = new Map<string, string>();
  const declared = new Set(project.declarations.map(({ address }) => address));
  for (const change of plan.changes)
    if ('id' in change && declared.has(change.address) && change.deposed !== true) {
      addresses.set(`${change.kind} ${change.id}`, change.address);
      ids.set(change.address, change.id);
    }
  for (const [address, entry] of Object.entries(snapshot?.state.resources ?? {})) {
    if (!declared.has(address) || ids.has(address) || !kinds.has(entry.kind)) continue;
    for (const object of objectsIn(entry)) addresses.set(object, address);
    ids.set(address, entry.id);
  }
  return {
    addressOf: (kind: string, id: string) => addresses.get(`${kind} ${id}`),
    idAt: (address: string) => ids.get(address),
  };
}

/** Addresses that a message names at most. */
const FEW = 5;

/** Nothing where there are no addresses. */
const left = (
  addresses: readonly string[],
  [one, many]: readonly [one: string, many: string],
  detail: string,
): readonly Diagnostic[] =>
  addresses.length === 0
    ? []
    : [
        note(
          'not-updated',
          `${firstNamed(addresses, FEW)} ${addresses.length === 1 ? one : many}.`,
          detail,
        ),
      ];

/** Codes of the notes of a plan on values that may not be what others have set. */
const PASSED_ON: readonly string[] = ['not-visible-yet', 'unfinished'];

/** What is not as declared and is not written, and why. */
function untouched(
  context: Context,
  site: ProjectContext,
  proposal: Proposal,
  all: readonly Judged[],
): readonly Diagnostic[] {
  const entries = site.snapshot?.state.resources ?? {};
  const changes = changesIn(context, proposal);
  const of = (fits: (change: Change) => boolean): readonly string[] =>
    changes.filter(fits).map(({ address }) => address);
  const drifted = new Map(proposal.plan.drift.map((one) => [one.address, one.changes]));
  const gone = of(
    ({ address, action, ...one }) =>
      (action === 'create' &&
        !('replaces' in one && one.replaces) &&
        entries[address] !== undefined) ||
      (action === 'forget' && drifted.has(address)),
  );
  const replaced = of(({ previous_id }) => previous_id !== undefined);
  const pathsOf = (which: 'pending' | 'both'): readonly string[] =>
    all.flatMap((one) => one[which].map(({ path }) => `${path} of ${one.declaration.address}`));
  const both = all.flatMap((one) => (one.both.length > 0 ? [one.declaration.address] : []));
  const unmanaged = [...proposal.unmanaged].flatMap(([kind, some]) =>
    some.map(({ id }) => liveObjectWords(proposal.liveObjects, kind, id)),
  );
  return [
    ...proposal.plan.diagnostics.filter(({ code }) => PASSED_ON.includes(code)),
    ...left(
      gone,
      ['no longer exists: its declaration stays', 'no longer exist: their declarations stay'],
      `To create again what is gone: ${applyOnly(proposal, gone)}\nOtherwise delete what declares it.`,
    ),
    ...left(
      replaced,
      [
        'was replaced by another object: its declaration stays',
        'were replaced by other objects: their declarations stay',
      ],
      `To adopt what took its place: ${applyOnly(proposal, replaced)}`,
    ),
    ...left(
      pathsOf('both'),
      [
        'changed outside of trueup and in the declaration, which stays',
        'changed outside of trueup and in the declarations, which stay',
      ],
      `To keep the live values, put the values of the last apply back, and update again.\nTo send what is declared: ${applyOnly(proposal, both)}`,
    ),
    ...left(
      pathsOf('pending'),
      [
        'was not changed outside of trueup, and stays',
        'were not changed outside of trueup, and stay',
      ],
      'To see what apply would change: trueup plan',
    ),
    ...(context.flags.target === undefined
      ? left(
          unmanaged,
          ['is unmanaged, and stays unmanaged', 'are unmanaged, and stay unmanaged'],
          `To write declarations of what is unmanaged: ${exportCommand(context.kinds, proposal.plan.unmanaged)}`,
        )
      : []),
  ];
}

/** What else differs stays as it is: it may be what is to be written into the declarations. */
function applyOnly(proposal: Proposal, addresses: readonly string[]): string {
  const blocked = blockWords(proposal, addresses);
  const scope = scopeWords({ target: addresses.length > FEW ? ['ADDRESS'] : addresses });
  const command = ['trueup', blocked === undefined ? 'apply' : 'plan', ...scope].join(' ');
  return blocked === undefined ? command : `${command}\n${blocked}`;
}

/** What stands below a plan that is advised in the place of an apply; undefined where no rule blocks the apply. */
function blockWords({ plan }: Proposal, addresses: readonly string[]): string | undefined {
  const blocking = plan.verdicts.filter(({ verdict }) => verdict === 'blocked');
  const isMeant = ({ address }: Pick<Change, 'address'>): boolean => addresses.includes(address);
  const isWhole = plan.changes.filter(writes).every(isMeant);
  if (blocking.some(({ address }) => (address === undefined ? isWhole : isMeant({ address }))))
    return 'A rule blocks the apply: the plan says which.';
  return blocking.some(({ address }) => address === undefined)
    ? 'A rule blocks the apply of everything: the plan says whether it blocks this, too.'
    : undefined;
}

/** How the rest is written although something is refused. */
function unwritten(
  { said }: Context,
  differences: readonly LiveDifference[],
  refused: Concerned,
): Diagnostic {
  const target = [...new Set(differences.map(({ declaration }) => declaration.address))].filter(
    (address) => !refused.has(address) && !refused.has(undefined),
  );
  const others =
    target.length > 0
      ? `To update the others: ${typed(updateCommand({ target }), said)}`
      : undefined;
  return note('nothing-written', 'Nothing was written.', others);
}

interface Checked {
  readonly paths: readonly string[];
  readonly updated: ReadonlyMap<string, UpdatedFile>;
  readonly differences: readonly LiveDifference[];
}

/** Plans the edited files, as they would be. @throws Refusal where an update would leave a difference */
async function checkPlan(
  context: Context,
  site: ProjectContext,
  { paths, updated, differences }: Checked,
): Promise<void> {
  const edited = new Map(
    [...updated].map(([file, { after }]) => [resolve(context.cwd, file), Buffer.from(after)]),
  );
  const files: DeclarationFiles = {
    ...declarationFiles,
    read: (path, limit) =>
      edited.get(resolve(path))?.subarray(0, limit) ?? declarationFiles.read(path, limit),
  };
  const how = chosen(context);
  const quiet = { ...context, tell: async () => undefined };
  let proposal: Proposal;
  try {
    const loaded = await loadProject(quiet, paths, how, { checks: 'never', files });
    const project = await wholeProject(context, loaded, how, files);
    proposal = await proposalOf(context, site, project);
    const errors = errorsIn(proposal);
    if (errors.length > 0) throw new Refusal(errors);
  } catch (error) {
    throw error instanceof Refusal ? wrongAfterwards(context, error) : error;
  }
  const { differsInSecretsAlone } = await import('../reconciler/plan/document-diff.js');
  const left = new Set(
    proposal.plan.changes.flatMap((change) =>
      changesOf(change)
        .filter((one) => !differsInSecretsAlone(context.kinds.get(change.kind)!, one))
        .map(({ path }) => `${change.address} ${path}`),
    ),
  );
  const [wrong] = differences.filter(({ declaration, path }) =>
    left.has(`${declaration.address} ${path}`),
  );
  if (wrong)
    refuse(
      'not-updatable',
      `${wrong.path} of ${wrong.declaration.address} would still differ from what is live. Nothing was written.`,
      { detail: `It may have changed just now. Try again: ${updateCommand(context.flags)}` },
    );
}

/** The live values contradict one another, or are not as a declaration may be. */
function wrongAfterwards({ flags }: Context, { diagnostics, exit }: Refusal): Refusal {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const summary = 'With the live values, the declarations would have errors. Nothing was written.';
  const part = updateCommand({ ...flags, target: ['ADDRESS'] });
  const detail = `Change what is live, or update a part: ${part}`;
  return new Refusal([errorDiagnostic('not-updatable', summary, detail), ...errors], exit);
}

async function show(
  { out, masking }: Context,
  updated: ReadonlyMap<string, UpdatedFile>,
): Promise<void> {
  const { guard } = await import('../report/index.js');
  const { unifiedDiff } = await import('../report/unified-diff.js');
  for (const [file, { before, after }] of updated)
    out.write(guard(masking.text(unifiedDiff(file, before, after))));
}

/** Each file is the old one or the new one, whenever the run is killed. @throws Refusal where one was changed meanwhile */
async function write(
  context: Context,
  read: ReadonlyMap<string, string>,
  updated: ReadonlyMap<string, UpdatedFile>,
): Promise<void> {
  const { files, cwd, err, flags } = context;
  const places = new Map<string, string>();
  for (const file of updated.keys()) {
    const path = await files.realPath(join(cwd, file));
    if ((await files.read(path)) !== read.get(file))
      refuse(
        'changed-meanwhile',
        `${file} was changed while it was being updated. Nothing was written.`,
        { detail: `Try again: ${updateCommand(flags)}` },
      );
    places.set(file, path);
  }
  const written: (() => Promise<void>)[] = [];
  try {
    for (const [file, { after }] of updated) {
      const path = places.get(file)!;
      const { mode } = await stat(path);
      const before = read.get(file)!;
      const text = (before.startsWith(MARK) ? MARK : '') + after;
      await files.replace(path, text, mode & 0o777);
      written.push(() => files.replace(path, before, mode & 0o777));
    }
  } catch (error) {
    for (const undo of written) await undo();
    throw error;
  }
  for (const file of updated.keys()) err.write(`updated ${file}\n`);
}
