"""What the gateway asks the ledger before it submits: whose key, which trip, which transaction.

Only answers that cannot change are remembered: a key once registered stays
known, a trip once started exists, a transaction once committed is committed.
Unless the ledger itself goes back; then all is forgotten.
"""

from collections.abc import Callable
from typing import Final

from contracts import address
from contracts.ledger import LedgerClient
from contracts.proto.state_pb2 import Chain, Key

REMEMBERED_MAX: Final = 65_536


class LedgerFacts:
    """Questions to one ledger, with a memory; asked by one thread.

    Raises:
        UnavailableError: The ledger did not answer.
    """

    def __init__(self, ledger: LedgerClient) -> None:
        self._ledger = ledger
        self._yes: set[str] = set()

    def is_device_key(self, public_key: str) -> bool:
        """Say whether a key is, or ever was, one of a registered device."""
        return self._ask(f"key {public_key}", lambda: self._owned_by_device(public_key))

    def has_trip(self, trip_id: str) -> bool:
        """Say whether a trip was started."""
        place = address.trip(trip_id)
        return self._ask(f"trip {trip_id}", lambda: self._ledger.state(place) is not None)

    def has_transaction(self, transaction_id: str) -> bool:
        """Say whether a transaction is committed."""
        return self._ask(transaction_id, lambda: self._ledger.has_transaction(transaction_id))

    def chain(self, trip_id: str, device_id: str) -> Chain:
        """Return how a device's chain on a trip stands now; empty when there is none."""
        entry = self._ledger.state(address.chain(trip_id, device_id))
        return Chain.FromString(entry) if entry is not None else Chain()

    def forget(self) -> None:
        """Ask everything anew: the ledger went back."""
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
