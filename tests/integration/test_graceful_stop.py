"""SIGTERM in the middle of an upload, of intake and of a commit: bounded, and nothing is lost.

The site writes its log as JSON, which is looked at when all is over.
"""

import hashlib
import json
import threading
from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest

from contracts.wire import Topic
from demo.processes import Service
from support.evidence.chain import digest_of
from support.network.world import Trip, reading
from support.trucks.rogue import (
    Site,
    nonce,
    readings_on_ledger,
    records,
    running_site,
    until,
    wire_of,
)
from support.trucks.uploads import STREAM, TUS, announce, offer_of

pytestmark = pytest.mark.integration

CONTENT: Final = bytes(range(256)) * 40_000
VIDEO: Final = hashlib.sha256(CONTENT).hexdigest()
READINGS: Final = 60


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    root = tmp_path_factory.mktemp("stopped")
    with running_site(root, variables={"WAYSEAL_LOG__FORMAT": "json"}) as site:
        yield site


def stopped(service: Service | None) -> None:
    """Send SIGTERM; fail unless the process ends by itself, in time, and says that all is well."""
    assert service is not None
    assert service.stop() == 0


def restart(site: Site) -> None:
    stopped(site.appliance.gateway)
    site.appliance.start_gateway()


def test_an_upload_goes_on_where_it_was(site: Site) -> None:
    trip = Trip(nonce=nonce(1))
    *batches, video = trip.whole([reading(at) for at in range(3)], [digest_of(CONTENT)])
    with site.device() as truck:
        truck.send(*batches)
        truck.ask(recordings=[offer_of(trip, CONTENT, video)])
    client = site.client("truck-1", "device")
    place = announce(client, CONTENT).headers["location"]
    half, stop_now, go_on = len(CONTENT) // 2, threading.Event(), threading.Event()

    def slow() -> Iterator[bytes]:
        for start in range(0, half, 65_536):
            yield CONTENT[start : min(half, start + 65_536)]
        stop_now.set()
        go_on.wait()
        yield CONTENT[half:]

    answers: list[httpx.Response | httpx.HTTPError] = []

    def patch() -> None:
        headers = {**STREAM, "Upload-Offset": "0", "Content-Length": str(len(CONTENT))}
        try:
            answers.append(client.patch(place, content=slow(), headers=headers))
        except httpx.HTTPError as error:
            answers.append(error)

    sender = threading.Thread(target=patch)
    sender.start()
    assert stop_now.wait(30)
    try:
        stopped(site.appliance.gateway)
    finally:
        go_on.set()
        sender.join(30)
    (answer,) = answers  # httpx may find the connection closed before it reads the answer
    assert isinstance(answer, httpx.HTTPError) or answer.status_code == 408
    site.appliance.start_gateway()
    offset = int(client.head(place, headers=TUS).headers["upload-offset"])
    # What had come is kept, not only what came up to the last checkpoint of 64 MiB; some of the
    # bytes may still have been on their way.
    assert 0 < offset <= half
    headers = {**STREAM, "Upload-Offset": str(offset)}
    assert client.patch(place, content=CONTENT[offset:], headers=headers).status_code == 204
    until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])
    auditor = site.client("auditor", "auditor")
    content = auditor.get(f"/v1/recordings/{VIDEO}/content").content
    assert hashlib.sha256(content).hexdigest() == VIDEO


def test_what_was_answered_as_held_is_held(site: Site) -> None:
    trip = Trip(nonce=nonce(2))
    batches = trip.whole([reading(at) for at in range(READINGS)], [])
    names = [batch.header_signature for batch in batches]
    answered: set[str] = set()
    with site.device() as truck:
        answered |= set(truck.send(*batches[:2]).batch_ids)
        for batch in batches[2:]:  # nobody waits for the answers to these
            truck.publish(Topic.RECORDS, records([wire_of(batch)]))
        restart(site)
        while not truck.heard.empty():
            answered |= set(truck.heard.get().batch_ids)
    assert answered >= set(names[:2])
    with site.device() as truck:
        held = set(truck.ask(*names).batch_ids)
        assert answered <= held
        missing = [batch for batch in batches if batch.header_signature not in held]
        if missing:
            truck.send(*missing)
    until("all are committed", lambda: site.committed(trip.trip_id) == len(batches))
    assert readings_on_ledger(site, trip.trip_id) == list(range(READINGS))


def test_a_commit_under_way_is_neither_lost_nor_repeated(site: Site) -> None:
    trip = Trip(nonce=nonce(3))
    batches = trip.whole([reading(at) for at in range(READINGS)], [])
    with site.device() as truck:
        truck.send(*batches)
    stopped(site.appliance.node)
    stopped(site.appliance.gateway)
    site.appliance.start_node()
    site.appliance.start_gateway()
    until("all are committed", lambda: site.committed(trip.trip_id) == len(batches))
    assert readings_on_ledger(site, trip.trip_id) == list(range(READINGS))


def test_every_line_of_the_log_is_json_and_names_what_it_is_about(site: Site) -> None:
    text = (site.appliance.directory / "gateway.log").read_text("utf-8")
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    assert lines
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    whole = next(line for line in lines if line["message"] == f"recording {VIDEO} is whole")
    assert whole["recording_id"] == VIDEO
    finals = [line for line in lines if line["message"].startswith("final receipt for trip")]
    trips = {Trip(nonce=nonce(number)).trip_id for number in (1, 2, 3)}
    assert {(line["trip_id"], line["device_id"]) for line in finals} == {
        (trip_id, "truck-1") for trip_id in trips
    }
