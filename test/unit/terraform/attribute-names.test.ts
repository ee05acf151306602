// What is called otherwise in HCL than in the API is named in messages as the configuration writes it.
import { describe, expect, it } from 'vitest';
import { kindsOf, walk, type Kind } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { complaints, wireDiagnosticOf } from '../../../src/terraform/wire-diagnostics.js';
import { Refusal } from '../../../src/model/index.js';
import { providerSchema } from '../../../src/terraform/terraform-schema.js';
import type { SchemaAttribute } from '../../../src/terraform/protocol/provider-replies.js';
import { fiveKinds } from '../../support/fifth-kind.js';
import { Core, providerRig } from '../../support/provider.js';

const paths = (attributes: readonly SchemaAttribute[], prefix = ''): readonly string[] =>
  attributes.flatMap(({ name, nested }) => [
    prefix + name,
    ...(nested ? paths(nested.attributes, `${prefix}${name}.`) : []),
  ]);

/** Every attribute that the schema does not have by the API's path, beside that of each kind. */
const renamed = [...kindsOf([...fiveKinds.values(), ...kinds.values()]).values()].flatMap(
  (kind) => {
    const known = paths(
      providerSchema(kindsOf([kind]), new Map()).resources[`devicecloud_${kind.singular}`]
        ?.attributes ?? [],
    );
    return [...walk(kind.attributes)].flatMap(([path, { unstored }]): [string, string, Kind][] =>
      known.includes(path) || unstored ? [] : [[kind.name, path, kind]],
    );
  },
);

describe('every attribute with another name', () => {
  it('is found', () => {
    expect(renamed.map(([name, path]) => `${name} ${path}`)).toEqual(
      expect.arrayContaining(['alert_push_destinations authentication.secret']),
    );
  });

  it.each(renamed)('%s %s', (_, path, kind) => {
    const one = {
      severity: 'error' as const,
      code: 'x',
      summary: `\`${path}\` is wrong: ${path} is empty, in ${path}.`,
      detail: `Write \`${path}\`; ${path}_x, x.${path} and ${path}_wo_version are others.`,
      attribute: path,
    };
    const hcl = `${path}_wo`;
    const expected = {
      severity: 'error',
      summary: path.includes('.')
        ? `\`${hcl}\` is wrong: ${hcl} is empty, in ${hcl}`
        : `\`${hcl}\` is wrong: ${path} is empty, in ${path}`,
      detail: `Write \`${hcl}\`; ${path}_x, x.${path} and ${path}_wo_version are others.`,
      path: hcl.split('.'),
    };
    expect(wireDiagnosticOf(kind, one)).toEqual(expected);
    expect(complaints(kind, new Refusal([one]))).toEqual([expected]);
  });
});

it.each([
  [{ secret_wo: '', secret_wo_version: null }, '`authentication.secret_wo` is empty'],
  [{ secret_wo: null, secret_wo_version: 1 }, '`authentication.secret_wo` is missing'],
])('a wrong secret %j is named with its path', async (authentication, summary) => {
  const core = new Core((await providerRig().start()).provider);
  const found = await core.validate('devicecloud_alert_push_destination', {
    name: 'x',
    authentication,
  });
  expect(found).toMatchObject([{ summary, path: ['authentication', 'secret_wo'] }]);
});
