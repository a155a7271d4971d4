"""The index: a cache of the ledger that answers questions, rebuilt by following blocks."""
