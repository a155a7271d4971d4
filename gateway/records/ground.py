"""A ground for automatic holds: when it was, by each clock, and which film shows it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from contracts.proto.payload_pb2 import RecordVideo

MARGIN_MS: Final = 300_000
"""Film from this long before a ground, and after it, is held too, milliseconds. A sign that a
reading shows may have begun any time after the reading before."""
_EVERY: Final = (1 << 63) - 1


class GroundKind(StrEnum):
    """What holds."""

    EXCURSION = "excursion"
    TAMPER = "tamper"
    REMARK = "remark"


@dataclass(frozen=True, slots=True)
class Ground:
    """Something on a trip for which film is held.

    Attributes:
        kind: What it is.
        trip_id: The trip.
        device_id: The device that recorded it.
        sequence: The device's first reading with it.
        says: In plain words.
        since_ms: When it began, as claimed, milliseconds.
        until_ms: When it ended, as claimed; None if it has not, on record.
        since_corrected_ms: When it began by a clock that was right later; None if its claim stands.
        until_corrected_ms: When it ended likewise.
        film: Names of the recordings in which the device says that it is.
        block_num: The block that made it known.
        other_ms: A further claimed time of the same moment: that of a clock before it was set.
        corrected_block_num: The newest block that set a clock of the device right; 0 if none did.
    """

    kind: GroundKind
    trip_id: str
    device_id: str
    sequence: int
    says: str
    since_ms: int
    until_ms: int | None
    since_corrected_ms: int | None
    until_corrected_ms: int | None
    film: frozenset[str]
    block_num: int
    other_ms: int | None = None
    corrected_block_num: int = 0

    def holds(self, recording: RecordVideo) -> bool:
        """Say whether a recording of the trip shows it, by name or by any of its times."""
        return self._holds_as_claimed(recording) or _within(recording, self._corrected())

    def known_num(self, recording: RecordVideo) -> int:
        """Return the block in which it became known that it shows a recording that it holds.

        Of several corrections of the device the newest counts: every doubt holds.
        """
        if self._holds_as_claimed(recording):
            return self.block_num
        return max(self.block_num, self.corrected_block_num)

    def _holds_as_claimed(self, recording: RecordVideo) -> bool:
        return recording.pseudo_file_id in self.film or _within(recording, self._claimed())

    def _claimed(self) -> Iterator[tuple[int, int]]:
        """Yield its first and last moment as claimed; a clock may have gone back in between."""
        yield _ordered(self.since_ms, self.until_ms)
        if self.other_ms is not None:
            yield self.other_ms, self.other_ms

    def _corrected(self) -> Iterator[tuple[int, int]]:
        """Yield its first and last moment by a clock that was right later, if there is one."""
        if self.since_corrected_ms is not None or self.until_corrected_ms is not None:
            since, until = self.since_corrected_ms, self.until_corrected_ms
            yield _ordered(
                self.since_ms if since is None else since, self.until_ms if until is None else until
            )


def _within(recording: RecordVideo, times: Iterator[tuple[int, int]]) -> bool:
    began, ended = recording.started_at_ms, recording.started_at_ms + recording.duration_ms
    return any(began <= until + MARGIN_MS and since - MARGIN_MS <= ended for since, until in times)


def _ordered(since_ms: int, until_ms: int | None) -> tuple[int, int]:
    if until_ms is None:
        return since_ms, _EVERY
    return min(since_ms, until_ms), max(since_ms, until_ms)
