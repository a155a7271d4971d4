"""What the application said of the batches that this validator offers to its mempool."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from contracts.ledger.cometbft.decisions import Code


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the mempool may take a batch, and why not."""

    code: Code
    why: str = ""


class Verdicts:
    """Keeps what CheckTx says of the transactions that the sender waits for.

    Most transactions come from other validators; nobody here waits for what is said of those.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given: dict[bytes, Verdict | None] = {}

    def expect(self, txs: Sequence[bytes]) -> None:
        """Keep what is said of these until it is taken."""
        with self._lock:
            self._given.update(dict.fromkeys(txs))

    def give(self, tx: bytes, verdict: Verdict) -> None:
        """Keep a verdict if it is expected."""
        with self._lock:
            if tx in self._given:
                self._given[tx] = verdict

    def take(self, txs: Sequence[bytes]) -> list[Verdict | None]:
        """Return the verdict on each, None if nobody asked; they are no longer expected."""
        with self._lock:
            return [self._given.pop(tx, None) for tx in txs]
