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

test('values stand below one another in text, with what was last applied below its attribute', () => {
  const [first] = audits.audited.drift;
  const changes = [
    { path: 'name', declared: 'A', applied: 'B', live: 'C' },
    { path: 'is_disabled', declared: true, applied: true, live: false },
  ];
  const document = { ...audits.audited, drift: [{ ...first!, changes }] };
  expect(renderDrift(document, 'text', { color: false, width: 80 })).toContain(
    [
      '    name         "A" → "C"',
      '      last applied: "B"',
      '    is_disabled  true → false',
      '',
    ].join('\n'),
  );
});

describe('with --unmanaged=fail', () => {
  const [found] = audits.audited.unmanaged_objects;
  const strict: DriftDocument = {
    ...audits.audited,
    drift: [],
    expectations: [],
    diagnostics: [],
    in_sync: ['accounts.a'],
    unmanaged: { accounts: 1 },
    unmanaged_objects: [{ ...found!, kind: 'accounts', id: '9', label: 'Found' }],
    summary: { drifted: 0, in_sync: 1, unmanaged: 1, expectations_failed: 0 },
    unmanaged_is_drift: true,
  };
  const { unmanaged_is_drift: _, ...lenient } = strict;
  const nothing: DriftDocument = { ...strict, summary: { ...strict.summary, unmanaged: 0 } };
  const written = (document: DriftDocument, format: 'text' | 'markdown' | 'html' | 'junit') =>
    renderDrift(document, format, { color: false, width: 80 });

  test('unmanaged objects are drift, in every last sentence', () => {
    for (const format of ['text', 'markdown', 'html', 'junit'] as const) {
      expect(written(strict, format)).toContain('Drift: 1 unmanaged; 1 in sync.');
      expect(written(lenient, format)).toContain('No drift. 1 object is as declared, 1 unmanaged.');
      expect(written(nothing, format)).toContain('No drift. 1 object is as declared.');
    }
    expect(complaints(read(strict))).toEqual([]);
  });

  test('each is a failure in JUnit', () => {
    expect(written(strict, 'junit')).toContain('name="accounts Found (9)"');
    expect(written(strict, 'junit')).toContain(
      '<failure type="unmanaged" message="managed by no declaration">',
    );
    expect(written(lenient, 'junit')).not.toContain('<failure');
  });
});
