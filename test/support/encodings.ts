// How libraries of many languages write a text into JSON, URLs, forms, pages and base64. What a service repeats of a
// secret comes in any of these, or in one inside another.

export type Encode = (text: string) => string;

const json: Encode = (text) => JSON.stringify(text).slice(1, -1);
const hexOf = (character: string): string => (character.codePointAt(0) as number).toString(16);
/** Each UTF-16 unit of what matches as `\u` and four digits. */
const units = (text: string, which: RegExp, cased: Encode = (hex) => hex): string =>
  text.replace(which, (unit) => `\\u${cased(hexOf(unit).padStart(4, '0'))}`);
const upper: Encode = (hex) => hex.toUpperCase();
const percent: Encode = (text) => encodeURIComponent(text);
const percentOf = (text: string, which: RegExp): string =>
  text.replace(which, (character) => `%${hexOf(character).toUpperCase()}`);
const referred = (text: string, references: Readonly<Record<string, string>>): string =>
  Array.from(text, (character) => references[character] ?? character).join('');
const html = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const base64: Encode = (text) => Buffer.from(text).toString('base64');

/** What escapes characters, and leaves the others as they are. */
export const escapes: Readonly<Record<string, Encode>> = {
  'no escape': (text) => text,
  JSON: json,
  'JSON of Go': (text) => units(json(text), /[&<>]/g),
  'JSON of Go in upper case': (text) => units(json(text), /[&<>]/g, upper),
  'JSON of PHP': (text) => json(text).replaceAll('/', '\\/'),
  'JSON of Gson': (text) => units(json(text), /[&<>=']/g),
  'JSON of ASCII alone': (text) => units(json(text), /[\u007f-\uffff]/g),
  'JSON of ASCII alone in upper case': (text) => units(json(text), /[\u007f-\uffff&<>']/g, upper),
  'JavaScript of Django': (text) => units(text, /[\\'"<>&=\-;`]/g, upper),
  'JavaScript with bytes': (text) =>
    text.replace(/[\\'"<>&\n]/g, (character) => `\\x${hexOf(character).padStart(2, '0')}`),
  'code points in braces': (text) =>
    text.replace(/[\\"\u{80}-\u{10ffff}]/gu, (c) => `\\u{${hexOf(c)}}`),
  'a URL': percent,
  'a URL in lower case': (text) =>
    percent(text).replace(/%../g, (escaped) => escaped.toLowerCase()),
  'a URL of RFC 3986': (text) => percentOf(percent(text), /[!'()*]/g),
  'a URL of Python': (text) => percentOf(percent(text).replaceAll('%2F', '/'), /[!'()*]/g),
  'a whole URL': (text) => encodeURI(text),
  'a form': (text) => new URLSearchParams([['', text]]).toString().slice(1),
  'HTML of Python': (text) => referred(text, { ...html, "'": '&#x27;' }),
  'HTML of Handlebars': (text) =>
    referred(text, { ...html, "'": '&#x27;', '`': '&#x60;', '=': '&#x3D;' }),
  'HTML of Mustache': (text) =>
    referred(text, { ...html, "'": '&#39;', '`': '&#x60;', '=': '&#x3D;', '/': '&#x2F;' }),
  'HTML of Go': (text) => referred(text, { ...html, '"': '&#34;', "'": '&#39;', '+': '&#43;' }),
  'HTML of PHP': (text) => referred(text, { ...html, "'": '&#039;', é: '&eacute;' }),
  'HTML with names alone': (text) =>
    referred(text, { ...html, "'": '&apos;', '+': '&plus;', '/': '&sol;', '\n': '&NewLine;' }),
  'HTML, hexadecimal and padded': (text) =>
    text.replace(/[&<>"'é]/g, (character) => `&#x${hexOf(character).padStart(4, '0')};`),
  'HTML, decimal and padded': (text) =>
    text.replace(
      /[&<>"']/g,
      (character) => `&#${String(character.charCodeAt(0)).padStart(5, '0')};`,
    ),
  'HTML of OWASP': (text) =>
    text.replace(/[^A-Za-z0-9]/gu, (character) => `&#x${hexOf(character)};`),
  'HTML of UTF-16': (text) =>
    text.replace(/[&<>"'\u0080-\uffff]/g, (character) => `&#${character.charCodeAt(0)};`),
};

/** What a text, a page or a form makes of line breaks. */
export const breaks: Readonly<Record<string, Encode>> = {
  'line breaks of its own': (text) => text,
  'line breaks of Windows': (text) => text.replaceAll('\n', '\r\n'),
  'blanks for line breaks': (text) => text.replaceAll('\n', ' '),
  'elements for line breaks': (text) => text.replaceAll('\n', '<br>'),
  'lines that are quoted': (text) => text.replaceAll('\n', '\n| '),
};

export const encodings: Readonly<Record<string, Encode>> = {
  ...escapes,
  'a URL inside a URL': (text) => percent(percent(text)),
  'JSON inside JSON': (text) => json(json(text)),
  'HTML inside HTML': (text) => escapes['HTML of Go']!(escapes['HTML of Go']!(text)),
  'a form inside JSON': (text) => json(escapes['a form']!(text)),
  'HTML inside JSON': (text) => json(escapes['HTML of PHP']!(text)),
  'numbers without a semicolon': (text) =>
    text.replace(/[&<>"'=/+*!]/g, (character) => `&#${character.charCodeAt(0)}`),
  base64,
  'base64 without padding': (text) => base64(text).replace(/=+$/, ''),
  'base64 of URLs': (text) => Buffer.from(text).toString('base64url'),
  'base64 of URLs with padding': (text) => base64(text).replaceAll('+', '-').replaceAll('/', '_'),
  'base64 in a URL': (text) => percent(base64(text)),
  'base64 after a user': (text) => base64(`user:${text}`),
  'base64 in the middle': (text) => base64(`Bearer ${text}\n`),
};
