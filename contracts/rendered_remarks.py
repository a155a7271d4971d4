"""What devices say of themselves, in JSON words and in plain ones: see contracts/rendered.py."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.proto.payload_pb2 import Clock, FilmMoment
from contracts.proto.state_pb2 import Chain, Remarked
from contracts.records.clock import rfc3339
from contracts.records.corrections import Correction
from contracts.records.reading import ClockOrigin
from contracts.records.remark import ENDS_OTHERS, WORDS, Remark, RemarkKind, amount_words

Words = dict[str, object]
BEGAN: Final = "began"
ENDED: Final = "ended"
HAPPENED: Final = "happened"
CHANGES: Final = (BEGAN, ENDED, HAPPENED)
"""What a remark can say of its kind."""


def film(moments: Sequence[FilmMoment]) -> list[Words]:
    """Return where the films of the cameras were."""
    return [
        {"pseudo_file_id": each.pseudo_file_id, "offset_s": each.offset_ms / 1000}
        for each in moments
    ]


def error_s(clock: Clock) -> float | None:
    """Return by how much a clock may be wrong, seconds; None if its device does not know."""
    return clock.error_ms / 1000 if clock.HasField("error_ms") else None


def corrected(utc_ms: int | None) -> str | None:
    """Return a time by a clock that was right later; None if the claim stands."""
    return None if utc_ms is None else rfc3339(utc_ms)


def claimed(utc_ms: int, corrected_ms: int | None) -> str:
    """Return a claimed time in plain words, with the corrected one if there is one."""
    words = rfc3339(utc_ms)
    return words if corrected_ms is None else f"{words} (corrected: {rfc3339(corrected_ms)})"


def remark(entry: Remarked, corrected_ms: int | None) -> Words:
    """Return what a device said of itself, with its reading's time as claimed and as corrected."""
    said = Remark.from_message(entry.remark)
    change = ENDED if said.ended else BEGAN
    return {
        "device_id": entry.device_id,
        "sequence": entry.sequence,
        "time": rfc3339(entry.clock.utc_ms),
        "corrected_time": corrected(corrected_ms),
        "kind": said.kind.name_for_people,
        "change": HAPPENED if said.kind.happens_once else change,
        "subject": said.subject or None,
        "since": rfc3339(said.since_ms),
        "amount_s": said.amount / 1000 if said.kind.happens_once else None,
        "film": film(entry.film),
        "says": says(said),
    }


def says(said: Remark) -> str:
    """Return a remark in plain words."""
    return WORDS[said.kind].format(subject=said.subject, amount=amount_words(said.amount))


def correction(each: Correction) -> Words:
    """Return what a right clock sets right."""
    right, first = each.right, each.first
    return {
        "device_id": each.device_id,
        "sequence": each.sequence,
        "boot_id": right.boot_id.hex(),
        "monotonic_s": right.monotonic_ms / 1000,
        "time": rfc3339(right.utc_ms),
        "clock_origin": ClockOrigin(right.origin).name.lower(),
        "clock_error_s": error_s(right),
        "readings": each.readings,
        "first_reading_at": rfc3339(first.utc_ms) if first else None,
        "first_reading_corrected_at": corrected(each.first_ms),
    }


def telling(chain: Chain) -> Words:
    """Return how many readings of a device told what was wrong, and how much."""
    return {
        "device_id": chain.device_id,
        "readings": chain.count,
        "readings_telling": chain.telling,
        "remarks": chain.remarks,
        "recordings_named": chain.filmed,
    }


@dataclass(slots=True)
class Stretch:
    """Something that a device said of itself, from its beginning to its end.

    Attributes:
        entry: The remark that began it.
        end: The remark that ended it; None if it did not end, or happened once.
    """

    entry: Remarked
    end: Remarked | None = None

    @property
    def until_ms(self) -> int | None:
        """Return when it ended, as claimed; None if it did not, or happened once."""
        return None if self.end is None else self.end.remark.since_ms

    def __str__(self) -> str:
        """Return it in plain words."""
        said = Remark.from_message(self.entry.remark)
        words = f"device {self.entry.device_id} says: {says(said)}, "
        if said.kind.happens_once:
            return f"{words}at {rfc3339(said.since_ms)}"
        until = "not ended" if self.until_ms is None else f"to {rfc3339(self.until_ms)}"
        return f"{words}from {rfc3339(said.since_ms)}, {until}"


def stretches(remarks: Iterable[Remarked]) -> list[Stretch]:
    """Join each beginning with its end, in the order in which they began."""
    found: list[Stretch] = []
    open_ones: dict[tuple[str, int, str], Stretch] = {}
    for entry in remarks:
        said = entry.remark
        kind = RemarkKind(said.kind)
        if kind in ENDS_OTHERS:
            for key in [each for each in open_ones if each[0] == entry.device_id]:
                open_ones.pop(key).end = entry
        key = entry.device_id, kind, said.subject
        if said.ended:
            if key in open_ones:
                open_ones.pop(key).end = entry
            continue
        found.append(Stretch(entry))
        if not kind.happens_once:
            open_ones.setdefault(key, found[-1])
    return found


def telling_words(chain: Chain) -> Iterator[str]:
    """Yield, in plain words, whether a device would have told what was wrong."""
    if not chain.live or chain.remarks:  # what is replayed says nothing of the device
        return
    name = f"device {chain.device_id}"
    if chain.telling == chain.count:
        yield f"{name} tells what is wrong with it, and told nothing"
    elif chain.telling:
        yield (
            f"{name} told nothing that is wrong with it in {chain.telling} of {chain.count} "
            "readings; the others could not tell"
        )
    else:
        yield f"{name} does not tell what is wrong with it, so a fault would not show"


def correction_words(each: Correction) -> str:
    """Return a correction in plain words."""
    right, first = each.right, each.first
    known = right.HasField("error_ms")
    by = ClockOrigin(right.origin).name
    words = (
        f"device {each.device_id}: its clock was right at {rfc3339(right.utc_ms)}, by {by}, "
        f"{f'error at most {amount_words(right.error_ms)}' if known else 'error unknown'}; "
        f"{each.readings} earlier readings of that boot are set right"
    )
    if first is None:
        return words
    if each.first_ms is None:
        return f"{words}, and the first of them cannot be"
    return f"{words}: the first was at {rfc3339(each.first_ms)}, not {rfc3339(first.utc_ms)}"
