"""Corrections: a right clock sets the earlier readings of its boot right, by the device's counter.

Nothing is written again: what was claimed stands, and the corrected time stands beside it.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from contracts.proto.payload_pb2 import Clock, Remark
from contracts.proto.state_pb2 import Remarked
from contracts.records.clock import UTC_MS_MAX

CORRECTIONS_MAX: Final = 64
"""Corrections of one device on one trip that count: its first ones."""
BEFORE_READINGS: Final = -1
"""The place of a trip's start before the readings of its device."""


def corrected_by(right: Clock, monotonic_ms: int) -> int | None:
    """Return the time of a moment by a later clock of the same boot, ms; None if it cannot be."""
    utc_ms = right.utc_ms - (right.monotonic_ms - monotonic_ms)
    return utc_ms if 0 <= utc_ms <= UTC_MS_MAX else None


@dataclass(frozen=True, slots=True)
class Correction:
    """One correction that counts.

    Attributes:
        device_id: The device.
        sequence: The reading whose clock is right.
        right: That clock.
        readings: How many earlier readings of the boot it sets right.
        first: The clock of the first of them, as claimed; None if there are none.
        first_ms: Its corrected time, milliseconds; None if that cannot be.
    """

    device_id: str
    sequence: int
    right: Clock
    readings: int
    first: Clock | None
    first_ms: int | None


class Corrections:
    """The corrections on one trip."""

    def __init__(self, remarks: Iterable[Remarked]) -> None:
        """Take the remarks of a trip, those of each device in the order of its chain."""
        self._of: defaultdict[str, list[tuple[int, Clock]]] = defaultdict(list)
        for each in remarks:
            found = self._of[each.device_id]
            corrects = each.remark.kind == Remark.CLOCK_CORRECTED
            if corrects and found and found[-1][0] == each.sequence:
                continue  # a reading corrects once, however often it says so
            if corrects and len(found) < CORRECTIONS_MAX:
                found.append((each.sequence, each.clock))

    def __bool__(self) -> bool:
        """Say whether any correction counts."""
        return any(self._of.values())

    def corrected_ms(self, device_id: str, sequence: int, claimed: Clock) -> int | None:
        """Return the corrected time of a reading, milliseconds; None if its claim stands.

        The first correction of its boot that comes after it counts: then the clock was right.

        Args:
            device_id: The device.
            sequence: The reading's number; `BEFORE_READINGS` for the trip's start.
            claimed: Its clock.
        """
        for at, right in self._of.get(device_id, ()):
            if at == sequence and right == claimed:
                return None
            if at >= sequence and right.boot_id == claimed.boot_id:
                return corrected_by(right, claimed.monotonic_ms)
        return None
