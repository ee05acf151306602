// `trueup doctor`: everything a run depends on, looked at one by one. Values of credentials are never shown.
import {
  defaultSettings,
  exits,
  Refusal,
  type Collection,
  type Project,
  type Settings,
} from '../../model/index.js';
import { typed } from '../commands-to-type.js';
import type { Command, Context } from '../context.js';
import { environmentOf, storeOf } from '../state-location.js';
import { HEADERS_VARIABLE, headerNames } from '../header-names.js';
import { loadProject } from '../project.js';
import { checkedApi, needs, reach, secretOf } from '../target.js';
import { version } from '../version.js';

interface Finding {
  readonly mark: 'ok' | 'note' | 'BAD';
  readonly what: string;
  readonly told: string;
}

type Surface = keyof typeof needs;

/** Clocks further apart than this (milliseconds) confuse recovery. */
const SKEW = 60_000;
/** Servers tell whole seconds, and answers take time. */
const UNSEEN = 2_000;

const ok = (what: string, told: string): Finding => ({ mark: 'ok', what, told });
const note = (what: string, told: string): Finding => ({ mark: 'note', what, told });
const bad = (what: string, told: string): Finding => ({ mark: 'BAD', what, told });

export const run: Command = async (context, paths) => {
  const project = await orRefusal(loadProject(context, paths));
  const loaded = project instanceof Refusal ? undefined : project;
  const settings = loaded?.settings ?? defaultSettings;
  const findings = [
    ok(
      'versions',
      `trueup ${version}, node ${process.versions.node}, ${process.platform} ${process.arch}`,
    ),
    project instanceof Refusal
      ? (nothingHere(project) ? note : bad)(
          'declarations',
          `${why(project)} (more: ${typed('trueup validate', context.said)})`,
        )
      : ok('declarations', `${project.declarations.length} in ${project.paths.join(', ')}`),
    ...credentials(context, settings, loaded),
    ...(await memory(context, settings)),
    ...(await cloud(context, settings)),
    ...(context.flags.checkApi ? await assumed(context, settings) : []),
  ];
  const width = Math.max(...findings.map(({ what }) => what.length)) + 2;
  context.out.write(
    findings
      .map(
        ({ mark, what, told }) =>
          `${mark.padEnd(6)}${what.padEnd(width)}${context.masking.text(told)}\n`,
      )
      .join(''),
  );
  return findings.some(({ mark }) => mark === 'BAD') ? exits.error : exits.done;
};

function orRefusal<T>(work: Promise<T>): Promise<T | Refusal> {
  return work.catch((error: unknown) => {
    if (error instanceof Refusal) return error;
    throw error;
  });
}

/** A folder without a project is as good a place as any to look at the credentials. */
const nothingHere = ({ diagnostics }: Refusal): boolean =>
  diagnostics
    .filter(({ severity }) => severity === 'error')
    .every(({ code }) => code === 'no-declarations');

const why = ({ diagnostics }: Refusal): string =>
  (diagnostics.find(({ severity }) => severity === 'error') ?? diagnostics[0])?.summary ?? '';

const surfaces = Object.keys(needs) as readonly Surface[];
/** Surfaces that no kind needs. */
const extra: ReadonlySet<Surface> = new Set(['iot', 'flow']);
const configured = ({ environment }: Context, settings: Settings, surface: Surface): boolean =>
  settings.target === 'emulator' || Boolean(environment[needs[surface].address]);

/** What is missing is bad where something declared needs it, or where nothing tells what there will be. */
function credentials(
  context: Context,
  settings: Settings,
  project: Project | undefined,
): readonly Finding[] {
  if (settings.target === 'emulator')
    return [ok('target', 'the emulator in this process, which needs no credentials')];
  const { environment, collections } = context;
  const named = [
    ...(project?.declarations ?? []).map(({ kind }) => kind),
    ...(project?.expectations ?? []).map(({ collection }) => collection),
  ];
  const used = new Set<string | undefined>(
    named.map((name) => collections.get(name)?.operations.dialect),
  );
  return surfaces.flatMap((surface) => {
    const missing = used.size === 0 || extra.has(surface) || used.has(surface) ? bad : note;
    const { address, secrets } = needs[surface];
    if (extra.has(surface) && !used.has(surface) && !environment[address])
      return [note(address, 'not set, and needed for SIMs alone')];
    const at = environment[address]
      ? ok(address, 'set')
      : missing(
          address,
          `not set${missing === note ? ', and not needed by what is declared' : ''}`,
        );
    return [
      at,
      ...secrets.map((name) => credential(context, name, missing)),
      ...(surface === 'v2' ? renamed(context, settings) : []),
    ];
  });
}

/** Under which other names the four keys travel. */
function renamed({ environment }: Context, { v2_headers: settings }: Settings): readonly Finding[] {
  try {
    const names = Object.entries(headerNames(environment, settings)).filter(
      ([name, theirs]) => name !== theirs,
    );
    return names.length === 0
      ? []
      : [ok('v2 headers', names.map(([name, theirs]) => `${name} is called ${theirs}`).join(', '))];
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
  const holder = await store.holder();
  return [
    snapshot
      ? ok(
          'state',
          `${store.location}, serial ${snapshot.state.serial}, ${Object.keys(snapshot.state.resources).length} managed`,
        )
      : note('state', `${store.location} does not exist yet`),
    holder
      ? note(
          'lock',
          `held by ${holder.operation} since ${holder.created_at}: process ${holder.pid} on ${holder.host}. If that is gone for sure: ${typed(`trueup unlock ${holder.id}`, context.said)}`,
        )
      : ok('lock', 'free'),
    snapshot?.unfinished
      ? note(
          'journal',
          `an earlier run did not finish; outcomes unknown: ${snapshot.pending.length}. ${typed('trueup apply', context.said)} settles it`,
        )
      : ok('journal', 'nothing unfinished'),
  ];
}

/** One small request to each surface that has an address, but none to the flow: each of its calls changes a SIM. */
async function cloud(context: Context, settings: Settings): Promise<readonly Finding[]> {
  const asked = surfaces.filter((surface) => configured(context, settings, surface));
  const reached = await orRefusal(reach(context, settings, { emit: () => undefined }));
  if (reached instanceof Refusal) return [bad('reachability', why(reached))];
  const findings: Finding[] = [];
  for (const surface of asked) {
    const one = [...context.collections.values()].find(
      ({ operations }) => operations.dialect === surface,
    );
    const answer =
      one &&
      (await orRefusal(
        firstOf(
          reached.cloud.records(ofOne(one), { filters: surface === 'iot' ? { imsi: '0' } : {} }),
        ),
      ));
    if (!one)
      findings.push(note(surface, 'not asked: it answers no question without changing a SIM'));
    else
      findings.push(
        answer instanceof Refusal
          ? bad(`${surface} answers`, why(answer))
          : ok(`${surface} answers`, 'and takes the credentials'),
      );
  }
  const skew = reached.cloud.skew();
  if (skew !== undefined) {
    const apart =
      Math.abs(skew) < UNSEEN
        ? "agrees with the server's"
        : `${Math.round(Math.abs(skew) / 1000)} s ${skew < 0 ? 'ahead of' : 'behind'} the server's`;
    findings.push((Math.abs(skew) < SKEW ? ok : bad)('clock', apart));
  }
  await reached.close();
  return findings;
}

/** One finding for each assumption that can be checked; what could not be is a note, never ok. */
async function assumed(context: Context, settings: Settings): Promise<readonly Finding[]> {
  const { assumptions } = await import('../../client/api-checks.js');
  const findings: Finding[] = [];
  const marks = {
    ok,
    note,
    bad,
    unchecked: (what: string, detail: string) => note(what, `not checked: ${detail}`),
  };
  const refused = await orRefusal(
    (async () => {
      for await (const { name, verdict, detail } of checkedApi(context, settings))
        findings.push(marks[verdict](name, detail));
    })(),
  );
  if (refused) return [...findings, bad('assumptions', why(refused))];
  const left = assumptions.length - findings.length;
  return [
    ...findings,
    note(
      'others',
      `${left} assumptions cannot be checked by reading: docs/explanation/api.md says what happens if they are wrong`,
    ),
  ];
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
