"""`make bench-ledger`: what one node commits, keeps and gives back, beside its targets."""
