"""The port to a ledger engine: hand over batches, and hear what became of them."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class Driver(Protocol):
    """One connection to a ledger; one call at a time. Calls may be repeated without harm."""

    async def submit(self, batches: Sequence[bytes]) -> int:
        """Hand over serialised batches; return once the ledger holds them.

        Batches of one driver reach the ledger in their order. A ledger that says that it has too
        much to do is asked again.

        Returns:
            How often it was too busy.

        Raises:
            RejectedError: It refuses them for good.
            UnavailableError: No answer.
        """
        ...

    async def decided(self, batch_ids: Sequence[str]) -> Mapping[str, str]:
        """Wait a second at most for the first of these to be decided; return all that are by now.

        Args:
            batch_ids: Of batches that the ledger holds, the oldest first; at least one.

        Returns:
            By id, why a batch never will be committed; empty when it is committed.

        Raises:
            UnavailableError: No answer.
        """
        ...

    def close(self) -> None:
        """End the connection."""
        ...
