// Parses URLs by the WHATWG rules, as every client does, in one way for checks, policy and transport.
import { isCredentialName, isSecretName } from './secret-names.js';

/** 127.0.0.0/8, ::1 and localhost: the only hosts that plain http may reach. */
export function isLoopback(url: URL): boolean {
  return (
    url.hostname === 'localhost' ||
    url.hostname === '[::1]' ||
    /^127(?:\.\d{1,3}){3}$/.test(url.hostname)
  );
}

/**
 * A text as a URL; undefined if it is not one. (`URL.canParse` of Node 20 refuses any text with letters from U+0080 to
 * U+00FF once V8 has optimised the call.)
 */
export function urlFrom(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Whether a text is the address of something on a network, and not a path. */
export const isAddress = (text: string): boolean => /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(text);

/** Whether a URL shows a password: to everybody who reads a file, a command line or a message. */
export const holdsPassword = ({ password, searchParams }: URL): boolean =>
  password !== '' ||
  [...searchParams.keys()].some((name) => isCredentialName(name) || isSecretName(name));

/** What a text was meant to be that is the address of a state but for a colon or a slash; undefined for any other text. */
function addressMeant(text: string): string | undefined {
  const [, scheme = '', rest = ''] =
    /^(s3|postgres(?:ql)?|https?)(?::\/(?!\/)|\/\/)\/*(.*)$/is.exec(text) ?? [];
  if (scheme === '') return undefined;
  const start = `${scheme.toLowerCase()}://`;
  const url = urlFrom(start + rest);
  return url && !holdsPassword(url) ? start + rest : `${start}…`;
}

/** The error about the location of a state that would be taken for a path; undefined where there is none. @param named what names the location */
export function addressMistyped(named: string, location: string) {
  const meant = addressMeant(location);
  if (meant === undefined) return undefined;
  const summary = `${named} looks like an address, but would be a path`;
  return { code: 'bad-address', summary, detail: `Did you mean ${meant}?` };
}

/** Host of a URL; undefined if the text is not a URL. */
export const hostOf = (url: string): string | undefined => urlFrom(url)?.hostname;
