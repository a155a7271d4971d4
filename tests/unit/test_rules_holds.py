"""Legal holds: which party places one, which releases it, and the events."""

import pytest

from contracts import address
from contracts.actions.table import Action
from contracts.proto.payload_pb2 import AUTHORITY, PlaceHold, RegisterParty, ReleaseHold
from contracts.proto.state_pb2 import Hold
from contracts.rules.case import EVENT_HOLD
from contracts.rules.ids import Rule
from contracts.rules.version import USUAL
from support.ledgers.hosts import Host, apply_all, refused, told
from support.network.world import START_MS, Trip, key, one, registrations

TRIP = Trip()


def place(party_id: str = "buyer", hold_id: str = "case-7", **changes: object) -> PlaceHold:
    action = PlaceHold(
        trip_id=TRIP.trip_id, hold_id=hold_id, party_id=party_id, reason="claim", at_ms=START_MS
    )
    for name, value in changes.items():
        setattr(action, name, value)
    return action


def release(party_id: str = "buyer", hold_id: str = "case-7", **changes: object) -> ReleaseHold:
    action = ReleaseHold(
        trip_id=TRIP.trip_id, hold_id=hold_id, party_id=party_id, at_ms=START_MS + 1
    )
    for name, value in changes.items():
        setattr(action, name, value)
    return action


def ready(host: Host) -> None:
    strangers = [
        RegisterParty(party_id=name, name=name, public_keys=[key(name).public_key], roles=roles)
        for name, roles in (("court", [AUTHORITY]), ("other", []))
    ]
    registered = [one(key("admin"), stranger) for stranger in strangers]
    apply_all(host, [*registrations(), *registered, one(TRIP.signer, TRIP.start)])


def hold(host: Host, hold_id: str = "case-7") -> Hold:
    return Hold.FromString(host.state(address.hold(TRIP.trip_id, hold_id)) or b"")


@pytest.mark.parametrize("party_id", ["seller", "carrier", "buyer", "court"])
def test_a_party_of_the_trip_or_an_authority_places_and_releases_a_hold(
    host: Host, party_id: str
) -> None:
    ready(host)
    placed = told(EVENT_HOLD, host.apply(one(key(party_id), place(party_id))))
    assert placed == [{"trip_id": TRIP.trip_id, "hold_id": "case-7", "on": "true"}]
    assert hold(host) == Hold(placed=place(party_id), rules=USUAL)
    released = told(EVENT_HOLD, host.apply(one(key(party_id), release(party_id))))
    assert released == [{"trip_id": TRIP.trip_id, "hold_id": "case-7", "on": "false"}]
    assert hold(host).released == release(party_id)


def test_nobody_else_places_one_nor_in_anothers_name(host: Host) -> None:
    ready(host)
    assert refused(host, one(key("other"), place("other"))) is Rule.NOT_THE_PARTY
    assert refused(host, one(key("other"), place("court"))) is Rule.NOT_THE_PARTY
    assert refused(host, one(key("truck-1"), place("carrier"))) is Rule.NOT_THE_PARTY


def test_a_hold_is_placed_once_on_a_trip_that_exists(host: Host) -> None:
    ready(host)
    host.apply(one(key("buyer"), place()))
    assert refused(host, one(key("buyer"), place())) is Rule.HOLD_EXISTS
    assert refused(host, one(key("seller"), place("seller"))) is Rule.HOLD_EXISTS
    host.apply(one(key("seller"), place("seller", "case-8")))
    nowhere = place(trip_id="0" * 32)
    assert refused(host, one(key("buyer"), nowhere)) is Rule.UNKNOWN_TRIP


def test_only_who_placed_a_hold_releases_it_and_once(host: Host) -> None:
    ready(host)
    assert refused(host, one(key("buyer"), release())) is Rule.UNKNOWN_HOLD
    host.apply(one(key("buyer"), place()))
    assert refused(host, one(key("court"), release("court"))) is Rule.NOT_THE_PARTY
    assert refused(host, one(key("court"), release())) is Rule.NOT_THE_PARTY
    assert refused(host, one(key("buyer"), release(trip_id="0" * 32))) is Rule.UNKNOWN_TRIP
    host.apply(one(key("buyer"), release()))
    assert refused(host, one(key("buyer"), release())) is Rule.HOLD_RELEASED
    assert refused(host, one(key("buyer"), place())) is Rule.HOLD_EXISTS


NOT_WELL_FORMED: list[Action] = [
    place(hold_id="a b"),
    place(reason=""),
    place(reason="x" * 201),
    place(trip_id="no trip"),
    place(at_ms=(1 << 64) - 1),
    release(hold_id=""),
    release(trip_id="no trip"),
    release(at_ms=(1 << 64) - 1),
]


@pytest.mark.parametrize("action", NOT_WELL_FORMED, ids=range(len(NOT_WELL_FORMED)))
def test_what_is_not_well_formed_is_refused(host: Host, action: Action) -> None:
    ready(host)
    host.apply(one(key("buyer"), place()))
    assert refused(host, one(key("buyer"), action)) is Rule.FORM
