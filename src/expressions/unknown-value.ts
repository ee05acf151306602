// What an expression must not use: what is read from the service, and secrets. A comparison with it would be false,
// whatever the value turns out to be.

export class UnknownValue {
  /**
   * @param problem what is said where an expression uses it
   * @param code the code of that error
   */
  constructor(
    readonly problem: string,
    readonly code: 'live-reference' | 'misplaced-secret' | 'bad-reference',
  ) {}
}
