/** Words for payments, as events and REST write them. */
export const Payment: Record<number, string> = { 0: "none", 1: "due", 2: "released", 3: "withheld" };
