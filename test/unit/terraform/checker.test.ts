// Core's rules about answers, and ours, as tables: what passes, and what is held back with the path to it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExactNumber } from '../../../src/model/index.js';
import { planReplyError, salvaged, stateReplyError } from '../../../src/terraform/reply-checks.js';
import {
  NOT_NULL,
  Unknown,
  type CtyType,
  type CtyValue,
  type Path,
} from '../../../src/terraform/protocol/cty.js';
import type {
  SchemaAttribute,
  WireDiagnostic,
} from '../../../src/terraform/protocol/provider-replies.js';
import { corePlanErrors, coreResultErrors, valueKeyOf } from '../../support/core-rules.js';

const described = { description: '.' };
const attributes: readonly SchemaAttribute[] = [
  { name: 'id', type: 'string', computed: true, ...described },
  { name: 'text', type: 'string', required: true, ...described },
  { name: 'note', type: 'string', optional: true, ...described },
  { name: 'tags', type: ['set', 'string'], optional: true, computed: true, ...described },
  {
    name: 'lock',
    optional: true,
    nested: {
      nesting: 'SINGLE',
      attributes: [
        { name: 'key_wo', type: 'string', optional: true, write_only: true, ...described },
        { name: 'version', type: 'number', optional: true, ...described },
      ],
    },
    ...described,
  },
  {
    name: 'parts',
    optional: true,
    nested: {
      nesting: 'LIST',
      attributes: [
        { name: 'weight', type: 'number', required: true, ...described },
        { name: 'label', type: 'string', computed: true, ...described },
      ],
    },
    ...described,
  },
];
const unknown = new Unknown();
const of = (more: Readonly<Record<string, CtyValue>> = {}): CtyValue => ({
  id: null,
  text: 'a',
  note: null,
  tags: null,
  lock: null,
  parts: null,
  ...more,
});
const paths = (found: readonly WireDiagnostic[]): readonly (Path | undefined)[] =>
  found.map(({ path }) => path);

describe('a plan', () => {
  const rows: readonly (readonly [
    what: string,
    prior: CtyValue,
    config: CtyValue,
    planned: CtyValue,
    trouble: readonly (Path | undefined)[],
  ])[] = [
    ['as configured', null, of(), of({ id: unknown }), []],
    ['with another value', null, of(), of({ text: 'b' }), [['text']]],
    ['that spells it as before', of({ text: 'A' }), of({ text: 'a' }), of({ text: 'A' }), []],
    ['that makes up what is not computed', null, of(), of({ note: 'x' }), [['note']]],
    ['that makes up what is computed', null, of(), of({ tags: ['x'] }), []],
    ['that drops what is configured', null, of({ note: 'x' }), of(), [['note']]],
    [
      'with a set in another order',
      null,
      of({ tags: ['x', 'y'] }),
      of({ tags: ['y', 'x', 'x'] }),
      [],
    ],
    ['with more in a set', null, of({ tags: ['x'] }), of({ tags: ['x', 'y'] }), [['tags']]],
    ['that keeps what is not known', null, of({ tags: unknown }), of({ tags: unknown }), []],
    [
      'that loses a promise',
      null,
      of({ note: new Unknown(NOT_NULL) }),
      of({ note: unknown }),
      [['note']],
    ],
    [
      'without the secret',
      null,
      of({ lock: { key_wo: 's', version: 1 } }),
      of({ lock: { key_wo: null, version: 1 } }),
      [],
    ],
    [
      'with the secret',
      null,
      of({ lock: { key_wo: 's', version: 1 } }),
      of({ lock: { key_wo: 's', version: 1 } }),
      [['lock', 'key_wo']],
    ],
    ['without the object', null, of({ lock: { key_wo: 's', version: 1 } }), of(), [['lock']]],
    [
      'with computed members inside',
      null,
      of({ parts: [{ weight: 1, label: null }] }),
      of({ parts: [{ weight: 1, label: unknown }] }),
      [],
    ],
    [
      'with another member inside',
      null,
      of({ parts: [{ weight: 1, label: null }] }),
      of({ parts: [{ weight: 2, label: null }] }),
      [['parts', 0, 'weight']],
    ],
    [
      'with fewer elements',
      null,
      of({ parts: [{ weight: 1, label: null }] }),
      of({ parts: [] }),
      [['parts'], ['parts', 0, 'weight']],
    ],
    ['of nothing', null, of(), null, [undefined]],
    ['that goes', of(), null, null, []],
    ['that should go', of(), null, of(), [undefined]],
  ];
  it.each(rows)('%s', (_, prior, config, planned, trouble) =>
    expect(paths(corePlanErrors(attributes, prior, config, planned))).toEqual(trouble),
  );
});

describe('a result', () => {
  const rows: readonly (readonly [
    what: string,
    planned: CtyValue,
    result: CtyValue,
    trouble: readonly (Path | undefined)[],
  ])[] = [
    ['as planned', of({ id: unknown }), of({ id: '1' }), []],
    ['null where nothing was known', of({ id: unknown }), of(), []],
    ['null where that was ruled out', of({ id: new Unknown(NOT_NULL) }), of(), [['id']]],
    ['with another value', of(), of({ text: 'b' }), [['text']]],
    ['with a value where none was planned', of(), of({ note: 'b' }), [['note']]],
    ['that is still not known', of({ id: unknown }), of({ id: unknown }), [['id']]],
    [
      'with a secret',
      of({ lock: { key_wo: null, version: 1 } }),
      of({ lock: { key_wo: 's', version: 1 } }),
      [
        ['lock', 'key_wo'],
        ['lock', 'key_wo'],
      ],
    ],
    [
      'with a set whose unknown elements are found',
      of({ tags: ['x', unknown, unknown] }),
      of({ tags: ['y', 'x'] }),
      [],
    ],
    [
      'with a set that lost an element',
      of({ tags: ['x', unknown] }),
      of({ tags: ['y', 'z'] }),
      [['tags']],
    ],
    ['with a set that won one', of({ tags: ['x'] }), of({ tags: ['x', 'y'] }), [['tags']]],
    ['in another normal form', of({ text: '\u00e9' }), of({ text: 'e\u0301' }), []],
    ['that is gone', null, null, []],
    ['that should be gone', null, of(), [undefined]],
    ['that should not be gone', of(), null, [undefined]],
  ];
  it.each(rows)('%s', (_, planned, result, trouble) =>
    expect(paths(coreResultErrors(attributes, planned, result))).toEqual(trouble),
  );
});

describe('a plan of ours', () => {
  it('may hold what is not known, and no secret', () => {
    const planned = of({ id: unknown, lock: { key_wo: null, version: unknown } });
    expect(planReplyError(attributes, planned)).toEqual([]);
    expect(planReplyError(attributes, null)).toEqual([]);
    expect(
      paths(planReplyError(attributes, of({ id: unknown, lock: { key_wo: 's', version: 1 } }))),
    ).toEqual([['lock', 'key_wo']]);
  });
});

describe('a state of ours', () => {
  it('is known as a whole and holds no secret', () => {
    expect(stateReplyError(attributes, of({ id: '1' }))).toEqual([]);
    expect(
      paths(
        stateReplyError(
          attributes,
          of({ parts: [{ weight: unknown, label: null }], lock: { key_wo: 's', version: null } }),
        ),
      ),
    ).toEqual([
      ['lock', 'key_wo'],
      ['parts', 'weight'],
    ]);
    expect(paths(stateReplyError(attributes, of({ tags: ['x', unknown] })))).toEqual([['tags']]);
    expect(paths(stateReplyError(attributes, of({ parts: [unknown] })))).toEqual([['parts']]);
  });

  it('never shows a value in what is said of it', () => {
    const told = stateReplyError(attributes, of({ lock: { key_wo: 'hidden', version: 1 } }));
    expect(JSON.stringify(told)).not.toContain('hidden');
  });

  it('that must not be lost keeps what can be kept', () => {
    const state = of({
      id: '1',
      tags: [unknown],
      note: 7,
      lock: { key_wo: 's', version: 2 },
      parts: unknown,
    });
    const fits = (_: CtyType, value: CtyValue): boolean => value !== 7;
    expect(salvaged(attributes, state, fits)).toEqual(
      of({ id: '1', lock: { key_wo: null, version: 2 } }),
    );
    expect(salvaged(attributes, null, fits)).toBeNull();
  });
});

describe('laws', () => {
  const value: fc.Arbitrary<CtyValue> = fc.oneof(
    fc.constant(null),
    fc.string(),
    fc.constant(unknown),
  );
  const state = fc
    .record({
      id: value,
      text: value,
      note: value,
      tags: fc.oneof(fc.constant(null), fc.array(value, { maxLength: 4 })),
    })
    .map(of);

  it('a plan that is the configuration, and a result that is the plan, pass', () => {
    fc.assert(
      fc.property(state, (one) => {
        expect(corePlanErrors(attributes, null, one, one)).toEqual([]);
        expect(
          coreResultErrors(attributes, one, one).filter(({ summary }) =>
            summary.startsWith('The result'),
          ),
        ).toEqual([]);
      }),
    );
  });

  it('sets are equal in any order, lists in one', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { minLength: 2 }), (items) => {
        const turned = items.toReversed();
        expect(valueKeyOf(['set', 'string'], turned)).toBe(valueKeyOf(['set', 'string'], items));
        expect(valueKeyOf(['list', 'string'], turned)).not.toBe(
          valueKeyOf(['list', 'string'], items),
        );
      }),
    );
    expect(valueKeyOf('number', new ExactNumber('12345678901234567890'))).not.toBe(
      valueKeyOf('number', new ExactNumber('12345678901234567891')),
    );
  });
});
