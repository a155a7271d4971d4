"""Silence: how long a limited quantity goes without a measurement, and when that is too long.

A device is held to a quantity once it has measured it; the device that started
the trip from the trip's start on. What no device measured is found at the
trip's end (contracts/rules/tripend.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.proto.payload_pb2 import Limit
from contracts.proto.state_pb2 import Chain, Silence, Trip
from contracts.records.clock import UTC_MS_MAX
from contracts.records.placed import Placed
from contracts.records.quantity import QUANTITIES
from contracts.rules.case import Notes
from contracts.rules.ids import Rule
from contracts.rules.marks import Marks

LONGEST_SILENCE_S: Final = 900
"""Where the terms do not say it: a quarter of an hour."""
GAPS_MAX: Final = 64
"""Gaps of one quantity that a device's chain tells one by one, since a ledger must bound what one
transaction writes. Counted over the chain, so that the grouping of readings does not matter."""


def longest_silence_s(limit: Limit) -> int:
    """Return the longest time between two measurements that a limit allows."""
    return limit.longest_silence_s or LONGEST_SILENCE_S


def silences_allowed(trip: Trip) -> dict[Limit.Quantity, dict[str, int]]:
    """Return the longest silence, milliseconds, for each limited quantity and delivery."""
    allowed: dict[Limit.Quantity, dict[str, int]] = {}
    for each in trip.deliveries:
        for limit in each.limits:
            by_delivery = allowed.setdefault(limit.quantity, {})
            by_delivery[each.delivery_id] = longest_silence_s(limit) * 1000
    return allowed


@dataclass(frozen=True, slots=True)
class Listened:
    """One limited quantity of a trip, as plain values.

    Attributes:
        quantity: The quantity.
        field: The field of a reading that holds it.
        by_delivery: The longest silence that each delivery allows, milliseconds.
        allowed_ms: The shortest of these.
    """

    quantity: Limit.Quantity
    field: str
    by_delivery: Mapping[str, int]
    allowed_ms: int


def listened_of(trip: Trip) -> tuple[Listened, ...]:
    """Return the limited quantities of a trip, in the trip's order."""
    return tuple(
        Listened(quantity, QUANTITIES[quantity].field, by_delivery, min(by_delivery.values()))
        for quantity, by_delivery in silences_allowed(trip).items()
    )


class _Listening:
    """What one device has measured of a quantity so far, as plain values."""

    __slots__ = (
        "allowed_ms",
        "entry",
        "field",
        "held",
        "kept",
        "last",
        "listened",
        "longest_ms",
        "measured",
        "silent_ms",
        "usual_ms",
    )

    def __init__(self, listened: Listened, kept: Silence | None) -> None:
        """Go on from the entry that the chain holds, if any."""
        entry = Silence(quantity=listened.quantity) if kept is None else kept
        self.listened = listened
        self.field = listened.field
        self.allowed_ms = listened.allowed_ms
        self.entry = entry
        self.kept = self.held = kept is not None
        self.measured = entry.measured
        self.silent_ms = entry.silent_ms
        self.longest_ms = entry.longest_ms
        self.last: Placed | None = None
        # A silence up to this long changes nothing but the last measurement.
        self.usual_ms = min(self.longest_ms, self.allowed_ms) if self.measured else -1


class Listener:
    """Follows one device's readings, and finds where a limited quantity was silent too long."""

    def __init__(
        self,
        listened: Sequence[Listened],
        chain: Chain,
        notes: Notes,
        marks: Marks,
        *,
        from_start: bool,
    ) -> None:
        """Go on from a chain; `from_start` before the first reading of the trip's own device."""
        self._chain = chain
        self._notes = notes
        self._marks = marks
        kept = {each.quantity: each for each in chain.silences}
        self._quantities = [_Listening(each, kept.get(each.quantity)) for each in listened]
        if from_start:
            for each in self._quantities:
                each.held = True

    def follow(self, reading: Placed, passed_ms: int) -> None:
        """Take the next reading of the chain, `passed_ms` after the moment before it."""
        has = reading.record.HasField
        for each in self._quantities:
            silent_ms = each.silent_ms + passed_ms
            if has(each.field):
                if silent_ms > each.usual_ms:
                    self._end(each, silent_ms, reading)
                each.silent_ms, each.last = 0, reading
            else:
                each.silent_ms = min(silent_ms, UTC_MS_MAX) if each.held else 0

    def close(self, passed_ms: int) -> None:
        """Take the seal, `passed_ms` after the last moment of the chain."""
        for each in self._quantities:
            if not each.held:
                continue
            each.silent_ms = min(each.silent_ms + passed_ms, UTC_MS_MAX)
            each.longest_ms = max(each.longest_ms, each.silent_ms)
            if each.silent_ms > each.allowed_ms and each.measured:
                self._found(each, each.silent_ms, self._chain.next_sequence)

    def keep(self) -> None:
        """Write the silences of the quantities that the device is held to into the chain."""
        for each in self._quantities:
            if not each.held:
                continue
            entry = each.entry
            entry.silent_ms, entry.longest_ms = each.silent_ms, each.longest_ms
            if each.last is not None:
                entry.last_ms, entry.last_sequence = each.last.utc_ms, each.last.sequence
            if not each.kept:
                self._chain.silences.append(entry)

    def _end(self, listening: _Listening, silent_ms: int, reading: Placed) -> None:
        """End a silence that is the first one, the longest one, or too long."""
        if not listening.held:
            listening.held, silent_ms = True, 0
        if silent_ms > listening.longest_ms:
            listening.longest_ms = min(silent_ms, UTC_MS_MAX)
        if silent_ms > listening.allowed_ms:
            self._found(listening, silent_ms, reading.sequence)
        if not listening.measured:
            listening.measured = listening.entry.measured = True
            listening.entry.first_ms = reading.utc_ms
        listening.usual_ms = min(listening.longest_ms, listening.allowed_ms)

    def _found(self, listening: _Listening, silent_ms: int, sequence: int) -> None:
        """Count a gap, tell it unless too many were told, and mark the deliveries."""
        entry = listening.entry
        name = QUANTITIES[entry.quantity].name
        last = entry.last_sequence if listening.last is None else listening.last.sequence
        since = f"reading {last}" if listening.measured else "the trip's start"
        entry.gaps += 1
        if entry.gaps <= GAPS_MAX:
            self._notes.add(
                Rule.RECORDING_GAP,
                f"{name} was not measured for {silent_ms} ms after {since}, "
                f"{listening.allowed_ms // 1000} s are allowed",
                sequence,
            )
        elif entry.gaps == GAPS_MAX + 1:
            self._notes.add(
                Rule.RECORDING_GAP,
                f"{GAPS_MAX} gaps of {name} are told; from here on they are counted only",
                sequence,
            )
        for delivery_id, allowed_ms in listening.listened.by_delivery.items():
            if silent_ms > allowed_ms:
                self._marks.add(delivery_id, sequence, silences=1)
