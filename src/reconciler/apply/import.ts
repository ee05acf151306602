// Import: binds an existing live object to a declared address. No request is sent; the next plan shows the differences.
import {
  defined,
  firstNamed,
  objectsIn,
  refuse,
  resultRecord,
  tryAddress,
  shellWord,
  withoutKey,
  type Entry,
  type Kinds,
  type Outcome,
  type Project,
} from '../../model/index.js';
import { formerAddressInState } from '../plan/match.js';
import { oneOfTwo } from '../plan/plan-errors.js';
import { storedValues } from '../live-collections.js';
import type { PlanContext } from '../plan/propose.js';
import type { Session } from '../../state/store-port.js';

function refuseUndeclared({ declarations }: Project, address: string, id: string): never {
  const members = declarations
    .map((one) => one.address)
    .filter((one) => withoutKey(one) === address);
  const [first] = members;
  if (first === undefined)
    refuse('undeclared', `${address} is not declared, so the next apply would remove it.`, {
      detail: `Declare it first; trueup export writes what is live as declarations.`,
    });
  refuse('undeclared', `${address} has members, and each is an address of its own.`, {
    detail: `They are ${firstNamed(members, 3)}.\nName one of them: trueup import ${shellWord(first)} ${shellWord(id)}`,
  });
}

/** @throws Refusal: the kind is not known, or a shell took the quotes of the key */
function refuseAddress(kinds: Kinds, address: string, id: string): never {
  const [, whole = '', key = ''] = /^([\w.-]+)\[(.*)\]$/s.exec(address) ?? [];
  const quoted = `${whole}[${JSON.stringify(key)}]`;
  if (kinds.has(tryAddress(quoted)?.kind ?? ''))
    refuse('unquoted-key', `${address} is not an address: its key has no quotes.`, {
      detail: `With quotes, also for the shell: trueup import ${shellWord(quoted)} ${shellWord(id)}`,
    });
  refuse('unknown-kind', `${address} is not an address of a known kind.`, {
    detail: `Kinds: ${[...kinds.keys()].join(', ')}.`,
  });
}

/** @throws Refusal where the address is not declared, the object is not there, or either is bound already. */
export async function importObject(
  context: PlanContext & { readonly session: Session },
  project: Project,
  address: string,
  id: string,
): Promise<Outcome> {
  const { state, pending } = context.session.snapshot;
  const declaration = project.declarations.find((one) => one.address === address);
  const kind = context.kinds.get(tryAddress(address)?.kind ?? '');
  if (!kind) refuseAddress(context.kinds, address, id);
  if (!declaration) refuseUndeclared(project, address, id);
  const recorded = formerAddressInState(declaration, state) ?? address;
  const bound = state.resources[recorded];
  if (bound?.id === id) return { address, kind: kind.name, action: 'adopt', outcome: 'done', id };
  // A replacement was interrupted: the recorded object is deleted or still has to be deleted, and the create is pending.
  const attempt = pending.find(
    (intent) => intent.address === address && intent.action === 'create',
  );
  if (bound && !attempt)
    refuse('bound', `${address} already has the object ${bound.id}.`, {
      detail: `Forget it first: trueup state rm ${shellWord(recorded)}`,
    });
  const owner = Object.entries(state.resources).find(([, entry]) =>
    objectsIn(entry).includes(`${kind.name} ${id}`),
  )?.[0];
  if (owner !== undefined)
    refuse('bound', `${id} is managed as ${owner} already.`, {
      detail: oneOfTwo(owner, address),
    });
  const live = (await context.cloud.find(kind, [id]))[0];
  if (!live)
    refuse('no-object', `There is no ${kind.singular.replaceAll('_', ' ')} with the id ${id}.`, {
      detail: `List what is live: trueup get ${kind.name}`,
    });
  const entry: Entry = {
    kind: kind.name,
    id: live.id,
    file: declaration.file ?? declaration.origin.file,
    applied: {},
    observed: storedValues(kind, live.values),
    depends_on: [],
    applied_at: new Date(context.clock.now()).toISOString(),
    ...(declaration.lifecycle.protect ? { protect: true } : {}),
    ...defined({ on_removal: declaration.lifecycle.on_removal }),
    ...(attempt?.entry?.deposed && { deposed: attempt.entry.deposed }),
  };
  const settles = pending.filter((intent) => intent.address === address);
  await context.session.record(
    ...settles.map(({ op }) => resultRecord(address, 'not_sent', { op })),
    resultRecord(address, 'applied', { entry }),
  );
  await context.session.compact();
  return { address, kind: kind.name, action: 'adopt', outcome: 'done', id: live.id };
}
