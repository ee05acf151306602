// A report as one file for a browser: the summary first, links to each section, the filter, and a content policy that
// allows only the styles and scripts written here. It loads nothing from the network.
import { createHash } from 'node:crypto';
import { compareText, type DocumentHead } from '../model/index.js';
import { codes, markup, moment, raw, type Markup } from './markup.js';
import { pageScript } from './html-script.js';
import { pageStyle } from './html-style.js';
import type { Style } from './style.js';
import { cloudSentence, COMPARED, plural } from './words.js';

/** A count with its words and the class of its colour. */
type Count = readonly [count: number, words: string, tone?: string | undefined];

interface Section {
  /** The fragment of the URL that leads to it. */
  readonly id: string;
  readonly title: string;
  readonly count: number | undefined;
  readonly content: readonly Markup[];
}

export const pageSection = (
  id: string,
  title: string,
  content: readonly Markup[],
  count?: number,
): Section => ({ id, title, content, count });

interface PageContent {
  readonly sentence: string;
  readonly counts: readonly Count[];
  /** In their order; those without content are left out. */
  readonly sections: readonly Section[];
}

interface Page extends PageContent {
  readonly kind: 'plan' | 'drift' | 'access';
  readonly document: DocumentHead;
  readonly style: Style;
}

interface HtmlPage extends PageContent {
  /** The command. */
  readonly kind: string;
  /** Below the counts. */
  readonly about: Markup;
  /** The paragraphs at the end. */
  readonly foot: Markup;
  /** The page that this one belongs to. */
  readonly above?: Markup | undefined;
}

/** How every page begins, so that one can be told from what is none. */
export const PAGE_START = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="trueup">
`;

const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const policy = `default-src 'none'; style-src ${hashOf(pageStyle)}; script-src ${hashOf(pageScript)}; base-uri 'none'; form-action 'none'`;

export const page = ({ document, style: { tenant }, ...content }: Page): string =>
  htmlPage({
    ...content,
    sentence: tenant ? `${tenant.name}: ${content.sentence}` : content.sentence,
    above: tenant && markup`<a href="${tenant.fleet}">All tenants</a>`,
    about: sourceOf(document),
    foot: markup`<p>Declared in ${codes(document.generated_from.paths)}${stateOf(document)} · trueup ${document.trueup_version}</p>
${document.compared ? undefined : markup`<p>Read with ${requestsOf(document)}</p>\n`}`,
  });

export function htmlPage({
  kind,
  sentence,
  counts,
  sections,
  about,
  foot,
  above,
}: HtmlPage): string {
  const shown = sections.filter(({ content }) => content.length > 0);
  return markup`${raw(PAGE_START)}<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${sentence}</title>
<style>${raw(pageStyle)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="kicker">trueup ${kind}</p>
<h1>${sentence}</h1>
<ul class="counts">
${counts.map(([count, words, tone]) => markup`<li${raw(tone === undefined || count === 0 ? '' : ` class="${tone}"`)}><b>${count}</b> ${words}</li>\n`)}</ul>
<p class="about">${about}</p>
</header>
<nav aria-label="Sections"><ul>
${above && markup`<li>${above}</li>\n`}${shown.map(({ id, title, count }) => markup`<li><a href="#${id}">${title}</a>${numberOf(count)}</li>\n`)}</ul></nav>
<main id="main">
${shown.map(sectionOf)}</main>
<footer>
${foot}</footer>
<script>${raw(pageScript)}</script>
</body>
</html>
`.markup;
}

const sourceOf = (document: DocumentHead): Markup =>
  document.compared
    ? markup`${COMPARED} ${moment(document.generated_at)}`
    : markup`Cloud <code>${cloudSentence(document)}</code>, read ${moment(document.generated_at)}`;

function stateOf({ compared, state }: DocumentHead): Markup | undefined {
  if (compared) return undefined;
  return state.lineage === null
    ? markup` · no state`
    : markup` · state <code>${state.lineage}</code>, serial ${state.serial}`;
}

function requestsOf({ api_requests }: DocumentHead): string {
  const all = Object.entries(api_requests).toSorted(([a], [b]) => compareText(a, b));
  const sum = all.reduce((total, [, count]) => total + count, 0);
  const each = all.map(([name, count]) => `${name} ${count}`).join(', ');
  return sum === 0 ? plural(sum, 'request') : `${plural(sum, 'request')}: ${each}`;
}

const numberOf = (count: number | undefined): Markup | undefined =>
  count === undefined ? undefined : markup` <span class="number">${count}</span>`;

const sectionOf = ({ id, title, count, content }: Section): Markup =>
  markup`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}${numberOf(count)}</h2>
${content}</section>
`;
