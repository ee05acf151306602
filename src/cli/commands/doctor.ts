// `trueup doctor`: checks everything that a run depends on. Values of credentials are never shown.
import {
  defaultSettings,
  exits,
  reasonIn,
  Refusal,
  shellWord,
  type Collection,
  type Project,
  type Query,
  type Settings,
  keysOf,
} from '../../model/index.js';
import { flow } from '../../report/layout.js';
import { screenOf } from '../../report/style.js';
import { typed } from '../commands-to-type.js';
import type { Command, Context } from '../context.js';
import { stateInGit } from '../state-in-git.js';
import type { Access, Snapshot } from '../../state/index.js';
import { environmentOf } from '../environment-settings.js';
import { storeOf } from '../state-location.js';
import { HEADERS_VARIABLE, headerNames } from '../header-names.js';
import { loadProject, settingsHere } from '../project.js';
import { checkedApi, reach, surfacesOf } from '../cloud-connection.js';
import { needs, secretOf } from '../environment-credentials.js';
import { version } from '../version.js';

interface Finding {
  readonly mark: 'ok' | 'note' | 'BAD';
  readonly what: string;
  readonly told: string;
}

type Surface = keyof typeof needs;

/** Clocks further apart than this (milliseconds) confuse recovery. */
const SKEW = 60_000;
/** Servers return whole seconds, and responses take time. */
const UNSEEN = 2_000;

const ok = (what: string, told: string): Finding => ({ mark: 'ok', what, told });
const note = (what: string, told: string): Finding => ({ mark: 'note', what, told });
const bad = (what: string, told: string): Finding => ({ mark: 'BAD', what, told });

export const run: Command = async (context, paths) => {
  const project = await orRefusal(loadProject(context, paths));
  const loaded = project instanceof Refusal ? undefined : project;
  const own = loaded?.settings ?? (await orRefusal(settingsHere(context, paths)));
  const settings = own instanceof Refusal ? defaultSettings : own;
  const { platform, arch, versions } = process;
  const findings = [
    ok('versions', `trueup ${version}, node ${versions.node}, ${platform} ${arch}`),
    loadedOr(project, context),
    ...credentials(context, settings, loaded),
    ...(await memory(context, settings)),
    ...(await cloud(context, settings)),
    ...(context.flags.checkApi ? await assumed(context, settings) : []),
  ];
  const width = Math.max(...findings.map(({ what }) => what.length)) + 2;
  const screen = screenOf(context.out.style);
  const lines = findings.flatMap(({ mark, what, told }) => [
    ...flow(context.masking.text(told), screen, { lead: mark.padEnd(6) + what.padEnd(width) }),
  ]);
  context.out.write([...lines, ''].join('\n'));
  return findings.some(({ mark }) => mark === 'BAD') ? exits.error : exits.done;
};

function loadedOr(project: Project | Refusal, { said }: Context): Finding {
  if (!(project instanceof Refusal))
    return ok('declarations', `${project.declarations.length} in ${project.paths.join(', ')}`);
  // A folder without a project is as good a place as any to look at the credentials.
  const errors = project.diagnostics.filter(({ severity }) => severity === 'error');
  const nothingHere = errors.every(({ code }) => code === 'no-declarations');
  const told = `${why(project)} (more: ${typed('trueup validate', said)})`;
  return (nothingHere ? note : bad)('declarations', told);
}

function orRefusal<T>(work: Promise<T>): Promise<T | Refusal> {
  return work.catch((error: unknown) => {
    if (error instanceof Refusal) return error;
    throw error;
  });
}

const why = ({ diagnostics }: Refusal): string => reasonIn(diagnostics)?.summary ?? '';

const surfaces: readonly Surface[] = keysOf(needs);
/** Surfaces that no kind needs. */
const extra: ReadonlySet<Surface> = new Set(['iot', 'flow']);
const configured = ({ environment }: Context, settings: Settings, surface: Surface): boolean =>
  settings.target === 'emulator' || Boolean(environment[needs[surface].address]);

/** A missing variable is an error if a declaration needs it, or if the declarations are not known. */
function credentials(
  context: Context,
  settings: Settings,
  project: Project | undefined,
): readonly Finding[] {
  if (settings.target === 'emulator')
    return [ok('cloud', 'the emulator in this process, which needs no credentials')];
  const { environment } = context;
  const used = surfacesOf(context, project);
  return surfaces.flatMap((surface) => {
    const missing = used.size === 0 || extra.has(surface) || used.has(surface) ? bad : note;
    const { address, secrets } = needs[surface];
    if (extra.has(surface) && !used.has(surface) && !environment[address])
      return [note(address, 'not set, and needed only for SIMs')];
    const unset = `not set${missing === note ? ', and not needed by the declarations' : ''}`;
    return [
      environment[address] ? ok(address, 'set') : missing(address, unset),
      ...secrets.map((name) => credential(context, name, missing)),
      ...(surface === 'v2' ? renamed(context, settings) : []),
    ];
  });
}

/** Under which other names the four keys travel. */
function renamed({ environment }: Context, { v2_headers: settings }: Settings): readonly Finding[] {
  try {
    const names = Object.entries(headerNames(environment, settings)).flatMap(([name, theirs]) =>
      name === theirs ? [] : [`${name} is called ${theirs}`],
    );
    return names.length === 0 ? [] : [ok('v2 headers', names.join(', '))];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [bad(HEADERS_VARIABLE, `${why(error)}. ${error.diagnostics[0]?.detail ?? ''}`)];
  }
}

function credential(context: Context, name: string, missing: typeof bad): Finding {
  const secret = secretOf(context, name);
  if (secret.reveal() !== undefined) return ok(name, `set by ${secret.source}`);
  return context.environment[secret.source]
    ? bad(name, `the file that ${secret.source} names cannot be read, or is empty`)
    : missing(name, 'not set');
}

async function memory(context: Context, settings: Settings): Promise<readonly Finding[]> {
  const looked = await orRefusal(look(context, settings));
  return looked instanceof Refusal ? [bad('state', why(looked))] : looked;
}

async function look(context: Context, settings: Settings): Promise<readonly Finding[]> {
  const store = await storeOf(context, settings, environmentOf(context));
  const snapshot = await store.read();
  const { serial = 0, resources = {} } = snapshot?.state ?? {};
  const managed = `serial ${serial}, ${Object.keys(resources).length} managed`;
  const holder = await store.holder();
  const access = await store.access?.();
  const inGit = snapshot && (await stateInGit(context.cwd, store.location));
  return [
    snapshot
      ? ok('state', `${store.location}, ${managed}`)
      : note('state', `${store.location} does not exist yet`),
    ...(inGit
      ? [note('state in git', `${inGit.summary} ${inGit.detail?.replaceAll('\n', ' ')}`)]
      : []),
    ...accessFindings(access),
    holder
      ? note(
          'lock',
          `held by ${holder.operation} since ${holder.created_at}: process ${holder.pid} on ${holder.host}. If that is gone for sure: ${typed(`trueup unlock ${shellWord(holder.id)}`, context.said)}`,
        )
      : ok('lock', 'free'),
    journalFinding(context, snapshot, holder !== undefined),
  ];
}

function journalFinding(
  { said }: Context,
  snapshot: Snapshot | undefined,
  isHeld: boolean,
): Finding {
  if (!snapshot?.unfinished) return ok('journal', 'nothing unfinished');
  const unknown = `outcomes unknown: ${snapshot.pending.length}`;
  if (isHeld)
    return note(
      'journal',
      `the run that holds the lock is not finished, or was cut off; ${unknown}`,
    );
  return note(
    'journal',
    `an earlier run did not finish; ${unknown}. The next apply or destroy settles it. To see what is left to change: ${typed('trueup plan', said)}`,
  );
}

function accessFindings(access: Access | undefined): readonly Finding[] {
  if (access === 'may-write') return [ok('state access', 'can be locked and written')];
  const limits: Partial<Record<Access, string>> = {
    'read-only':
      'these credentials may only read the state: plan and drift work, apply is refused before its first request',
    'may-not-remove':
      'can be locked and written, but these credentials cannot delete: what is no longer used stays there. Grant permission to delete',
  };
  const limit = access && limits[access];
  return limit === undefined ? [] : [note('state access', limit)];
}

/** One small request to each surface that has an address, but none to the flow: each of its calls changes a SIM. */
async function cloud(context: Context, settings: Settings): Promise<readonly Finding[]> {
  const asked = surfaces.filter((surface) => configured(context, settings, surface));
  const reached = await orRefusal(reach(context, settings, { emit: () => undefined }));
  if (reached instanceof Refusal) return [bad('reachability', why(reached))];
  const findings: Finding[] = await targetFindings(context, settings, reached.cloud.target);
  for (const surface of asked) {
    const one = [...context.collections.values()].find(
      ({ operations }) => operations.dialect === surface,
    );
    if (!one) {
      findings.push(note(surface, 'not checked: each request to it would change a SIM'));
      continue;
    }
    const filters: Query['filters'] = surface === 'iot' ? { imsi: '0' } : {};
    const response = await orRefusal(firstOf(reached.cloud.records(ofOne(one), { filters })));
    const what = `${surface} responds`;
    findings.push(
      response instanceof Refusal
        ? bad(what, why(response))
        : ok(what, 'and accepts the credentials'),
    );
  }
  const skew = reached.cloud.skew();
  if (skew !== undefined) {
    const size = Math.abs(skew);
    const apart = `${Math.round(size / 1000)} s ${skew < 0 ? 'ahead of' : 'behind'} the server's`;
    const told = size < UNSEEN ? "agrees with the server's" : apart;
    findings.push((size < SKEW ? ok : bad)('clock', told));
  }
  await reached.close();
  return findings;
}

/** Whether the state is about the cloud that is reached. Why no state can be read, other findings say. */
async function targetFindings(
  context: Context,
  settings: Settings,
  target: string,
): Promise<Finding[]> {
  const { checkTarget } = await import('../../reconciler/live-collections.js');
  const store = await orRefusal(storeOf(context, settings, environmentOf(context)));
  const snapshot = store instanceof Refusal ? undefined : await orRefusal(store.read());
  if (!snapshot || snapshot instanceof Refusal) return [];
  try {
    checkTarget(snapshot.state, target);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [bad('target', `${why(error)} ${error.diagnostics[0]?.detail?.replaceAll('\n', ' ')}`)];
  }
  return [];
}

/** One finding for each assumption that can be checked; what could not be is a note, never ok. */
async function assumed(context: Context, settings: Settings): Promise<readonly Finding[]> {
  const { UNCHECKABLE } = await import('../../client/api-checks.js');
  const findings: Finding[] = [];
  const unchecked: typeof note = (what, detail) => note(what, `not checked: ${detail}`);
  const marks = { ok, note, bad, unchecked };
  try {
    for await (const { name, verdict, detail } of checkedApi(context, settings))
      findings.push(marks[verdict](name, detail));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [...findings, bad('assumptions', why(error))];
  }
  const told = `${UNCHECKABLE} assumptions cannot be checked by reading: docs/explanation/api.md of the trueup package says what happens if they are wrong`;
  return [...findings, note('others', told)];
}

/** Listed in pages of one record: a listing proves the address, where what is read by its id may just not be there. */
const ofOne = (one: Collection): Collection => ({
  ...one,
  operations: { ...one.operations, page: 1 },
});

async function firstOf<T>(pages: AsyncIterable<T>): Promise<T | undefined> {
  for await (const page of pages) return page;
  return undefined;
}
