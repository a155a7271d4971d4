"""Sound evidence of which a reader has to be told what it does not show."""

from dataclasses import replace

from contracts.proto.payload_pb2 import RegisterDevice
from support.evidence.chain import Evidence, digest_of, evidence_of
from support.network.world import Trip, key, one, reading, registrations
from support.verifier.small import VIDEO


def unshown() -> Evidence:
    """Return evidence without video or sources of lots, of a replayed reading and an old key."""
    trip = Trip()
    driven = trip.whole([reading(0), replace(reading(1), derived=True)], [digest_of(VIDEO)], size=1)
    replaced = RegisterDevice(
        device_id="truck-1", party_id="carrier", public_keys=[key("truck-1 new").public_key]
    )
    told = evidence_of([registrations(), driven, [one(key("carrier"), replaced)]], [trip.trip_id])
    told.header.without_lots = True
    return told
