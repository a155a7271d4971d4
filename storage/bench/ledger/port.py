"""The port to a ledger engine: submit batches, and learn their fates."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

_BUSY_S: Final = (0.02, 0.04, 0.08, 0.16, 0.32)


def busy_s(answers: int) -> float:
    """Return the pause, seconds, before a ledger that was too busy is asked again.

    Args:
        answers: How often it was too busy before.
    """
    return _BUSY_S[min(answers, len(_BUSY_S) - 1)]


class Driver(Protocol):
    """One connection to a ledger; one call at a time. Calls may be repeated without harm."""

    async def submit(self, batches: Sequence[bytes]) -> int:
        """Submit serialised batches; return once the ledger holds them.

        Batches of one driver reach the ledger in order. A ledger that is too busy is asked again.

        Returns:
            The number of answers that the ledger was too busy.

        Raises:
            RejectedError: The ledger refuses them for good.
            UnavailableError: No answer.
        """
        ...

    async def decided(self, batch_ids: Sequence[str]) -> Mapping[str, str]:
        """Wait a second at most until the first of these is decided; return all decided ones.

        Args:
            batch_ids: Of batches that the ledger holds, the oldest first; at least one.

        Returns:
            By id, the reason why a batch will never be committed; empty if it is committed.

        Raises:
            UnavailableError: No answer.
        """
        ...

    def close(self) -> None:
        """End the connection."""
        ...
