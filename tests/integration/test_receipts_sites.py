"""Receipts of real gateways: confirmed, provisional, and final at the next site."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from contracts.proto.payload_pb2 import RegisterDevice
from contracts.receipt import open_receipt
from support.network.world import Trip, key, one, reading
from support.trucks.rogue import Rogue, Site, nonce, until
from support.trucks.visits import another, copies_of, join, loaded, meet, offload_provisionally

pytestmark = pytest.mark.integration


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    try:
        yield made
    finally:
        made.stop()


def another_block(site: Site, number: int) -> None:
    """Commit something that concerns no trip."""
    name = f"truck-{number}"
    device = RegisterDevice(device_id=name, party_id="carrier", public_keys=[key(name).public_key])
    site.commit([one(key("carrier"), device)])


def lacking(site: Site, trip: Trip) -> list[str]:
    """Return what the receipt of a trip waits for, as the operator sees it."""
    return list(site.offload(trip.trip_id).get("lacking", []))


def sent(truck: Rogue, number: int) -> Trip:
    """Send a trip of a few readings; return it."""
    trip = Trip(nonce=nonce(number))
    assert not truck.send(*trip.whole([reading(at) for at in range(3)])).refused
    return trip


def waits(site: Site, trip: Trip, confirmations: int, of: int) -> bool:
    return any(
        words.endswith(f"has {confirmations} of {of} confirmations")
        for words in lacking(site, trip)
    )


def test_a_receipt_waits_for_its_confirmations(site: Site) -> None:
    site.appliance.variables["WAYSEAL_RECEIPTS__CONFIRMATIONS"] = "2"
    site.start()
    with site.device() as truck:
        trip = sent(truck, 1)
        for confirmations in (0, 1):
            until("the wait", partial(waits, site, trip, confirmations, 2))
            visit = site.offload(trip.trip_id)
            assert (visit["receipted"], visit["provisional"]) == (False, False)
            another_block(site, 10 + confirmations)
        receipt = truck.receipt()
    body = open_receipt(receipt, [receipt.gateway_public_key])
    assert (body.trip_id, body.confirmations, list(body.lacking)) == (trip.trip_id, 2, [])
    visit = site.offload(trip.trip_id)
    assert (visit["receipted"], visit["provisional"], visit["lacking"]) == (True, False, [])


def test_what_a_ledger_dropped_is_submitted_again_before_there_is_a_receipt(
    site: Site, tmp_path: Path
) -> None:
    site.appliance.variables["WAYSEAL_RECEIPTS__CONFIRMATIONS"] = "1"
    site.start()
    appliance, older = site.appliance, tmp_path / "older.log"
    node_data = appliance.directory / "node"
    assert appliance.node is not None
    appliance.node.stop()
    shutil.copy(node_data / "chain.log", older)
    appliance.start_node()
    with site.device() as truck:
        trip = sent(truck, 2)
        until("the wait", lambda: waits(site, trip, 0, 1))
        assert truck.receipts.empty()
    dropped = site.ask("/v1/status")["index_block_num"]
    appliance.stop()
    shutil.copy(older, node_data / "chain.log")
    shutil.rmtree(node_data / "index")
    appliance.start_node()
    another_block(site, 20)  # in the place of the trip's, on another branch then
    appliance.start_gateway()
    until("the trip in a block after", lambda: waits_in(site, trip) == dropped + 1)
    with site.device() as truck:
        another_block(site, 21)
        receipt = truck.receipt()
    body = open_receipt(receipt, [receipt.gateway_public_key])
    assert (body.trip_id, body.block_num, body.confirmations) == (trip.trip_id, dropped + 1, 1)


def waits_in(site: Site, trip: Trip) -> int | None:
    """Return the number of the block that waits for confirmations."""
    words = next(iter(lacking(site, trip)), "").split()
    return int(words[1]) if words[:1] == ["block"] else None


@pytest.fixture
def other(site: Site, tmp_path: Path) -> Iterator[Site]:
    """Return a second site of the same network; it has no node of its own."""
    made = another(site, tmp_path / "other", "site-c")
    try:
        yield made
    finally:
        made.stop()


def test_provisional_here_and_final_at_the_next_site(
    site: Site, other: Site, tmp_path: Path
) -> None:
    site.appliance.variables["WAYSEAL_RECEIPTS__REQUIRES"] = '["volume", "blobs:QUORUM"]'
    site.start()
    join(other, site)
    truck, trip_id = loaded(tmp_path)
    meet(truck, site)
    offload_provisionally(truck)
    visit = site.offload(trip_id)
    assert (visit["receipted"], visit["provisional"]) == (False, True)
    assert [words.split(" has ")[1] for words in visit["lacking"]] == ["no copy blobs:QUORUM"]
    (trip,) = truck.must("status")["trips"]
    assert (trip["state"], trip["receipt"]["site"]) == ("sealed", "site-b")
    assert len(trip["lacking"]) == 1
    assert copies_of(site, trip_id) == ["blobs:files:fsync", "volume:volume:fsync"]
    meet(truck, other)
    assert truck.must("offload")["receipted"] == [trip_id]
    (trip,) = truck.must("status")["trips"]
    assert (trip["state"], trip["receipt"]["site"]) == ("receipted", "site-c")
    visit = other.offload(trip_id)
    assert (visit["receipted"], visit["provisional"], visit["lacking"]) == (True, False, [])
    assert site.offload(trip_id)["provisional"]


def test_the_blobs_follow_while_the_truck_waits(site: Site, tmp_path: Path) -> None:
    """A file in the way of the blob store: root may write into what is only unwritable."""
    site.start()
    truck, trip_id = loaded(tmp_path)
    meet(truck, site)
    blobs, away = site.appliance.gateway_data / "blobs", tmp_path / "away"
    blobs.rename(away)
    blobs.touch()
    offload_provisionally(truck)
    (lacks,) = site.offload(trip_id)["lacking"]
    assert lacks.endswith("has no copy blobs")
    assert copies_of(site, trip_id) == ["volume:volume:fsync"]
    (item,) = site.ask("/v1/backlog")
    assert item["lacks"] == ["blobs"]
    backlog = site.ask("/v1/status")["backlog"]
    assert backlog == {"recordings": 1, "bytes": item["size"], "oldest": item["since"]}
    (recording,) = site.offload(trip_id)["recordings"]
    assert recording["copies"] == ["volume:volume:fsync"]
    with truck.start("offload", "--wait-s", "60") as process:
        blobs.unlink()
        away.rename(blobs)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert site.offload(trip_id)["receipted"]
    assert copies_of(site, trip_id) == ["blobs:files:fsync", "volume:volume:fsync"]
    assert site.ask("/v1/backlog") == []
    assert site.ask("/v1/status")["backlog"] == {"recordings": 0, "bytes": 0, "oldest": None}


def test_what_is_whole_in_the_shared_blob_store_is_not_taken_again(
    site: Site, other: Site, tmp_path: Path
) -> None:
    for each in (site, other):
        each.appliance.variables["WAYSEAL_BLOBS"] = str(tmp_path / "shared")
    site.appliance.variables["WAYSEAL_RECEIPTS__REQUIRES"] = '["volume", "blobs:QUORUM"]'
    site.start()
    join(other, site)
    other.appliance.stop()
    truck, trip_id = loaded(tmp_path)
    meet(truck, site)
    offload_provisionally(truck)
    assert site.appliance.gateway is not None
    site.appliance.gateway.stop()
    videos = list((truck.data / "videos").rglob("*.*"))
    assert len(videos) == 1
    videos[0].write_bytes(b"not the video any more")  # so that nothing but the blobs can serve
    other.appliance.start()
    meet(truck, other)
    assert truck.must("offload")["receipted"] == [trip_id]
    assert copies_of(other, trip_id) == ["blobs:files:fsync", "volume:volume:fsync"]


def test_a_volume_that_is_out_is_not_named_until_it_is_back(site: Site, tmp_path: Path) -> None:
    site.appliance.variables["WAYSEAL_RECEIPTS__REQUIRES"] = '["volume", "blobs:QUORUM"]'
    site.start()
    truck, trip_id = loaded(tmp_path)
    meet(truck, site)
    offload_provisionally(truck)
    volume, away = site.appliance.gateway_data / "volume", tmp_path / "away"
    volume.rename(away)
    until("what lacks now", lambda: lacks(site, trip_id) == {"volume", "blobs:QUORUM"})
    away.rename(volume)
    until("the volume again", lambda: lacks(site, trip_id) == {"blobs:QUORUM"})


def lacks(site: Site, trip_id: str) -> set[str]:
    """Return the copies that the receipt on record lacks."""
    return {words.rsplit(" ", 1)[1] for words in site.offload(trip_id)["lacking"]}


def test_a_start_without_the_disk_of_the_blobs_names_no_copy_there(
    site: Site, tmp_path: Path
) -> None:
    site.start()
    site.appliance.stop()
    blobs, away = site.appliance.gateway_data / "blobs", tmp_path / "away"
    blobs.rename(away)
    blobs.mkdir()  # the mount point
    site.start()
    truck, trip_id = loaded(tmp_path)
    meet(truck, site)
    offload_provisionally(truck)
    assert lacks(site, trip_id) == {"blobs"}
    assert list(blobs.iterdir()) == []
    blobs.rmdir()
    away.rename(blobs)
    until("the blobs", lambda: site.offload(trip_id)["receipted"])
