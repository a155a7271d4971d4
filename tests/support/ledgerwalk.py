"""What a ledger really holds, read block by block."""

from collections import Counter

from contracts.encoding import parse
from contracts.ledger import LedgerClient
from contracts.payload import decode
from contracts.proto.payload_pb2 import RecordReading, RecordVideo
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.sawtooth.blocks import NULL_BLOCK_ID
from gateway.index.projection import our_transactions


def committed(ledger_url: str) -> tuple[Counter[tuple[str, int]], Counter[tuple[str, bytes]]]:
    """Return how often each reading (trip, sequence) and each video (trip, hash) is committed.

    Checks on the way that every block follows the one before it.
    """
    readings: Counter[tuple[str, int]] = Counter()
    videos: Counter[tuple[str, bytes]] = Counter()
    before = NULL_BLOCK_ID
    ledger = LedgerClient(ledger_url)
    try:
        for found in ledger.committed(0):
            header = parse(BlockHeader, found.block.header)
            assert header.previous_block_id == before
            before = found.block.header_signature
            for _, _, transaction, _ in our_transactions(found):
                _count(decode(transaction.payload), readings, videos)
    finally:
        ledger.close()
    return readings, videos


def _count(
    action: object, readings: Counter[tuple[str, int]], videos: Counter[tuple[str, bytes]]
) -> None:
    if isinstance(action, RecordReading):
        readings[action.trip_id, action.sequence] += 1
    elif isinstance(action, RecordVideo):
        videos[action.trip_id, action.sha256] += 1
