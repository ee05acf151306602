// A declaration after variables, environment and `for_each` are resolved: plain values, with references, secrets and
// mixed strings as objects of their own.
import type { Expectation, Roles } from './documents/drift-document.js';
import type { Diagnostic, Origin } from './diagnostic.js';
import { isObject } from './json.js';
import { cached } from './members.js';
import type { FormerAddress, Refactoring } from './refactoring.js';
import { Secret } from './secret.js';

/** `${<kind>.<name>.<attribute>}`: an attribute of another object, declared (`address`) or looked up. */
export class Reference {
  /** `target`: an address, or the name of a lookup. */
  constructor(
    readonly source: 'declared' | 'lookup',
    readonly target: string,
    readonly attribute: string,
  ) {}

  toString(): string {
    return `\${${this.source === 'lookup' ? 'lookups.' : ''}${this.target}.${this.attribute}}`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** Text with references inside; once they are known it becomes a string. */
export class Template {
  constructor(readonly parts: readonly (string | Reference)[]) {}

  toString(): string {
    return this.parts.map(String).join('');
  }

  toJSON(): string {
    return this.toString();
  }
}

export type Value =
  | null
  | boolean
  | number
  | string
  | Reference
  | Template
  | Secret
  | readonly Value[]
  | { readonly [key: string]: Value };
export type Values = Readonly<Record<string, Value>>;

export interface Lifecycle {
  readonly protect?: boolean;
  readonly ignore_changes?: readonly string[];
  readonly adopt?: string;
  readonly renamed_from?: string;
  readonly on_removal?: string;
  readonly allow_duplicate?: boolean;
  /** A document that is declared empty is meant: everything in it is taken out. */
  readonly clear?: boolean;
}

/** Whether two declarations that the same live object would be recognised by may stand side by side: both say so, or each names an object of its own. */
export function mayBeDuplicates(one: Lifecycle, other: Lifecycle): boolean {
  if (one.allow_duplicate === true && other.allow_duplicate === true) return true;
  return one.adopt !== undefined && other.adopt !== undefined && one.adopt !== other.adopt;
}

/** How declarations say so, as part of a sentence: programs write other words, and stacks of a CDK none. */
export function duplicatesAllowed(...places: readonly (Origin | null | undefined)[]): string {
  const made = places.filter((one) => one?.path !== undefined).length;
  const inPrograms = '`lifecycle: { allowDuplicate: true }` in constructs of trueup';
  if (made > 0 && made === places.length) return inPrograms;
  return `\`lifecycle: { allow_duplicate: true }\`${made > 0 ? `, or ${inPrograms},` : ''}`;
}

export interface Declaration {
  readonly address: string;
  readonly kind: string;
  /** Name with its `for_each` key, as behind the dot of the address. */
  readonly name: string;
  readonly values: Values;
  readonly lifecycle: Lifecycle;
  readonly origin: Origin;
  /** The file it was read from, if that is not the origin's file: a stack, or the program that makes it. */
  readonly file?: string;
  /** Address that it had before it got its `count`, or lost it: for a stack that is the same object. */
  readonly recounted?: string;
  /** Addresses that it had before, as `moved` blocks say: the latest first. */
  readonly moved_from?: readonly FormerAddress[];
  /** The `import` block that `lifecycle.adopt` comes from. */
  readonly import_origin?: Origin;
  /** Addresses to wait for beside those that are referred to; without a key, all members of a `for_each`. */
  readonly depends_on?: readonly string[];
  /** Where each attribute was written, by dotted path (`endpoint.url`, `http_destinations.0`); computed on demand. */
  readonly at: (path: string) => Origin;
}

/** `lookups.hq`: an object that is not declared in this project. Exactly one live object may satisfy `where`. */
export interface Lookup {
  readonly name: string;
  readonly kind: string;
  readonly where: Values;
  readonly origin: Origin;
}

/** Where the state is kept, and how it is locked. */
export interface StateSettings {
  /** A path, or the address of a remote backend. */
  readonly url?: string;
  /** Tells the states of one place apart; `default` if absent. */
  readonly project?: string;
  /** `lease` and `wait` are durations, as in `30s`. */
  readonly lock?: { readonly lease?: string; readonly wait?: string; readonly takeover?: boolean };
  readonly history?: { readonly keep?: number; readonly days?: number };
}

export interface Settings {
  readonly target?: 'emulator';
  readonly state?: StateSettings;
  readonly policy: { readonly max_deletes: number; readonly max_changed_percent: number };
  readonly requests_per_minute?: number;
  /** From the reference's header names to those of this deployment. */
  readonly v2_headers: Readonly<Record<string, string>>;
  /** How a configuration is written: `put` (the default) sends the whole of it, `patch` adds to it. */
  readonly configuration_writes?: 'put' | 'patch';
  /** Kinds beyond the API reference that are read even where nothing of them is declared. */
  readonly kinds?: readonly string[];
  readonly roles: Roles;
  /** Environment variables that `${env…}` may read although they are named as credentials are. */
  readonly allow_env?: readonly string[];
  /** Folders below which `${secret.file…}` may read, beside the current one and `/run/secrets`. */
  readonly secret_roots?: readonly string[];
  /** Commands that print secrets, by the name that `${secret.<name>.<key>}` says. */
  readonly secrets?: Readonly<Record<string, SecretCommand>>;
}

/** The client of a secret manager. */
export interface SecretCommand {
  /** Program and arguments. `{key}` stands for the key; without it, the command prints a JSON object with all keys. */
  readonly command: readonly string[];
}

export const defaultSettings: Settings = {
  policy: { max_deletes: 5, max_changed_percent: 30 },
  v2_headers: {},
  roles: {},
};

/** A recorded object that a plan would remove. */
export interface RemovedObject {
  /** Its address, and those that moves of the PATHs lead it to. */
  readonly addresses: readonly string[];
  readonly kind: string;
  readonly id: string;
  /** The file from which the state has it. */
  readonly file: string;
}

/** What a file says, or may say, of an object. */
export interface Mention {
  readonly file: string;
  /** In the file, or in the program that made it. */
  readonly origin: Origin;
  /** Follows the name of the file, as in `declares it`. */
  readonly why: string;
  /** Whether the file has an error. */
  readonly isFaulty?: true;
  /** The program that wrote the file. */
  readonly program?: string;
}

/** Looks for a mention of an object in files that PATHs leave out. */
export type FindMention = (object: RemovedObject) => Mention | undefined;

/** A file of the PATHs that is left out because trueup knows none of its top-level keys. */
export interface UnknownFile {
  readonly file: string;
  /** The top-level key to write if the file declares an object of that name; undefined where nothing in it looks like one. */
  readonly keyFor: (kind: string, name: string) => string | undefined;
  /** It has the name of a file of an environment, which declares nothing. */
  readonly ofEnvironment?: true;
}

/** A whole project as loaded: everything that is declared, and the files it came from. */
export interface Project {
  readonly settings: Settings;
  readonly lookups: readonly Lookup[];
  readonly declarations: readonly Declaration[];
  /** Declarations in files of the current folder that PATHs leave out. Limits count them; they are not planned. */
  readonly outside_paths?: readonly Declaration[];
  /** Declarations with errors there, and beside errors. They show that the state is that of this project. */
  readonly outside_faulty?: readonly Declaration[];
  readonly expectations: readonly Expectation[];
  readonly refactorings?: readonly Refactoring[];
  /** Reads what PATHs leave out, for a plan that removes something. `recorded` are the files that the state names. */
  readonly readOutside?: (recorded: readonly string[]) => Promise<FindMention>;
  readonly outside?: FindMention;
  readonly unknown_files?: readonly UnknownFile[];
  /** PATH arguments as given, relative to the current folder: what is declared below them is in scope. */
  readonly paths: readonly string[];
  /** Digest of everything declared, resolved, with secrets by name: equal declarations have equal digests. Computed when it is first asked for. */
  readonly digest: () => string;
  /** Values given by `--var` and `TRUEUP_VAR_*` that the project used, so that a saved plan can be loaded again. */
  readonly variables: Readonly<Record<string, string>>;
  /** True if some value is from a variable or the environment, so that it may change where its declaration does not. */
  readonly uses_variables?: boolean;
  /** Warnings and notes about the files, which its plan shows. */
  readonly warnings?: readonly Diagnostic[];
  /** True if the state is remote and no `settings.state.project` tells it apart from those of other projects. */
  readonly is_state_unnamed?: boolean;
}

/** What the steps of a plan ask of values: every reference in the order it was written, and every secret by its path. */
interface Contents {
  readonly references: Reference[];
  readonly secrets: Map<string, Secret>;
}

const nothing: Contents = { references: [], secrets: new Map() };
const noted = new WeakMap<object, Contents>();

/** One walk for all questions. Its result is noted, because values never change and every step of a plan asks. */
function contentsOf(value: Value): Contents {
  if (typeof value !== 'object' || value === null) return nothing;
  return cached(noted, value, () => {
    const found: Contents = { references: [], secrets: new Map() };
    collect(value, [], found);
    return found.references.length + found.secrets.size === 0 ? nothing : found;
  });
}

function collect(value: Value, steps: string[], found: Contents): void {
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Reference) found.references.push(value);
  else if (value instanceof Template)
    found.references.push(...value.parts.filter((part) => typeof part !== 'string'));
  else if (value instanceof Secret) found.secrets.set(steps.reduce(below, ''), value);
  else if (Array.isArray(value) || isTree(value))
    for (const [step, item] of Object.entries<Value>(value)) {
      if (typeof item !== 'object') continue;
      steps.push(step);
      collect(item, steps, found);
      steps.pop();
    }
}

export const referencesIn = (value: Value): readonly Reference[] => contentsOf(value).references;

/** Every secret inside a value, by its path: the steps to it below `path`, joined by dots. */
export function secretsIn(value: Value, path = ''): ReadonlyMap<string, Secret> {
  const { secrets } = contentsOf(value);
  if (path === '' || secrets.size === 0) return secrets;
  return new Map(
    [...secrets].map(([inner, one]) => [inner === '' ? path : `${path}.${inner}`, one]),
  );
}

/** The path of a member; a dot inside its name is no joint. */
export const below = (path: string, step: string): string =>
  (path === '' ? '' : `${path}.`) + step.replaceAll('.', '\\.');

/** The names that a path goes by; the reverse of `below`. */
export const stepsIn = (path: string): readonly string[] =>
  path.includes('\\')
    ? path.split(/(?<!\\)\./).map((step) => step.replaceAll('\\.', '.'))
    : path.split('.');

/** A plain object among values: not null, not a list, not a reference, template, secret or exact number. */
export function isTree(value: Value | undefined): value is { readonly [key: string]: Value };
export function isTree(value: unknown): value is Readonly<Record<string, unknown>>;
export function isTree(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  // Nearly all of them, and asked very often.
  if (Object.getPrototypeOf(value) === Object.prototype) return true;
  return (
    isObject(value) &&
    !(value instanceof Reference) &&
    !(value instanceof Template) &&
    !(value instanceof Secret)
  );
}

/** Whether the value holds nothing that is only known at apply. (Asked for every attribute, so it makes no generator.) */
export function isKnown(value: Value | undefined): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (value instanceof Reference || value instanceof Template) return false;
  if (Array.isArray(value)) return (value as readonly Value[]).every(isKnown);
  return !isTree(value) || Object.values(value).every(isKnown);
}
