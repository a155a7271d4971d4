"""`wayseal-bench offload`: trucks to ledger, the whole way, and where the time goes."""
