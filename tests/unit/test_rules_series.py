"""Trips in a row: a trip that was deleted on the truck, or a lost journal, leaves a gap."""

import hashlib
from collections.abc import Sequence

import pytest

from contracts import address
from contracts.actions.payload import decode
from contracts.encoding import canonical
from contracts.proto.payload_pb2 import RegisterDevice, SealTrip
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.state_pb2 import TripSeries
from contracts.rules.ids import Rule
from contracts.rules.series import REMEMBERED
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import build_batch
from support.ledgers.hosts import DirectHost, Host, apply_all, refused, rules_found
from support.network.world import Trip, key, one, reading, registrations

NONE = b""
GAP, REPEATED = Rule.TRIP_NUMBER_GAP, Rule.TRIP_NUMBER_REPEATED
MISMATCH = Rule.PREVIOUS_SEAL_MISMATCH


def ready(host: Host) -> Host:
    apply_all(host, registrations())
    return host


def numbered(number: int, seal_before: bytes = NONE, again: int = 0) -> Trip:
    """Return a trip with a number; `again` makes another one with the same number."""
    nonce = bytes([number % 256, again]) + bytes(14)
    return Trip(nonce=nonce, number=number, seal_before=seal_before, deliveries=[])


def begun(trip: Trip) -> Batch:
    return one(trip.signer, trip.start)


def sealed(trip: Trip, readings: int = 1) -> tuple[Batch, bytes]:
    """Return the batch with the rest of a trip, and the hash of its seal."""
    records = [trip.record(reading(at)) for at in range(readings)]
    seal = trip.seal()
    digest = hashlib.sha256(canonical(decode(seal.payload))).digest()
    return build_batch(trip.signer, [*records, seal]), digest


def found(host: Host, batches: Sequence[Batch]) -> list[str]:
    return rules_found(apply_all(host, batches))


def test_trips_in_a_row_have_no_findings(host: Host) -> None:
    ready(host)
    before = NONE
    for number in range(1, 4):
        trip = numbered(number, before)
        batch, before = sealed(trip)
        assert found(host, [begun(trip), batch]) == []
    entry = TripSeries.FromString(host.state(address.series(key("truck-1").public_key)) or b"")
    assert (entry.last_number, [each.number for each in entry.trips]) == (3, [1, 2, 3])
    assert entry.trips[2].seal_sha256 == before


def test_a_trip_that_was_deleted_leaves_a_gap() -> None:
    host = ready(DirectHost())
    first, deleted = numbered(1), numbered(2)
    batch, seal = sealed(first)
    deleted.seal_before = seal
    _, withheld = sealed(deleted)
    third = numbered(3, withheld)
    assert found(host, [begun(first), batch]) == []
    assert found(host, [begun(third)]) == [GAP]


def test_the_first_trip_on_the_ledger_must_be_the_first_of_the_device() -> None:
    host = ready(DirectHost())
    assert found(host, [begun(numbered(5, bytes(32)))]) == [GAP]


def test_a_trip_that_was_deleted_and_numbered_over_names_another_seal() -> None:
    host = ready(DirectHost())
    first = numbered(1)
    batch, _ = sealed(first)
    second = numbered(2, bytes([9]) * 32)  # the seal of the deleted trip
    assert found(host, [begun(first), batch]) == []
    assert found(host, [begun(second)]) == [MISMATCH]


@pytest.mark.parametrize("again", [0, 1])
def test_a_lost_journal_begins_again_at_one(again: int) -> None:
    host = ready(DirectHost())
    before = NONE
    for number in range(1, 3 + again):
        trip = numbered(number, before)
        batch, before = sealed(trip)
        assert found(host, [begun(trip), batch]) == []
    assert found(host, [begun(numbered(1, again=1))]) == [REPEATED]


def test_a_first_trip_that_names_a_seal_does_not_fit() -> None:
    host = ready(DirectHost())
    assert found(host, [begun(numbered(1, bytes(32)))]) == [MISMATCH]


@pytest.mark.parametrize("fits", [True, False])
def test_a_seal_that_comes_after_the_next_start_is_compared_then(fits: bool) -> None:  # noqa: FBT001
    """A truck may offload a trip at two sites, and its next trip at the second one first."""
    host = ready(DirectHost())
    first = numbered(1)
    batch, seal = sealed(first)
    second = numbered(2, seal if fits else bytes(32))
    assert found(host, [begun(first), begun(second)]) == []
    assert found(host, [batch]) == ([] if fits else [MISMATCH])


def test_a_trip_that_comes_late_fills_its_gap() -> None:
    host = ready(DirectHost())
    first = numbered(1)
    batch, seal = sealed(first)
    second = numbered(2, seal)
    rest, seal = sealed(second)
    third = numbered(3, seal)
    assert found(host, [begun(first), batch, begun(third)]) == [GAP]
    assert found(host, [begun(second), rest]) == []
    assert found(host, [begun(numbered(2, again=1))]) == [REPEATED]


def test_a_trip_that_comes_late_and_leads_to_another_seal_shows() -> None:
    host = ready(DirectHost())
    third, second = numbered(3, bytes(32)), numbered(2)
    batch, _ = sealed(second)
    first = numbered(1)
    assert found(host, [begun(first), begun(third)]) == [GAP]
    assert found(host, [begun(second), batch]) == [MISMATCH]


def test_a_device_that_numbers_its_trips_must_go_on() -> None:
    host = ready(DirectHost())
    assert found(host, [begun(numbered(0)), begun(Trip(nonce=bytes([7]) * 16))]) == []
    assert found(host, [begun(numbered(1))]) == []
    assert found(host, [begun(numbered(0, again=1))]) == [GAP]


def test_a_finding_says_what_was_expected() -> None:
    host = ready(DirectHost())
    events = apply_all(host, [begun(numbered(3))])
    (detail,) = [event.data for event in events if b"trip-number-gap" in event.data]
    assert b"this is trip 3, 1 was expected next" in detail


def test_an_entry_keeps_the_latest_trips_only() -> None:
    host = ready(DirectHost())
    for number in range(1, REMEMBERED + 3):
        host.apply(begun(numbered(number)))
    entry = TripSeries.FromString(host.state(address.series(key("truck-1").public_key)) or b"")
    assert [each.number for each in entry.trips] == list(range(3, REMEMBERED + 3))
    assert found(host, [begun(numbered(2, again=1))]) == [REPEATED]


def test_a_new_key_of_the_device_begins_again() -> None:
    host = ready(DirectHost())
    assert found(host, [begun(numbered(1))]) == []
    renewed = RegisterDevice(
        device_id="truck-1", party_id="carrier", public_keys=[key("renewed").public_key]
    )
    host.apply(one(key("carrier"), renewed))
    trip = numbered(1, again=1)
    trip.signer = key("renewed")
    assert found(host, [begun(trip)]) == []


def test_a_joined_trip_is_in_the_row_of_the_device_that_started_it() -> None:
    host = ready(DirectHost())
    rear = RegisterDevice(
        device_id="truck-1-rear", party_id="carrier", public_keys=[key("rear").public_key]
    )
    host.apply(one(key("carrier"), rear))
    trip = numbered(1)
    trip.others = ["truck-1-rear"]
    host.apply(begun(trip))
    seal = SealTrip(
        trip_id=trip.trip_id,
        device_id="truck-1-rear",
        clock=reading(0).clock.message(),
    )
    assert found(host, [one(key("rear"), seal)]) == []
    assert host.state(address.series(key("rear").public_key)) is None
    batch, before = sealed(trip)
    assert found(host, [batch, begun(numbered(2, before))]) == []


def test_the_hash_of_a_seal_has_32_bytes() -> None:
    host = ready(DirectHost())
    assert refused(host, begun(numbered(2, b"short"))) is Rule.FORM


def test_version_1_0_knows_no_rows() -> None:
    host = DirectHost()
    apply_all(host, registrations(RulesVersion.V1_0))
    trip = numbered(0)
    host.apply(one(trip.signer, trip.start, version=RulesVersion.V1_0))
    assert host.state(address.series(key("truck-1").public_key)) is None


@pytest.mark.parametrize("jumps", [1, REMEMBERED - 1])
def test_an_enormous_number_hides_no_later_gap(jumps: int) -> None:
    host = ready(DirectHost())
    for number in range(jumps):
        far = Trip(nonce=bytes([number, 9]) * 8, number=2**63 + 2 * number, deliveries=[])
        assert found(host, [begun(far)]) == [GAP]
    assert found(host, [begun(numbered(1)), begun(numbered(2))]) == []
    assert found(host, [begun(numbered(4))]) == [GAP]
    assert found(host, [begun(numbered(5))]) == []


def test_a_late_trip_without_the_one_before_it_says_so() -> None:
    host = ready(DirectHost())
    host.apply(begun(numbered(9)))
    events = apply_all(host, [begun(numbered(4))])
    (detail,) = [event.data for event in events if b"trip-number-gap" in event.data]
    assert b"this is trip 4, trip 3 before it is not on the ledger" in detail
    assert found(host, [begun(numbered(3))]) == [GAP]
    assert found(host, [begun(numbered(1)), begun(numbered(2))]) == []
