"""Evidence with every kind of part, in few bytes."""

from contracts.proto.payload_pb2 import RegisterDevice, RegisterParty
from support.evidence.chain import Evidence, digest_of, evidence_of
from support.network.world import Trip, key, one, reading

VIDEO = b"a very short video"


def small() -> Evidence:
    """Return evidence of a trip without deliveries, of two readings and one recording."""
    trip = Trip(deliveries=[])
    carrier = RegisterParty(
        party_id="carrier", name="Carrier", public_keys=[key("carrier").public_key]
    )
    truck = RegisterDevice(
        device_id="truck-1", party_id="carrier", public_keys=[key("truck-1").public_key]
    )
    driven = [trip.sign(trip.start), trip.record(reading(0)), trip.run([reading(1)])]
    driven.append(seal := trip.seal([digest_of(VIDEO)]))
    groups = [
        [one(key("admin"), carrier), one(key("carrier"), truck)],
        [
            *trip.batches(driven, len(driven)),
            trip.video(digest_of(VIDEO), seal.header_signature),
        ],
    ]
    evidence = evidence_of(groups, [trip.trip_id])
    evidence.add_video(VIDEO)
    return evidence
