"""`wayseal-bench ledger`: transactions per second and time to commit of each ledger."""
