// No rendering of any document holds a secret of eight characters, wherever the service or a declaration repeats it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  maskingOf,
  Secret,
  type AttributeChange,
  type Diagnostic,
  type DriftDocument,
  type Event,
  type Outcome,
  type Plan,
  type Update,
  type Values,
} from '../../../src/model/index.js';
import { accessMarkdown } from '../../../src/report/access-text.js';
import { accessHtml } from '../../../src/report/access-html.js';
import { driftFormats, planFormats } from '../../../src/report/formats.js';
import {
  accessDocument,
  driftDocument,
  ndjson,
  planDocument,
  renderDiagnostics,
  renderOutcomes,
} from '../../../src/report/index.js';
import { renderDrift, renderPlan } from '../../../src/report/render.js';
import { kinds } from '../../../src/resources/index.js';
import { at, meta, mixed, quiet } from './plans.js';
import { drawn } from '../../support/drawn.js';
import { encodings } from '../../support/encodings.js';

const style = { color: false, width: 80 };
const clock = { now: () => 0, monotonic: () => 0 };

/** What no fixed text of ours holds. */
const secrets = fc
  .string({
    unit: fc.constantFrom(...Array.from('xyz&<>"\'\\/%+= |*_`#é\u{1f600}')),
    minLength: 5,
    maxLength: 20,
  })
  .map((rest) => `Q7${rest}Z9`);
/** A text of a stranger that repeats it. */
const repeating = (secret: string) =>
  fc
    .tuple(
      fc.constantFrom('', 'was ', 'https://x.example/?k='),
      fc.constantFrom(...Object.values(encodings).map((encode) => encode(secret))),
      fc.constantFrom('', ' denied', '\nmore'),
    )
    .map((parts) => parts.join(''));

const metaWith = (secret: string) => {
  const masking = maskingOf();
  masking.add(new Secret('env.S', () => secret));
  return { ...meta, masking };
};

function planWith(text: string): Plan {
  const values: Values = { name: text, enabled: true, endpoint: { url: text } };
  const change = {
    kind: 'alert_push_destinations',
    name: 'p',
    address: 'alert_push_destinations.p',
    reason: text,
    depends_on: [],
    origin: at(1),
  };
  const declaredObject = {
    declared: { ...values, name: 'new' },
    file: 'estate.yaml',
    protect: false,
  };
  const changes: readonly AttributeChange[] = [
    { path: 'name', before: text, after: `${text}!`, drifted: true },
    { path: 'endpoint.url', before: text, after: 'https://new.example', drifted: false },
  ];
  const write = { verb: 'update' as const, id: text, fields: values };
  const request = {
    method: 'PATCH' as const,
    path: '/api/v2/alert_push_destinations/1/',
    body: { name: `${text}!`, deep: [{ a: text }] },
  };
  const update: Update = {
    action: 'update',
    ...change,
    id: text,
    before: values,
    declaredObject,
    changes,
    write,
    request,
  };
  const rule: Update = {
    ...update,
    kind: 'alert_rules',
    address: 'alert_rules.r',
    name: 'r',
    before: { settings: { a: [text, { b: text }] } },
    changes: [
      { path: 'settings', before: { a: [text, { b: text }] }, after: { a: text }, drifted: false },
    ],
  };
  return {
    ...mixed,
    changes: [
      ...mixed.changes,
      update,
      rule,
      {
        action: 'create',
        ...change,
        address: 'alert_push_destinations.q',
        write: { verb: 'create', fields: values },
        request: { ...request, method: 'POST' },
        declaredObject: { ...declaredObject, declared: values },
      },
    ],
    drift: [
      { address: 'alert_push_destinations.p', kind: 'alert_push_destinations', id: text, changes },
    ],
    verdicts: [
      {
        rule: 'destination-moved',
        verdict: 'blocked',
        detail: text,
        address: 'alert_push_destinations.p',
      },
    ],
    diagnostics: [diagnosticWith(text)],
  };
}

const diagnosticWith = (text: string): Diagnostic => ({
  severity: 'error',
  code: 'rejected',
  summary: text,
  detail: `${text}\n${text}`,
  address: 'accounts.a',
  origin: at(2),
  frame: `  1 | ${text}`,
});

function auditWith(text: string, m: typeof meta): DriftDocument {
  const window = { after: null, before: null };
  const changed_by = {
    actor: text,
    actor_type: 'user',
    at: '2026-01-01T00:00:00Z',
    action: 'update',
    before: { name: text },
    after: { name: [text] },
  };
  const record = {
    address: 'accounts.a',
    kind: 'accounts',
    id: text,
    origin: at(1),
    status: 'changed' as const,
    changes: [{ path: 'name', declared: text, applied: { x: text }, live: [text] }],
    since: null,
    changed_by,
    window,
  };
  return driftDocument({
    drift: [record, { ...record, status: 'settled', changed_by: 'unknown' }],
    in_sync: ['accounts.b'],
    unmanaged: { accounts: 1 },
    unmanaged_objects: [{ kind: 'accounts', id: text, label: text, changed_by, window }],
    health: [
      {
        code: 'delivery-failing',
        kind: 'alert_push_destinations',
        id: text,
        summary: text,
        detail: text,
      },
    ],
    expectations: [
      {
        name: 'e',
        collection: 'accounts',
        origin: at(3),
        verdict: 'failed',
        checked: 1,
        failed: 1,
        offenders: [{ id: text, why: text }],
        count: text,
        diagnostic: diagnosticWith(text),
      },
    ],
    access: accessWith(text),
    diagnostics: [diagnosticWith(text)],
    meta: m,
  });
}

const accessWith = (text: string) => ({
  users: [{ id: text, email: text }],
  accounts: [{ id: text, name: text, depth: 1, administrators: 1 }],
  complete: true,
  cells: [
    {
      user: text,
      account: text,
      role: text,
      inherited_from: text,
      own: [text],
      declared: text,
      address: 'account_authorizations.a',
    },
  ],
});

function* renderings(secret: string, text: string): Generator<string> {
  const m = metaWith(secret);
  const document = planDocument({ plan: planWith(text), kinds, meta: m });
  const audit = auditWith(text, m);
  const access = accessDocument({
    access: accessWith(text),
    diagnostics: [diagnosticWith(text)],
    meta: m,
  });
  for (const format of planFormats) yield renderPlan(document, format, style);
  for (const format of driftFormats) yield renderDrift(audit, format, style);
  const stream = ndjson({ version: '1', clock });
  yield stream.plan(document) + stream.drift(audit);
  yield accessMarkdown(access) + accessHtml(access) + JSON.stringify(access);
  const outcome: Outcome = {
    address: 'accounts.a',
    kind: 'accounts',
    action: 'create',
    outcome: 'failed',
    id: text,
    diagnostic: diagnosticWith(text),
  };
  const event: Event = { type: 'end', outcome };
  yield (
    renderOutcomes(m.masking.said([outcome]), style) +
    stream.event(m.masking.said(event)) +
    renderDiagnostics(m.masking.said([diagnosticWith(text)]), style)
  );
}

describe('every rendering', () => {
  it('holds no secret of eight characters, whatever its characters and however it is repeated', () => {
    const cases = secrets.chain((secret) => fc.tuple(fc.constant(secret), repeating(secret)));
    fc.assert(
      fc.property(cases, ([secret, text]) => {
        for (const rendering of renderings(secret, text)) {
          for (const encode of Object.values(encodings))
            expect(rendering).not.toContain(encode(secret));
          expect(rendering).toContain('(sensitive)');
        }
      }),
      { numRuns: drawn(150) },
    );
  });

  it('shows that something changed where only the secret part did', () => {
    const text = renderPlan(
      planDocument({ plan: planWith('was Q7-sesame-Z9'), kinds, meta: metaWith('Q7-sesame-Z9') }),
      'text',
      style,
    );
    expect(text).toMatch(/name +"was \(sensitive\)" → "was \(sensitive\)!"/);
    const change: AttributeChange = {
      path: 'name',
      before: 'a Q7-sesame-Z9',
      after: 'a Q7-second-Z9',
      drifted: false,
    };
    const update = planWith('x').changes.find(
      ({ address }) => address === 'alert_push_destinations.p',
    ) as Update;
    const masked = metaWith('Q7-sesame-Z9');
    masked.masking.add(new Secret('env.T', () => 'Q7-second-Z9'));
    const plan: Plan = {
      ...quiet,
      changes: [{ ...update, before: { name: change.before as string }, changes: [change] }],
    };
    expect(renderPlan(planDocument({ plan, kinds, meta: masked }), 'text', style)).toMatch(
      /name +"a \(sensitive\)", changes/,
    );
  });

  it('leaves addresses and names of members as they are', () => {
    const document = planDocument({
      plan: planWith('x'),
      kinds,
      meta: metaWith('alert_push_destinations.p'),
    });
    expect(renderPlan(document, 'text', style)).toContain('alert_push_destinations.p');
    expect(document.resource_changes.map(({ address }) => address)).toContain(
      'alert_push_destinations.p',
    );
    expect(
      renderPlan(
        planDocument({ plan: planWith('x'), kinds, meta: metaWith('endpoint') }),
        'json',
        style,
      ),
    ).toContain('"endpoint": {');
  });
});
