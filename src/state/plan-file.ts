// Saved plans: the shown document, its options, and its expiry. A digest of all of it ensures that the applied plan is
// the reviewed one; apply checks whether it is stale.
import {
  digest,
  exits,
  isObject,
  parseJson as parseExactly,
  refuse,
  sorted,
  wireText,
  type Json,
  type PlanDocument,
  type PlanFile,
  type PlanOptions,
} from '../model/index.js';
import type { Clock, Files } from '../platform/index.js';
import { parseJsonText } from './json-text.js';
import { formatPath, PLAN_FILE_VERSION as VERSION, planFileShape } from './shape-check.js';
import { damaged, ifThere, withDisk } from './disk-errors.js';

export interface PlanFileOptions {
  /** Absolute. */
  readonly path: string;
  readonly files: Files;
  readonly clock: Clock;
}

const LIFETIME = 24 * 60 * 60 * 1000;
const REMEDY = 'Nothing was changed. Make the plan again: trueup plan --out FILE';

/** Writes a plan that holds for 24 hours, mode 0600. @throws Refusal where the disk does not let it. */
export async function writePlanFile(
  { path, files, clock }: PlanFileOptions,
  document: PlanDocument,
  options: PlanOptions,
): Promise<PlanFile> {
  const content = {
    plan_file_version: VERSION,
    expires_at: new Date(clock.now() + LIFETIME).toISOString(),
    options,
    document,
  } as const;
  const file: PlanFile = { ...content, digest: digest(content as unknown as Json) };
  await withDisk(path, async () =>
    files.replace(
      (await ifThere(files.realPath(path))) ?? path,
      `${wireText(sorted(file), 2)}\n`,
      0o600,
    ),
  );
  return file;
}

/** @throws Refusal: exit 6 where the plan has expired, exit 1 where it is missing, damaged, or of a newer version */
export async function readPlanFile({ path, files, clock }: PlanFileOptions): Promise<PlanFile> {
  const source =
    (await withDisk(path, () => ifThere(files.read(path)))) ??
    refuse('no-such-file', `there is no file ${path}`, {
      detail: 'Name a file that plan saved, or save one: trueup plan --out FILE',
    });
  const parsed = parseJsonText(source, parseExactly);
  if ('brokenAt' in parsed)
    damaged(path, parsed.brokenAt, 'the text breaks off or is no JSON', REMEDY);
  const top = { line: 1, column: 1 };
  if (!isObject(parsed.value) || typeof parsed.value.plan_file_version !== 'number')
    damaged(path, top, 'it is no saved plan', REMEDY);
  if (parsed.value.plan_file_version > VERSION) {
    refuse(
      'newer-format',
      `${path} was written by a newer trueup: its version is ${parsed.value.plan_file_version}, and this one reads up to ${VERSION}`,
      { detail: 'Apply it with the version that made it.' },
    );
  }
  const flaw = planFileShape(parsed.value);
  if (flaw) damaged(path, top, `${formatPath(flaw.path)} ${flaw.problem}`, REMEDY);
  const { digest: claimed, ...content } = parsed.value as unknown as PlanFile;
  if (digest(content as unknown as Json) !== claimed)
    damaged(path, top, 'its digest does not fit: it was edited after it was made', REMEDY);
  if (clock.now() >= Date.parse(content.expires_at)) {
    refuse(
      'plan-expired',
      `${path} has expired: it held until ${content.expires_at}`,
      { detail: REMEDY },
      exits.stale,
    );
  }
  return { ...content, digest: claimed };
}
