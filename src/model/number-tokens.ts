// A known bug of cdktf and cdktn: a number that is known only later stands in strings as digits (`acc--8.1e+298`), and
// the libraries do not find it beside a dash, a digit or a dot. Constructs see it in props, stacks in what was synthesised.

/** What is wrong with a value that has such digits, and the way out. */
export const lostNumberToken = {
  what: 'holds the digits of a number token: the library does not find one beside a dash, a digit or a dot',
  advice: 'Convert it first: `Token.asString(…)`.',
};

/** Whether a synthesised text holds the digits of a number token, or of an item of a list of numbers. */
export const holdsNumberToken = (text: string): boolean =>
  /-(?:8\.1\d*e\+298|1\.88\d*e\+289)/.test(text);
