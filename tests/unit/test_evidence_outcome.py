"""Evidence beside readings and video: runs, devices, holds, the end of a trip, lots."""

from collections.abc import Callable, Sequence

from contracts.actions.table import Action
from contracts.evidence.report import as_json
from contracts.evidence.verify import Verdict
from contracts.evidence.words import as_text
from contracts.proto.payload_pb2 import (
    AUTHORITY,
    AcceptDelivery,
    CloseTrip,
    DisputeDelivery,
    LotQuantity,
    PlaceHold,
    RegisterDevice,
    ReleaseHold,
    RotateKeys,
    TransformLots,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.clock import rfc3339
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch
from support.evidence.chain import WARM, digest_of, evidence_of, trust_in
from support.evidence.forgery import SpyTrip, problems, verdict_on
from support.network.world import (
    START_MS,
    Trip,
    delivering,
    handovers,
    key,
    loading,
    one,
    party,
    reading,
    registrations,
)

VALUES = [reading(number, value) for number, value in enumerate(WARM)]
AT = rfc3339(START_MS)
CAM = RegisterDevice(device_id="cam-1", party_id="carrier", public_keys=[key("cam-1").public_key])


def verdict(*groups: Sequence[Batch]) -> Verdict:
    """Return the verdict on a ledger's evidence about the trip; it must hold."""
    evidence = evidence_of([registrations(), *groups], [Trip().trip_id])
    found = verdict_on(evidence.wire(), trust_in(evidence.heads))
    assert found.problems == []
    return found


def signed(*actions: tuple[str, Action]) -> list[Batch]:
    return [one(key(signer), action) for signer, action in actions]


def in_runs(trip: Trip, cut: Callable[[Trip], list[Batch]]) -> list[Batch]:
    """Return the trip with its readings grouped by `cut`."""
    return [one(trip.signer, trip.start), *cut(trip), build_batch(trip.signer, [trip.seal()])]


def test_readings_in_runs_tell_the_same_story() -> None:
    alone = verdict(Trip().whole(VALUES)).trips[Trip().trip_id]
    runs = in_runs(
        Trip(),
        lambda trip: [
            build_batch(trip.signer, [trip.run(VALUES[:4]), trip.record(VALUES[4])]),
            build_batch(trip.signer, [trip.run(VALUES[5:])]),
        ],
    )
    told = verdict(runs).trips[Trip().trip_id]
    assert (told.readings, told.first_ms, told.last_ms) == (10, alone.first_ms, alone.last_ms)
    assert list(told.breaches.values()) == list(alone.breaches.values())
    assert (told.findings, told.signers) == ([], alone.signers)


def test_a_run_that_is_left_out_is_missed() -> None:
    trip = Trip()
    batches = in_runs(
        trip,
        lambda trip: [
            build_batch(trip.signer, [trip.run(VALUES[at : at + 5])]) for at in range(0, 10, 5)
        ],
    )
    evidence = evidence_of([registrations(), batches], [trip.trip_id])
    evidence.batches.remove(batches[1])
    found = problems(evidence, trust_in(evidence.heads))
    assert Rule.SEQUENCE_GAP in found
    assert Rule.SEAL_MISMATCH in found


def test_readings_that_came_twice_in_a_run_count_once() -> None:
    trip, again = Trip(), Trip()
    driven = [trip.sign(trip.start), trip.run(VALUES[:5]), again.run(VALUES)]
    batches = [build_batch(trip.signer, driven), build_batch(trip.signer, [again.seal()])]
    told = verdict(batches).trips[trip.trip_id]
    assert told.readings == 10
    assert [finding.rule for finding in told.findings] == [Rule.SEQUENCE_REPEATED] * 5


def test_a_named_device_of_which_nothing_is_shown_is_missed() -> None:
    trip = Trip(others=["cam-1"])
    evidence = evidence_of([registrations(), trip.whole(VALUES)], [trip.trip_id])
    found = problems(evidence, trust_in(evidence.heads))
    assert f"trip {trip.trip_id}, device cam-1: no seal" in found


def test_every_named_device_is_told() -> None:
    trip, cam = Trip(others=["cam-1"]), SpyTrip(device_id="cam-1", signer=key("cam-1"))
    made = digest_of(b"video")
    seal = cam.seal([made])
    told = verdict(
        [one(key("carrier"), CAM), *trip.whole(VALUES)],
        [build_batch(cam.signer, [seal]), cam.video(made, seal.header_signature)],
    )
    story = told.trips[trip.trip_id]
    assert story.signers == {key("truck-1").public_key, key("cam-1").public_key}
    assert "by device truck-1, cam-1, site-seller to site-buyer" in as_text(told)
    assert [video.digest.sha256 for video in told.videos] == [made.sha256]


def test_a_device_that_the_trip_does_not_name_changes_nothing_in_it() -> None:
    cam = SpyTrip(device_id="cam-1", signer=key("cam-1"))
    noise = [cam.record(reading(90)), cam.seal([digest_of(b"video")])]
    told = verdict(
        [one(key("carrier"), CAM), *Trip().whole(VALUES), build_batch(cam.signer, noise)]
    )
    story = told.trips[Trip().trip_id]
    assert (story.readings, story.signers) == (10, {key("truck-1").public_key})
    assert [each.rule for each in story.findings] == [Rule.DEVICE_NOT_ON_TRIP] * 2


def test_how_the_delivery_ended() -> None:
    trip_id = Trip().trip_id
    dispute = DisputeDelivery(delivery_id="delivery-1", reason="too warm", at_ms=START_MS)
    accept = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS)
    arrived = [*Trip().whole(VALUES), *handovers(trip_id)]
    told = verdict(arrived, signed(("buyer", dispute)))
    assert as_json(told)["trips"][0]["deliveries"] == [
        {
            "delivery_id": "delivery-1",
            "lots": [{"gtin": "00012345678905", "lot": "L42"}],
            "items": [],
            "units": [],
            "required_certificates": [],
            "status": "disputed",
            "payment": "withheld",
            "custodian_id": "buyer",
            "draft_signed_by": None,
            "breaches": 1,
            "tampers": 0,
            "silences": 0,
            "limits_kept": False,
            "between_trips": [],
            "quantity": 100,
            "unit": "C62",
            "sent_quantity": 100,
            "received_quantity": 100,
            "returned_quantity": 0,
            "accepted_quantity": None,
            "holdings": [{"party_id": "buyer", "quantity": 100}],
            "awaited_trip_ids": [],
            "notices": [],
            "settlement": None,
            "findings": [],
            "disputed_by": "buyer",
            "dispute_reason": "too warm",
        }
    ]
    assert (
        "  delivery delivery-1: disputed, payment withheld, with buyer, 1 breach, "
        "0 silences, 0 tamper events, 0 findings, disputed by buyer: too warm; "
        "of 100 C62, 100 sent, 100 received, 0 returned\n"
    ) in as_text(told)
    told = verdict(arrived, signed(("buyer", accept)))
    assert "  delivery delivery-1: accepted, payment released, with buyer" in as_text(told)


def test_a_part_that_was_accepted_is_told_with_what_each_party_has() -> None:
    trip_id = Trip().trip_id
    loaded, given = loading(trip_id), delivering(trip_id)
    given.quantity = 60
    accept = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS, received_quantity=59)
    arrived = [
        *Trip().whole(VALUES),
        *signed(("seller", loaded), ("carrier", loaded), ("carrier", given), ("buyer", given)),
    ]
    told = verdict(arrived, signed(("buyer", accept)))
    (delivery,) = as_json(told)["trips"][0]["deliveries"]
    assert delivery["findings"] == [
        {"rule": "quantity-differs", "detail": "59 C62 received, 100 sent, 100 ordered"}
    ]
    assert "with carrier (40), buyer (60), " in as_text(told)
    assert "; of 100 C62, 100 sent, 60 received, 0 returned, 59 accepted\n" in as_text(told)
    assert (
        "  finding on delivery delivery-1: quantity-differs: 59 C62 received, 100 sent, "
        "100 ordered\n"
    ) in as_text(told)


def test_handovers_that_leave_a_gap() -> None:
    told = verdict(Trip().whole(VALUES), handovers(Trip().trip_id)[2:])
    assert "  finding: custody-gap, 1 time" in as_text(told)


def test_how_the_trip_was_closed_and_held() -> None:
    trip_id = Trip().trip_id
    first = PlaceHold(
        trip_id=trip_id, hold_id="c-1", party_id="court", reason="case 1", at_ms=START_MS
    )
    second = PlaceHold(
        trip_id=trip_id, hold_id="b-1", party_id="buyer", reason="claim", at_ms=START_MS
    )
    told = verdict(
        [party("court", AUTHORITY), *Trip().whole(VALUES)],
        signed(
            ("court", first),
            ("buyer", second),
            (
                "court",
                ReleaseHold(trip_id=trip_id, hold_id="c-1", party_id="court", at_ms=START_MS),
            ),
            ("carrier", CloseTrip(trip_id=trip_id, party_id="carrier", at_ms=START_MS)),
        ),
    )
    text, said = as_text(told), as_json(told)["trips"][0]
    assert f"  closed by carrier at {AT}\n" in text
    assert f"  hold c-1 by court since {AT}: case 1; released at {AT}\n" in text
    assert f"  hold b-1 by buyer since {AT}: claim\n" in text
    assert (said["closed_by"], said["closed_at"]) == ("carrier", AT)
    assert [(each["hold_id"], each["released_at"]) for each in said["holds"]] == [
        ("c-1", AT),
        ("b-1", None),
    ]


def test_a_trip_closed_too_early_tells_so_and_is_whole_all_the_same() -> None:
    trip = Trip()
    start, seal = trip.whole([reading(0)], size=2)
    close = CloseTrip(trip_id=trip.trip_id, party_id="buyer", at_ms=START_MS)
    told = verdict([start, *signed(("buyer", close)), seal])
    rules = [finding.rule for finding in told.trips[trip.trip_id].findings]
    assert rules == [Rule.SEAL_MISSING, Rule.AFTER_CLOSE]


def test_lots_made_from_lots() -> None:
    def lot(name: str, quantity: int) -> LotQuantity:
        return LotQuantity(gtin="00012345678905", lot=name, quantity=quantity, unit="KGM")

    def made(name: str, inputs: list[LotQuantity], outputs: list[LotQuantity]) -> TransformLots:
        return TransformLots(
            transformation_id=name,
            party_id="seller",
            site_id="site-seller",
            inputs=inputs,
            outputs=outputs,
            at_ms=START_MS,
        )

    told = verdict(
        signed(
            ("seller", made("t1", [], [lot("milk", 100)])),
            ("seller", made("t2", [lot("milk", 101)], [lot("L43", 9), lot("whey", 90)])),
        ),
        Trip().whole(VALUES),
    )
    text = as_text(told)
    assert (
        f"transformation t1 by seller at site-seller, {AT}: "
        "nothing on record into 100 KGM of 00012345678905:milk\n"
    ) in text
    assert (
        f"transformation t2 by seller at site-seller, {AT}: 101 KGM of 00012345678905:milk "
        "into 9 KGM of 00012345678905:L43, 90 KGM of 00012345678905:whey\n"
        "  finding: lot-overdrawn, 1 time\n"
    ) in text
    said = as_json(told)["transformations"][2]
    assert said["inputs"] == [
        {"gtin": "00012345678905", "lot": "milk", "quantity": 101, "unit": "KGM"}
    ]
    assert [each["rule"] for each in said["findings"]] == ["lot-overdrawn"]
    assert said["party_id"] == "seller"


def test_a_party_that_rotated_its_keys_signs_on() -> None:
    new = key("buyer's new")
    rotation = RotateKeys(
        party_id="buyer", added=[new.public_key], revoked=[key("buyer").public_key]
    )
    accept = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS)
    arrived = [*Trip().whole(VALUES), *handovers(Trip().trip_id)]
    told = verdict(arrived, [one(key("buyer"), rotation), one(new, accept)])
    assert "accepted" in as_text(told)
    evidence = evidence_of(
        [registrations(), arrived, [one(key("buyer"), rotation), one(key("buyer"), accept)]],
        [Trip().trip_id],
    )
    assert "not a current key of a party" in problems(evidence, trust_in(evidence.heads))
