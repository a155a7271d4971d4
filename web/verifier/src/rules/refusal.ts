/** A transaction that breaks a rule (docs/contract.md, "Rules"): its batch would not be committed. */
export class Refusal extends Error {
  readonly rule: string;

  constructor(rule: string, detail: string) {
    super(`${rule}: ${detail}`);
    this.rule = rule;
  }
}

/** Refuses unless something holds. */
export function must(holds: unknown, rule: string, detail: string): asserts holds {
  if (!holds) throw new Refusal(rule, detail);
}
