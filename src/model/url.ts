// Parses URLs by the WHATWG rules, as every client does, in one way for checks, policy and transport.

/** 127.0.0.0/8, ::1 and localhost: the only hosts that plain http may speak to. */
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

/** Host of a URL; undefined if the text is not a URL. */
export const hostOf = (url: string): string | undefined => urlFrom(url)?.hostname;
