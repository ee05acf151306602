// Reads `trueup.fleet.yaml`: its form, its places, and its tenants. All complaints are made at once.
import { join, resolve } from 'node:path';
import {
  addressMistyped,
  append,
  defined,
  didYouMean,
  isAddress,
  isSecretName,
  NAME,
  nameWords,
  refuse,
  Refusal,
  tryDuration,
  durationWords,
  type Diagnostic,
  type Origin,
} from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import { complainIn, complainOfFault, reportOf } from '../declarations/diagnostics-list.js';
import { sourceFilesOf } from '../declarations/file-reader.js';
import {
  checkLiteral,
  type LiteralForm,
  type WordComplaint,
} from '../declarations/literal-check.js';
import { realPath, type FoundFile } from '../declarations/paths.js';
import { found as foundWord, validatorOf } from '../declarations/validation.js';
import { isMap, type Raw, type RawMap } from '../declarations/yaml/raw-values.js';
import { checkedAddress } from '../state/state-address.js';
import {
  fleetAttributes,
  fleetSectionSchema,
  sourceAttributes,
  sourceSchema,
  tenantAttributes,
  tenantSchema,
} from './fleet-schema.js';
import { foldersOf } from './folders.js';
import { labelProblem, selectionOf } from './selection.js';
import { variableTaken } from './tenant-environment.js';
import {
  FLEET_FILE,
  TENANT_NAME,
  addressPlace,
  commonPlace,
  tenantState,
  variableWord,
  type CredentialSource,
  type Fleet,
  type Stage,
  type StopRules,
  type Tenant,
} from './tenant.js';

const CONCURRENCY = 16;
const MOST_LANES = 256;
const FAILURES = 5;
const USUAL_PREFIX = '${TENANT}_';

interface Disk {
  readonly files: DeclarationFiles;
  /** Absolute: the folder of the fleet. */
  readonly cwd: string;
}

/** Keys of the file, from its top. */
type Path = readonly string[];
type Said = Pick<Diagnostic, 'code' | 'summary' | 'detail' | 'frame'>;

interface Reading extends Disk {
  readonly forms: Readonly<Record<'section' | 'source' | 'tenant', Omit<LiteralForm, 'what'>>>;
  readonly complain: (path: Path, said: Said) => void;
  readonly origin: (path: Path) => Origin;
  /** Whether anything was complained of. */
  readonly failed: () => boolean;
}

interface WrittenShared {
  readonly paths?: readonly string[];
  readonly state?: string;
  readonly credentials?: { readonly env_prefix?: string; readonly command?: readonly string[] };
  readonly requests_per_minute?: number;
}

interface WrittenTenant extends WrittenShared {
  readonly variables?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

interface WrittenSource {
  readonly from: string;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly each?: Readonly<Record<string, WrittenTenant>>;
}

interface WrittenFleet {
  readonly tenants: Raw;
  readonly defaults?: WrittenShared;
  readonly concurrency?: number;
  readonly order?: readonly { readonly select: string; readonly then_wait?: string }[];
  readonly stop?: Partial<StopRules>;
}

/** @throws Refusal with everything that is wrong, or where there is no such file */
export async function readFleet({ files, cwd }: Disk): Promise<Fleet> {
  const from: FoundFile = { file: FLEET_FILE, path: join(cwd, FLEET_FILE), named: true };
  if (!files.stat(from.path))
    refuse('no-fleet', `there is no ${FLEET_FILE} in this folder`, {
      detail: 'Go to the folder of the fleet, or begin one here: trueup init --fleet',
    });
  const library = sourceFilesOf(files, undefined, new Set());
  const report = reportOf([]);
  const read = await library.read(from);
  const origin = (path: Path): Origin => ({ file: FLEET_FILE, ...library.locate(from, path) });
  const complained = new Set<string>();
  const [section, source, tenant] = await Promise.all([
    validatorOf(fleetSectionSchema()),
    validatorOf(sourceSchema()),
    validatorOf(tenantSchema()),
  ]);
  const reading: Reading = {
    files,
    cwd,
    forms: {
      section: { attributes: fleetAttributes, validator: section },
      source: { attributes: sourceAttributes, validator: source },
      tenant: { attributes: tenantAttributes, validator: tenant },
    },
    origin,
    failed: report.failed,
    // What is wrong with the defaults is wrong for every tenant, and said once.
    complain(path, said) {
      const place = origin(path);
      const key = JSON.stringify([place, said]);
      if (!complained.has(key)) complainIn({ library, report }, from, place, said);
      complained.add(key);
    },
  };
  if ('faults' in read) {
    for (const fault of read.faults) complainOfFault({ library, report }, from, fault);
    throw new Refusal(report.all());
  }
  const fleet = fleetIn(
    reading,
    read.documents.map(({ root }) => root),
  );
  if (!fleet || report.failed()) throw new Refusal(report.all());
  return fleet;
}

function fleetIn(reading: Reading, roots: readonly Raw[]): Fleet | undefined {
  const [root] = roots;
  const { complain, origin } = reading;
  const keys = roots.length === 1 && isMap(root) ? Object.keys(root) : [];
  for (const key of keys)
    if (key !== 'fleet')
      complain([key], {
        code: 'unknown-section',
        summary: `\`${key}\` is not allowed in ${FLEET_FILE}, which holds \`fleet\` alone.${didYouMean(key, ['fleet'])}`,
        detail: 'Settings and declarations belong in other files.',
      });
  // A key that is meant to be `fleet` is complained of once.
  if (!keys.includes('fleet') && keys.some((key) => didYouMean(key, ['fleet']))) return undefined;
  if (roots.length !== 1 || !isMap(root) || !isMap(root['fleet']))
    return void complain([], {
      code: 'wrong-type',
      summary: `${FLEET_FILE} has to hold one mapping \`fleet\``,
      detail: 'To see one: trueup init --fleet, in an empty folder.',
    });
  const form = { ...reading.forms.section, what: '`fleet`' };
  if (!isFormed(reading, ['fleet'], root['fleet'], form)) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema was applied
  const written = root['fleet'] as unknown as WrittenFleet;
  const tenants = tenantsIn(reading, written);
  if (!tenants) return undefined;
  const order = (written.order ?? []).map((one, index): Stage => {
    const at = ['fleet', 'order', String(index)];
    return { select: one.select, wait: waitOf(reading, at, one.then_wait), origin: origin(at) };
  });
  for (const [index, { select }] of order.entries()) {
    const path = ['fleet', 'order', String(index), 'select'];
    collected(reading, path, () => selectionOf(select, tenants, { what: '`select`' }));
  }
  const states = written.defaults?.state;
  const results = commonPlace(states);
  return {
    tenants,
    order,
    concurrency:
      within(reading, ['fleet', 'concurrency'], written.concurrency, MOST_LANES) ?? CONCURRENCY,
    stop: stopIn(reading, written.stop ?? {}),
    ...(results !== undefined && defined({ results, states })),
  };
}

function stopIn(reading: Reading, written: Partial<StopRules>): StopRules {
  const limit = (name: keyof StopRules) =>
    within(reading, ['fleet', 'stop', name], written[name], 1_000_000);
  const failures = limit('failures') ?? FAILURES;
  const [changed_tenants, blocked] = [limit('changed_tenants'), limit('blocked')];
  return { failures, ...defined({ changed_tenants, blocked }) };
}

function waitOf({ complain }: Reading, path: Path, text: string | undefined): number {
  const wait = text === undefined ? 0 : tryDuration(text);
  if (wait === undefined)
    complain([...path, 'then_wait'], {
      code: 'wrong-type',
      summary: `\`then_wait\` has to be ${durationWords}`,
    });
  return wait ?? 0;
}

function within(
  { complain }: Reading,
  path: Path,
  value: number | undefined,
  most: number,
): number | undefined {
  if (value === undefined || (value >= 1 && value <= most)) return value;
  complain(path, {
    code: 'out-of-range',
    summary: `\`${path.at(-1)}\` takes a whole number from 1 to ${most}`,
  });
  return undefined;
}

/** Complaints of something that refuses, at a place of the file. */
function collected<T>(
  { complain }: Reading,
  path: Path,
  work: () => T,
  more: Pick<Said, 'frame'> = {},
): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    for (const { code, summary, detail } of error.diagnostics)
      complain(path, { code, summary, ...defined({ detail }), ...more });
    return undefined;
  }
}

/** Whether a value has the form; everything that is wrong with it is reported. */
function isFormed({ complain }: Reading, path: Path, raw: Raw, form: LiteralForm): boolean {
  const wrong = checkLiteral(form, raw, quoted);
  for (const { path: inside, ...said } of wrong) complain([...path, ...inside], said);
  return wrong.length === 0;
}

const quoted: WordComplaint = (path, _, word) => ({
  path,
  code: 'wrong-type',
  summary: `\`${path.join('.')}\`: a string is expected, not the word \`${word}\``,
  detail: `Write it in quotes: "${word}".`,
});

/** A tenant as it is written, its folder, and its place. */
interface Found {
  readonly name: string;
  readonly written: WrittenTenant;
  readonly folder?: string;
  readonly path: Path;
}

type Made = Found & { readonly tenant: Tenant };

function tenantsIn(reading: Reading, { tenants, defaults = {} }: WrittenFleet) {
  const path = ['fleet', 'tenants'];
  if (!isMap(tenants))
    return void reading.complain(path, {
      code: 'wrong-type',
      summary: `\`tenants\`: a mapping is expected, not ${foundWord(tenants)}`,
      detail: 'Write `{ from: tenants/* }`, or a name for each tenant.',
    });
  const { from = null } = tenants;
  // A tenant may be called `from`: it is a mapping, or nothing.
  const isOfFolders = from !== null && !isMap(from);
  const found = isOfFolders ? ofFolders(reading, tenants) : named(reading, tenants);
  const made = found?.flatMap((one): readonly Made[] => {
    const tenant = tenantOf(reading, one, defaults);
    return tenant ? [{ ...one, tenant }] : [];
  });
  if (made?.length === 0 && !reading.failed())
    reading.complain(path, { code: 'no-tenants', summary: 'the fleet has no tenants' });
  if (found) refusePrefixes(reading, found, defaults);
  if (made && !reading.failed()) refuseShared(reading, made);
  return made?.map(({ tenant }) => tenant);
}

/** The prefix as it is written: of the tenant, of all, or the usual one. */
const prefixText = ({ credentials = {} }: WrittenShared): string | undefined =>
  credentials.command ? undefined : (credentials.env_prefix ?? USUAL_PREFIX);

/**
 * A prefix must take no variable from all others. Names such as `a-b` and `a_b` become one word, and would share an
 * account that nobody named twice.
 */
function refusePrefixes(
  { complain }: Reading,
  found: readonly Found[],
  defaults: WrittenShared,
): void {
  const prefixed = found.flatMap((one) => {
    const text = prefixText(one.written.credentials ? one.written : defaults);
    const [name, isOfName] = [one.name, text?.includes('${TENANT}') === true];
    const prefix = text?.replaceAll('${TENANT}', variableWord(name)).replaceAll('${tenant}', name);
    return prefix ? [{ one, prefix, isOfName }] : [];
  });
  const prefixes = new Set(prefixed.map(({ prefix }) => prefix));
  const alike = new Map<string, Found[]>();
  for (const { one, prefix, isOfName } of prefixed) {
    const { name, path, written } = one;
    if (isOfName) append(alike, prefix, one);
    const taken = variableTaken(prefix, prefixes);
    if (taken !== undefined)
      complain(
        written.credentials || isOfName
          ? [...path, 'credentials', 'env_prefix']
          : ['fleet', 'defaults', 'credentials', 'env_prefix'],
        {
          code: 'taken-prefix',
          summary: `tenant \`${name}\`: the prefix ${prefix} would take ${taken} from other tenants`,
          detail: `Write another one at the tenant, as in \`credentials: { env_prefix: X_${prefix} }\`.`,
        },
      );
  }
  for (const [prefix, all] of alike) {
    const names = [...new Set(all.map(({ name }) => name))];
    if (names.length < 2) continue;
    for (const { path } of all)
      complain(path, {
        code: 'duplicate-prefix',
        summary: `the tenants ${names.map((name) => `\`${name}\``).join(' and ')} have the same prefix of variables: ${prefix}`,
        detail:
          'They would share one account. Give each its own `credentials.env_prefix`; to share it, write the same one at each.',
      });
  }
}

function named(reading: Reading, tenants: RawMap): readonly Found[] {
  return Object.entries(tenants).flatMap(([name, raw]) => {
    const path = ['fleet', 'tenants', name];
    const form = { ...reading.forms.tenant, what: `tenant \`${name}\`` };
    const value = raw === null ? {} : raw;
    if (!isMap(value)) {
      const meant = didYouMean(name, Object.keys(sourceAttributes));
      const summary = `${form.what}: a mapping of attributes is expected, not ${foundWord(value)}.${meant}`;
      reading.complain(path, { code: 'wrong-type', summary });
      return [];
    }
    if (!isFormed(reading, path, value, form)) return [];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema was applied
    const written = value as unknown as WrittenTenant;
    refuseNames(reading, path, written);
    return [{ name, written, path }];
  });
}

function ofFolders(reading: Reading, tenants: RawMap): readonly Found[] | undefined {
  const path = ['fleet', 'tenants'];
  const form = { ...reading.forms.source, what: '`tenants`' };
  if (!isFormed(reading, path, tenants, form)) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema was applied
  const { from, name = '${folder}', labels = {}, each = {} } = tenants as unknown as WrittenSource;
  const folders = collected(reading, [...path, 'from'], () => foldersOf(reading, from));
  if (!folders) return undefined;
  const made = folders.flatMap(({ folder, matched }): readonly Found[] => {
    const called = filled(reading, [...path, 'name'], name, { folder: matched });
    if (called === undefined) return [];
    const own = Object.hasOwn(each, called) ? each[called]! : {};
    const written = { ...own, labels: { ...labels, ...own.labels } };
    return [{ name: called, written, folder, path: [...path, 'each', called] }];
  });
  const names = made.map((one) => one.name);
  refuseNames(reading, path, { labels });
  for (const [one, written] of Object.entries(each))
    refuseNames(reading, [...path, 'each', one], written);
  for (const one of Object.keys(each))
    if (!names.includes(one))
      reading.complain([...path, 'each', one], {
        code: 'unknown-tenant',
        summary: `no folder makes a tenant \`${one}\`.${didYouMean(one, names)}`,
      });
  return made;
}

/** Labels that nothing could select, variables that no declaration could use, and secrets. */
function refuseNames(
  { complain }: Reading,
  path: Path,
  { labels = {}, variables = {} }: Pick<WrittenTenant, 'labels' | 'variables'>,
): void {
  for (const [key, value] of Object.entries(labels)) {
    const problem = labelProblem(key, value);
    if (problem !== undefined)
      complain([...path, 'labels', key], { code: 'bad-label', summary: problem });
  }
  for (const name of Object.keys(variables))
    if (!NAME.test(name))
      complain([...path, 'variables', name], {
        code: 'bad-name',
        summary: `\`${name.slice(0, 80)}\` is not a valid variable name`,
        detail: `A name ${nameWords}`,
      });
    else if (isSecretName(name))
      complain([...path, 'variables', name], {
        code: 'literal-secret',
        summary: `the variable \`${name}\` is named like a secret, and a fleet file holds no secrets`,
        detail: `Set TRUEUP_VAR_${name} in the environment, with the prefix of the tenant, or let its credential command print it.`,
        // The lines around it hold the value.
        frame: '',
      });
}

/** A text with `${…}` filled in; undefined where it names something else. */
function filled(
  { complain }: Reading,
  path: Path,
  text: string,
  values: Readonly<Record<string, string>>,
): string | undefined {
  let wrong: string | undefined;
  const result = text.replaceAll(/\$\{([^}]*)\}/g, (_, word: string) => {
    if (Object.hasOwn(values, word)) return values[word]!;
    wrong ??= word;
    return '';
  });
  if (wrong === undefined) return result;
  complain(path, {
    code: 'unknown-reference',
    summary: `\`\${${wrong}}\` is not allowed here.${didYouMean(wrong, Object.keys(values))}`,
    detail: `Here stand: ${Object.keys(values)
      .map((word) => `\${${word}}`)
      .join(', ')}.`,
  });
  return undefined;
}

function tenantOf(reading: Reading, one: Found, defaults: WrittenShared): Tenant | undefined {
  const { name, written, folder, path } = one;
  if (!TENANT_NAME.test(name))
    return void reading.complain(path, {
      code: 'bad-name',
      summary: `\`${name.slice(0, 80)}\` is not a valid tenant name`,
      detail: 'A name begins with a letter or digit; then come letters, digits, `.`, `-` and `_`.',
    });
  const words = { tenant: name, TENANT: variableWord(name) };
  /** Where a value stands: at the tenant, or at the defaults. */
  const at = (key: keyof WrittenShared): Path =>
    written[key] === undefined ? ['fleet', 'defaults', key] : [...path, key];
  const fill = (text: string, where: Path): string => filled(reading, where, text, words) ?? '';
  const usual = (defaults.paths ?? []).map((text) => fill(text, ['fleet', 'defaults', 'paths']));
  const own = (written.paths ?? []).map((text) => fill(text, [...path, 'paths']));
  const paths = [...usual, ...own, ...(folder === undefined ? [] : [folder])];
  refuseMissing(reading, one, paths, defaults.paths ?? []);
  const stateText = written.state ?? defaults.state;
  const state = stateText === undefined ? undefined : fill(stateText, at('state'));
  if (stateText?.trim() === '')
    reading.complain(at('state'), {
      code: 'no-state',
      summary: '`state` names no file and no address',
      detail: 'Write one, or leave `state` out: then each tenant has a file of its own.',
    });
  // Without the lines around it: it may hold a password.
  const mistyped = addressMistyped('`state`', state ?? '');
  if (mistyped) reading.complain(at('state'), { ...mistyped, frame: '' });
  if (state !== undefined && isAddress(state))
    collected(reading, at('state'), () => checkedAddress(state), { frame: '' });
  const requests_per_minute = within(
    reading,
    at('requests_per_minute'),
    written.requests_per_minute ?? defaults.requests_per_minute,
    1_000_000,
  );
  return {
    name,
    paths,
    variables: { ...written.variables },
    labels: { ...written.labels },
    credentials: credentialsOf(
      reading,
      at('credentials'),
      written.credentials ?? defaults.credentials,
      fill,
    ),
    origin: reading.origin(path),
    ...defined({ state, requests_per_minute }),
  };
}

function credentialsOf(
  { complain }: Reading,
  path: Path,
  written: WrittenShared['credentials'] = {},
  fill: (text: string, where: Path) => string,
): CredentialSource {
  const { env_prefix, command } = written;
  if (env_prefix !== undefined && command !== undefined)
    complain(path, {
      code: 'two-sources',
      summary: '`credentials` takes `env_prefix` or `command`, and not both',
    });
  if (command?.length === 0)
    complain([...path, 'command'], { code: 'no-command', summary: '`command` names no program' });
  if (command) return { command: command.map((word) => fill(word, [...path, 'command'])) };
  const prefix = fill(env_prefix ?? USUAL_PREFIX, [...path, 'env_prefix']);
  if (!/^[A-Za-z0-9_]+$/.test(prefix))
    complain([...path, 'env_prefix'], {
      code: 'bad-prefix',
      summary: '`env_prefix` takes letters, digits and `_`, and may not be empty',
    });
  return { env_prefix: prefix };
}

/** @param usual as `defaults` has them: they come first */
function refuseMissing(
  { files, cwd, complain, origin }: Reading,
  { name, path }: Found,
  paths: readonly string[],
  usual: readonly string[],
): void {
  if (paths.length === 0)
    complain(path, {
      code: 'no-paths',
      summary: `tenant \`${name}\` has no \`paths\`, and \`defaults\` has none`,
    });
  for (const [index, one] of paths.entries()) {
    const where = index < usual.length ? ['fleet', 'defaults', 'paths'] : [...path, 'paths'];
    const isOfAll = usual[index] === one;
    if (one === '-')
      complain(where, {
        code: 'no-such-path',
        summary: 'the standard input cannot be a PATH of a fleet',
      });
    else if (one !== '' && !files.stat(resolve(cwd, one)))
      complain(where, {
        code: 'no-such-path',
        summary: isOfAll ? `${one} does not exist` : `tenant \`${name}\`: ${one} does not exist`,
        detail: isOfAll
          ? 'It is a PATH of every tenant. Correct it, or bring its file or folder back.'
          : `It is a PATH of the tenant. Remove the tenant from ${origin(path).file}, or bring its folder back.`,
      });
  }
}

/** Two tenants with one name or one state would overwrite each other. */
function refuseShared({ complain, cwd, files }: Reading, made: readonly Made[]): void {
  const names = new Map<string, Tenant>();
  const states = new Map<string, Tenant>();
  for (const { name, written, path, tenant } of made) {
    const state = tenantState(tenant, undefined);
    const place = isAddress(state) ? addressPlace(state) : realPath(files, resolve(cwd, state));
    const [sameName, sameState] = [names.get(name), states.get(place)];
    if (sameName)
      complain(['fleet', 'tenants'], {
        code: 'duplicate-tenant',
        summary: `two tenants have the name \`${name}\`: ${lastOf(sameName)} and ${lastOf(tenant)}`,
        detail: 'Give each tenant another `name`.',
      });
    else if (sameState)
      complain(
        written.state === undefined && tenant.state !== undefined
          ? ['fleet', 'defaults', 'state']
          : [...path, 'state'],
        {
          code: 'duplicate-state',
          summary: `the tenants \`${sameState.name}\` and \`${name}\` have the same state: ${state}`,
          detail: 'Write ${tenant} into `state`, or give each tenant another one.',
        },
      );
    names.set(name, tenant);
    states.set(place, tenant);
  }
}

const lastOf = ({ paths }: Tenant): string => paths.at(-1) ?? 'no folder';
