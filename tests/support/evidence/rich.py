"""A ledger on which much happened, and evidence of two of its trips.

Lots were made from lots, one delivery went by two trips, another one with a second carrier. A
party rotated its keys, a device lost one, a delivery was disputed and settled, holds were placed
and released.
"""

from collections.abc import Callable, Sequence
from functools import cache

from contracts.actions.payload import decode
from contracts.actions.table import KINDS, Action
from contracts.proto.payload_pb2 import (
    CARRIER,
    RELEASED,
    CloseDelivery,
    DisputeDelivery,
    HandOver,
    OpenDelivery,
    RegisterDevice,
    RegisterParty,
    RotateKeys,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch
from support.evidence.chain import WARM, Evidence, digest_of, evidence_of
from support.network.goods import closed, companion, hold, made, newcomers, released
from support.network.world import (
    START_MS,
    TERMS,
    Trip,
    delivering,
    key,
    loading,
    one,
    reading,
    registrations,
)

VALUES = [reading(number, value) for number, value in enumerate(WARM)]
VIDEO = b"a short clip" * 60
FIRST = Trip(others=["truck-2"], via=["site-hub"])
ONWARD = Trip("truck-2", bytes(15) + b"2", signer=key("truck-2"))
OTHER = Trip("truck-9", bytes(15) + b"3", ["delivery-2"], key("truck-9"))


def second_delivery() -> OpenDelivery:
    """Return the terms of what the second carrier carries."""
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.delivery_id, terms.carrier_id = "delivery-2", "carrier-2"
    return terms


def signed(*actions: tuple[str, Action]) -> list[Batch]:
    """Return one batch for each action, by the key of that name."""
    return [one(key(signer), action) for signer, action in actions]


def handed(hands: HandOver) -> list[Batch]:
    """Return a handover, signed by both."""
    return signed((hands.from_party_id, hands), (hands.to_party_id, hands))


def second_carrier() -> list[Batch]:
    """Return what puts the second carrier, its truck and its delivery on the ledger."""
    party = RegisterParty(
        party_id="carrier-2",
        name="Second",
        public_keys=[key("carrier-2").public_key],
        roles=[CARRIER],
    )
    truck = RegisterDevice(
        device_id="truck-9", party_id="carrier-2", public_keys=[key("truck-9").public_key]
    )
    terms = second_delivery()
    return signed(("admin", party), ("carrier-2", truck), ("seller", terms), ("buyer", terms))


def driven(trip: Trip, videos: Sequence[bytes] = ()) -> list[Batch]:
    """Return a trip in four batches, without links between them, and its videos."""
    digests = [digest_of(video) for video in videos]
    seal = trip.seal
    batches = [
        one(trip.signer, trip.start),
        build_batch(trip.signer, [trip.run(VALUES[:5])]),
        build_batch(trip.signer, [trip.run(VALUES[5:])]),
    ]
    batches.append(build_batch(trip.signer, [sealed := seal(digests)]))
    return batches + [trip.video(each, sealed.header_signature) for each in digests]


def endings() -> list[Batch]:
    """Return what the parties said in the end."""
    rotation = RotateKeys(
        party_id="buyer",
        added=[key("buyer's new").public_key],
        revoked=[key("buyer").public_key],
    )
    dispute = DisputeDelivery(delivery_id="delivery-1", reason="too warm", at_ms=START_MS)
    settled = CloseDelivery(delivery_id="delivery-1", payment=RELEASED, at_ms=START_MS)
    lost = RegisterDevice(
        device_id="truck-2", party_id="carrier", public_keys=[key("truck-2's new").public_key]
    )
    return [
        *signed(("buyer", rotation), ("buyer's new", dispute)),
        hold(FIRST.trip_id, "case-1", "customs"),
        hold(FIRST.trip_id, "case-2", "seller"),
        released(FIRST.trip_id, "case-1", "customs"),
        *signed(("carrier", lost), ("seller", settled), ("buyer's new", settled)),
        closed(FIRST.trip_id, "seller"),
        closed(OTHER.trip_id, "carrier-2"),
    ]


@cache
def rich() -> Evidence:
    """Return the evidence of the first trip and of the second carrier's."""
    arrival = delivering(ONWARD.trip_id)
    unloading = HandOver()
    unloading.CopyFrom(delivering(OTHER.trip_id))
    unloading.delivery_id, unloading.from_party_id = "delivery-2", "carrier-2"
    groups = [
        [*registrations(), *newcomers(), *second_carrier()],
        [made("begin", "kitchen", [], ["M1"]), made("mix", "seller", ["M1"], ["L42"])],
        driven(FIRST, [VIDEO]),
        [companion(FIRST, "truck-2", VALUES), *handed(loading(FIRST.trip_id))],
        [*driven(ONWARD), *handed(arrival)],
        [*driven(OTHER), *handed(unloading)],
        endings(),
    ]
    return evidence_of(groups, [FIRST.trip_id, OTHER.trip_id])


def without(left_out: Callable[[Batch], bool]) -> Evidence:
    """Return the evidence without some batches, with the best proof that a forger has for it."""
    whole = rich()
    kept = [batch for batch in whole.batches if not left_out(batch)]
    told = Evidence(whole.header, whole.heads, kept, state=whole.state)
    told.prove()
    return told


def about(batch: Batch) -> set[str]:
    """Return the subjects of a batch."""
    actions = [decode(each.payload) for each in batch.transactions]
    return {subject for action in actions for subject in KINDS[type(action)].subjects(action)}
