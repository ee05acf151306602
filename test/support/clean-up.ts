/** What each test has to end or remove. The setup of every file does so, in reverse order. */
export const cleanUp: (() => Promise<void> | void)[] = [];
