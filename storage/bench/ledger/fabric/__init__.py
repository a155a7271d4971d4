"""Hyperledger Fabric as a ledger of the benchmark: by a peer's Gateway, with our chaincode.

Needs the extra `fabric`. `gateway` is the only importer of `grpc`.
"""

import os

# What gRPC notes on standard error for each handshake that fails stands in our own error too.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
