"""Strangers' actions on a trip spoil no evidence; actions of the trip's own must not be missing."""

import pytest

from contracts.actions.payload import build
from contracts.proto.payload_pb2 import CloseTrip, RegisterSite
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.reading import ChainLink, DeviceChain, record_of
from contracts.sawtooth.batches import build_batch
from support.evidence.chain import Evidence, evidence_of, trust_in
from support.evidence.forgery import problems, verdict_on
from support.network.goods import newcomers
from support.network.world import START_MS, Trip, key, one, reading, registrations

FAR = one(key("carrier"), RegisterSite(site_id="far", party_id="carrier", name="Far"))
TRIP = Trip()
WHOLE = TRIP.whole([reading(0), reading(1)])


def depending_on_far(batch: Batch) -> Evidence:
    """Return evidence of a ledger with a batch that depends on another one, which is left out."""
    evidence = evidence_of([[*registrations(), *newcomers(), FAR], [*WHOLE, batch]], [TRIP.trip_id])
    evidence.batches.remove(FAR)
    return evidence


def reading_by(device_id: str) -> Batch:
    place = ChainLink(DeviceChain(TRIP.trip_id, device_id), 2, bytes(32))
    record = record_of(reading(2), place)
    signer = key(device_id)
    far = FAR.transactions[0].header_signature
    return build_batch(signer, [build(signer, record, dependencies=[far])])


def test_a_stranger_depends_on_what_it_likes() -> None:
    evidence = depending_on_far(reading_by("truck-2"))
    assert verdict_on(evidence.wire(), trust_in(evidence.heads)).holds


def end() -> Batch:
    action = CloseTrip(trip_id=TRIP.trip_id, party_id="buyer", at_ms=START_MS)
    return one(key("buyer"), action, [FAR.transactions[0].header_signature])


@pytest.mark.parametrize("batch", [reading_by("truck-1"), end()], ids=["device", "party"])
def test_what_the_trips_own_depend_on_may_not_be_missing(batch: Batch) -> None:
    evidence = depending_on_far(batch)
    assert "which is missing" in problems(evidence, trust_in(evidence.heads))
