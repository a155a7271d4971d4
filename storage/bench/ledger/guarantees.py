"""What the compared ledgers guarantee, in words that a report sets side by side."""

from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from storage.bench.ledger.consensus import Consensus


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What a transaction that counts as committed is sure of, in sentences.

    Attributes:
        finality: When nothing can take it back.
        faults: Which validators or nodes may fail, and how.
        durable: When it is on a disk, and on whose.
    """

    finality: str
    faults: str
    durable: str

    def beside(self, target: str) -> dict[str, Any]:
        """Return the row of a target, as a result keeps it."""
        return {"target": target, **asdict(self)}

    @classmethod
    def of_validators(cls, count: int) -> Self:
        """Return that of our network of so many validators."""
        return cls(
            "With its block: more than two thirds of the voting power have signed it.",
            faults_of(count),
            "Before it counts: synced by the validator that was asked, and its vote before that.",
        )

    @classmethod
    def of_sawtooth(cls, consensus: Consensus) -> Self:
        """Return that of a Sawtooth network, by its consensus."""
        finality, faults = _SAWTOOTH.get(consensus.algorithm.lower(), (NOT_SEEN, NOT_SEEN))
        return cls(finality, faults, AS_SET_UP)


def faults_of(count: int, nodes: str = "validators") -> str:
    """Return how many nodes may fail, in a network with Byzantine agreement.

    Args:
        count: Nodes that agree.
        nodes: Their name.
    """
    most = (count - 1) // 3
    if not most:
        return f"None: with fewer than four {nodes} no one may fail."
    return f"{most} of {count} {nodes} may stop or lie."


NOT_SEEN: Final = "Not known here: as its operator says."
AS_SET_UP: Final = "As its validators are set up: not visible from here."
_THIRD: Final = "Fewer than a third of its validators may stop or lie."
_SAWTOOTH: Final = {
    "pbft": ("With its block.", _THIRD),
    "raft": ("With its block.", "Fewer than half of its validators may stop; none may lie."),
    "poet": ("Never wholly: a longer fork may replace its block.", "Most of its validators work."),
    "devmode": ("With its block, if one validator makes all.", "None."),
}
SOLO: Final = Guarantee(
    "With its block, which one node signs.",
    "None: nobody contradicts the node, and while it is down nothing is committed.",
    "Before it counts: one sync for each block.",
)
