"""Questions to the ledger, before the gateway submits batches and before it signs a receipt.

`LedgerFacts` remembers only answers that cannot change: a key once registered
stays known, a trip once started exists, a committed transaction stays
committed. When the ledger goes back, `LedgerFacts` forgets them all.
"""

from collections.abc import Callable
from typing import Final

from contracts import address
from contracts.ledger.client import LedgerClient
from contracts.proto.state_pb2 import Chain, Key
from contracts.proto.wire_pb2 import ReceiptBody, StoredRecording
from gateway.records.records import Records

REMEMBERED_MAX: Final = 65_536


class LedgerFacts:
    """Asks one ledger, and remembers what it answered; used by one thread.

    Raises:
        UnavailableError: The ledger did not answer.
    """

    def __init__(self, ledger: LedgerClient) -> None:
        self._ledger = ledger
        self._yes: set[str] = set()

    def is_device_key(self, public_key: str) -> bool:
        """Say whether a key is or was the key of a registered device."""
        return self._ask(f"key {public_key}", lambda: self._owned_by_device(public_key))

    def has_trip(self, trip_id: str) -> bool:
        """Say whether a trip was started."""
        place = address.trip(trip_id)
        return self._ask(f"trip {trip_id}", lambda: self._ledger.state(place) is not None)

    def has_transaction(self, transaction_id: str) -> bool:
        """Say whether a transaction is committed."""
        return self._ask(transaction_id, lambda: self._ledger.has_transaction(transaction_id))

    def chain(self, trip_id: str, device_id: str) -> Chain:
        """Return the present state of a device's chain on a trip; empty if there is no chain."""
        entry = self._ledger.state(address.chain(trip_id, device_id))
        return Chain.FromString(entry) if entry is not None else Chain()

    def forget(self) -> None:
        """Forget every answer: the ledger went back."""
        self._yes.clear()

    def _owned_by_device(self, public_key: str) -> bool:
        entry = self._ledger.state(address.key(public_key))
        return entry is not None and Key.FromString(entry).owner == Key.DEVICE

    def _ask(self, question: str, answer: Callable[[], bool]) -> bool:
        if question in self._yes:
            return True
        if not answer():
            return False
        if len(self._yes) >= REMEMBERED_MAX:
            self._yes.clear()
        self._yes.add(question)
        return True


class Completed:
    """Tells from the ledger and the records whether a visit is committed, and how deep."""

    def __init__(self, facts: LedgerFacts, records: Records) -> None:
        self._facts = facts
        self._records = records

    def body(self, trip_id: str, device_id: str) -> ReceiptBody | None:
        """Return the ledger's part of a visit's receipt, or None while something is not committed.

        It holds only the hash of each recording.
        """
        chain = self._facts.chain(trip_id, device_id)
        seal = chain.seal
        if not chain.HasField("seal") or (chain.count, chain.head_sha256) != (
            seal.reading_count,
            seal.head_sha256,
        ):
            return None
        if any(sealed.sha256 not in chain.recorded_videos for sealed in seal.recordings):
            return None
        completion = self._records.visits.completed_in(trip_id, device_id, chain)
        if completion is None:
            return None
        return ReceiptBody(
            device_id=device_id,
            trip_id=trip_id,
            reading_count=seal.reading_count,
            head_sha256=seal.head_sha256,
            seal_transaction_id=chain.seal_transaction_id,
            recordings=[StoredRecording(sha256=sealed.sha256) for sealed in seal.recordings],
            block_num=completion.block_num,
            block_id=completion.block_id,
            genesis_id=completion.genesis_id,
        )

    def confirmations(self, body: ReceiptBody) -> int | None:
        """Return how many blocks follow a receipt's block; None if the ledger lacks the block."""
        blocks = self._records.blocks
        head = blocks.head()
        if head is None or not blocks.has(body.block_num, body.block_id):
            return None
        # After a fork the index may be cut back between the two questions.
        return max(0, head.block_num - body.block_num)
