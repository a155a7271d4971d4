/** Why evidence does not hold. */
export interface Problem {
  /** Number of the check in docs/evidence.md; 0 is the container itself, 17 what was asked. */
  check: number;
  /** The rule that a transaction breaks, or that a finding names. */
  rule?: string;
  /** What it is about: a trip, a recording, an address, the number of a block, the id of a batch … */
  about?: string;
  text: string;
}

/** A problem after which nothing more can be checked. */
export class Failure extends Error {
  readonly problem: Problem;

  constructor(check: number, text: string, more: { rule?: string; about?: string } = {}) {
    super(text);
    this.problem = { check, text, ...more };
  }
}

/** The file, the keys or a video could not be read: nothing is said about it. */
export class NotChecked extends Error {}

/** The file does not begin as evidence does. */
export class NoEvidence extends Error {}

export const short = (id: string): string => `${id.slice(0, 16)}…`;
