// JUnit XML as a real XML parser reads it, against what Ant's schema and Jenkins' ask for.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DriftDocument } from '../../src/model/index.js';
import { renderDrift } from '../../src/report/render.js';
import { visible } from '../../src/report/escaping.js';
import { hostile } from '../unit/report/arbitrary.js';
import { audits, hostileAudit } from '../unit/report/audits.js';
import { launch } from './chromium.js';

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  readonly text: string;
}

const reader = `(xml) => {
  const tree = (one) => ({ name: one.tagName, attributes: Object.fromEntries([...one.attributes].map(({ name, value }) => [name, value])), children: [...one.children].map(tree), text: one.children.length > 0 ? '' : one.textContent });
  return tree(new DOMParser().parseFromString(xml, 'application/xml').documentElement);
}`;

let browser: Browser;
let page: Page;
beforeAll(async () => {
  browser = await launch();
  page = await browser.newPage();
});
afterAll(() => (browser as Browser | undefined)?.close());

const read = (document: DriftDocument): Promise<Element> =>
  page.evaluate<Element>(
    `(${reader})(${JSON.stringify(renderDrift(document, 'junit', { color: false, width: 80 }))})`,
  );

/** Of each element its children in order (a star: any number, a question mark: one or none) and its attributes: those of Ant's schema, of which Jenkins' allows all. */
const form: Readonly<
  Record<string, { readonly children: RegExp; readonly attributes: readonly string[] }>
> = {
  testsuites: { children: /^(testsuite )*$/, attributes: [] },
  testsuite: {
    children: /^properties (testcase )*system-out system-err $/,
    attributes: [
      'errors',
      'failures',
      'hostname',
      'id',
      'name',
      'package',
      'skipped',
      'tests',
      'time',
      'timestamp',
    ],
  },
  properties: { children: /^(property )*$/, attributes: [] },
  property: { children: /^$/, attributes: ['name', 'value'] },
  testcase: {
    children: /^((skipped|error|failure) )?$/,
    attributes: ['classname', 'name', 'time'],
  },
  failure: { children: /^$/, attributes: ['message', 'type'] },
  error: { children: /^$/, attributes: ['message', 'type'] },
  'system-out': { children: /^$/, attributes: [] },
  'system-err': { children: /^$/, attributes: [] },
};

function expectForm({ name, attributes, children }: Element): void {
  expect(Object.keys(form)).toContain(name);
  expect([name, Object.keys(attributes).toSorted()]).toEqual([name, form[name]?.attributes]);
  expect(children.map((child) => `${child.name} `).join('')).toMatch(
    form[name]?.children as RegExp,
  );
  children.forEach(expectForm);
}

/** Its time has no zone, and its counts are true. */
function expectSuite({ attributes, children }: Element): void {
  const cases = children.filter(({ name }) => name === 'testcase');
  const count = (trouble: string): string =>
    String(cases.filter((one) => one.children[0]?.name === trouble).length);
  expect(attributes).toMatchObject({
    tests: String(cases.length),
    failures: count('failure'),
    errors: count('error'),
  });
  expect(attributes['timestamp']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
}

const verdicts = ({ children }: Element): readonly string[] =>
  children.flatMap((suite) =>
    suite.children
      .filter(({ name }) => name === 'testcase')
      .map(
        (one) =>
          `${one.attributes['classname']} / ${one.attributes['name']}: ${one.children[0]?.name ?? 'passed'}`,
      ),
  );

describe.each(Object.entries(audits))('the audit %s', (_, document) => {
  test('has the form that both schemas ask for, its suites numbered', async () => {
    const root = await read(document);
    expectForm(root);
    root.children.forEach(expectSuite);
    expect(root.name).toBe('testsuites');
    expect(root.children.map(({ attributes }) => attributes['id'])).toEqual(
      root.children.map((_one, index) => String(index)),
    );
  });
});

test('a suite a kind, a case an address, a failure where it drifted', async () => {
  expect(verdicts(await read(audits.audited))).toEqual([
    'audit / the audit can be made: passed',
    'alert_rules / alert_rules.busy: failure',
    'alert_rules / alert_rules.gone: failure',
    'alert_rules / alert_rules.kept-1: passed',
    'alert_rules / alert_rules.kept-3: passed',
    'alert_rules / alert_rules.kept-5: passed',
    'account_authorizations / account_authorizations.dana: failure',
    'accounts / accounts.new: failure',
    'accounts / accounts.left: failure',
    'accounts / accounts.same: passed',
    'accounts / accounts.kept-0: passed',
    'accounts / accounts.kept-2: passed',
    'accounts / accounts.kept-4: passed',
    'expectations / fleet-a-active: passed',
    'expectations / managers-synched: failure',
    'expectations / batteries-healthy: error',
  ]);
});

test('an audit that could not be made is no success', async () => {
  expect(verdicts(await read(hostileAudit('x')))[0]).toBe('audit / the audit can be made: error');
});

test.each([
  ...hostile,
  '\u0000\u0001\u0008\u000b\u000c\u001f\ufffe\uffff',
  ']]>',
  '<!DOCTYPE a [<!ENTITY b "c">]>&b;',
])('%j stays text', async (text) => {
  const root = await read(hostileAudit(text));
  expectForm(root);
  const [, suite] = root.children;
  const name = suite?.children.find((one) => one.name === 'testcase')?.attributes['name'];
  expect(name).toBe(
    visible(`accounts.${text}`).replace('\ufffe', '\\ufffe').replace('\uffff', '\\uffff'),
  );
});
