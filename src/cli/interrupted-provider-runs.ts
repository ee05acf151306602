// Which interrupted runs of the provider a new one may take over: those that worked on the same state of Terraform and
// have ended. A process on another machine cannot be checked.
import { hostname } from 'node:os';
import { join } from 'node:path';
import { canonical, isObject, sha256, tryJson, type Entry } from '../model/index.js';
import type { LockPort } from '../platform/index.js';
import type { JournalRun } from '../terraform/provider-journal.js';
import type { Context } from './context.js';
import { tryFile } from './masked-credentials.js';

export interface ProviderProcess {
  readonly lock: LockPort;
  /** The process id of terraform. */
  readonly parent: number;
}

/** What a run works on. */
interface WorkedOn {
  readonly id: string;
  /** Whether no other run works on it at the same time. */
  readonly isAlone: boolean;
}

/** Milliseconds after which an entry of another machine counts as abandoned, because its process cannot be checked here. */
const ELSEWHERE = 3_600_000;

/**
 * Named by machine, process, its start, and for which state it works: only what was made for the same one may be taken.
 * Nobody tells a provider its state, so the workspace stands for it, and `on`. For a journal in a folder that is the
 * working folder as seen from there: it may have moved with the journal, or the journal may serve several folders.
 */
export async function runOf(
  { environment, cwd, clock }: Context,
  { lock, parent }: ProviderProcess,
  on: WorkedOn,
): Promise<JournalRun> {
  const noted = tryFile(join(dataFolder({ environment, cwd }), 'environment'))?.trim();
  const workspace = environment['TF_WORKSPACE'] || noted || 'default';
  const start = (await lock.find(parent))?.startTime ?? '';
  return {
    id: ['terraform', hostname(), parent, start || '-', workspace, on.id].join(' '),
    async isOver({ file, applied_at }: Entry) {
      const [, host, pid, began, theirs, ...rest] = file.split(' ');
      if (theirs !== workspace || rest.join(' ') !== on.id) return false;
      if (host !== hostname())
        return on.isAlone || clock.now() - Date.parse(applied_at) > ELSEWHERE;
      const found = await lock.find(Number(pid));
      return !found || (found.startTime !== null && found.startTime !== began);
    },
  };
}

const dataFolder = ({ environment, cwd }: Pick<Context, 'environment' | 'cwd'>): string =>
  join(cwd, environment['TF_DATA_DIR'] || '.terraform');

/** Members of a backend that tell where it keeps states; others may differ from machine to machine. */
const PLACE =
  /^(?:address|bucket|key|prefix|path|hostname|organization|workspaces|schema_name|namespace|(?:workspace_)?key_prefix|container_name|storage_account_name|secret_suffix|endpoints?)$/;

/**
 * The remote state that terraform works on, as terraform itself noted it: the folder is another one on each machine.
 * Terraform locks a remote state, so a run that holds it is alone.
 */
export function stateIn(context: Pick<Context, 'environment' | 'cwd'>): WorkedOn {
  const workspace = context.environment['TFC_WORKSPACE_SLUG'];
  if (workspace) return { id: workspace, isAlone: true };
  const noted = tryJson(tryFile(join(dataFolder(context), 'terraform.tfstate')) ?? '');
  const backend = isObject(noted) ? noted['backend'] : undefined;
  if (!isObject(backend) || backend['type'] === 'local' || !isObject(backend['config']))
    return { id: '', isAlone: false };
  const place = Object.entries(backend['config']).filter(
    ([name, value]) => PLACE.test(name) && value !== null,
  );
  const digest = sha256(canonical([backend['type'] ?? null, Object.fromEntries(place)]));
  return { id: digest.slice(0, 16), isAlone: true };
}
