"""A real gateway holds film of an excursion by itself, until an operator lets go of it."""

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.hold_end import open_hold_end
from contracts.proto.hold_end_pb2 import HoldEnd
from support.evidence.chain import WARM, digest_of
from support.gateways.dock import DAY_S
from support.network.world import START_MS, Trip, reading
from support.storage.databases import edited
from support.trucks.rogue import Site, nonce, running_site, until
from support.trucks.uploads import offer_of, send

pytestmark = pytest.mark.integration

WARM_FILM, COOL_FILM = b"the truck warms up" * 99, b"long after, all is well" * 99
HELD, FREE = (digest_of(each).sha256.hex() for each in (WARM_FILM, COOL_FILM))
LATER_MS = 3_600_000
DAYS = {"WAYSEAL_RETENTION__BLOBS_DAYS": "30"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site")) as made:
        yield made


def offloaded(site: Site) -> str:
    """Offload a trip that was too warm, with film of then and of an hour later; return its id."""
    trip = Trip(nonce=nonce(7))
    digests = [digest_of(WARM_FILM), digest_of(COOL_FILM)]
    values = [reading(at, temperature) for at, temperature in enumerate(WARM)]
    actions = [trip.sign(trip.start), *(trip.record(each) for each in values), trip.seal(digests)]
    batches = trip.batches(actions, 20)
    seal_id = batches[-1].transactions[-1].header_signature
    films = [
        (WARM_FILM, trip.video(digests[0], seal_id)),
        (COOL_FILM, trip.video(digests[1], seal_id, START_MS + LATER_MS)),
    ]
    with site.device() as truck:
        truck.send(*batches)
        offers = [offer_of(trip, content, video) for content, video in films]

        def wanted() -> list[str]:
            return [each.hex() for each in truck.ask(recordings=offers).first]

        until("the site wants film of the excursion first", lambda: wanted() == [HELD])
        client = site.client("truck-1", "device")
        for content, _ in films:
            send(client, content)
        until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])
    return trip.trip_id


def started(site: Site, *, aged_days: int = 0) -> None:
    """Let days of running go by, and start the gateway again, which looks at what is due."""
    gateway, appliance = site.appliance.gateway, site.appliance
    assert gateway is not None
    gateway.stop()
    with edited(appliance.gateway_data / "retention.db") as db:
        db.execute("UPDATE clock SET elapsed_s = elapsed_s + ?", (aged_days * DAY_S,))
    appliance.variables = DAYS
    appliance.start_gateway()


def stored(site: Site, recording_id: str) -> bool:
    return bool(site.ask(f"/v1/recordings/{recording_id}")["stored"])


def listed(site: Site, *arguments: str) -> list[dict[str, Any]]:
    """Return what `wayseal-gateway holds` prints beside the gateway that runs."""
    called = "from gateway.wayseal_gateway import main; main()"
    command = [sys.executable, "-c", called, "holds", *arguments]
    done = subprocess.run(  # noqa: S603 - our own program
        [*command, "--config", str(site.appliance.settings_file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_film_of_an_excursion_is_kept_until_an_operator_lets_go(site: Site) -> None:
    trip_id = offloaded(site)
    (hold,) = site.ask(f"/v1/trips/{trip_id}/automatic-holds")["items"]
    assert (hold["kind"], hold["recording_ids"], hold["ended_recording_ids"]) == (
        "excursion",
        [HELD],
        [],
    )
    (says,) = site.ask(f"/v1/recordings/{HELD}")["held_because"]
    assert says.startswith("temperature outside the limits of delivery delivery-1, device truck-1")
    assert site.ask(f"/v1/recordings/{FREE}")["held_because"] == []
    started(site)
    until("the first look", lambda: _released(site) == 2)
    started(site, aged_days=31)
    until("the neighbour's end", lambda: not stored(site, FREE))
    assert stored(site, HELD)
    assert [each["recording_id"] for each in site.ask("/v1/deletions")["items"]] == [FREE]
    (line,) = listed(site, trip_id)
    assert (line["recording_id"], line["held_because"]) == (HELD, [says])
    assert listed(site, "--ended") == []
    the_end_is_for_operators_with_a_reason(site, trip_id)
    until("the deletion", lambda: not stored(site, HELD))
    told = site.ask("/v1/deletions")["items"][-1]
    assert (told["recording_id"], told["hold_ends"]) == (HELD, [1])
    assert listed(site) == []
    (line,) = listed(site, "--ended")
    assert (line["who"], line["why"], line["held_for"]) == ("operator", "claim settled", [says])


def the_end_is_for_operators_with_a_reason(site: Site, trip_id: str) -> None:
    path = f"/v1/trips/{trip_id}/automatic-holds/end"
    auditor = site.client("auditor", "auditor")
    assert auditor.post(path, json={"why": "I want"}).status_code == 403
    for wrong in ({}, {"why": ""}, {"why": "x", "recording_id": FREE}, {"why": "x", "all": True}):
        assert site.operator.post(path, json=wrong).status_code == 422, wrong
    unknown = path.replace(trip_id, "f" * 32)
    assert site.operator.post(unknown, json={"why": "x"}).status_code == 404
    early = site.operator.post(path, json={"why": "x", "block_num": 0})
    assert (early.status_code, "by block 0" in early.json()["detail"]) == (422, True)
    assert site.operator.post(path, json={"why": "x", "block_num": -1}).status_code == 422
    seen = site.ask("/v1/status")["index_block_num"]
    answer = site.operator.post(path, json={"why": "claim settled", "block_num": seen})
    assert (answer.status_code, answer.json()["block_num"]) == (200, seen), answer.text
    end = HoldEnd.FromString(base64.b64decode(answer.json()["signed"]))
    body = open_hold_end(end, {site.appliance.gateway_key()})
    assert (body.who, body.role, body.why, body.trip_id) == (
        "operator",
        "operator",
        "claim settled",
        trip_id,
    )
    assert auditor.get("/v1/hold-ends").json()["items"] == [answer.json()]
    (hold,) = site.ask(f"/v1/trips/{trip_id}/automatic-holds")["items"]
    assert (hold["recording_ids"], hold["ended_recording_ids"]) == ([], [HELD])
    again = site.operator.post(path, json={"why": "again"})
    assert again.status_code == 422
    assert "got none in force" in again.json()["detail"]


def _released(site: Site) -> int:
    with edited(Path(site.appliance.gateway_data / "retention.db")) as db:
        return int(db.execute("SELECT count(*) FROM released").fetchone()[0])
