// Pages as a real browser takes them: nothing foreign becomes markup or runs, nothing is fetched, everything is there
// without scripts, the filter filters, axe finds nothing to complain of.
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessReview, Change, DriftRecord, Plan } from '../../src/model/index.js';
import { driftDocument, planDocument, type Style } from '../../src/report/index.js';
import { renderDrift, renderFleet, renderPlan } from '../../src/report/render.js';
import { kinds } from '../../src/resources/index.js';
import { hostile } from '../unit/report/arbitrary.js';
import { everyStatus, hostileFleet, plannedFleet } from '../unit/report/fleets.js';
import { audits, hostileAudit } from '../unit/report/audits.js';
import { impact, meta, mixed, plans } from '../unit/report/plans.js';
import { launch } from './chromium.js';

const style = { color: false, width: 80 };
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const tenant = (name: string): Style => ({ ...style, tenant: { name, fleet: '../fleet.html' } });

const planPage = (plan: Plan): string =>
  renderPlan(planDocument({ plan, kinds, meta, keeps: 'count' }), 'html', style);
const pages: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(plans).map(([name, plan]) => [`the plan ${name}`, planPage(plan)]),
  ),
  'a plan with its impact': renderPlan(
    { ...planDocument({ plan: mixed, kinds, meta }), impact },
    'html',
    style,
  ),
  'a fleet': renderFleet(everyStatus, 'html', style),
  'a fleet with writes': renderFleet(plannedFleet, 'html', style),
  'a fleet with pages of its tenants': renderFleet(everyStatus, 'html', {
    ...style,
    pageOf: (tenant) => `fleet.tenants/${tenant}.html`,
  }),
  'the audit of a tenant': renderDrift(audits.audited, 'html', tenant('acme')),
  'the plan of a tenant with a hostile name': renderPlan(
    planDocument({ plan: mixed, kinds, meta }),
    'html',
    tenant('<img src=x onerror=alert(1)>"\u202e'),
  ),
  'a fleet with hostile texts': renderFleet(hostileFleet, 'html', style),
  'an audit of more access than a matrix holds': renderDrift(
    { ...audits.audited, access: { ...(audits.audited.access as AccessReview), complete: false } },
    'html',
    style,
  ),
  ...Object.fromEntries(
    Object.entries(audits).map(([name, audit]) => [
      `the audit ${name}`,
      renderDrift(audit, 'html', style),
    ]),
  ),
};

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => (browser as Browser | undefined)?.close());

interface Opened {
  readonly page: Page;
  /** What the page asked for beside itself, and what the console says. */
  readonly asked: string[];
  readonly said: string[];
}

/** Opens a page as it would come from a server, under its own content policy. */
async function open<T>(
  html: string,
  options: BrowserContextOptions,
  look: (opened: Opened) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    const [asked, said]: [string[], string[]] = [[], []];
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', (error) => said.push(error.message));
    page.on(
      'dialog',
      (dialog) => (said.push(`dialog: ${dialog.message()}`), void dialog.dismiss()),
    );
    await context.route('**', (route) => {
      const url = route.request().url();
      if (url === 'https://report.example/')
        return route.fulfill({ contentType: 'text/html', body: html });
      asked.push(url);
      return route.abort();
    });
    await page.goto('https://report.example/');
    return await look({ page, asked, said });
  } finally {
    await context.close();
  }
}

describe.each(Object.entries(pages))('%s', (_, html) => {
  test.each([
    ['a phone in the light', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
    ['a desk in the dark', { colorScheme: 'dark', viewport: { width: 1280, height: 900 } }],
  ] as const)('is accessible on %s', (_place, options) =>
    open(html, { ...options, bypassCSP: true }, async ({ page, said }) => {
      // What is laid out only when it is scrolled to would not be looked at.
      await page.addStyleTag({ content: '.item { content-visibility: visible !important }' });
      await page.evaluate(
        "document.querySelectorAll('details').forEach((one) => (one.open = true))",
      );
      await page.addScriptTag({ path: axe });
      const violations = await page.evaluate<readonly string[]>(
        'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))',
      );
      expect(violations).toEqual([]);
      expect(
        await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
      ).toBeLessThanOrEqual(0);
      expect(said).toEqual([]);
    }),
  );

  test('asks for nothing and breaks none of its own rules', () =>
    open(html, {}, async ({ page, asked, said }) => {
      expect(await page.title()).not.toBe('');
      expect([asked, said]).toEqual([[], []]);
      expect(await page.locator('[style], [onclick], img, iframe, object, link').count()).toBe(0);
    }));

  test('holds the same text with scripts off, where the filter stays hidden', async () => {
    const text = async (page: Page): Promise<string> =>
      ((await page.locator('main').textContent()) ?? '').replace(/Shown: .*/, '');
    const on = await open(html, {}, ({ page }) => text(page));
    await open(html, { javaScriptEnabled: false }, async ({ page }) => {
      expect(await text(page)).toBe(on);
      expect(await page.locator('#filter').isVisible()).toBe(false);
    });
  });
});

test('the page of a fleet leads to that of a tenant, and back', async () => {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await context.route('https://report.example/**', (route) => {
      const { pathname } = new URL(route.request().url());
      const name =
        pathname === '/fleet.html' ? 'a fleet with pages of its tenants' : 'the audit of a tenant';
      return route.fulfill({ contentType: 'text/html', body: pages[name]! });
    });
    await page.goto('https://report.example/fleet.html');
    await page.getByRole('link', { name: 'acme', exact: true }).click();
    expect(page.url()).toBe('https://report.example/fleet.tenants/acme.html');
    expect(await page.title()).toMatch(/^acme: /);
    await page.getByRole('link', { name: 'All tenants' }).click();
    expect(page.url()).toBe('https://report.example/fleet.html');
  } finally {
    await context.close();
  }
});

test('a page is less than 60 kB beside its data', () =>
  expect(Buffer.byteLength(pages['the plan quiet'] as string)).toBeLessThan(20_000));

test('what gets into a page all the same neither runs nor looks nor calls home', () =>
  open(pages['the plan mixed'] as string, {}, async ({ page, asked }) => {
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<img src="https://evil.example/a"><p id="p" style="display: none">p</p><button onclick="ran = 1">b</button>')`,
    );
    await page.evaluate(
      "document.body.append(Object.assign(document.createElement('script'), { textContent: 'ran = 1' }))",
    );
    await page.getByRole('button', { name: 'b', exact: true }).click();
    expect(
      await page.evaluate("[typeof ran, getComputedStyle(document.getElementById('p')).display]"),
    ).toEqual(['undefined', 'block']);
    expect(asked).toEqual([]);
  }));

describe('the filter', () => {
  const addresses = (page: Page): Promise<readonly string[]> =>
    page.locator('#changes .item:visible .address').allTextContents();

  test('by kind, by action and by text, and all again', () =>
    open(planPage(mixed), {}, async ({ page }) => {
      expect(await addresses(page)).toHaveLength(9);
      await page.getByLabel('Kind').selectOption('accounts');
      await expect.poll(() => addresses(page)).toEqual(['accounts.field-ops', 'accounts.hq']);
      expect(await page.locator('#requests li:visible').count()).toBe(1);
      expect(await page.locator('.group:visible h3').allTextContents()).toEqual([
        'Creates 3',
        'Adopts, which exist and are managed from now on 2',
      ]);
      await page.getByLabel('Action').selectOption('adopt');
      await expect.poll(() => addresses(page)).toEqual(['accounts.hq']);
      await expect.poll(() => page.locator('#found').textContent()).toBe('Shown: 1 of 9');
      await page.getByRole('button', { name: 'Show all' }).click();
      await expect.poll(() => addresses(page)).toHaveLength(9);
      await page.getByLabel('Text').fill('OLD PAGER');
      await expect.poll(() => addresses(page)).toEqual(['alert_push_destinations.old-pager']);
    }));

  test('finds an object of a group, and counts objects', () =>
    open(pages['the plan many'] as string, {}, async ({ page }) => {
      await page.getByLabel('Text').fill('health["c17"]');
      await expect.poll(() => addresses(page)).toEqual(['alert_rules.health["c00"…"c39"] (40)']);
      expect(await page.locator('#found').textContent()).toMatch(/^Shown: 40 of \d+$/);
    }));

  test('hides requests that no browser numbers anew for each', () =>
    open(planPage(mixed), {}, async ({ page }) => {
      expect(
        await page.evaluate(
          "[...new Set([...document.querySelectorAll('[data-kind]')].map((one) => getComputedStyle(one).display))].toSorted()",
        ),
      ).toEqual(['block']);
    }));

  test('with the keyboard alone, focus in sight', () =>
    open(planPage(mixed), {}, async ({ page }) => {
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.className')).toBe('skip');
      await page.getByLabel('Text').focus();
      await page.keyboard.type('old-pager');
      await expect.poll(() => addresses(page)).toEqual(['alert_push_destinations.old-pager']);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      const outline = await page.evaluate(
        '[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]',
      );
      expect(outline).toEqual(['SUMMARY', 'solid']);
      await page.keyboard.press('Enter');
      await expect.poll(() => page.locator('#changes .item:visible table').isVisible()).toBe(false);
    }));
});

test('on paper everything is opened and nothing is there to be pressed', () =>
  open(renderDrift(many(20), 'html', style), {}, async ({ page }) => {
    expect(await page.locator('#drift table').first().isVisible()).toBe(false);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('#drift table').first().isVisible()).toBe(true);
    expect(await page.locator('#filter').isVisible()).toBe(false);
  }));

function many(count: number): ReturnType<typeof driftDocument> {
  const [busy] = audits.drift.drift as readonly [DriftRecord];
  const records = Array.from({ length: count }, (_, index) => ({
    ...busy,
    address: `${busy.address}-${index}`,
    // Equal ones would be one group.
    changes: busy.changes.map((one) => ({ ...one, live: index })),
  }));
  return driftDocument({
    drift: records,
    in_sync: [],
    unmanaged: {},
    unmanaged_objects: [],
    health: [],
    expectations: [],
    access: null,
    diagnostics: [],
    meta,
  });
}

test('access is a row a user and a column an account, or a row an authorization', async () => {
  const cells = (html: string): Promise<readonly string[]> =>
    open(html, {}, ({ page }) => page.locator('#access td').allTextContents());
  const whole = await cells(pages['the audit audited'] as string);
  expect(whole).toHaveLength(12);
  expect([whole[1], whole[5], whole[6], whole[7]]).toEqual([
    'administrator≠ declared: full_access_user',
    'administratorfrom Headquarters',
    'administratorfrom Headquartersown: full_access_user, no_access≠ declared: read_only_user',
    'none',
  ]);
  expect(await cells(pages['an audit of more access than a matrix holds'] as string)).toHaveLength(
    14,
  );
});

describe('text from anywhere stays text', () => {
  /** Elements by name, with the classes and attributes that they have. */
  const skeleton = (page: Page): Promise<string> =>
    page.evaluate(
      "[...document.querySelectorAll('*')].map((one) => `${one.tagName} ${one.className} ${one.getAttributeNames().toSorted()}`).join('\\n')",
    );

  test('in an audit', () =>
    open(
      renderDrift(hostileAudit('harmless text'), 'html', style),
      {},
      async ({ page, asked, said }) => {
        const calm = await skeleton(page);
        for (const text of hostile.filter((one) => !/^$|\n/.test(one))) {
          await page.route(
            '**/next',
            (route) =>
              route.fulfill({
                contentType: 'text/html',
                body: renderDrift(hostileAudit(text), 'html', style),
              }),
            { times: 1 },
          );
          await page.goto('https://report.example/next');
          expect([text, await skeleton(page), asked, said]).toEqual([text, calm, [], []]);
        }
      },
    ));

  test('in a plan, where what was meant is still to be read', async () => {
    const [first] = mixed.changes as readonly [Change];
    const attack =
      '</code></details><script>alert(1)</script><img src=//evil.example/x onerror=alert(1)>';
    await open(
      planPage({
        ...mixed,
        changes: [{ ...first, reason: attack, address: `accounts.${attack}` }],
      }),
      {},
      async ({ page, asked, said }) => {
        expect(await page.locator('#changes .address').textContent()).toBe(`accounts.${attack}`);
        expect([asked, said]).toEqual([[], []]);
      },
    );
  });
});

test('five thousand changes paint their beginning while the rest is never laid out', () =>
  open(renderDrift(many(5000), 'html', style), {}, async ({ page }) => {
    expect(await page.locator('.item').count()).toBe(5000);
    const skipped = await page.evaluate<number>(
      "[...document.querySelectorAll('.item summary')].filter((one) => !one.checkVisibility({ contentVisibilityAuto: true })).length",
    );
    expect(skipped).toBeGreaterThan(4900);
    await page.getByLabel('Text').fill('busy-4999');
    await expect.poll(() => page.locator('#found').textContent()).toBe('Shown: 1 of 5000');
  }));
