// The one document that a server of Terraform's http protocol keeps: state, journal and holder. `serial` and `lineage`
// are where GitLab looks for them. There is no `version`, so Terraform refuses to read it as a state of its own.
import {
  canonical,
  emptyState,
  isObject,
  refuse,
  sha256,
  type RunRecord,
  type State,
} from '../../../model/index.js';
import { decodeWave } from '../../journal-text.js';
import { parseJsonText } from '../../json-text.js';
import {
  filled,
  isText,
  isWhole,
  listOf,
  lockMembers,
  members,
  movedShape,
  oneOf,
  orNull,
} from '../../shape-check.js';
import { decodeState } from '../../state-format.js';
import type { LockInfo } from '../../store-port.js';
import type { LockRecord } from '../file/lock.js';
import { refuseDamaged } from '../backend-errors.js';
import type { Head } from '../registers/head.js';

/** The holder of the lock, with the details by which a run on the same machine finds out if its process still runs. */
export type DocumentHolder = LockInfo & Required<LockRecord>;

export interface StateDocument extends Pick<Head, 'lineage' | 'target' | 'secrets_salt' | 'moved'> {
  /** One more with each write. */
  readonly serial: number;
  /** The name of the state in the settings, with the environment. */
  readonly project: string;
  readonly holder: DocumentHolder | null;
  /** As `encodeState` gives it; null before the first state. */
  readonly state: string | null;
  /** Lines as `encodeRecord` gives them, without their ends. */
  readonly journal: readonly string[];
  /** Makes this document unlike any other. */
  readonly nonce: string;
}

type Inside = Omit<StateDocument, 'serial' | 'lineage'> & {
  readonly format: 1;
  /** Of the canonical text of everything else. A server may write the JSON anew. */
  readonly checksum: string;
};

type Outside = Pick<StateDocument, 'serial' | 'lineage'> & { readonly trueup: Inside };

const shape = members<Outside>({
  serial: isWhole(1),
  lineage: filled,
  trueup: members<Inside>({
    format: oneOf(1),
    checksum: filled,
    nonce: filled,
    project: filled,
    target: isText,
    secrets_salt: filled,
    holder: orNull(
      members<DocumentHolder>({
        ...lockMembers,
        'url?': filled,
        boot_id: orNull(filled),
        start_time: orNull(filled),
        pid_namespace: orNull(filled),
      }),
    ),
    moved: movedShape,
    state: orNull(filled),
    journal: listOf(filled),
  }),
});

export function encodeDocument({ serial, lineage, ...rest }: StateDocument): string {
  const checksum = sha256(canonical({ serial, lineage, ...rest }));
  return JSON.stringify({ serial, lineage, trueup: { format: 1, checksum, ...rest } });
}

const ADVICE =
  'Nothing was changed. Restore an earlier version of it on the server (GitLab keeps all of them), or a backup.';

/** @throws Refusal where the text is not exactly what trueup wrote */
export function decodeDocument(text: string, location: string): StateDocument {
  const parsed = parseJsonText(text);
  if ('brokenAt' in parsed)
    return refuseDamaged(location, 'the text is truncated or not JSON', ADVICE);
  const { value } = parsed;
  if (!isObject(value) || !isObject(value['trueup'])) return refuseForeign(location, value);
  const { format } = value['trueup'];
  if (typeof format === 'number' && format > 1)
    refuseDamaged(location, 'its format is of a newer trueup', 'Install the newer version.');
  const problem = 'it is not what trueup wrote';
  if (shape(value)) return refuseDamaged(location, problem, ADVICE);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its shape was checked
  const { serial, lineage, trueup } = value as unknown as Outside;
  const { format: _, checksum, ...rest } = trueup;
  const document = { serial, lineage, ...rest };
  if (sha256(canonical(document)) !== checksum) refuseDamaged(location, problem, ADVICE);
  return document;
}

function refuseForeign(location: string, value: unknown): never {
  const isTerraform = isObject(value) && typeof value['terraform_version'] === 'string';
  refuse(
    'foreign-state',
    `${location} holds ${isTerraform ? 'a state of Terraform' : 'something else'}, not a state of trueup`,
    {
      detail: 'Nothing was changed. Name an address of its own for the state of trueup.',
      attribute: 'settings.state',
    },
  );
}

export interface DocumentContent {
  readonly state: State;
  readonly records: readonly RunRecord[];
}

/** State and journal of a document. @throws Refusal where they do not verify */
export async function contentOf(
  document: Omit<StateDocument, 'nonce'>,
  location: string,
  version: string,
): Promise<DocumentContent> {
  const { serial, lineage, target, secrets_salt } = document;
  const state =
    document.state === null
      ? { ...emptyState(lineage, target), secrets_salt }
      : {
          secrets_salt,
          ...(await decodeState(document.state, location, version, ADVICE)),
        };
  if (state.lineage !== lineage)
    refuseDamaged(location, 'the state in it is of another lineage', ADVICE);
  // Each state was written with a serial of the document.
  if (state.serial > serial)
    refuseDamaged(
      location,
      `its serial went back to ${serial}, and the state in it has serial ${state.serial}`,
      ADVICE,
    );
  return { state, records: decodeWave(document.journal, location, 2) };
}
