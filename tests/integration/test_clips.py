"""Clips over REST: of a real trip's video, proved by the blobs that the answer names."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import pytest

from contracts.records.clock import rfc3339
from support.evidence.chain import digest_of
from support.gateways.yard import Yard, command, running_yard
from support.network.world import START_MS, Trip, reading
from support.trucks.films import film
from support.trucks.uploads import offer_of, send

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yard]:
    with running_yard(tmp_path_factory.mktemp("clips")) as made:
        yield made


@pytest.fixture(scope="module")
def content() -> bytes:
    """A video of eight seconds in one blob, and eight blobs that no player reads."""
    return film("plain") + bytes(8 << 20)


@pytest.fixture(scope="module")
def trip(yard: Yard, content: bytes) -> Trip:
    trip = Trip()
    *batches, video = trip.whole([reading(0)], [digest_of(content)])
    with yard.site.device() as truck:
        truck.send(*batches)
        truck.ask(recordings=[offer_of(trip, content, video)])
        send(yard.site.client("truck-1", "device"), content)
        yard.receipted(trip)
    return trip


def clip_path(content: bytes) -> str:
    return f"/v1/recordings/{digest_of(content).sha256.hex()}/clip"


def times(from_ms: int, to_ms: int) -> dict[str, str]:
    return {"from": rfc3339(START_MS + from_ms), "to": rfc3339(START_MS + to_ms)}


def pictures(video: bytes) -> list[float]:
    opened: Any = av.open(io.BytesIO(video))
    with opened:
        return [picture.time for picture in opened.decode(video=0)]


def test_a_clip_and_its_proof(yard: Yard, trip: Trip, content: bytes, tmp_path: Path) -> None:
    answer = yard.auditor.get(clip_path(content), params=times(2_000, 4_000))
    assert (answer.status_code, answer.headers["content-type"]) == (200, "video/mp4"), answer.text
    assert len(answer.content) == int(answer.headers["content-length"])
    assert answer.headers["wayseal-pictures"] == "copied"
    assert 20 <= len(pictures(answer.content)) <= 22
    assert answer.headers["wayseal-blobs"] == "0"
    newest = yard.site.ask("/v1/accesses")["items"][-1]
    name = digest_of(content).sha256.hex()
    assert (newest["what"], newest["subjects"]) == ("video", [name])

    query = {"trip": trip.trip_id, "recording": name, "blobs": answer.headers["wayseal-blobs"]}
    file, video = tmp_path / "clip.evidence", tmp_path / "video"
    file.write_bytes(yard.auditor.get("/v1/evidence", params=query).content)
    trust = yard.appliance.trust_file()
    checked = command("wayseal-verify", file, "--trust", trust, "--save-video", video)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    (part,) = video.iterdir()
    assert len(pictures(part.read_bytes())) == 80


@pytest.mark.usefixtures("trip")
@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({}, 422, "from"),
        ({"from": rfc3339(START_MS)}, 422, "to"),
        (times(-60_000, -1), 422, "expected a time in which recording"),
        (times(60_000, 70_000), 422, "it has no picture in that time"),
        (times(0, 601_000), 422, "expected a clip of up to 600 s, got 601.0 s"),
    ],
)
def test_times_without_a_clip(
    yard: Yard, content: bytes, asked: dict[str, str], status: int, said: str
) -> None:
    answer = yard.auditor.get(clip_path(content), params=asked)
    assert (answer.status_code, said in answer.json()["detail"]) == (status, True), answer.text


def test_a_recording_that_is_not_here(yard: Yard) -> None:
    answer = yard.auditor.get(clip_path(b"another"), params=times(0, 1_000))
    assert answer.status_code == 404
    assert yard.site.client("truck-1", "device").get(
        clip_path(b"another"), params=times(0, 1_000)
    ).status_code in {401, 403}
