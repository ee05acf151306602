// HTML and XML by template: filled-in text may come from anywhere, so it is shortened, made visible and escaped, unless
// it is markup already. Text from outside contains no line feed, so every line begins with trueup's own text.
import { inert, shorten } from './escaping.js';

export interface Markup {
  readonly markup: string;
}

type Filling = string | number | undefined | Markup | readonly Filling[];

/** Characters of one text; nobody reads more, and a value of ten megabytes must not make a page of as much. */
const longest = 2000;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\ufffe': '\\ufffe',
  '\uffff': '\\uffff',
  '\n': '\\n',
};

function fill(filling: Filling): string {
  if (typeof filling === 'string')
    return inert(shorten(filling, longest)).replace(
      /[&<>"'\n\ufffe\uffff]/g,
      (found) => entities[found]!,
    );
  if (typeof filling === 'number') return String(filling);
  if (filling === undefined) return '';
  return 'markup' in filling ? filling.markup : filling.map(fill).join('');
}

/** `undefined` fills in nothing; a list fills in all of its members. */
export function markup(strings: TemplateStringsArray, ...fillings: readonly Filling[]): Markup {
  return {
    markup: strings.reduce((text, string, index) => text + fill(fillings[index - 1]) + string),
  };
}

/** trueup's own text, inserted as it is. */
export const raw = (text: string): Markup => ({ markup: text });

/** One name, or empty. */
export const codeOf = (name: string | null | undefined): Markup | undefined =>
  typeof name === 'string' ? markup`<code>${name}</code>` : undefined;

/** Names in HTML, with commas between. */
export const codes = (all: readonly string[]): Markup =>
  markup`${all.map((one, index) => markup`${index === 0 ? '' : ', '}${codeOf(one)}`)}`;

/** A sentence whose times are for people. */
export const withCode = (sentence: string): Markup =>
  markup`${sentence.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/).map((part, index) => (index % 2 === 1 ? moment(part) : part))}`;

/** A time as people read it; what is no time of ISO 8601 in UTC stands as it is. */
export function moment(time: string): Markup {
  const [, day, clock] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(time) ?? [];
  return day === undefined
    ? markup`${time}`
    : markup`<time datetime="${time}">${day} ${clock} UTC</time>`;
}
