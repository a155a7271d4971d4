"""The embedded ledger: one Sawtooth node in one process, same bytes and same answers."""
