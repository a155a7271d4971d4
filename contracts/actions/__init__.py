"""Actions: what parties and devices sign, how it is encoded, and how the ledger applies it."""
