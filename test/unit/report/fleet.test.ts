// The merged report of a fleet in every format, byte for byte, and what no format may do.
import { describe, expect, test } from 'vitest';
import type { TenantEntry } from '../../../src/model/index.js';
import { fleetNdjson } from '../../../src/report/fleet-ndjson.js';
import { fleetFormats } from '../../../src/report/formats.js';
import { tenantMessages } from '../../../src/report/fleet-text.js';
import { renderFleet } from '../../../src/report/render.js';
import { hostile } from './arbitrary.js';
import { everyStatus, fleetOf, hostileFleet, largeFleet } from './fleets.js';
import { expectGolden, ownPart } from './golden.js';

const style = { color: false, width: 80 };
const endings = {
  text: 'txt',
  json: 'json',
  markdown: 'md',
  html: 'html',
  junit: 'xml',
  sarif: 'sarif',
  prometheus: 'prom',
  ndjson: 'ndjson',
};

describe.each(fleetFormats)('%s', (format) => {
  test('of tenants with every status', () => {
    const text = renderFleet(everyStatus, format, style);
    expectGolden(`fleet.${endings[format]}`, format === 'html' ? ownPart(text) : text);
  });

  test('of hostile texts holds no control character', () => {
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(renderFleet(hostileFleet, format, style)).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2066]/,
    );
  });

  test('of 2,000 tenants names each, and is below 5 MB', () => {
    const text = renderFleet(largeFleet, format, style);
    expect(Buffer.byteLength(text)).toBeLessThan(5_000_000);
    // A comment takes fewer characters than the others do.
    expect(/\btenant-1996\b/.test(text)).toBe(format !== 'markdown');
    expect(text.length).toBeLessThan(format === 'markdown' ? 65_536 : 5_000_000);
  });
});

test('no text becomes markup', () => {
  for (const format of ['html', 'junit'] as const) {
    const text = renderFleet(hostileFleet, format, style);
    expect(text).not.toContain('<script>alert');
    expect(text).not.toContain('<img');
  }
  expect(hostile.length).toBeGreaterThan(10);
});

test('an equal message is shown for three tenants, and counted for the others', () => {
  const wrong = { severity: 'error', code: 'missing', summary: 'there is no name' } as const;
  const own = { ...wrong, summary: 'there is no account' };
  const messages = tenantMessages();
  const shown = ['a', 'b', 'c', 'd', 'e'].flatMap((tenant) =>
    messages.of(tenant, tenant === 'd' ? [wrong, own] : [wrong]),
  );
  expect(shown.map(({ summary }) => summary)).toEqual([
    'a: there is no name',
    'b: there is no name',
    'c: there is no name',
    'd: there is no account',
  ]);
  expect(messages.rest()).toEqual([{ ...wrong, summary: '2 more tenants: there is no name' }]);
});

test('warnings of a tenant lead to its page', () => {
  const html = renderFleet(everyStatus, 'html', {
    ...style,
    pageOf: (tenant) => `t/${tenant}.html`,
  });
  const [, warnings = ''] = html.split('<section id="warnings"');
  expect(warnings).toContain('<a href="t/initech.html">initech</a></th><td><code>some-warning<');
});

/** The text of the element that the row of a tenant leads to. */
const linkedText = (html: string, tenant: string): string | undefined => {
  const [, id] = new RegExp(`<th scope="row"><a href="#([^"]+)">${tenant}</a>`).exec(html) ?? [];
  return id && new RegExp(` id="${id}">([^]*?)</(?:div|p)>\n(?!<p)`).exec(html)?.[1];
};

test('a tenant without a page or an object leads to its error on the page', () => {
  const html = renderFleet(everyStatus, 'html', style);
  expect(linkedText(html, 'initech')).toContain('initech: accounts cannot be read');
  expect(html).toContain('<th scope="row"><a href="#tenant-acme">acme</a>');
  expect(html).toContain('<th scope="row">t-missing</th>');
  const withPages = { ...style, pageOf: (tenant: string) => `t/${tenant}.html` };
  expect(renderFleet(everyStatus, 'html', withPages)).toContain('<a href="t/initech.html">');
});

test('tenants with an equal error lead to the note that stands for them', () => {
  const failed = (tenant: string, summary: string): TenantEntry => ({
    ...everyStatus.tenants.find((one) => one.tenant === 'initech')!,
    tenant,
    diagnostics: [{ severity: 'error', code: 'missing', summary }],
  });
  const html = renderFleet(
    fleetOf(['a', 'b', 'c', 'd', 'e'].map((tenant) => failed(tenant, 'there is no name'))),
    'html',
    style,
  );
  expect(linkedText(html, 'c')).toContain('c: there is no name');
  for (const tenant of ['d', 'e'])
    expect(linkedText(html, tenant)).toContain('2 more tenants: there is no name');
  const many = Array.from({ length: 202 }, (_, at) => failed(`t-${at}`, `error ${at}`));
  const long = renderFleet(fleetOf(many), 'html', style);
  expect(linkedText(long, 't-199')).toContain('t-199: error 199');
  expect(linkedText(long, 't-201')).toContain('… and 2 more');
  const ids = [...long.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('the worst tenant comes first', () => {
  const html = renderFleet(everyStatus, 'html', style);
  const order = [...html.matchAll(/<th scope="row">(?:<a[^>]*>)?([^<]+)/g)].map(([, name]) => name);
  expect(order.slice(0, 4)).toEqual(['t-missing', 't-undecided', 't-partial', 't-failed']);
  expect(order.indexOf('globex.com')).toBeLessThan(order.indexOf('acme'));
});

test.each([
  [1, 'fleet plan: 1 tenant"'],
  [2, 'fleet plan: 2 tenants"'],
])('the events begin with the number of tenants, %i', (tenants, said) => {
  const text = fleetNdjson('1', () => 0).begin({ run: 'r', command: 'plan', tenants });
  expect(text).toContain(said);
});
