"""The ledger: a client for any Sawtooth REST API, and the embedded node that answers like one."""
