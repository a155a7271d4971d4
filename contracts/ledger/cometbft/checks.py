"""What CheckTx said of the batches that this validator offers to its mempool."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from contracts.ledger.cometbft.decisions import Code


@dataclass(frozen=True, slots=True)
class Check:
    """Whether the mempool may take a batch, and why not."""

    code: Code
    why: str = ""


class Checks:
    """Keeps what CheckTx said of the transactions that the sender asks about; any thread.

    Most transactions come from other validators; what is said of those is not kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[bytes, Check | None] = {}

    def expect(self, txs: Sequence[bytes]) -> None:
        """Keep what is said of these until it is taken, and what was said of them already.

        If a request fails, CometBFT may have some of its transactions, and does not ask about them
        again when they are offered again.
        """
        with self._lock:
            self._found = {tx: self._found.get(tx) for tx in txs}

    def note(self, tx: bytes, check: Check) -> None:
        """Keep what was said if it is expected."""
        with self._lock:
            if tx in self._found:
                self._found[tx] = check

    def take(self, txs: Sequence[bytes]) -> list[Check | None]:
        """Return what was said of each, None if CometBFT did not ask, and keep it no longer."""
        with self._lock:
            return [self._found.pop(tx, None) for tx in txs]
