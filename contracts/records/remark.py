"""Remarks: what a device says of itself, such as that a sensor is lost or the clock was set back.

They stand in readings, so they are signed, chained and numbered with them: none can be left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Self

from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError
from contracts.ids import check_id
from contracts.proto.payload_pb2 import FilmMoment, SealedRecording
from contracts.proto.payload_pb2 import Remark as RemarkMessage
from contracts.records.clock import check_utc_ms

REMARKS_MAX: Final = 32
"""Remarks of one reading; also recordings that it names as whole, and moments of films."""
ONCE_FROM: Final = 32
"""Kinds with a number from here on happen once, and have no end."""
AMOUNT_END: Final = 1 << 63


class RemarkKind(IntEnum):
    """What a remark is about (payload.proto)."""

    SENSOR_LOST = 1
    SENSOR_SILENT = 2
    SENSOR_REFUSED = 3
    SENSOR_FROZEN = 4
    CAMERA_LOST = 5
    CAMERA_SILENT = 6
    CAMERA_COVERED = 7
    FILM_REDUCED = 8
    FILM_STOPPED = 9
    CARD_FULL = 10
    CARD_READ_ONLY = 11
    FILM_LOST = 32
    CLOCK_BACK = 33
    CLOCK_AHEAD = 34
    REBOOTED = 35
    INTERRUPTED = 36
    CLOCK_CORRECTED = 37

    @property
    def name_for_people(self) -> str:
        """Return its name in documents, such as `sensor-lost`."""
        return self.name.lower().replace("_", "-")

    @property
    def happens_once(self) -> bool:
        """Whether it has no end."""
        return self >= ONCE_FROM


ENDS_OTHERS: Final = frozenset({RemarkKind.REBOOTED, RemarkKind.INTERRUPTED})
"""What had begun before these ended with them, unless the device says that it begins again."""
HARMLESS: Final = frozenset({RemarkKind.CLOCK_CORRECTED, RemarkKind.FILM_REDUCED})
"""Remarks that tell of nothing wrong: a clock that is right again, and film that saves room."""
WORDS: Final[Mapping[RemarkKind, str]] = {
    RemarkKind.SENSOR_LOST: "sensor {subject} is lost: unplugged, or its driver fails",
    RemarkKind.SENSOR_SILENT: "sensor {subject} hangs",
    RemarkKind.SENSOR_REFUSED: "sensor {subject} gives values that cannot be",
    RemarkKind.SENSOR_FROZEN: "sensor {subject} gives the same values all the time",
    RemarkKind.CAMERA_LOST: "camera {subject} is lost: unplugged, or its driver fails",
    RemarkKind.CAMERA_SILENT: "camera {subject} hangs",
    RemarkKind.CAMERA_COVERED: "camera {subject} sees nothing",
    RemarkKind.FILM_REDUCED: "film of camera {subject} has less quality for want of room",
    RemarkKind.FILM_STOPPED: "camera {subject} is not recorded for want of room",
    RemarkKind.CARD_FULL: "nothing could be recorded for want of room",
    RemarkKind.CARD_READ_ONLY: "nothing could be recorded on a card that takes no writes",
    RemarkKind.FILM_LOST: "up to {amount} at the end of film {subject} are lost",
    RemarkKind.CLOCK_BACK: "the clock was set back by {amount}",
    RemarkKind.CLOCK_AHEAD: "the clock was set ahead by {amount}",
    RemarkKind.REBOOTED: "the device was started again, {amount} after the reading before",
    RemarkKind.INTERRUPTED: "recording stopped, and went on {amount} after the reading before",
    RemarkKind.CLOCK_CORRECTED: "the clock is right again, by {amount}",
}
"""What each kind says, with its subject and its amount (`amount_words`)."""


DAY_MS: Final = 86_400_000


def amount_words(amount_ms: int) -> str:
    """Return milliseconds in words: exact seconds, and whole days from two days on."""
    seconds, rest = divmod(amount_ms, 1000)
    words = f"{seconds}{f'.{rest:03}'.rstrip('0') if rest else ''} s"
    return f"{words} ({amount_ms // DAY_MS} days)" if amount_ms >= 2 * DAY_MS else words


@dataclass(frozen=True, slots=True)
class Remark:
    """One change of what a device knows of itself.

    Attributes:
        kind: What it is about.
        since_ms: When it began, ended or happened, by the device's UTC.
        subject: The sensor, camera or segment of film; empty: the device.
        ended: It had begun before, and has ended.
        amount: Milliseconds, as its kind says; else 0.

    Raises:
        RejectedError: A field is outside its range.
    """

    kind: RemarkKind
    since_ms: int
    subject: str = ""
    ended: bool = False
    amount: int = 0

    def __post_init__(self) -> None:
        """Check the ranges, so that no invalid remark exists."""
        check_utc_ms("since_ms", self.since_ms)
        if self.subject:
            check_id("subject", self.subject)
        if not 0 <= self.amount < AMOUNT_END:
            raise RejectedError(f"amount must be 0..2^63-1: {self.amount}")
        if self.ended and self.kind.happens_once:
            raise RejectedError(f"remark {self.kind.name_for_people} has no end")

    def message(self) -> RemarkMessage:
        """Return the wire form."""
        return RemarkMessage(
            kind=RemarkMessage.Kind.Name(self.kind),
            subject=self.subject,
            ended=self.ended,
            since_ms=self.since_ms,
            amount=self.amount,
        )

    @classmethod
    def from_message(cls, message: RemarkMessage) -> Self:
        """Take the wire form.

        Raises:
            RejectedError: A field is outside its range, or the kind is unknown.
        """
        try:
            kind = RemarkKind(message.kind)
        except ValueError as error:
            raise RejectedError(f"remark of unknown kind {message.kind}") from error
        return cls(kind, message.since_ms, message.subject, message.ended, message.amount)


def check_number(*told: Sequence[object]) -> None:
    """Check how much a reading reports: remarks, whole recordings, moments of films.

    Raises:
        RejectedError: Too much of one of them.
    """
    if max(map(len, told)) > REMARKS_MAX:
        raise RejectedError(
            f"a reading has at most {REMARKS_MAX} remarks, whole recordings and moments of films "
            f"each, got {', '.join(str(len(each)) for each in told)}"
        )


@dataclass(frozen=True, slots=True)
class Told:
    """What a reading reports besides its values.

    Attributes:
        remarks: In the order in which they happened.
        filmed: SHA-256 and size of each recording that became whole since the reading before.
        film: Name of a recording without its file name (`pseudo_file_id`), and milliseconds from
            its first picture: where the films are now.

    Raises:
        RejectedError: There are too many, or a field is outside its range.
    """

    remarks: tuple[Remark, ...] = ()
    filmed: tuple[tuple[bytes, int], ...] = ()
    film: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_number(self.remarks, self.filmed, self.film)
        for sha256, size in self.filmed:
            if len(sha256) != HASH_BYTES or not 0 <= size < AMOUNT_END:
                raise RejectedError(
                    f"a whole recording has a SHA-256 of {HASH_BYTES} bytes and a size of "
                    f"0..2^63-1 bytes, got {len(sha256)} bytes and {size}"
                )
        for name, offset_ms in self.film:
            check_id("film", name)
            check_utc_ms("offset_ms", offset_ms)

    @classmethod
    def from_messages(
        cls,
        remarks: Sequence[RemarkMessage],
        filmed: Sequence[SealedRecording],
        film: Sequence[FilmMoment],
    ) -> Self:
        """Take the wire form.

        Raises:
            RejectedError: As `Told` and `Remark`.
        """
        check_number(remarks, filmed, film)
        return cls(
            tuple(map(Remark.from_message, remarks)),
            tuple((each.sha256, each.size) for each in filmed),
            tuple((each.pseudo_file_id, each.offset_ms) for each in film),
        )


NOTHING_TOLD: Final = Told()
