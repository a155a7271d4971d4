"""Evidence with some of the video: each part is proved without the rest, and can be taken out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from contracts.chunktree import BLOB_BYTES
from contracts.records.clock import rfc3339
from support.evidence.chain import digest_of
from support.gateways.yard import Yard, command, running_yard
from support.network.world import START_MS, Trip, reading
from support.trucks.uploads import offer_of, send

pytestmark = pytest.mark.integration

EARLY: Final = b"early film " * 250_000
"""Three blobs, from the trip's start on."""
LATE: Final = b"a late film " * 250_000
LATER_MS: Final = START_MS + 60_000


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yard]:
    with running_yard(tmp_path_factory.mktemp("parts")) as made:
        yield made


@pytest.fixture(scope="module")
def trip(yard: Yard) -> Trip:
    """A trip with two recordings, one after the other."""
    trip, early, late = Trip(), digest_of(EARLY), digest_of(LATE)
    *batches, first, _ = trip.whole([reading(0)], [early, late])
    seal_id = batches[-1].transactions[-1].header_signature
    second = trip.video(late, seal_id, LATER_MS)
    with yard.site.device() as truck:
        truck.send(*batches)
        truck.ask(recordings=[offer_of(trip, EARLY, first), offer_of(trip, LATE, second)])
        for content in (EARLY, LATE):
            send(yard.site.client("truck-1", "device"), content)
        yard.receipted(trip)
    return trip


def saved(yard: Yard, trip: Trip, folder: Path, **asked: str) -> dict[str, bytes]:
    """Return the video that a proved evidence file gives, by name."""
    answer = yard.auditor.get("/v1/evidence", params={"trip": trip.trip_id, **asked})
    assert answer.status_code == 200, answer.text
    file, video = folder / "evidence", folder / "video"
    file.write_bytes(answer.content)
    trust = yard.appliance.trust_file()
    checked = command("wayseal-verify", file, "--trust", trust, "--save-video", video)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    return {each.name: each.read_bytes() for each in video.iterdir()}


def refused(yard: Yard, trip: Trip, **asked: str) -> tuple[int, str]:
    answer = yard.auditor.get("/v1/evidence", params={"trip": trip.trip_id, **asked})
    return answer.status_code, answer.json()["detail"]


def name(content: bytes) -> str:
    return digest_of(content).sha256.hex()


def test_one_recording_without_the_other(yard: Yard, trip: Trip, tmp_path: Path) -> None:
    found = saved(yard, trip, tmp_path, recording=name(LATE))
    assert found == {f"{name(LATE)}.mp4": LATE}


def test_some_blobs_of_a_recording(yard: Yard, trip: Trip, tmp_path: Path) -> None:
    found = saved(yard, trip, tmp_path, recording=name(EARLY), blobs="2,0,2-2")
    with_hole = EARLY[:BLOB_BYTES] + bytes(BLOB_BYTES) + EARLY[2 * BLOB_BYTES :]
    assert found == {f"{name(EARLY)}.part.mp4": with_hole}


@pytest.mark.parametrize(
    ("begin", "end", "filmed"),
    [
        (None, START_MS + 1, {EARLY}),
        (START_MS + 1, None, {LATE}),
        (START_MS, LATER_MS + 1, {EARLY, LATE}),
    ],
)
def test_what_was_filmed_in_a_time(
    yard: Yard, trip: Trip, tmp_path: Path, begin: int | None, end: int | None, filmed: set[bytes]
) -> None:
    times = {"from": begin, "to": end}
    asked = {key: rfc3339(time) for key, time in times.items() if time is not None}
    found = saved(yard, trip, tmp_path, **asked)
    assert found == {f"{name(each)}.mp4": each for each in filmed}


def test_video_is_left_out_unless_it_is_asked_for(yard: Yard, trip: Trip, tmp_path: Path) -> None:
    assert saved(yard, trip, tmp_path) == {}


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({"recording": "0" * 64}, 404, "no recording"),
        ({"recording": "x"}, 404, "recording id must be 64 lower-case hexadecimal digits"),
        ({"blobs": "0"}, 422, "expected blobs together with one recording, got 0 recordings"),
        ({"from": rfc3339(LATER_MS + 1)}, 404, "0 recordings were filmed in that time"),
        (
            {"recording": name(EARLY), "from": rfc3339(START_MS)},
            422,
            "expected either recording, or from and to, got both",
        ),
        ({"recording": name(EARLY), "blobs": "1-3"}, 422, "expected blobs 0 to 2"),
        ({"recording": name(EARLY), "blobs": "2-1"}, 422, "the first before the last, got 2-1"),
        (
            {"recording": name(EARLY), "blobs": "1;2"},
            422,
            "blob numbers such as 0,3-7, got '1;2'",
        ),
        (
            {"recording": name(EARLY), "blobs": ""},
            422,
            "blob numbers such as 0,3-7, got ''",
        ),
    ],
)
def test_video_that_cannot_be_had(
    yard: Yard, trip: Trip, asked: dict[str, str], status: int, said: str
) -> None:
    found = refused(yard, trip, **asked)
    assert (found[0], said in found[1]) == (status, True), found


def test_a_recording_of_another_trip(yard: Yard, trip: Trip) -> None:
    other, _ = yard.visit(7)
    found = refused(yard, other, recording=name(EARLY))
    assert found == (404, f"recording {name(EARLY)} is on none of the trips asked for")
    assert trip.trip_id != other.trip_id
