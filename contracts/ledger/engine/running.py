"""Port: an engine as the process runs it."""

from typing import Any, Protocol

from contracts.ledger.engine.ports import Sealer
from contracts.ledger.engine.submissions import Submission
from contracts.sawtooth.batches import Family


class Ask(Protocol):
    """Asks CometBFT; for one thread at a time."""

    def __call__(self, method: str, **parameters: str) -> Any:  # noqa: ANN401 - JSON
        """Return the result of a method of its RPC.

        Raises:
            RejectedError: It refuses, as for a height that it does not have.
            UnavailableError: It does not answer.
        """
        ...


class Engine(Protocol):
    """Makes blocks of submitted batches; the embedded one and a network of validators exist.

    It tells the outcome of each round, and an error after which no block follows, to functions that
    it was made with.
    """

    @property
    def trouble(self) -> str | None:
        """Return why no block can be written at the moment; None when blocks can be written."""
        ...

    @property
    def sealer(self) -> Sealer | None:
        """Return what tells validators' signatures; None where one signer makes the blocks."""
        ...

    @property
    def light(self) -> Ask | None:
        """Return what answers for the light port; None where one signer makes the blocks."""
        ...

    def start(self) -> None:
        """Start to make blocks; there is a genesis block on return.

        Raises:
            RejectedError: The engine refuses its settings or its genesis.
            UnavailableError: It does not start.
        """
        ...

    def submit(self, submission: Submission) -> None:
        """Put batches at the end of the queue; the caller keeps to the queue's limits."""
        ...

    def registered(self, family: Family) -> None:
        """Continue with batches that waited for a processor of `family`; any thread."""
        ...

    def stop(self) -> None:
        """Finish the block under way, and end; safe if `start` failed."""
        ...
