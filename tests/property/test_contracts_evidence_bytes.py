"""An evidence file altered or cut at any byte does not hold."""

import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.encoding import canonical
from contracts.evidence.container import MAGIC, NotEvidenceError
from contracts.evidence.verify import verify_evidence
from contracts.proto.evidence_pb2 import Header
from support.evidence.chain import (
    EXPORTED_AT_MS,
    frame_starts,
    pack,
    seal,
    trust_in,
    unseal,
)
from support.verifier.small import small

EVIDENCE = small()
WIRE = EVIDENCE.wire()
TRUST = trust_in(EVIDENCE.heads)
STEP = 7
"""Between bytes: each part of the file is met so; `make soak` takes each byte."""


def holds(wire: bytes) -> bool:
    """Say whether `wire` holds; when not, the verdict must say why."""
    try:
        verdict = verify_evidence(io.BytesIO(wire), TRUST, [])
    except NotEvidenceError:
        assert not wire.startswith(MAGIC)
        return False
    assert verdict.holds or verdict.problems
    return verdict.holds


def altered(wire: bytes, at: int) -> bytes:
    """Return `wire` with another byte at `at`, which differs from place to place."""
    return wire[:at] + bytes([wire[at] ^ (at % 255 + 1)]) + wire[at + 1 :]


def export_time_at() -> range:
    """Return the places of the one thing that nobody signs: when the file was made.

    It is a note of the exporter's, no part of what is proved, and the verdict does not repeat it.
    """
    header = Header.FromString(canonical(EVIDENCE.header))
    header.exported_at_ms = 0
    _, start, end = next(frame_starts(WIRE))
    first = start + len(canonical(header)) + 1  # after the field's tag
    assert Header(exported_at_ms=EXPORTED_AT_MS).SerializeToString()[1:] == WIRE[first:end]
    return range(first, end)


def test_the_honest_file_holds() -> None:
    assert holds(WIRE)
    assert {kind for kind, _, _ in frame_starts(WIRE)} == {1, 2, 3, 4, 5, 6, 255}


EVERY = pytest.mark.parametrize("step", [STEP, pytest.param(1, marks=pytest.mark.long)])


@EVERY
def test_one_altered_byte_anywhere(step: int) -> None:
    assert [at for at in range(0, len(WIRE), step) if holds(altered(WIRE, at))] == []


@EVERY
def test_one_altered_byte_anywhere_under_a_new_digest(step: int) -> None:
    body = unseal(WIRE)
    harmless = [at for at in range(0, len(body), step) if holds(seal(altered(body, at)))]
    assert set(harmless) <= set(export_time_at())


@EVERY
def test_one_inserted_byte_anywhere_under_a_new_digest(step: int) -> None:
    body = unseal(WIRE)
    places = range(0, len(body), step)
    assert [at for at in places if holds(seal(body[:at] + b"\x20" + body[at:]))] == []


@EVERY
def test_cut_at_any_byte(step: int) -> None:
    assert [end for end in range(0, len(WIRE), step) if holds(WIRE[:end])] == []


def test_cut_between_frames_under_a_new_digest() -> None:
    ends = [end for _, _, end in frame_starts(unseal(WIRE))]
    assert [end for end in ends if holds(seal(WIRE[:end]))] == ends[-1:]


def test_video_may_be_left_out() -> None:
    for kinds in ({5}, {4, 5}):
        assert holds(pack([frame for frame in FRAMES if frame[0] not in kinds]))


def test_any_two_neighbouring_frames_swapped_under_a_new_digest() -> None:
    starts = [len(MAGIC), *(end for _, _, end in frame_starts(unseal(WIRE)))]
    frames = [WIRE[start:end] for start, end in pairwise(starts)]
    for at in range(len(frames) - 1):
        swapped = [*frames[:at], frames[at + 1], frames[at], *frames[at + 2 :]]
        assert not holds(seal(MAGIC + b"".join(swapped)))


FRAMES = EVIDENCE.frames()
NEEDED = [frame for frame in FRAMES if frame[0] not in (4, 5)]
places = st.integers(0, len(FRAMES) - 1)
changes = st.one_of(
    st.tuples(st.just("remove"), places, places),
    st.tuples(st.just("repeat"), places, places),
    st.tuples(st.just("swap"), places, places),
    st.tuples(st.just("rename"), places, st.sampled_from([0, 1, 2, 3, 4, 5, 6, 255])),
    st.tuples(st.just("byte"), places, st.integers(0, (1 << 24) - 1)),
)


@given(st.lists(changes, min_size=1, max_size=4))
def test_frames_rearranged_and_damaged_hold_only_when_nothing_needed_is_missing(
    drawn: list[tuple[str, int, int]],
) -> None:
    frames = list(FRAMES)
    for change, place, value in drawn:
        rearrange(frames, change, place % len(frames), value)
        if not frames:
            return
    if holds(pack(frames)):
        assert [frame for frame in frames if frame[0] not in (4, 5)] == NEEDED


def rearrange(frames: list[tuple[int, bytes]], change: str, place: int, value: int) -> None:
    """Do one thing to the frames."""
    kind, payload = frames[place]
    match change:
        case "remove":
            del frames[place]
        case "repeat":
            frames.insert(value, frames[place])
        case "swap":
            other = value % len(frames)
            frames[place], frames[other] = frames[other], frames[place]
        case "rename":
            frames[place] = value, payload
        case _:
            at = value % len(payload)
            changed = bytes([payload[at] ^ (value >> 16 or 1)])
            if kind != 1:  # the header holds the export time
                frames[place] = kind, payload[:at] + changed + payload[at + 1 :]


@pytest.mark.parametrize("wire", [b"", b"W", MAGIC[:-1], b"PK\x03\x04", MAGIC.lower()])
def test_what_is_no_evidence_file(wire: bytes) -> None:
    with pytest.raises(NotEvidenceError, match="not an evidence file"):
        verify_evidence(io.BytesIO(wire), TRUST, [])
