"""Live changes by server-sent events, leaf hashes, and recordings by time, at a real gateway."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import pytest

from contracts.chunktree import HASH_BYTES, leaf_hash, root_hash
from gateway.api.changes import STREAMS_OF_ONE_MAX
from support.evidence.chain import digest_of
from support.network.world import Trip, reading
from support.trucks.rogue import Site, nonce, running_site, until
from support.trucks.uploads import offer_of, send

pytestmark = pytest.mark.integration

CONTENT: Final = bytes(range(256)) * 9000
RECORDING: Final = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("changes")) as made:
        yield made


def next_event(lines: Iterator[str], name: str) -> tuple[str, dict[str, object]]:
    """Return id and data of the next event of a name."""
    event_id = ""
    for line in lines:
        if line.startswith("id: "):
            event_id = line.removeprefix("id: ")
        if line == f"event: {name}":
            return event_id, json.loads(next(lines).removeprefix("data: "))
    raise AssertionError(name)


def test_a_stream_tells_of_a_block_and_film_is_found_by_time(site: Site) -> None:
    trip = Trip(nonce=nonce(5))
    *batches, video = trip.whole([reading(at) for at in range(3)], [digest_of(CONTENT)])
    with site.operator.stream("GET", "/v1/changes") as stream, site.device() as truck:
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert stream.headers["cache-control"] == "no-store"
        assert "content-encoding" not in stream.headers
        lines = stream.iter_lines()
        first, _ = next_event(lines, "block")
        truck.send(*batches)
        truck.ask(recordings=[offer_of(trip, CONTENT, video)])
        second, data = next_event(lines, "block")
        assert first != second == data["block_id"]
        sender = site.client("truck-1", "device")
        send(sender, CONTENT)
        until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])
    (found,) = site.ask(f"/v1/trips/{trip.trip_id}/recordings")["items"]
    path, began = f"/v1/trips/{trip.trip_id}/recordings", found["started_at"]
    assert site.ask(f"{path}?from={began}")["items"] == [found]
    assert site.ask(f"{path}?to={began}")["items"] == []
    assert site.ask(f"{path}?from=2200-01-01T00:00:00Z")["items"] == []


def test_leaf_hashes_prove_each_part(site: Site) -> None:
    until("the digest", lambda: bool(site.ask("/v1/recordings")["items"]))
    path = f"/v1/recordings/{RECORDING}/leaves"
    whole = site.operator.get(path)
    leaves = [
        whole.content[at : at + HASH_BYTES] for at in range(0, len(whole.content), HASH_BYTES)
    ]
    told = site.ask(f"/v1/recordings/{RECORDING}")
    assert root_hash(leaves).hex() == told["tree_root"]
    blob = site.operator.get(
        f"/v1/recordings/{RECORDING}/content", headers={"Range": "bytes=1048576-2097151"}
    ).content
    one = site.operator.get(path, headers={"Range": "bytes=32-63"})
    assert (one.status_code, one.content) == (206, leaf_hash(blob))
    assert site.operator.get(path, headers={"If-None-Match": one.headers["etag"]}).content == b""
    assert site.operator.get(path, headers={"Range": "bytes=999999-"}).status_code == 416
    assert site.operator.get(f"/v1/recordings/{'0' * 64}/leaves").status_code == 404


def test_a_flood_of_streams_is_refused_and_the_places_come_back(site: Site) -> None:
    client = site.client("flooder", "auditor")
    with ExitStack() as opened:
        alive = []  # httpx closes a stream with the iterator over its lines
        for _ in range(STREAMS_OF_ONE_MAX):
            stream = opened.enter_context(client.stream("GET", "/v1/changes"))
            assert stream.status_code == 200
            alive.append(stream.iter_lines())
            assert next(alive[-1]).startswith("retry: ")
        assert client.get("/v1/changes").status_code == 429
        assert site.operator.get("/v1/trips").status_code == 200

    def has_place() -> bool:
        with client.stream("GET", "/v1/changes") as stream:
            return stream.status_code == 200

    until("a place", has_place)
