"""A rogue truck with a token of its own, at a real gateway: the honest one is served as before."""

from collections.abc import Iterator

import pytest

from contracts.records.clock import now_ms
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from support.evidence.chain import digest_of
from support.network.world import Trip, key, reading
from support.trucks.rogue import Rogue, Site, nonce, running_site, until
from support.trucks.uploads import offer_of, send

pytestmark = pytest.mark.integration

LIMITS = {
    "WAYSEAL_LIMITS__DEVICE_INBOX_BATCHES": "20",
    "WAYSEAL_LIMITS__DEVICE_QUARANTINE_BYTES": str(1 << 20),
    "WAYSEAL_LIMITS__QUARANTINE_BYTES": str(1 << 20),
    "WAYSEAL_LIMITS__DEVICE_VISITS": "30",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("rogues"), variables=LIMITS) as made:
        yield made


@pytest.fixture
def rogue(site: Site) -> Iterator[Rogue]:
    with site.device("truck-2") as connected:
        yield connected
    site.operator.delete("/v1/waiting/devices/truck-2")


@pytest.fixture
def truck(site: Site) -> Iterator[Rogue]:
    with site.device() as connected:
        yield connected


def orphan(number: int) -> Trip:
    return Trip("truck-2", nonce(number), signer=key("truck-2"))


def offloads(site: Site, truck: Rogue, number: int) -> None:
    """Offload a trip with a recording, up to its receipt."""
    content = f"video {number}".encode() * 1_000
    trip = Trip(nonce=nonce(number))
    *batches, digest = trip.whole([reading(at) for at in range(4)], [digest_of(content)])
    assert not truck.send(*batches).refused
    assert truck.ask(recordings=[offer_of(trip, content, digest)]).batch_ids
    assert send(site.client("truck-1", "device"), content).status_code == 204
    until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])


def test_another_trucks_digest_sent_first_blocks_nothing(
    site: Site, rogue: Rogue, truck: Rogue
) -> None:
    content = b"video 1" * 1_000
    trip = Trip(nonce=nonce(1))
    *batches, digest = trip.whole([reading(at) for at in range(4)], [digest_of(content)])
    (refusal,) = rogue.send(digest).refused
    assert "is of device truck-1, but came from truck-2" in refusal.reason
    assert site.quarantined(digest.header_signature) is None
    assert not truck.send(*batches).refused
    assert truck.ask(recordings=[offer_of(trip, content, digest)]).batch_ids
    assert send(site.client("truck-1", "device"), content).status_code == 204
    until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])


def test_batches_that_wait_for_nothing_fill_only_their_trucks_share(
    site: Site, rogue: Rogue, truck: Rogue
) -> None:
    refused = []
    for number in range(100, 130):
        _, waits, *_ = orphan(number).whole([reading(at) for at in range(3)], size=1)
        refused += list(rogue.send(waits).refused)
    assert len(refused) == 10
    assert all(each.retry and "20 batches of truck-2 wait here" in each.reason for each in refused)
    offloads(site, truck, 2)


def test_the_operator_sees_and_drops_what_waits_and_the_truck_is_told(
    site: Site, rogue: Rogue
) -> None:
    before_ms = now_ms()
    _, first, second, *_ = orphan(200).whole([reading(at) for at in range(3)], size=1)
    rogue.send(first, second)
    items = site.ask("/v1/waiting?device_id=truck-2")["items"]
    names = [first.header_signature, second.header_signature]
    assert [item["batch_id"] for item in items] == names
    assert {item["state"] for item in items} == {"held"}
    assert items[1]["waits_for"] == f"transaction {first.transactions[-1].header_signature}"
    assert items[0]["since"] < items[0]["expires"]
    assert before_ms <= now_ms()
    (usage,) = [
        each
        for each in site.ask("/v1/waiting/devices")
        if (each["device_id"], each["state"]) == ("truck-2", "held")
    ]
    assert usage["batches"] == 2
    path = f"/v1/waiting/batches/{names[0]}"
    assert site.operator.delete(path).status_code == 204
    assert site.operator.delete(path).status_code == 404
    answer = site.operator.delete("/v1/waiting/devices/truck-2")
    assert answer.json() == {"batches": 1}
    told = rogue.ask(*names)
    assert not told.batch_ids
    assert {each.id: each.retry for each in told.refused} == dict.fromkeys(names, True)
    assert "the gateway's operator dropped it; send it again" in told.refused[0].reason
    assert list(rogue.send(first, second).batch_ids) == names
    assert list(rogue.ask(*names).batch_ids) == names


def test_a_full_quarantine_refuses_nobody_else(site: Site, rogue: Rogue, truck: Rogue) -> None:
    signer, refused = key("truck-2"), []
    for number in range(8):
        transaction = build_transaction(
            signer,
            Family("intkey", "1.0"),
            bytes(200_000) + number.to_bytes(1),
            batcher_public_key=signer.public_key,
            inputs=[],
            outputs=[],
        )
        (refusal,) = rogue.send(build_batch(signer, [transaction])).refused
        refused.append(refusal)
    assert any(each.retry and "quarantine of truck-2 is full" in each.reason for each in refused)
    offloads(site, truck, 3)


def test_dropping_needs_an_operator(site: Site) -> None:
    for role in ("auditor", "device"):
        client = site.client(f"some-{role}", role)
        assert client.get("/v1/waiting").status_code == 403
        assert client.delete("/v1/waiting/devices/truck-1").status_code == 403
