"""The life of a delivery: who may say what in which state, and what follows. Version 1.1.

The rules run on this table, and docs/contract.md prints it. Version 1.0 had
states that a delivery could not leave when a party or a truck was gone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Self

from contracts.proto.payload_pb2 import DUE, PAYMENT_NONE, RELEASED, WITHHELD, Payment
from contracts.proto.state_pb2 import Delivery
from contracts.rules.custody import whole_of


class Word(Enum):
    """What may be said about a delivery; the value is the action's name."""

    OPEN = "OpenDelivery"
    START = "StartTrip"
    HAND_OVER = "HandOver"
    ACCEPT = "AcceptDelivery"
    DISPUTE = "DisputeDelivery"
    CANCEL = "CancelDelivery"
    CLOSE = "CloseDelivery"
    SETTLE = "SettleDelivery"


class By(Enum):
    """Who says it; the value is how docs/contract.md names the signer."""

    SELLER_OR_BUYER = "seller or buyer"
    BOTH = "seller, and buyer"
    OTHER_SIDE = "the other of seller and buyer"
    OFFERER = "the party that signed the offer; once goods changed hands, the other one too"
    BUYER = "buyer"
    BUYER_WHO_DISPUTED = "buyer, if it disputed"
    CARRIER = "a device of one of its carriers"
    HANDS = "giver, and taker"
    AUTHORITY = "the authority, when it may"


@dataclass(frozen=True, slots=True)
class Step:
    """One way out of a state.

    Attributes:
        word: What is said.
        by: Who says it.
        to: The state that follows; STATUS_UNSET: the one that follows from `Facts`.
        payments: The payment after it: one, or the ones that the action may choose from.
    """

    word: Word
    by: By
    to: Delivery.Status = Delivery.STATUS_UNSET
    payments: tuple[Payment, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What a delivery's signatures, trips and handovers say, until a party ends it."""

    agreed: bool
    carried: bool
    received: int
    quantity: int

    @classmethod
    def of(cls, entry: Delivery) -> Self:
        """Return the facts that an entry keeps."""
        agreed = len(entry.signed_by) > 1
        return cls(agreed, entry.carried, entry.received_quantity, whole_of(entry.terms))

    def status(self) -> Delivery.Status:
        """Return the state that follows, whatever the order in which the facts were recorded."""
        if not self.agreed:
            return Delivery.OFFERED
        if self.received >= self.quantity:
            return Delivery.DELIVERED
        if self.received:
            return Delivery.PART_DELIVERED
        return Delivery.IN_TRANSIT if self.carried else Delivery.OPEN


_CLOSE: Final = Step(Word.CLOSE, By.BOTH, Delivery.CLOSED, (RELEASED, WITHHELD))
_CANCEL: Final = Step(Word.CANCEL, By.BOTH, Delivery.CANCELLED, (PAYMENT_NONE,))
_DISPUTE: Final = Step(Word.DISPUTE, By.SELLER_OR_BUYER, Delivery.DISPUTED, (WITHHELD,))
_ACCEPT: Final = Step(Word.ACCEPT, By.BUYER, Delivery.ACCEPTED, (RELEASED,))
_SETTLE: Final = Step(Word.SETTLE, By.AUTHORITY, Delivery.SETTLED, (RELEASED, WITHHELD))
_START: Final = Step(Word.START, By.CARRIER)
_HAND_OVER: Final = Step(Word.HAND_OVER, By.HANDS)

_ROWS: Final[Mapping[Delivery.Status, Sequence[Step]]] = {
    Delivery.STATUS_UNSET: [Step(Word.OPEN, By.SELLER_OR_BUYER, Delivery.OFFERED)],
    Delivery.OFFERED: [
        Step(Word.OPEN, By.OTHER_SIDE),
        Step(Word.CANCEL, By.OFFERER, Delivery.CANCELLED, (PAYMENT_NONE,)),
        Step(Word.SETTLE, By.AUTHORITY, Delivery.SETTLED, (WITHHELD,)),
    ],
    Delivery.OPEN: [_START, _HAND_OVER, _DISPUTE, _CANCEL, _SETTLE],
    Delivery.IN_TRANSIT: [_HAND_OVER, _DISPUTE, _CANCEL, _SETTLE],
    Delivery.PART_DELIVERED: [_HAND_OVER, _ACCEPT, _DISPUTE, _CANCEL, _SETTLE],
    Delivery.DELIVERED: [_ACCEPT, _DISPUTE, _CANCEL, _SETTLE],
    Delivery.DISPUTED: [
        Step(Word.ACCEPT, By.BUYER_WHO_DISPUTED, Delivery.ACCEPTED, (RELEASED,)),
        _CANCEL,
        _CLOSE,
        _SETTLE,
    ],
    Delivery.ACCEPTED: [
        Step(Word.CLOSE, By.BOTH, Delivery.CLOSED, (RELEASED,)),
        Step(Word.SETTLE, By.AUTHORITY, Delivery.SETTLED, (RELEASED,)),
    ],
    Delivery.CLOSED: [],
    Delivery.CANCELLED: [],
    Delivery.SETTLED: [],
}
LIFE: Final[Mapping[Delivery.Status, Mapping[Word, Step]]] = {
    status: {step.word: step for step in steps} for status, steps in _ROWS.items()
}
"""By state, the ways out of it. A word that is missing changes no state: it is refused, or, in
case of a trip's start or a handover, moves goods only."""
ENDS: Final = frozenset(status for status, steps in LIFE.items() if not steps)
"""States in which a delivery stays."""
PAYMENT_OF: Final[Mapping[Delivery.Status, Payment]] = {
    Delivery.OFFERED: PAYMENT_NONE,
    Delivery.OPEN: PAYMENT_NONE,
    Delivery.IN_TRANSIT: PAYMENT_NONE,
    Delivery.PART_DELIVERED: PAYMENT_NONE,
    Delivery.DELIVERED: DUE,
}
"""The payment in the states that follow from facts."""


def states_of(word: Word) -> list[Delivery.Status]:
    """Return the states in which a word may be said, in the order of the table."""
    return [status for status, steps in LIFE.items() if word in steps]


FLOWING: Final = frozenset(states_of(Word.HAND_OVER))
"""States that follow from facts: trips and handovers move a delivery on from them."""
