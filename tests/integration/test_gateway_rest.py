"""Valid and invalid REST requests to a real gateway with one whole trip: no 5xx except 503."""

import hashlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.actions.payload import decode
from contracts.proto.payload_pb2 import RecordVideo, RegisterParty
from contracts.records.recording import RecordingDigest
from support.evidence.chain import digest_of
from support.gateways.described import Description, Route
from support.network.world import Trip, device, key, one, reading
from support.trucks.rogue import Rogue, Site, nonce, running_site, until
from support.trucks.uploads import announce, offer_of, send

pytestmark = pytest.mark.integration

CONTENT: Final = bytes(range(256)) * 6000
PROBLEM: Final = "application/problem+json"
UNKNOWN_TRIP: Final = "0" * 32
HOSTILE_MEDIA: Final = "text/html\r\nX-Evil: 1"


@dataclass
class Scene:
    """A site after one trip with one video."""

    site: Site
    trip: Trip
    truck: Rogue
    clients: dict[str, httpx.Client] = field(default_factory=dict)

    @property
    def video(self) -> str:
        return hashlib.sha256(CONTENT).hexdigest()

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.clients["auditor"].get(path, headers=headers)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with running_site(tmp_path_factory.mktemp("rest")) as site:
        trip = Trip(nonce=nonce(1))
        *batches, video = trip.whole([reading(at) for at in range(7)], [digest_of(CONTENT)])
        with site.device() as truck:
            made = Scene(site, trip, truck)
            for name, role in (("auditor", "auditor"), ("truck-1", "device")):
                made.clients[name] = site.client(name, role)
            made.clients["operator"] = site.operator
            truck.send(*batches)
            truck.ask(recordings=[offer_of(trip, CONTENT, video)])
            send(made.clients["truck-1"], CONTENT)
            until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])
            yield made


def test_what_is_no_request_is_answered_in_tus_too(scene: Scene) -> None:
    where = urlsplit(scene.site.appliance.rest)
    with socket.create_connection((where.hostname, where.port)) as link:
        link.sendall(b"no request\r\n\r\n")
        said = link.recv(1000)
    assert said.startswith(b"HTTP/1.1 400 ")
    assert b"\r\nTus-Resumable: 1.0.0\r\n" in said


def test_a_wrong_role_is_told_which_one_may(scene: Scene) -> None:
    for path in ("/v1/offloads", "/v1/quarantine"):
        answer = scene.get(path)
        assert answer.status_code == 403
        assert "auditor has role auditor, operator may do this" in answer.json()["detail"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/nothing",
        "/v1/deliveries/none",
        "/v1/lots/00012345678905/none",
        f"/v1/trips/{UNKNOWN_TRIP}",
        f"/v1/trips/{UNKNOWN_TRIP}/readings",
        f"/v1/trips/{UNKNOWN_TRIP}/breaches",
        f"/v1/recordings/{'0' * 64}",
        f"/v1/recordings/{'0' * 64}/content",
        "/v1/recordings/'; DROP TABLE videos; --",
        f"/v1/evidence?trip={UNKNOWN_TRIP}",
    ],
)
def test_what_is_unknown_is_a_404_that_names_it(scene: Scene, path: str) -> None:
    answer = scene.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == PROBLEM
    assert answer.json()["status"] == 404


def test_a_404_shows_a_long_path_whole_and_says_where_it_cut_one(scene: Scene) -> None:
    path = f"/v1/recordings/{UNKNOWN_TRIP * 2}/contents/of/the/video"
    assert scene.get(path).json()["detail"] == f"expected a route of /openapi.json, got '{path}'"
    assert scene.get(f"/v1/{'x' * 400}").json()["detail"].endswith("xxx'…")
    assert scene.get(f"/v1/trips/{'x' * 81}").json()["detail"].endswith("xxx'… on the ledger")


@pytest.mark.parametrize("path", ["/v1/trips/", "/v1/parties/", "/healthz/", "/v1/uploads/"])
def test_a_slash_at_the_end_is_a_404_that_names_the_path(scene: Scene, path: str) -> None:
    answer = scene.get(f"{path}?limit=1")
    assert (answer.status_code, answer.headers["content-type"]) == (404, PROBLEM)
    assert f"write '{path.rstrip('/')}', without a slash at the end" in answer.json()["detail"]


@pytest.mark.parametrize(
    "query",
    ["cursor=-1", "cursor=x", f"cursor={1 << 63}", "limit=0", "limit=1001", "limit=", "limit=1e3"],
)
def test_a_bad_cursor_or_limit_is_422(scene: Scene, query: str) -> None:
    lists = ("parties", "trips", f"trips/{scene.trip.trip_id}/readings", "offloads", "quarantine")
    for path in lists:
        answer = scene.site.operator.get(f"/v1/{path}?{query}")
        assert answer.status_code == 422, path
        assert query.split("=", maxsplit=1)[0] in answer.json()["detail"]


def test_pages_join_without_gap_or_overlap(scene: Scene) -> None:
    found, cursor = [], "0"
    while cursor:
        page = scene.get(f"/v1/trips/{scene.trip.trip_id}/readings?limit=2&cursor={cursor}").json()
        found += [item["sequence"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert found == list(range(7))


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=-1", len(CONTENT) - 1, len(CONTENT) - 1),
        ("bytes=1048570-1048590", 1048570, 1048590),
        ("bytes=1500000-", 1500000, len(CONTENT) - 1),
    ],
)
def test_a_range_is_those_bytes(scene: Scene, asked: str, first: int, last: int) -> None:
    answer = scene.get(f"/v1/recordings/{scene.video}/content", Range=asked)
    assert answer.status_code == 206
    assert answer.content == CONTENT[first : last + 1]
    assert answer.headers["content-range"] == f"bytes {first}-{last}/{len(CONTENT)}"


@pytest.mark.parametrize(
    "asked", [f"bytes={len(CONTENT)}-", "bytes=5-4", "bytes=0-1,5-6", "bytes=-0", "bytes=x"]
)
def test_a_range_outside_is_416(scene: Scene, asked: str) -> None:
    answer = scene.get(f"/v1/recordings/{scene.video}/content", Range=asked)
    assert answer.status_code == 416
    assert answer.headers["content-range"] == f"bytes */{len(CONTENT)}"


@pytest.mark.parametrize("asked", ["items=0-1", "\xe9\xff", ""])
def test_a_range_in_an_unknown_unit_is_ignored(scene: Scene, asked: str) -> None:
    url = f"/v1/recordings/{scene.video}/content"
    headers = {b"Range": asked.encode("latin-1")}
    answer = scene.clients["auditor"].get(url, headers=headers)
    assert answer.status_code == 200
    assert answer.content == CONTENT


def test_head_tells_the_size_and_knows_no_ranges(scene: Scene) -> None:
    url = f"/v1/recordings/{scene.video}/content"
    answer = scene.clients["auditor"].head(url, headers={"Range": "bytes=0-0"})
    assert answer.status_code == 200
    assert answer.headers["content-length"] == str(len(CONTENT))
    assert answer.headers["etag"] == f'"{scene.video}"'
    assert answer.content == b""


def test_a_hostile_media_type_is_not_believed(scene: Scene) -> None:
    content = b"<script>" * 10
    made = digest_of(content)
    trip = Trip(nonce=nonce(2))
    *batches, video = trip.whole([reading(0)], [made])
    action = decode(video.transactions[0].payload)
    assert isinstance(action, RecordVideo)
    action.media_type = HOSTILE_MEDIA
    seal_id = batches[-1].transactions[-1].header_signature
    hostile = one(key("truck-1"), action, dependencies=[seal_id])
    scene.truck.send(*batches)
    scene.truck.ask(recordings=[offer_of(trip, content, hostile)])
    send(scene.clients["truck-1"], content)
    until("the receipt", lambda: scene.site.offload(trip.trip_id)["receipted"])
    answer = scene.get(f"/v1/recordings/{made.sha256.hex()}/content")
    assert answer.status_code == 200
    assert answer.content == content
    assert answer.headers["content-type"] == "application/octet-stream"
    assert "x-evil" not in answer.headers


def stranger(scene: Scene) -> Trip:
    """Return the trip, not yet on the ledger, of a device that has nothing to do with ours."""
    party = RegisterParty(
        party_id="stranger", name="Stranger", public_keys=[key("stranger").public_key]
    )
    scene.site.commit([one(key("admin"), party), device("other-1", "stranger")])
    return Trip(device_id="other-1", signer=key("other-1"), nonce=nonce(4), deliveries=[])


def test_a_strangers_digest_of_our_recording_does_not_count(scene: Scene) -> None:
    content = b"ours" * 1000
    made = digest_of(content)
    false = stranger(scene)
    scene.site.commit(false.whole([], [RecordingDigest(made.sha256, 999, b"e" * 32)]))
    path = f"/v1/recordings/{made.sha256.hex()}"
    until("the false digest", lambda: scene.get(path).status_code == 200)
    trip = Trip(nonce=nonce(5))
    *batches, video = trip.whole([reading(0)], [made])
    scene.truck.send(*batches)
    scene.truck.ask(recordings=[offer_of(trip, content, video)])
    send(scene.clients["truck-1"], content)
    # The bytes are here, and the only digest on the ledger is not of them.
    until("the receipt", lambda: scene.site.offload(trip.trip_id)["receipted"])
    until("the true digest", lambda: scene.get(path).status_code == 200)
    found = scene.get(path).json()
    assert (found["trip_id"], found["size"]) == (trip.trip_id, len(content))
    assert found["other_trip_ids"] == []
    assert scene.get(f"{path}/content").content == content
    (shown,) = scene.get(f"/v1/trips/{false.trip_id}/recordings").json()["items"]
    assert (shown["size"], shown["stored"]) == (999, False)
    (shown,) = scene.get(f"/v1/trips/{trip.trip_id}/recordings").json()["items"]
    assert shown["stored"]


def test_digests_that_contradict_each_other_tell_nothing_without_the_bytes(scene: Scene) -> None:
    made = digest_of(b"never came here")
    path = f"/v1/recordings/{made.sha256.hex()}"
    one_trip, same, other = (Trip(nonce=nonce(at)) for at in (6, 7, 8))
    scene.site.commit(one_trip.whole([], [made]))
    scene.site.commit(same.whole([], [made]))
    until("both", lambda: scene.get(path).json().get("other_trip_ids") == [same.trip_id])
    assert scene.get(path).json()["trip_id"] == one_trip.trip_id
    scene.site.commit(other.whole([], [RecordingDigest(made.sha256, 1, made.tree_root)]))
    until("the third", lambda: scene.get(path).status_code == 404)
    assert "contradict each other" in scene.get(path).text


@pytest.mark.parametrize("name", ["recordings", "breaches"])
def test_a_trips_lists_come_in_pages(scene: Scene, name: str) -> None:
    trip = Trip(nonce=nonce({"recordings": 9, "breaches": 10}[name]))
    made = [digest_of(b"first of two"), digest_of(b"second of two")]
    values = [5000, *[9000] * 6, 5000, *[9000] * 6, 5000]
    scene.site.commit(trip.whole([reading(at, value) for at, value in enumerate(values)], made))
    path = f"/v1/trips/{trip.trip_id}/{name}"
    until("both", lambda: len(scene.get(path).json().get("items", [])) == 2)
    whole = scene.get(path).json()
    page = scene.get(f"{path}?limit=1").json()
    rest = scene.get(f"{path}?limit=1&cursor={page['next_cursor']}").json()
    assert page["items"] + rest["items"] == whole["items"]
    assert (whole["next_cursor"], rest["next_cursor"]) == (None, None)


def test_an_upload_that_nobody_announced_is_403(scene: Scene) -> None:
    answer = announce(scene.clients["truck-1"], b"never announced")
    assert answer.status_code == 403
    assert "no signed digest by truck-1" in answer.json()["detail"]


def test_an_upload_of_another_devices_recording_is_403(scene: Scene) -> None:
    other = scene.site.client("truck-2", "device")
    answer = announce(other, CONTENT)
    assert answer.status_code == 403
    assert "truck-2" in answer.json()["detail"]


def test_an_upload_of_another_size_is_403(scene: Scene) -> None:
    answer = announce(scene.clients["truck-1"], CONTENT, size=len(CONTENT) - 1)
    assert answer.status_code == 403


def test_bytes_that_differ_from_the_signed_digest_start_over(scene: Scene) -> None:
    content, other = b"signed" * 1000, b"sent.." * 1000
    trip = Trip(nonce=nonce(3))
    *batches, video = trip.whole([reading(0)], [digest_of(content)])
    scene.truck.send(*batches)
    scene.truck.ask(recordings=[offer_of(trip, content, video)])
    client = scene.clients["truck-1"]
    answer = send(client, content, other)
    assert answer.status_code == 422
    assert hashlib.sha256(content).hexdigest() in answer.text
    assert hashlib.sha256(other).hexdigest() in answer.text
    until("the readings", lambda: scene.site.committed(trip.trip_id) == len(batches))
    (recording,) = scene.site.offload(trip.trip_id)["recordings"]
    assert (recording["received"], recording["digest"]) == (0, "held")
    assert scene.get(f"/v1/recordings/{hashlib.sha256(content).hexdigest()}").status_code == 404
    assert send(client, content).status_code == 204
    until("the receipt", lambda: scene.site.offload(trip.trip_id)["receipted"])


def test_a_broken_token_file_lets_nobody_in_until_it_is_mended(scene: Scene) -> None:
    path = scene.site.appliance.gateway_data / "tokens.json"
    good = path.read_bytes()
    try:
        path.write_text("{ not json")
        answer = scene.get("/v1/parties")
        assert answer.status_code == 503  # the gateway's trouble: trucks try again
        assert "tokens.json" not in answer.text  # any stranger reads this
        assert announce(scene.clients["truck-1"], b"film").status_code == 503
        with Rogue(scene.site.appliance.mqtt, "truck-9", "any") as stranger:
            assert stranger.refused.is_set()
    finally:
        path.write_bytes(good)
    assert scene.get("/v1/parties").status_code == 200
    assert not scene.truck.ask("0" * 128).batch_ids


EVENTS = "text/event-stream"
NASTY = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.sampled_from(["..", "%00", "\0", "-1", str(1 << 64), "é" * 50, "a" * 3000, "NaN", "0x10"]),
)


@given(data=st.data())
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_question_breaks_the_gateway(scene: Scene, data: st.DataObject) -> None:
    reads = [each for each in routes_of(scene) if each.method in ("GET", "POST")]
    route = data.draw(st.sampled_from(reads))
    path = route.filled({name: quote(data.draw(NASTY), safe="") for name in route.places})
    described = [
        each["name"] for each in route.operation.get("parameters", []) if each["in"] == "query"
    ]
    names = st.sampled_from([*described, "other"])
    query = data.draw(st.lists(st.tuples(names, NASTY), max_size=3))
    url = f"{path}?{urlencode(query)}"
    with scene.clients["operator"].stream(route.method, url) as answer:
        if answer.headers.get("content-type", "").partition(";")[0] != EVENTS:  # those have no end
            answer.read()
    assert answer.status_code < 500 or answer.status_code == 503, url
    if answer.is_error:
        assert answer.headers["content-type"] == PROBLEM, url


_ROUTES: list[Route] = []
_LOCK = threading.Lock()


def routes_of(scene: Scene) -> list[Route]:
    """Return the routes, asked for once."""
    with _LOCK:
        if not _ROUTES:
            _ROUTES.extend(Description(scene.get("/openapi.json").json()).routes())
    return _ROUTES
