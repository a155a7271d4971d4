"""Port: the state after one block, for readers."""

from collections.abc import Iterator
from typing import Protocol

from contracts.errors import RejectedError
from contracts.sawtooth.nodes import StateTreeNode


class NotKeptError(RejectedError):
    """The state after that block is no longer kept."""


class StateReader(Protocol):
    """Reads the state after one block; safe in any thread.

    Every method raises `NotKeptError` once newer blocks have pushed that state out.
    """

    def get(self, address: str) -> bytes | None:
        """Return the value at `address`, 70 hexadecimal digits; None if the address is empty."""
        ...

    def leaves(
        self, prefix: str = "", start: str = "", *, reverse: bool = False
    ) -> Iterator[tuple[str, bytes]]:
        """Yield the addresses under `prefix` with their values, in order of addresses.

        Args:
            prefix: Beginning of the addresses, whole bytes as hexadecimal digits.
            start: First address; empty means the lowest, or the highest in reverse.
            reverse: From the highest address down.
        """
        ...

    def way(self, target: str) -> Iterator[StateTreeNode]:
        """Yield the tree's root and the branches above an address, which prove what lies there.

        The last node proves it if the address is not set.

        Args:
            target: An address, or the beginning of addresses; whole bytes as hexadecimal digits.
        """
        ...
