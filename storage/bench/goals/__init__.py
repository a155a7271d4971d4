"""Our own figures beside their goals: `make bench-ledger` and `make bench-storage`."""
