"""A node that cuts snapshots into many chunks, and may lie about them.

Its data directory says how: `node1` sends chunks cut short, `node2` other batches under the right
ids, `node3` none, and never answers either. All others are honest.
"""

import logging
import sys
import threading
from typing import Final

from contracts.keys import Signer
from contracts.ledger.cometbft.snapshots import partition
from contracts.ledger.cometbft.snapshots.chunks import decode_chunk, encode_chunk
from contracts.ledger.cometbft.snapshots.offering import Offering
from contracts.ledger.options import parse_options
from contracts.ledger.wayseal_node import run
from contracts.proto.abci_pb2 import RequestLoadSnapshotChunk, ResponseLoadSnapshotChunk
from support.ledgers.intkey_node import FAMILIES
from support.ledgers.nodes import intkey_batch
from support.ledgers.snapshots import forged

STRANGER: Final = Signer.from_hex("77" * 32)
CHUNK_BLOCKS: Final = 1
_honest: Final = Offering.load_snapshot_chunk


def _cut(offering: Offering, request: RequestLoadSnapshotChunk) -> ResponseLoadSnapshotChunk:
    return ResponseLoadSnapshotChunk(chunk=_honest(offering, request).chunk[:-1])


def _forge(offering: Offering, request: RequestLoadSnapshotChunk) -> ResponseLoadSnapshotChunk:
    (piece,) = decode_chunk(_honest(offering, request).chunk)
    if piece.number:  # the first block is taken from the network file
        piece = forged(piece, [intkey_batch(STRANGER, 10_000 + piece.number)])
    return ResponseLoadSnapshotChunk(chunk=encode_chunk([piece]))


def _hang(_: Offering, __: RequestLoadSnapshotChunk) -> ResponseLoadSnapshotChunk:
    threading.Event().wait()
    raise AssertionError


LIES: Final = {"node1": _cut, "node2": _forge, "node3": _hang}

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    options = parse_options(sys.argv[1:])
    partition.CHUNK_BLOCKS = CHUNK_BLOCKS  # type: ignore[misc]  # shorter for this test
    Offering.load_snapshot_chunk = LIES.get(options.data.name, _honest)  # type: ignore[assignment, method-assign]  # a lie
    sys.exit(run(options, FAMILIES))
