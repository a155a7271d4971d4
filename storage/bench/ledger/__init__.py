"""`wayseal-bench ledger`: how many transactions a ledger takes, and how soon it commits them."""
