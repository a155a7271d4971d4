"""The index: a cache of the ledger, built by following blocks; gateway/records asks it."""
