"""Our own figures beside the limits of the machine: `make bench-ledger`, `make bench-storage`."""
