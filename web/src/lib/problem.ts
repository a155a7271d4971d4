/** An answer that is not the one that was asked for, with words for people. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    detail: string,
  ) {
    super(detail);
  }

  /** The gateway refuses this to the caller's role. */
  get isForbidden(): boolean {
    return this.status === 403;
  }

  get isMissing(): boolean {
    return this.status === 404;
  }
}

/** Nothing answered, so there is no status. */
export const NO_ANSWER = 0;

export function unreachable(error: unknown): Problem {
  const why = error instanceof Error ? error.message : String(error);
  return new Problem(NO_ANSWER, "The gateway does not answer", why);
}

export async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text();
  try {
    const told: { title?: string; detail?: string } = JSON.parse(text);
    return new Problem(response.status, told.title ?? response.statusText, told.detail ?? text);
  } catch {
    return new Problem(response.status, response.statusText, text.slice(0, 300));
  }
}
