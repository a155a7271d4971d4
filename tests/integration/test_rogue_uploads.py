"""Uploads of a rogue truck at a real gateway cost the honest truck neither place nor bytes."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final
from urllib.parse import urlsplit

import httpx
import pytest

from support.evidence.chain import digest_of
from support.network.world import Trip, key, reading
from support.trucks.rogue import DEADLINE_S, Site, nonce, running_site, until
from support.trucks.uploads import STREAM, TUS, announce, offer_of, send

pytestmark = pytest.mark.integration

SETTINGS: Final = {
    "WAYSEAL_LIMITS__UPLOADS": "3",
    "WAYSEAL_LIMITS__DEVICE_UPLOADS": "2",
    "WAYSEAL_LIMITS__DEVICE_PARTIAL_BYTES": str(100 << 20),
    "WAYSEAL_LIMITS__UPLOAD_TURN_S": "1",
    "WAYSEAL_REST__BODY_TIMEOUT_S": "2",
}
ROGUES: Final = ("truck-2", "truck-3", "truck-4")


class Uploader:
    """A truck with its token, its broker connection left aside once it has offered."""

    def __init__(self, site: Site, device_id: str) -> None:
        self.site = site
        self.device_id = device_id
        self.rest = site.client(device_id, "device")

    def offers(self, content: bytes, number: int, size: int | None = None) -> Trip:
        """Announce a recording over MQTT, if need be with a wrong size; return its trip."""
        trip = Trip(self.device_id, nonce(number), signer=key(self.device_id))
        made = digest_of(content)
        *batches, digest = trip.whole([reading(0)], [made])
        offer = offer_of(trip, content, digest)
        if size is not None:
            seal_id = batches[-1].transactions[-1].header_signature
            lie = type(made)(made.sha256, size, made.tree_root)
            offer.size = size
            offer.digest_batch = trip.video(lie, seal_id).SerializeToString(deterministic=True)
        with self.site.device(self.device_id) as connected:
            self.rest.headers["Authorization"] = self.site.client(self.device_id, "device").headers[
                "Authorization"
            ]
            assert not connected.send(*batches).refused
            assert connected.ask(recordings=[offer]).batch_ids
        return trip

    def patch(self, content: bytes, offset: int, data: bytes) -> httpx.Response:
        headers = {**STREAM, "Upload-Offset": str(offset)}
        return self.rest.patch(url_of(content), content=data, headers=headers)

    def offset(self, content: bytes) -> int:
        answer = self.rest.head(url_of(content), headers=TUS)
        assert answer.status_code == 200
        return int(answer.headers["upload-offset"])

    @contextmanager
    def trickles(self, content: bytes) -> Iterator[None]:
        """Hold an upload with a request that has sent one byte."""
        where = urlsplit(str(self.rest.base_url))
        head = (
            f"PATCH {url_of(content)} HTTP/1.1\r\nHost: x\r\nTus-Resumable: 1.0.0\r\n"
            f"Authorization: {self.rest.headers['Authorization']}\r\nUpload-Offset: 0\r\n"
            f"Content-Type: application/offset+octet-stream\r\n"
            f"Content-Length: {len(content)}\r\n\r\nx"
        )
        with socket.create_connection((where.hostname, where.port), DEADLINE_S) as held:
            held.sendall(head.encode())
            yield


def url_of(content: bytes) -> str:
    return f"/v1/uploads/{digest_of(content).sha256.hex()}"


def video(number: int, size: int = 1 << 20) -> bytes:
    return number.to_bytes(4, "big") * (size // 4)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("rogues"), variables=SETTINGS) as made:
        yield made


@pytest.fixture(scope="module")
def honest(site: Site) -> Uploader:
    return Uploader(site, "truck-1")


@pytest.fixture(scope="module")
def rogues(site: Site) -> list[Uploader]:
    return [Uploader(site, device_id) for device_id in ROGUES]


def receipted(site: Site, trip: Trip) -> None:
    until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])


def test_a_false_size_is_its_announcers_own_trouble(
    site: Site, honest: Uploader, rogues: list[Uploader]
) -> None:
    content = video(1)
    rogues[0].offers(content, 1, size=2 * len(content))
    assert announce(rogues[0].rest, content, size=2 * len(content)).status_code == 201
    trip = honest.offers(content, 1)
    assert announce(rogues[0].rest, content).status_code == 403
    assert send(honest.rest, content).status_code == 204
    receipted(site, trip)


def test_false_bytes_under_another_trucks_hash(
    site: Site, honest: Uploader, rogues: list[Uploader]
) -> None:
    content = video(2)
    rogues[0].offers(content, 2)
    assert announce(rogues[0].rest, content).status_code == 201
    assert rogues[0].patch(content, 0, b"lies").status_code == 204
    trip = honest.offers(content, 2)
    assert announce(honest.rest, content).status_code == 201
    assert honest.offset(content) == 0
    assert honest.patch(content, 0, content[:1000]).status_code == 204
    assert rogues[0].offset(content) == 4
    assert rogues[0].rest.delete(url_of(content), headers=TUS).status_code == 204
    assert honest.offset(content) == 1000
    assert honest.patch(content, 1000, content[1000:]).status_code == 204
    receipted(site, trip)


def test_a_wrong_checksum_is_refused_before_it_costs_much(rogues: list[Uploader]) -> None:
    content = video(4)
    rogues[1].offers(content, 4)
    assert announce(rogues[1].rest, content).status_code == 201
    assert rogues[1].patch(content, 0, content[:1_000]).status_code == 204
    headers = {**STREAM, "Upload-Offset": "1000", "Upload-Checksum": f"sha256 {'A' * 43}="}

    def wrong() -> int:
        return rogues[1].rest.patch(url_of(content), content=b"1", headers=headers).status_code

    assert [wrong() for _ in range(5)] == [460, 460, 460, 429, 429]
    assert rogues[1].patch(content, 1_000, content[1_000:]).status_code == 204


def test_an_upload_that_never_ends_holds_nobody_up(
    site: Site, honest: Uploader, rogues: list[Uploader]
) -> None:
    content = video(3)
    rogues[0].offers(content, 3)
    assert announce(rogues[0].rest, content).status_code == 201
    trip = honest.offers(content, 3)
    with rogues[0].trickles(content):
        assert send(honest.rest, content).status_code == 204
        receipted(site, trip)
    assert rogues[0].offset(content) == len(content)  # it is whole, whoever brought it


def test_slow_uploads_take_a_devices_places_only(
    site: Site, honest: Uploader, rogues: list[Uploader]
) -> None:
    with ExitStack() as stack:
        for number in (40, 41, 42, 43):
            rogues[0].offers(video(number), number)
            if announce(rogues[0].rest, video(number)).status_code == 201:
                stack.enter_context(rogues[0].trickles(video(number)))
        trip = honest.offers(video(44), 44)
        assert send(honest.rest, video(44)).status_code == 204
        receipted(site, trip)


def test_many_rogues_get_a_turn_each_and_the_honest_one_too(
    site: Site, honest: Uploader, rogues: list[Uploader]
) -> None:
    content = video(50)
    trip = honest.offers(content, 50)
    with ExitStack() as stack:
        for number, rogue in enumerate(rogues, 51):
            rogue.offers(video(number), number)
            until("a place", lambda: has_begun(rogue, video(number)))  # noqa: B023  # asked at once
            stack.enter_context(rogue.trickles(video(number)))
        until("a turn", lambda: has_begun(honest, content))
        until("the upload", lambda: honest.patch(content, 0, content).status_code == 204)
    receipted(site, trip)


def has_begun(truck: Uploader, content: bytes) -> bool:
    return announce(truck.rest, content).status_code == 201


def test_partial_uploads_have_a_quota_and_can_be_dropped(
    site: Site, honest: Uploader, rogues: list[Uploader]
) -> None:
    size = 40 << 20
    for number in (60, 61, 62):
        rogues[1].offers(video(number), number, size=size)
    statuses = [
        announce(rogues[1].rest, video(number), size=size).status_code for number in (60, 61, 62)
    ]
    assert statuses == [201, 201, 503]
    trip = honest.offers(video(63), 63)
    assert send(honest.rest, video(63)).status_code == 204
    receipted(site, trip)
    listed = [each for each in site.ask("/v1/waiting/uploads") if each["device_id"] == "truck-3"]
    assert {each["size"] for each in listed} >= {size}
    for each in listed:
        path = f"/v1/waiting/uploads/truck-3/{each['recording_id']}"
        assert site.operator.delete(path).status_code == 204
        assert site.operator.delete(path).status_code == 404
    assert announce(rogues[1].rest, video(62), size=size).status_code == 201


def test_a_slow_but_honest_upload_passes(site: Site, honest: Uploader) -> None:
    content = video(70, 120_000)
    trip = honest.offers(content, 70)
    assert announce(honest.rest, content).status_code == 201

    def slowly() -> Iterator[bytes]:
        for at in range(0, len(content), 1_000):  # 20 kB/s, over three measurements
            yield content[at : at + 1_000]
            time.sleep(0.05)

    headers = {**STREAM, "Upload-Offset": "0", "Content-Length": str(len(content))}
    answer = honest.rest.patch(url_of(content), content=slowly(), headers=headers)
    assert answer.status_code == 204, answer.text
    receipted(site, trip)


def test_uploads_continue_after_a_restart(
    site: Site, honest: Uploader, rogues: list[Uploader]
) -> None:
    content = video(80)
    rogues[0].offers(content, 80)
    announce(rogues[0].rest, content)
    rogues[0].patch(content, 0, b"lies")
    trip = honest.offers(content, 80)
    announce(honest.rest, content)
    honest.patch(content, 0, content[:5_000])
    assert site.appliance.gateway is not None
    site.appliance.gateway.kill()
    site.appliance.start_gateway()
    assert (rogues[0].offset(content), honest.offset(content)) == (4, 5_000)
    assert honest.patch(content, 5_000, content[5_000:]).status_code == 204
    receipted(site, trip)
