// Saved plans: the shown document, its options, and its expiry. A digest of all of it ensures that the applied plan is
// the reviewed one; apply checks whether it is stale. A plan may be encrypted as a whole.
import {
  digest,
  exits,
  isObject,
  parseJson as parseExactly,
  pathWord,
  refuse,
  shellWord,
  sorted,
  tryJson,
  wireText,
  type PlanContent,
  type PlanDocument,
  type PlanFile,
  type PlanOptions,
  type Secret,
} from '../model/index.js';
import type { Clock, Files } from '../platform/index.js';
import { parseJsonText, type JsonPosition } from './json-text.js';
import { formatPath, PLAN_FILE_VERSION as VERSION, planFileShape } from './shape-check.js';
import { damaged, ifThere, withDisk } from './disk-errors.js';

export interface PlanFileOptions {
  /** Absolute. */
  readonly path: string;
  readonly files: Files;
  readonly clock: Clock;
  /** What a command that reads the same file repeats. */
  readonly identityFlag?: readonly string[];
  /** Whether, by its name or its first key, the file is one of declarations. */
  readonly isDeclared?: boolean;
}

export interface PlanProtection {
  /** Milliseconds for which the plan holds. */
  readonly lifetime?: number;
  /** Recipients of age, checked; without any, the file is plain text. */
  readonly recipients?: readonly string[];
}

const NAMED = ' If the file holds declarations, give it a name that ends in .yaml.';

const DAY = 24 * 60 * 60 * 1000;
const ENCRYPTED = '-----BEGIN AGE ENCRYPTED FILE-----';

/** Writes a plan that holds for 24 hours unless told otherwise, mode 0600. @throws Refusal where the disk does not let it. */
export async function writePlanFile(
  { path, files, clock }: PlanFileOptions,
  document: PlanDocument,
  options: PlanOptions,
  protection: PlanProtection = {},
): Promise<PlanFile> {
  const file = planFileOf(clock, document, options, protection);
  await writeProtected({ path, files }, `${wireText(sorted(file), 2)}\n`, protection);
  return file;
}

/** A plan in the form in which it is saved. */
export function planFileOf(
  clock: Clock,
  document: PlanDocument,
  options: PlanOptions,
  { lifetime = DAY }: PlanProtection = {},
): PlanFile {
  const content = {
    plan_file_version: VERSION,
    expires_at: new Date(clock.now() + lifetime).toISOString(),
    options,
    document,
  } as const;
  return { ...content, digest: digest(content) };
}

/** Mode 0600, and encrypted where there are recipients. @throws Refusal where the disk does not let it. */
export async function writeProtected(
  { path, files }: Pick<PlanFileOptions, 'path' | 'files'>,
  text: string,
  { recipients = [] }: PlanProtection = {},
): Promise<void> {
  const kept =
    recipients.length === 0
      ? text
      : await (await import('./plan-encryption.js')).encryptPlan(text, recipients);
  await withDisk(path, async () =>
    files.replace((await ifThere(files.realPath(path))) ?? path, kept, 0o600),
  );
}

/** @param identity as for `readPlanFile` @throws Refusal where there is no such file, or it cannot be decrypted */
export async function readProtected(
  {
    path,
    files,
    command = 'trueup plan',
  }: Pick<PlanFileOptions, 'path' | 'files'> & { readonly command?: string },
  identity?: Secret,
): Promise<string> {
  const stored =
    (await withDisk(path, () => ifThere(files.read(path)))) ??
    refuse('no-such-file', `there is no file ${path}`, {
      detail: `Name a file that plan saved, or save one: ${command} --out FILE`,
    });
  return stored.trimStart().startsWith(ENCRYPTED)
    ? (await import('./plan-encryption.js')).decryptPlan(path, stored, identity)
    : stored;
}

/**
 * @param identity what decrypts it; asked for only if the plan is encrypted
 * @param again as in `PlanText`
 * @throws Refusal: exit 6 where the plan has expired, exit 1 where it is missing, damaged, encrypted to others, or of a newer version
 */
export async function readPlanFile(
  { path, files, clock, identityFlag = [], isDeclared = false }: PlanFileOptions,
  identity?: Secret,
  again?: PlanText['again'],
): Promise<PlanFile> {
  const text = await readProtected({ path, files }, identity);
  if (isBundle(text)) {
    const words = [path, ...identityFlag].map(shellWord).join(' ');
    refuse('plan-bundle', `${path} is a bundle with the plans of a fleet, not a saved plan`, {
      detail: `To see it: trueup fleet show ${words}\nTo apply it, in the folder of the fleet: trueup fleet apply ${words}`,
    });
  }
  return planIn(text, { path, clock, again, isDeclared });
}

/** Whether a text was saved as a plan, encrypted or not. @param value the text as JSON, where it is */
export const isSavedPlan = (text: string, value: unknown = tryJson(text)): boolean =>
  text.trimStart().startsWith(ENCRYPTED) || (isObject(value) && 'plan_file_version' in value);

/** Whether the first line is the head of a bundle. */
function isBundle(text: string): boolean {
  const end = text.indexOf('\n');
  const head = end < 0 ? undefined : parseJsonText(text.slice(0, end));
  return (
    head !== undefined &&
    'value' in head &&
    isObject(head.value) &&
    'plan_bundle_version' in head.value
  );
}

interface PlanText extends Pick<PlanFileOptions, 'path' | 'clock'> {
  /** What made the file. */
  readonly command?: string;
  /** How a plan that has expired is made again: words after `Make the plan`. */
  readonly again?: ((file: PlanContent) => () => string) | undefined;
  /** Where the text begins in the file. */
  readonly line?: number;
  /** Whether the text holds declarations if it is no plan; undefined where it cannot. */
  readonly isDeclared?: boolean;
}

/** The saved plan in a text. @throws Refusal as `readPlanFile` */
export function planIn(
  text: string,
  {
    path,
    clock,
    command = 'trueup plan',
    line = 1,
    again = () => () => `again: ${command} --out ${shellWord(path)}`,
    isDeclared,
  }: PlanText,
): PlanFile {
  const remedy = `Nothing was changed. Make the plan again by ${command}, with the options that it was made with.`;
  const noPlan = (place: JsonPosition, problem: string): never =>
    isDeclared
      ? refuse('no-plan', `${path} is a file of declarations, not a saved plan`, {
          detail: `To plan what it declares: trueup plan ${pathWord(path)}\nTo save the plan, add --out FILE.`,
        })
      : damaged(path, place, problem, isDeclared === undefined ? remedy : remedy + NAMED);
  const parsed = parseJsonText(text, parseExactly);
  if ('brokenAt' in parsed) {
    const place = { ...parsed.brokenAt, line: parsed.brokenAt.line + line - 1 };
    return noPlan(place, 'the text is truncated or not JSON');
  }
  const top = { line, column: 1 };
  if (!isObject(parsed.value) || typeof parsed.value.plan_file_version !== 'number')
    return noPlan(top, 'it is not a saved plan');
  if (parsed.value.plan_file_version > VERSION) {
    refuse(
      'newer-format',
      `${path} was written by a newer trueup: its version is ${parsed.value.plan_file_version}, and this one reads up to ${VERSION}`,
      { detail: 'Apply it with the version that made it.' },
    );
  }
  const flaw = planFileShape(parsed.value);
  if (flaw) damaged(path, top, `${formatPath(flaw.path)} ${flaw.problem}`, remedy);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its shape was checked
  const { digest: claimed, ...content } = parsed.value as unknown as PlanFile;
  if (digest(content) !== claimed)
    damaged(path, top, 'its digest does not fit: it was edited after it was made', remedy);
  if (clock.now() >= Date.parse(content.expires_at)) {
    refuse(
      'plan-expired',
      `${path} expired at ${content.expires_at}.`,
      {
        detail: `Nothing was changed. Make the plan ${again(content)()}\nFor a longer time: --valid-for 7d`,
      },
      exits.stale,
    );
  }
  return { ...content, digest: claimed };
}
