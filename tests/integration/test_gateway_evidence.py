"""Evidence needs more than its trip: other trips of a delivery, and the keys of all signers."""

import io
from collections.abc import Iterator, Sequence

import pytest

from contracts.actions.payload import FAMILIES, build, decode
from contracts.evidence.container import EvidenceReader, Part, parse_part
from contracts.keys import Signer
from contracts.proto.payload_pb2 import (
    CARRIER,
    SELLER,
    AcceptDelivery,
    OpenDelivery,
    PackUnit,
    RecordReading,
    RegisterParty,
    RegisterSite,
    SealTrip,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.reading import ChainLink, DeviceChain, record_of
from contracts.sawtooth.batches import Family, build_batch, parse_header
from support.evidence.chain import digest_of
from support.network.goods import hold, made, newcomers
from support.network.world import (
    START_MS,
    TERMS,
    Trip,
    delivering,
    device,
    key,
    loading,
    one,
    party,
    reading,
)
from support.trucks.rogue import Site, nonce, running_site, until

pytestmark = pytest.mark.integration

UNITS = ["340123450000000000", "340123450000000017"]
OUTER = "340123450000000024"


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("evidence")) as made:
        made.commit(newcomers())
        yield made


def judged(site: Site, trip: Trip) -> list[str]:
    """Return what does not hold of a trip's evidence."""
    answer = site.operator.post(f"/v1/trips/{trip.trip_id}/verify")
    assert answer.is_success, answer.text
    problems: list[str] = answer.json()["problems"]
    assert (answer.json()["verdict"] == "holds") == (not problems)
    assert "which was begun at 20" in answer.json()["not_shown"][-1]
    assert answer.json()["judged_by"].startswith("the gateway of site site-b, ")
    assert f"GET /v1/evidence?trip={trip.trip_id}&" in answer.json()["proof"]
    assert "wayseal-verify" in answer.json()["proof"]
    return problems


def trips_told(site: Site, trip: Trip) -> dict[str, set[str]]:
    """Return the kinds of action that a trip's evidence holds of each trip."""
    answer = site.operator.get(f"/v1/evidence?trip={trip.trip_id}")
    kinds: dict[str, set[str]] = {}
    for part, payload in EvidenceReader(io.BytesIO(answer.content)).frames():
        if part is Part.BATCH:
            for each in parse_part(Batch, payload).transactions:
                if Family.of(parse_header(each)) not in FAMILIES:
                    continue  # the time with which a block begins
                action = decode(each.payload)
                trip_id = getattr(action, "trip_id", "")
                kinds.setdefault(trip_id, set()).add(type(action).__name__)
    return kinds


def driven(number: int) -> tuple[Trip, list[Batch]]:
    trip = Trip(nonce=nonce(number))
    return trip, trip.whole([reading(at) for at in range(4)], size=2)


def at_last(site: Site, path: str, member: str, value: object = None) -> None:
    """Return once the index follows so far that what it tells has `value`, or anything at all."""

    def told() -> bool:
        answer = site.operator.get(f"/v1/{path}")
        found = answer.json()[member] if answer.is_success else None
        return bool(found) if value is None else bool(found == value)

    until(f"{member} of {path}", told)


def test_a_delivery_over_two_trips_proves_each_of_them(site: Site) -> None:
    (first, one_way), (second, other_way) = driven(1), driven(2)
    load, deliver = loading(first.trip_id), delivering(second.trip_id)
    site.commit([*one_way, one(key("seller"), load), one(key("carrier"), load)])
    site.commit([*other_way, one(key("carrier"), deliver), one(key("buyer"), deliver)])
    site.commit([one(key("buyer"), AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS))])
    at_last(site, "deliveries/delivery-1", "status", "accepted")
    assert judged(site, first) == []
    assert judged(site, second) == []


def test_another_trip_that_changed_the_delivery_is_told_whole(site: Site) -> None:
    """Else nobody could compute the delivery's end, which the ledger's state proves."""
    (first, one_way), (second, other_way) = driven(1), driven(2)
    deliver = delivering(second.trip_id)
    site.commit([*one_way, *other_way, one(key("carrier"), deliver), one(key("buyer"), deliver)])
    at_last(site, "deliveries/delivery-1", "status", "delivered")
    found = trips_told(site, first)
    assert "SealTrip" in found[first.trip_id]
    assert found[second.trip_id] == {"StartTrip", "RecordReading", "HandOver", "SealTrip"}
    assert judged(site, first) == []


def test_a_stranger_who_packs_everybodys_units_enlarges_no_evidence(site: Site) -> None:
    """Each word on units would lead to all that it names, and from there to the next."""
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.delivery_id = "delivery-3"
    terms.units.append(UNITS[0])
    site.commit([packed("carrier", UNITS[0])])
    site.commit([one(key("seller"), terms), one(key("buyer"), terms)])
    trip = Trip(nonce=nonce(3), deliveries=["delivery-3"])
    site.commit(trip.whole([reading(at) for at in range(4)], size=2))
    site.commit([party("stranger", CARRIER)])
    site.commit([packed("kitchen", each) for each in UNITS[1:]])
    site.commit([packed("stranger", OUTER, *UNITS)])
    at_last(site, f"units/{OUTER}", "units")
    assert site.ask("/v1/deliveries/delivery-3")["findings"] == []
    assert judged(site, trip) == []
    assert "PackUnit" not in set().union(*trips_told(site, trip).values())


def packed(by: str, sscc: str, *units: str) -> Batch:
    action = PackUnit(
        party_id=by, sscc=sscc, site_id="site-kitchen", units=list(units), at_ms=START_MS
    )
    return one(key(by), action)


def test_the_longest_silence_of_a_sealed_trip_is_told_over_rest(site: Site) -> None:
    trip, batches = driven(1)
    site.commit(batches)
    at_last(site, f"trips/{trip.trip_id}", "seals")
    told = site.operator.get(f"/v1/trips/{trip.trip_id}").json()["silences"]
    assert told == [
        {
            "device_id": "truck-1",
            "quantity": "temperature",
            "measured": True,
            "longest_s": 5.0,
            "allowed_s": 900.0,
            "gaps": 0,
        }
    ]
    delivery = site.operator.get("/v1/deliveries/delivery-1").json()
    assert (delivery["silences"], delivery["limits"][0]["longest_silence_s"]) == (0, 900)


def test_a_reading_that_another_device_signed_spoils_no_evidence(site: Site) -> None:
    trip, batches = driven(1)
    place = ChainLink(DeviceChain(trip.trip_id, "truck-1"), 4, bytes(32))
    foreign = build(key("truck-2"), record_of(reading(4), place))
    site.commit([*batches, build_batch(key("truck-2"), [foreign])])
    at_last(site, f"trips/{trip.trip_id}/findings", "items")
    assert judged(site, trip) == []


def test_what_shares_a_batch_is_proved_too(site: Site) -> None:
    """A party may sign many things in one batch, which can be shown only whole."""
    (trip, batches), (other, others) = driven(1), driven(2)
    site.commit([*batches, *others])
    mixed = [hold(each.trip_id, "case-1", "customs") for each in (trip, other)]
    site.commit([build_batch(key("customs"), [each.transactions[0] for each in mixed])])
    at_last(site, f"trips/{trip.trip_id}/holds", "items")
    assert judged(site, trip) == []
    assert RecordReading.__name__ in trips_told(site, trip)[other.trip_id]
    assert SealTrip.__name__ in trips_told(site, trip)[other.trip_id]


def test_lots_made_in_one_batch_bring_each_other_and_their_makers(site: Site) -> None:
    trip, batches = driven(1)
    both = [
        made(name, "seller", inputs, outputs).transactions[0]
        for name, inputs, outputs in (
            ("mixing", ["M1"], ["L42"]),
            ("elsewhere", ["X1"], ["X2"]),
        )
    ]
    site.commit([build_batch(key("seller"), both), *batches])
    at_last(site, f"trips/{trip.trip_id}", "seals")
    assert judged(site, trip) == []
    assert trips_told(site, trip)[""] >= {"TransformLots", "RegisterSite"}


def mallory(site: Site) -> Signer:
    """Register a stranger with a device; return the device's key."""
    party = RegisterParty(
        party_id="mallory", name="M", public_keys=[key("mallory").public_key], roles=[SELLER]
    )
    site.commit([one(key("admin"), party), device("spy", "mallory")])
    return key("spy")


def far(site: Site) -> str:
    """Put a transaction on the ledger that concerns no trip; return its id."""
    batch = one(key("kitchen"), RegisterSite(site_id="far", party_id="kitchen", name="Far"))
    site.commit([batch])
    return batch.transactions[0].header_signature


def on(trip: Trip, device_id: str, sequence: int = 0, dependencies: Sequence[str] = ()) -> Batch:
    """Return one reading on a trip."""
    chain = DeviceChain(trip.trip_id, device_id)
    place = ChainLink(chain, sequence, bytes(32) if sequence else b"")
    record = record_of(reading(sequence), place)
    return build_batch(key(device_id), [build(key(device_id), record, dependencies=dependencies)])


def test_a_stranger_s_reading_is_left_out_whatever_it_depends_on(site: Site) -> None:
    trip, batches = driven(1)
    site.commit(batches)
    at_last(site, f"trips/{trip.trip_id}", "seals")
    before = trips_told(site, trip)
    mallory(site)
    site.commit([on(trip, "spy", dependencies=[far(site)])])
    at_last(site, f"trips/{trip.trip_id}/findings", "items")
    assert judged(site, trip) == []
    assert trips_told(site, trip) == before


def test_a_stranger_s_batch_brings_nothing_else_along(site: Site) -> None:
    trip, batches = driven(1)
    site.commit(batches)
    spy = mallory(site)
    made = digest_of(b"video")
    theirs = Trip("spy", nonce(2), signer=spy, deliveries=[])
    *drive, video = theirs.whole([reading(at) for at in range(500)], [made], size=600)
    site.commit(drive)
    at_last(site, f"trips/{trip.trip_id}", "seals")
    before = trips_told(site, trip)
    mixed = [video.transactions[0], on(trip, "spy").transactions[0]]
    start = Trip("spy", nonce(3), signer=spy)  # which names the delivery
    site.commit([build_batch(spy, mixed), one(spy, start.start, [far(site)])])
    at_last(site, f"trips/{trip.trip_id}/findings", "items")
    at_last(site, f"trips/{start.trip_id}", "trip_id")
    assert judged(site, trip) == []
    assert trips_told(site, trip) == before


def test_what_the_trip_s_own_device_depends_on_comes_along(site: Site) -> None:
    trip, batches = driven(1)
    site.commit([*batches, on(trip, "truck-1", 4, [far(site)])])
    at_last(site, f"trips/{trip.trip_id}/findings", "items")
    assert judged(site, trip) == []


def test_an_offer_that_was_corrected_brings_whom_it_named(site: Site) -> None:
    other = RegisterParty(
        party_id="other", name="O", public_keys=[key("other").public_key], roles=[CARRIER]
    )
    wrong, right = OpenDelivery(), OpenDelivery()
    wrong.CopyFrom(TERMS)
    wrong.delivery_id, wrong.carrier_id = "delivery-2", "other"
    right.CopyFrom(wrong)
    right.carrier_id = "carrier"
    offers = [one(key("seller"), wrong), one(key("seller"), right), one(key("buyer"), right)]
    trip = Trip(nonce=nonce(1), deliveries=["delivery-2"])
    site.commit([one(key("admin"), other), *offers, *trip.whole([reading(0)])])
    at_last(site, f"trips/{trip.trip_id}", "seals")
    assert judged(site, trip) == []
