"""The decision of a height about each batch, and how the engine passes it on."""

from dataclasses import dataclass
from enum import IntEnum

from contracts.ledger.engine.candidate import Obstacle, Orphan, Refusal
from contracts.ledger.execution.executor import InvalidTransaction
from contracts.ledger.execution.verify import VerifiedBatch


class Code(IntEnum):
    """The outcome of a batch, as the engine passes it on; each validator gives the same one."""

    TAKEN = 0
    INVALID = 1
    MALFORMED = 2
    EARLY = 3
    COMMITTED = 4
    NO_ROOM = 5
    UNDECIDABLE = 6
    NO_PROCESSOR = 7


Result = InvalidTransaction | Obstacle | Code | None
"""Why a batch was not taken; None if it was."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of one height about a batch."""

    batch: VerifiedBatch
    result: Result


def code_of(result: Result) -> Code:
    """Return the code by which the engine passes a decision on."""
    match result:
        case None:
            return Code.TAKEN
        case InvalidTransaction():
            return Code.INVALID
        case Orphan():
            return Code.EARLY
        case Refusal.COMMITTED:
            return Code.COMMITTED
        case Code():
            return result
        case _:
            return Code.UNDECIDABLE
