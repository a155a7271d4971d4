"""Claimed times against the times of blocks, where a chain has them.

A device signs offline, so its time lies before the block that holds the
transaction. It lies after the block in which both sides had signed the
delivery on the trip.
"""

from typing import Final, NamedTuple, Self

from contracts.errors import RejectedError
from contracts.proto.state_pb2 import Trip
from contracts.rules.case import Case
from contracts.rules.ids import Rule
from contracts.sawtooth import block_info

TOLERANCE_MS: Final = 300_000
"""How far a device's clock may be off.

As far as a block's time from a validator's clock, by Sawtooth's default `sync_tolerance`.
"""
_UNKNOWN_MS: Final = 1 << 80


def latest_block_s(case: Case) -> int:
    """Return the time of the latest block, seconds since 1970; 0 on a chain without times."""
    try:
        return block_info.latest_block_s(case.context.get)
    except RejectedError:
        return 0  # a reading must not be invalid because of another family's entry


def agreed_ms(trip: Trip) -> int:
    """Return the latest block when both sides had signed every delivery on a trip; 0 if unknown."""
    return max((each.agreed_at_s for each in trip.deliveries), default=0) * 1000


class BlockTimes(NamedTuple):
    """The times between which a device can have signed on a trip, milliseconds since 1970.

    Attributes:
        agreed_ms: The latest block when both sides had signed every delivery on the trip; 0 if
            unknown.
        latest_ms: The latest block now, or an endless time if unknown.
    """

    agreed_ms: int
    latest_ms: int

    @classmethod
    def around(cls, case: Case, trip: Trip) -> Self:
        """Return the times around a transaction about `trip`."""
        return cls.after(agreed_ms(trip), case)

    @classmethod
    def after(cls, agreed_ms: int, case: Case) -> Self:
        """Return the times around a transaction about a trip whose deliveries were agreed then."""
        return cls(agreed_ms, latest_block_s(case) * 1000 or _UNKNOWN_MS)

    @property
    def has_latest(self) -> bool:
        """Say whether the ledger records when the latest block was begun."""
        return self.latest_ms != _UNKNOWN_MS

    def span(self) -> tuple[int, int]:
        """Return the earliest and the latest time that a clock may claim, since it may err."""
        return self.agreed_ms - TOLERANCE_MS, self.latest_ms + TOLERANCE_MS

    def finding(self, utc_ms: int) -> tuple[Rule, str] | None:
        """Return the finding on a time that does not lie between the blocks, else None."""
        earliest_ms, latest_ms = self.span()
        if earliest_ms <= utc_ms <= latest_ms:
            return None
        if utc_ms > self.latest_ms:
            return (
                Rule.TIME_IMPLAUSIBLE,
                f"UTC is {utc_ms - self.latest_ms} ms after the time of the latest block",
            )
        return (
            Rule.TIME_IMPLAUSIBLE,
            f"UTC is {self.agreed_ms - utc_ms} ms before both sides had signed the delivery",
        )
