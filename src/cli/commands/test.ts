// `trueup test`: evaluates the policies of the current folder over the inputs of their tests. No network, no state.
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  isObject,
  parseJson,
  exits,
  refuse,
  Refusal,
  shellWord,
  type Diagnostic,
  type JsonObject,
} from '../../model/index.js';
import { fleetInput, type PlannedTenant } from '../../fleet/policy-input.js';
import { declarationFiles } from '../../platform/declaration-files.js';
import { emptyPlan, filledIn, fullPlan, unknownMembers } from '../../policies/empty-plan.js';
import type { PolicyTest, ProjectPolicy } from '../../policies/policy-files.js';
import { inert } from '../../report/index.js';
import { plural } from '../../report/words.js';
import type { Command, Context } from '../context.js';
import { readPolicies } from '../project-policies.js';

export const run: Command = async (context) => {
  const policies = await readPolicies(context);
  if (policies.length === 0)
    refuse('no-policies', 'There is no policy in policies/*.cel.yaml.', {
      detail: 'How to write one: docs/how-to/write-policies.md of the trueup package',
    });
  const { policyTestsIn } = await import('../../policies/policy-files.js');
  const { tests, diagnostics } = await policyTestsIn(
    { files: declarationFiles, cwd: context.cwd },
    policies,
  );
  if (diagnostics.length > 0) throw new Refusal(diagnostics);
  if (tests.length === 0)
    refuse('no-tests', 'There is no test in policies/*.test.yaml.', {
      detail: 'How to write one: docs/how-to/write-policies.md of the trueup package',
    });
  const wrong = tests.flatMap(unreadInput);
  if (wrong.length > 0) throw new Refusal(wrong);
  const byName = new Map(policies.map((one) => [one.name, one]));
  let failed = 0;
  for (const test of tests) {
    const given = violationsIn(context, byName.get(test.policy)!, test);
    const isRight = JSON.stringify(given) === JSON.stringify(test.violations);
    if (!isRight) failed += 1;
    context.out.write(resultText(test, isRight ? undefined : given));
  }
  const tested = new Set(tests.map(({ policy }) => policy));
  const untested = policies.filter(({ name }) => !tested.has(name)).map(({ name }) => name);
  if (untested.length > 0) context.out.write(`Without a test: ${untested.join(', ')}.\n`);
  context.out.write(
    `${plural(tests.length, 'test')}: ${tests.length - failed} passed, ${failed} failed.\n`,
  );
  return failed === 0 ? exits.done : exits.error;
};

const ANY_TENANT: PlannedTenant = { tenant: '', labels: {}, status: 'unchanged', kinds: {} };

/** A test would pass because of what it misspells. */
const unreadInput = ({ plan = {}, fleet = {}, origin }: PolicyTest): readonly Diagnostic[] =>
  [
    ...unknownMembers(fullPlan, plan, 'plan'),
    ...unknownMembers(fleetInput([ANY_TENANT]), fleet, 'fleet'),
  ].map((name) => ({
    severity: 'error',
    code: 'unknown-attribute',
    summary: `no policy can see ${name}`,
    detail:
      'Members are those of the plan document, or of `fleet`: docs/how-to/write-policies.md of the trueup package',
    origin,
  }));

function violationsIn(
  context: Context,
  policy: ProjectPolicy,
  { plan, plan_file: file, declarations, fleet }: PolicyTest,
): readonly string[] {
  const given = file === undefined ? (plan ?? {}) : planIn(context, file);
  const input = {
    plan: filledIn(emptyPlan, given),
    declarations,
    fleet: filledIn(fleetInput([]), fleet ?? {}),
  };
  return policy.violations(input).map(({ message }) => message);
}

const LARGEST = 256 * 1024 * 1024;

/** @throws Refusal for a file that holds no plan document */
function planIn({ cwd }: Context, file: string): JsonObject {
  const path = resolve(cwd, file);
  try {
    const bytes = declarationFiles.read(path, LARGEST);
    const document = parseJson(Buffer.from(bytes).toString());
    if (isObject(document) && document['resource_changes'] !== undefined) return document;
  } catch {
    // Reported below, without the text of the file.
  }
  // A file that holds something else is not to be overwritten.
  const isFree = existsSync(dirname(path)) && !existsSync(path);
  return refuse('no-plan', `${file} holds no plan document.`, {
    detail: `To make one: trueup plan --format json > ${isFree ? shellWord(file) : 'FILE'}`,
  });
}

function resultText(
  { name, policy, origin, violations }: PolicyTest,
  given: readonly string[] | undefined,
): string {
  const head = `${given ? 'FAIL' : 'ok  '} ${policy}: ${name}`;
  if (!given) return inert(`${head}\n`);
  const list = (messages: readonly string[]): string =>
    messages.length === 0 ? ' none\n' : `\n${messages.map((one) => `      ${one}\n`).join('')}`;
  return inert(
    `${head}\n     ${origin.file}:${origin.line}:${origin.column}\n     expected violations:${list(violations)}     found:${list(given)}`,
  );
}
