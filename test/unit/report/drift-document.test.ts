// What the published document of an audit says, and that its schema holds for every audit.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { DriftDocument } from '../../../src/model/index.js';
import { renderDrift } from '../../../src/report/render.js';
import { hostile } from './arbitrary.js';
import { audits, hostileAudit } from './audits.js';

const schema = JSON.parse(
  readFileSync(new URL('../../../schemas/drift.schema.json', import.meta.url), 'utf8'),
) as object;
const validate = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true }).compile(schema);
const read = (document: DriftDocument): Record<string, unknown> =>
  JSON.parse(renderDrift(document, 'json', { color: false, width: 80 })) as Record<string, unknown>;
const complaints = (document: unknown): readonly unknown[] =>
  validate(document) ? [] : (validate.errors ?? []);

describe('the schema of an audit', () => {
  test.each([
    ...Object.entries(audits),
    ...hostile.map((text) => [JSON.stringify(text), hostileAudit(text)] as const),
  ])('holds for %s', (_, document) => {
    expect(complaints(read(document))).toEqual([]);
  });

  test('refuses what is no audit', () => {
    const good = read(audits.audited);
    const [record] = audits.audited.drift;
    const [object] = audits.audited.unmanaged_objects;
    for (const wrong of [
      { extra: 1 },
      { health: undefined },
      { drift: [{ ...record, changed_by: 'somebody' }] },
      { drift: [{ ...record, changed_by: { actor: 'x' } }] },
      { drift: [{ ...record, status: 'odd' }] },
      { unmanaged_objects: [{ ...object, window: undefined }] },
    ])
      expect([wrong, validate(JSON.parse(JSON.stringify({ ...good, ...wrong })))]).toEqual([
        wrong,
        false,
      ]);
  });
});
