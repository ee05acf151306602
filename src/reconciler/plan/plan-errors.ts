// Errors of single declarations that a plan finds by comparing them with what is live, and what such errors advise.
import {
  firstNamed,
  redact,
  referencesIn,
  shellWord,
  type Advice,
  type AttributeChange,
  type Declaration,
  type Diagnostic,
  type Drift,
  type Kind,
  type Live,
  type Origin,
} from '../../model/index.js';

export const nounOf = (kind: Kind): string => kind.singular.replaceAll('_', ' ');

/** @param what without an attribute, it is about the declaration as a whole */
export const declarationError = (
  { address, origin, at }: Declaration,
  { attribute, ...what }: Advice,
): Diagnostic => ({
  severity: 'error',
  ...what,
  address,
  ...(attribute === undefined ? { origin } : { attribute, origin: at(attribute) }),
});

/** A change that no update can make, of an object that is not replaced. */
export interface Fixed {
  readonly declaration: Declaration;
  readonly change: AttributeChange;
  /** Why it is not replaced, and what to do. */
  readonly hindrance: string;
}

interface Causes {
  /** An object that the new value refers to may be gone. */
  readonly drift: readonly Drift[];
  /** It may also have a new address. */
  readonly hints: readonly Diagnostic[];
}

/** One error for all changes that a rename explains: its note says what to write. */
export function immutableErrors(fixed: readonly Fixed[], causes: Causes): readonly Diagnostic[] {
  const hints = new Map(causes.hints.map((one) => [one.address, one]));
  const hintOf = ({ change: { after = null } }: Fixed): Diagnostic | undefined =>
    referencesIn(after).flatMap(({ target }) => hints.get(target) ?? [])[0];
  const renamed = fixed.filter((one) => hintOf(one) !== undefined);
  const [first, second] = renamed;
  if (!first || !second) return fixed.map((one) => immutableError(one, causes.drift, hintOf(one)));
  const names = firstNamed(
    [...new Set(renamed.map(({ declaration }) => declaration.address))],
    FEW,
  );
  const paths = [...new Set(renamed.map(({ change: { path } }) => path))];
  const [is, it] = paths.length === 1 ? ['is', 'it refers'] : ['are', 'they refer'];
  const folded = declarationError(first.declaration, {
    code: 'immutable',
    attribute: first.change.path,
    summary: `${names}: ${paths.join(', ')} ${is} immutable, and ${it} to what looks renamed.`,
    detail: 'If it was renamed, write what the note [looks-renamed] says.',
  });
  const others = fixed.filter((one) => hintOf(one) === undefined);
  return [folded, ...others.map((one) => immutableError(one, causes.drift))];
}

/** Addresses that an error names. */
const FEW = 3;

function immutableError(
  { declaration, change: { path, before = null, after = null }, hindrance: detail }: Fixed,
  drift: readonly Drift[],
  renamed?: Diagnostic,
): Diagnostic {
  const [gone] = referencesIn(after).filter(({ target }) =>
    drift.some(({ address, ...one }) => address === target && isGone(one)),
  );
  const fixed = `${declaration.address}: ${path} is immutable: it is ${JSON.stringify(redact(before))} and cannot be updated to ${JSON.stringify(redact(after))}`;
  const words = { code: 'immutable', attribute: path };
  if (renamed?.detail)
    return declarationError(declaration, {
      ...words,
      summary: `${fixed}: ${renamed.summary}`,
      detail: renamed.detail,
    });
  if (!gone) return declarationError(declaration, { ...words, summary: `${fixed}.`, detail });
  return declarationError(declaration, {
    ...words,
    summary: `${fixed}: ${gone.target} was deleted outside of trueup.`,
    detail: `If it is to stay deleted, remove it and this declaration from the project.`,
  });
}

const isGone = ({ changes, replaced_by }: Omit<Drift, 'address'>): boolean =>
  changes === undefined && replaced_by === undefined;

/** A declared object that is not live, of a kind that cannot be created. */
export interface Absent {
  readonly declaration: Declaration;
  /** How such an object comes to be, or is found. */
  readonly advice: string;
  /** Whether it was live when it was recorded. */
  readonly gone: boolean;
  /** What it refers to and apply creates first. */
  readonly needs: readonly string[];
}

/** Addresses that a command lists. */
const MANY = 100;

/** @param hasRest whether anything else is to be applied: the first error says how */
export function cannotCreateErrors(
  absent: readonly Absent[],
  hasRest: boolean,
  renamed: ReadonlySet<string>,
): readonly Diagnostic[] {
  const without = absent
    .slice(0, MANY)
    .map((one) => `--exclude ${shellWord(one.declaration.address)}`)
    .join(' ');
  const left = absent.length - MANY;
  const more = left > 0 ? ` (add \`--exclude\` for the ${left} others of [cannot-create])` : '';
  const rest = hasRest
    ? [
        `To go on without ${absent.length === 1 ? 'it' : 'them'} first${more}: trueup plan ${without}`,
      ]
    : [];
  return absent.map(({ declaration, advice, gone, needs }, index) => {
    const { address, kind } = declaration;
    const stays = gone ? ['If it is to stay gone, remove its declaration.'] : [];
    const waits = waitWords(needs, renamed);
    const first = index === 0 ? rest : [];
    return declarationError(declaration, {
      code: 'cannot-create',
      summary: `${address} has no live object, and ${kind} cannot be created through the API.`,
      detail: (needs.length > 0
        ? [waits, ...first, advice, ...stays]
        : [advice, ...stays, ...first]
      ).join('\n'),
    });
  });
}

function waitWords(needs: readonly string[], renamed: ReadonlySet<string>): string {
  const former = needs.filter((one) => renamed.has(one));
  if (former.length > 0) {
    const looks = former.length === 1 ? 'looks' : 'look';
    return `It refers to ${former.join(', ')}, which ${looks} renamed: see [looks-renamed].`;
  }
  return `It refers to ${needs.join(', ')}, which ${needs.length === 1 ? 'has' : 'have'} to be created before.`;
}

export function existsAlreadyError(kind: Kind, declaration: Declaration, { id }: Live): Diagnostic {
  const { address } = declaration;
  return declarationError(declaration, {
    code: 'exists-already',
    summary: `${address} cannot be replaced: the ${nounOf(kind)} ${id} already has the identity of the new object.`,
    detail: bindAdvice(address, id, true),
  });
}

export function maskedValueError(declaration: Declaration, path: string): Diagnostic {
  return declarationError(declaration, {
    code: 'masked-value',
    summary: `${declaration.address}: ${path} reads back masked, so the declared value cannot be compared with it.`,
    detail:
      'Write the value as "${secret.env.NAME}", or leave the member out: an undeclared member keeps its live value.',
    attribute: path,
  });
}

export function additionsOnlyError(declaration: Declaration): Diagnostic {
  return declarationError(declaration, {
    code: 'additions-only',
    summary: `${declaration.address}: the change removes something from the configuration, and a PATCH can only add.`,
    detail:
      'Remove settings.configuration_writes: patch, or leave out the members declared null and the list of removed defaults.',
    attribute: 'configuration',
  });
}

/** Where something stands, in a sentence. */
export function placeOf(origin: Origin): string {
  const { file, line } = origin.used_at ?? origin;
  return origin.path ?? `${file}:${line}`;
}

/** The command that binds an address to another object. */
export const bindAdvice = (address: string, id: string, bound: boolean): string =>
  [
    ...(bound ? [`Forget the recorded object: trueup state rm ${shellWord(address)}`] : []),
    `Import the live object: trueup import ${shellWord(address)} ${shellWord(id)}`,
  ].join('\n');

/** The command that destroys everything else. */
export const leaveOut = (addresses: readonly string[]): string =>
  `To leave ${addresses.length > 1 ? 'these' : 'it'} out: trueup destroy${addresses.map((one) => ` --exclude ${shellWord(one)}`).join('')}`;

/** The block that says that an object has a new address, as it stands in a declaration file. */
export const movedBlock = (from: string, to: string): string => `moved: [${moveEntry(from, to)}]`;

export const moveEntry = (from: string, to: string): string =>
  `{ from: ${yamlString(from)}, to: ${yamlString(to)} }`;

/** What to do where an object has an owner and another address wants it. */
export const oneOfTwo = (owner: string, address: string): string =>
  `Keep one of the two. If it was renamed, write \`${movedBlock(owner, address)}\`, or type: trueup state mv ${shellWord(owner)} ${shellWord(address)}`;

/** The same for an address whose object cannot be created. The owner may be declared as another object. */
export const heldAdvice = (owner: string, address: string): string =>
  `${owner} manages the object of this identity.\nIf ${address} is the object now: trueup state mv ${shellWord(owner)} ${shellWord(address)}\nOtherwise keep one of the two declarations.`;

/** A text as a string of a declaration file. */
export const yamlString = (text: string): string =>
  `'${text.replaceAll("'", "''").replaceAll('${', () => '$${')}'`;
