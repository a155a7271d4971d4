"""`wayseal-bench offload`: the whole way from trucks to ledger, with the time of each stage."""
