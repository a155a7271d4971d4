"""An EVM as a ledger of the benchmark: by JSON-RPC, with a contract of our own. Extra `evm`."""
