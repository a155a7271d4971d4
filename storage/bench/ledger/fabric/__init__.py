"""Hyperledger Fabric as a ledger of the benchmark: by a peer's Gateway, with our chaincode.

Needs the extra `fabric`. `gateway` is the only importer of `grpc`.
"""

import os

# gRPC notes each handshake that fails on standard error; our own error has those words too.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
