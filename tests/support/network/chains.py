"""A chain of two carriers and a store between seller and buyer, for tests of custody."""

from contracts.proto.payload_pb2 import (
    AUTHORITY,
    CARRIER,
    HandOver,
    OpenDelivery,
    RegisterSite,
)
from contracts.proto.sawtooth_pb2 import Batch, Event
from support.ledgers.hosts import Host, apply_all
from support.network.world import START_MS, TERMS, Trip, device, key, one, party, registrations

DEADLINE_MS = START_MS + 10_000_000


def chain_terms(deadline_ms: int = 0, authority_id: str = "") -> OpenDelivery:
    """Return terms with the carriers `carrier` and `haulier`, and the store `store`."""
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.other_carrier_ids[:] = ["haulier", "store"]
    terms.deadline_ms, terms.authority_id = deadline_ms, authority_id
    return terms


def chain_registrations(
    terms: OpenDelivery, signers: tuple[str, ...] = ("seller", "buyer")
) -> list[Batch]:
    """Return what registers the chain's parties, two authorities, a hub, and signs the terms."""
    roles = {"haulier": CARRIER, "store": CARRIER, "court": AUTHORITY, "customs": AUTHORITY}
    hub = RegisterSite(site_id="site-hub", party_id="store", name="Hub")
    return [
        *registrations()[:-2],
        *(party(name, role) for name, role in roles.items()),
        device("truck-2", "haulier"),
        one(key("store"), hub),
        *(one(key(name), terms) for name in signers),
    ]


def first_leg() -> Trip:
    """Return the trip of the first carrier, from the seller past the hub."""
    return Trip(via=["site-hub"])


def second_leg() -> Trip:
    """Return the trip of the second carrier, from the hub on."""
    return Trip(device_id="truck-2", signer=key("truck-2"), via=["site-hub"])


def hands(
    trip: Trip,
    giver: str,
    taker: str,
    site_id: str = "site-hub",
    quantity: int = 0,
    seals: tuple[str, ...] = (),
    *,
    returned: bool = False,
) -> HandOver:
    """Return a handover of the delivery."""
    return HandOver(
        trip_id=trip.trip_id,
        delivery_id="delivery-1",
        site_id=site_id,
        from_party_id=giver,
        to_party_id=taker,
        at_ms=START_MS,
        quantity=quantity,
        seal_numbers=seals,
        returned=returned,
    )


def both_sign(host: Host, action: HandOver) -> list[Event]:
    """Let giver and taker sign a handover; return the events."""
    signers = (action.from_party_id, action.to_party_id)
    return apply_all(host, [one(key(signer), action) for signer in signers])
