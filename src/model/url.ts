// Parses URLs by the WHATWG rules, as every client does, in one way for checks, policy and transport.

/** 127.0.0.0/8, ::1 and localhost: the only hosts that plain http may speak to. */
export function isLoopback(url: URL): boolean {
  return (
    url.hostname === 'localhost' ||
    url.hostname === '[::1]' ||
    /^127(?:\.\d{1,3}){3}$/.test(url.hostname)
  );
}

/** Host of a URL; undefined if the text is not a URL. */
export const hostOf = (url: string): string | undefined =>
  URL.canParse(url) ? new URL(url).hostname : undefined;
