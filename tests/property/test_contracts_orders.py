"""Trips, handovers and signatures reach the ledger in any order, and the same follows."""

from collections import Counter
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import address
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.state_pb2 import Delivery
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch
from support.ledgers.hosts import DirectHost, apply_all, findings
from support.network.world import TERMS, Trip, delivering, key, loading, one, reading, registrations

Outcome = tuple[object, ...]
NAMES = ["start", "rest", "load seller", "load carrier", "give carrier", "give buyer", "terms"]


def _batches(destination: str) -> dict[str, Batch]:
    """Return what is committed, by name; `destination` is where the truck says that it goes."""
    trip = Trip()
    start = trip.start
    start.destination_site_id = destination
    values = [trip.record(reading(at)) for at in range(3)]
    loaded, given_away = loading(trip.trip_id), delivering(trip.trip_id)
    return {
        "start": one(trip.signer, start),
        "rest": build_batch(trip.signer, [*values, trip.seal()]),
        "load seller": one(key("seller"), loaded),
        "load carrier": one(key("carrier"), loaded),
        "give carrier": one(key("carrier"), given_away),
        "give buyer": one(key("buyer"), given_away),
        "terms": one(key("buyer"), TERMS),
    }


def _possible(order: Sequence[str]) -> bool:
    """Say whether the rules define one outcome for an order.

    A device records after its start; goods that are handed on before they were received are a
    gap in custody.
    """
    at = {name: place for place, name in enumerate(order)}
    loaded = max(at["load seller"], at["load carrier"])
    return at["start"] < at["rest"] and loaded < max(at["give carrier"], at["give buyer"])


def _outcome(order: Sequence[str], destination: str) -> Outcome:
    """Return custody, state and findings; an offer on a trip is another finding by definition."""
    host, batches = DirectHost(), _batches(destination)
    apply_all(host, registrations()[:-1])
    found = findings(apply_all(host, [batches[name] for name in order]))
    entry = Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")
    return (
        entry.status,
        entry.payment,
        entry.custodian_id,
        {each.party_id: each.quantity for each in entry.holdings},
        (entry.sent_quantity, entry.received_quantity, len(entry.early)),
        Counter((each.rule, each.detail) for each in found if each.rule != Rule.DELIVERY_NOT_OPEN),
    )


@settings(deadline=None)
@given(st.permutations(NAMES).filter(_possible), st.sampled_from(["site-buyer", "site-elsewhere"]))
def test_any_order_of_commits_has_the_same_outcome(order: list[str], destination: str) -> None:
    usual = ["terms", "start", "load seller", "load carrier", "give carrier", "give buyer", "rest"]
    outcome = _outcome(order, destination)
    assert outcome == _outcome(usual, destination)
    assert outcome[:3] == (Delivery.DELIVERED, 1, "buyer")
