"""Clocks, trips and remarks as tests of what a truck says write them."""

from contracts.proto.payload_pb2 import StartTrip
from contracts.records.reading import Clock, ClockOrigin
from contracts.records.remark import Remark, RemarkKind
from device.journal.trip import Trip, TripState

BOOT = b"\x01" * 16
START_MS = 1_750_000_000_000


def at(
    s: float,
    shift_ms: int = 0,
    origin: ClockOrigin = ClockOrigin.RTC,
    boot: bytes = BOOT,
    counter_s: float | None = None,
) -> Clock:
    """Return what a clock says.

    Args:
        s: Seconds since START_MS.
        shift_ms: How far the clock is from the right time.
        origin: What set it.
        boot: The boot.
        counter_s: Seconds since that boot; None: `s`.
    """
    counted = s if counter_s is None else counter_s
    return Clock(START_MS + round(s * 1000) + shift_ms, round(counted * 1000), boot, origin)


def kinds(taken: list[Remark]) -> list[tuple[RemarkKind, str, bool]]:
    """Return kind, subject and end of each remark."""
    return [(each.kind, each.subject, each.ended) for each in taken]


def opened(number: int = 0, readings: int = 9) -> Trip:
    """Return a trip that is being recorded."""
    return Trip(
        f"{number:032x}",
        b"",
        "truck-1",
        StartTrip(),
        TripState.OPEN,
        reported=False,
        readings=readings,
        head_sha256=b"",
        last_transaction_id="",
        clock=at(10),
    )


def times(taken: list[Remark]) -> list[tuple[RemarkKind, int, bool]]:
    """Return kind, beginning and end of each remark, ms since START_MS."""
    return [(each.kind, each.since_ms - START_MS, each.ended) for each in taken]
