"""Port: the state that the rules read and write.

Three hosts exist: the embedded node, a sawtooth-sdk transaction processor, and
the verifier. Each confines a transaction to the addresses that its header
declares.
"""

from collections.abc import Mapping
from typing import Protocol

from contracts.errors import RejectedError


class InvalidTransactionError(RejectedError):
    """The rules refuse the transaction, so its whole batch is not committed."""


class Context(Protocol):
    """Global state as one transaction sees it, its own writes included."""

    def get(self, address: str) -> bytes | None:
        """Return the value at `address`, 70 hexadecimal digits, or None.

        Raises:
            InvalidTransactionError: The transaction's inputs do not cover the address.
        """
        ...

    def set(self, address: str, value: bytes) -> None:
        """Put `value` at `address`; it takes effect if the whole batch is valid.

        Raises:
            InvalidTransactionError: The transaction's outputs do not cover the address.
        """
        ...

    def delete(self, address: str) -> None:
        """Remove the value at `address`, if any.

        Raises:
            InvalidTransactionError: The transaction's outputs do not cover the address.
        """
        ...

    def add_event(self, event_type: str, attributes: Mapping[str, str], data: bytes = b"") -> None:
        """Add an event to the transaction's receipt."""
        ...
