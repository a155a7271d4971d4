"""Why the gateway refused what trucks sent; counted for operators."""

from collections.abc import Callable
from enum import StrEnum


class Refused(StrEnum):
    """Who refused."""

    RULES = "rules"
    """No rule would accept it, or it is malformed."""
    ROOM = "room"
    """There is no room for it, of this device or of all."""
    FAILURE = "failure"
    """The gateway could not keep it; the truck sends it again."""
    LEDGER = "ledger"
    """The ledger refused a batch that was held."""


OnRefused = Callable[[Refused], None]


def not_counted(_: Refused) -> None:
    """Count nothing."""
