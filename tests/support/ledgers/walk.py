"""Counts the records on a ledger by reading it block by block."""

from collections import Counter
from collections.abc import Iterator

from contracts.actions.payload import FAMILIES, decode
from contracts.actions.table import Action
from contracts.encoding import parse
from contracts.ledger.client import LedgerClient
from contracts.ledger.pages import Committed
from contracts.proto.payload_pb2 import RecordVideo
from contracts.proto.sawtooth_pb2 import BlockHeader, Transaction
from contracts.sawtooth.batches import Family, parse_header
from contracts.sawtooth.blocks import NULL_BLOCK_ID
from support.trucks.truck import records_in


def transactions_of(found: Committed) -> Iterator[Transaction]:
    """Yield the transactions of a block, in the order of its receipts."""
    for batch in found.block.batches:
        yield from batch.transactions


def committed(
    ledger_url: str, device_id: str = ""
) -> tuple[Counter[tuple[str, int]], Counter[tuple[str, bytes]]]:
    """Return how often each reading (trip, sequence) and each video (trip, hash) is committed.

    Checks on the way that every block follows the one before it.

    Args:
        ledger_url: Where to ask.
        device_id: Whose readings and videos count; empty for those of all devices.
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
            for transaction in transactions_of(found):
                if Family.of(parse_header(transaction)) not in FAMILIES:
                    continue
                action = decode(transaction.payload)
                if device_id in ("", getattr(action, "device_id", "")):
                    _count(action, readings, videos)
    finally:
        ledger.close()
    return readings, videos


def _count(
    action: Action, readings: Counter[tuple[str, int]], videos: Counter[tuple[str, bytes]]
) -> None:
    for record in records_in(action):
        readings[record.trip_id, record.sequence] += 1
    if isinstance(action, RecordVideo):
        videos[action.trip_id, action.sha256] += 1
