"""Scrub and retention of a real gateway, as operators and auditors see them."""

import base64
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from contracts.deletion import open_deletion
from contracts.proto.deletion_pb2 import Deletion
from contracts.proto.payload_pb2 import PlaceHold, ReleaseHold
from support.gateways.dock import CONTENT, VIDEO, Dock
from support.network.world import GTIN, key, one
from support.storage.stores import flip
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

SLOW: Final = {"WAYSEAL_SCRUB__BYTES_PER_S": "1024"}


@pytest.fixture(scope="module")
def dock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dock]:
    made = Dock(tmp_path_factory.mktemp("dock"))
    yield made
    made.site.stop()


def test_the_scrub_mends_and_tells(dock: Dock) -> None:
    dock.scrubbed()  # the round that a new gateway begins is over
    flip(dock.blob(1), 77)
    flip(dock.volume_file(), 5)
    ended = dock.scrubbed()
    number = ended["number"]
    assert (ended["found"], ended["mended"], ended["not_mended"]) == (2, 2, 0)
    assert ended["not_read"] == 0
    assert (ended["recordings"], ended["blobs"]) == (1, 2)
    assert ended["bytes"] == 2 * len(CONTENT)
    found = dock.site.ask(f"/v1/scrub/findings?round={number}")["items"]
    assert [(each["blob"], each["copy_name"], each["kind"]) for each in found] == [
        (0, "volume:volume", "rotten"),
        (1, "blobs:files", "rotten"),
    ]
    assert {each["outcome"] for each in found} == {"mended"}
    assert {each["recording_id"] for each in found} == {VIDEO}
    assert dock.site.ask("/v1/scrub/findings?outcome=not-mended")["items"] == []
    assert dock.scrubbed()["found"] == 0
    assert dock.get(f"/v1/recordings/{VIDEO}/content").content == CONTENT
    for method, path in (("GET", ""), ("POST", ""), ("GET", "/findings")):
        assert dock.auditor.request(method, f"/v1/scrub{path}").status_code == 403


def test_a_killed_scrub_goes_on_where_it_was(dock: Dock) -> None:
    dock.scrubbed()
    flip(dock.blob(0), 77)
    dock.restart(SLOW)
    number = dock.site.operator.post("/v1/scrub").json()["number"]
    until("the finding", lambda: dock.site.ask("/v1/scrub")["current"]["mended"] == 1)
    assert dock.site.operator.post("/v1/scrub").json()["number"] == number
    dock.restart({}, kill=True)
    until("the end of the round", lambda: dock.ended(number) is not None)
    ended = dock.ended(number)
    assert ended is not None
    assert (ended["recordings"], ended["found"], ended["mended"]) == (1, 1, 1)
    assert dock.site.ask("/v1/scrub")["last"][0]["number"] == number


def test_a_lost_entry_of_the_catalogue_comes_back_by_itself(dock: Dock) -> None:
    """The lost file and one rotten blob made the video break off, beside an intact whole file."""
    dock.scrubbed()
    dock.entry().unlink()
    flip(dock.blob(1), 77)
    assert dock.get(f"/v1/recordings/{VIDEO}/content").content == CONTENT
    dock.restart({})
    until("the entry", lambda: dock.entry().exists())
    assert dock.get(f"/v1/recordings/{VIDEO}/content").content == CONTENT
    until("its copies", lambda: dock.get(f"/v1/recordings/{VIDEO}").json()["stored"])
    report = dock.auditor.post(f"/v1/recordings/{VIDEO}/verify").json()
    assert {each["copy_name"] for each in report["copies"]} == {"volume:volume", "blobs:files"}
    dock.entry().unlink()
    dock.blob(0).parent.joinpath("manifest").unlink()
    ended = dock.scrubbed()
    found = dock.site.ask(f"/v1/scrub/findings?round={ended['number']}")["items"]
    assert ("missing", "mended") in {
        (each["kind"], each["outcome"]) for each in found if each["copy_name"] == "manifest"
    }
    assert dock.entry().exists()
    until("all copies", lambda: dock.site.ask("/v1/backlog") == [])
    assert dock.auditor.post(f"/v1/recordings/{VIDEO}/verify").json()["intact"]


def test_a_recording_and_its_lot_are_verified_by_bytes_and_ledger(dock: Dock) -> None:
    lot = {"gtin": GTIN, "lot": "L42"}
    found = dock.auditor.post("/v1/lot/verify", params=lot).json()
    assert dock.auditor.post(f"/v1/lots/{GTIN}/L42/verify").json() == found
    recording = dock.auditor.post(f"/v1/recordings/{VIDEO}/verify").json()
    for each in (found, recording):
        assert (each["outcome"], each["problems"], each["left_out"]) == ("holds", [], [])
        assert [(trip["trip_id"], trip["verdict"]) for trip in each["trips"]] == [
            (dock.trip.trip_id, "holds")
        ]
        assert each["judged_by"].startswith("the gateway of site site-b")
        assert any("wayseal-verify" in line for line in each["beyond"])
    assert [each["recording_id"] for each in found["recordings"]] == [VIDEO]
    without = dock.auditor.post("/v1/lot/verify", params={**lot, "video": "false"}).json()
    assert (without["outcome"], without["recordings"]) == ("incomplete", [])
    (left_out,) = without["left_out"]
    assert (left_out["what"], left_out["count"], left_out["ids"]) == ("recording", 1, [VIDEO])
    assert dock.auditor.post(f"/v1/lots/{GTIN}/none/verify").status_code == 404
    taken = [each for each in dock.site.listed("/v1/accesses") if each["what"] == "verdict"]
    assert {each["who"] for each in taken} == {"auditor"}
    assert {each["subjects"][0] for each in taken} >= {VIDEO, f"{GTIN}/L42"}


def test_a_rotten_index_is_made_again_and_not_believed(dock: Dock) -> None:
    readings = f"/v1/trips/{dock.trip.trip_id}/readings"
    before = dock.get(readings).json()
    gateway, index = dock.site.appliance.gateway, dock.data / "index.db"
    assert gateway is not None
    gateway.stop()
    wire = bytearray(index.read_bytes())
    for place in range(5000, len(wire), 4096):  # in every page but the first
        wire[place] ^= 1
    index.write_bytes(wire)
    dock.site.appliance.start_gateway()
    answers = []

    def answered() -> bool:
        answers.append(dock.get(readings))
        return answers[-1].status_code == 200

    until("the answer", answered)
    assert answers[-1].json() == before
    assert {each.status_code for each in answers[:-1]} <= {503}
    assert dock.get("/v1/status").json()["index_rebuild"] is None
    assert "wayseal_index_rebuilds 1.0" in dock.site.operator.get("/metrics").text


def test_a_slow_scrub_does_not_hold_up_the_end_of_the_gateway(dock: Dock) -> None:
    dock.scrubbed()
    dock.restart(SLOW)
    dock.site.operator.post("/v1/scrub")
    gateway = dock.site.appliance.gateway
    assert gateway is not None
    assert gateway.stop() == 0
    dock.site.appliance.variables = {}
    dock.site.appliance.start_gateway()


def test_a_hold_wins_then_a_quota_then_age(dock: Dock) -> None:
    """One course, since each step needs what the one before left."""
    trip_id = dock.trip.trip_id
    hold = PlaceHold(trip_id=trip_id, hold_id="case", party_id="buyer", reason="inquiry")
    dock.site.commit([one(key("buyer"), hold)])
    until("the hold", lambda: dock.get(f"/v1/trips/{trip_id}").json()["holds"] == 1)
    dock.restart(dock.crowded())  # each start begins with a look at what is due
    dock.scrubbed()
    assert dock.deletions() == []
    assert dock.volume_file().exists()
    release = ReleaseHold(trip_id=trip_id, hold_id="case", party_id="buyer")
    dock.site.commit([one(key("buyer"), release)])
    until("the release", lambda: dock.get(f"/v1/trips/{trip_id}").json()["holds"] == 0)
    dock.restart(dock.crowded())
    until("the deletion", lambda: [each["state"] for each in dock.deletions()] == ["done"])
    the_whole_copy_is_gone_and_the_video_is_not(dock)
    dock.restart({})
    until("the first look", lambda: _released(dock.data / "retention.db") == 1)
    assert dock.site.appliance.gateway is not None
    dock.site.appliance.gateway.stop()
    dock.age(31)
    dock.site.appliance.variables = {"WAYSEAL_RETENTION__BLOBS_DAYS": "30"}
    dock.site.appliance.start_gateway()
    until("both", lambda: [each["state"] for each in dock.deletions()] == ["done", "done"])
    all_of_it_is_gone(dock)


def the_whole_copy_is_gone_and_the_video_is_not(dock: Dock) -> None:
    (told,) = dock.deletions()
    assert (told["recording_id"], told["rule"]) == (VIDEO, "quota")
    assert told["copies"] == ["volume:volume:fsync"]
    assert told["remaining"] == ["blobs:files:fsync"]
    assert told["trip_ids"] == [dock.trip.trip_id]
    body = open_deletion(
        Deletion.FromString(base64.b64decode(told["signed"])),
        {dock.site.appliance.gateway_key()},
    )
    assert body.recording_sha256.hex() == VIDEO
    assert not dock.volume_file().exists()
    assert dock.get(f"/v1/recordings/{VIDEO}/content").content == CONTENT
    shown = dock.get(f"/v1/recordings/{VIDEO}").json()
    assert [each["number"] for each in shown["deletions"]] == [1]
    assert dock.scrubbed()["found"] == 0


def all_of_it_is_gone(dock: Dock) -> None:
    for method, path in (("GET", "content"), ("POST", "verify")):
        answer = dock.auditor.request(method, f"/v1/recordings/{VIDEO}/{path}")
        assert answer.status_code == 410
        problem = answer.json()
        assert (problem["type"], problem["rule"], problem["deletion"]) == (
            "urn:wayseal:problem:deleted",
            "blobs-days",
            2,
        )
    shown = dock.get(f"/v1/recordings/{VIDEO}").json()
    assert (shown["stored"], shown["deletions"][1]["remaining"]) == (False, [])
    assert not dock.blob(0).exists()


def _released(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT count(*) FROM released").fetchone()[0])
