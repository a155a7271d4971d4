"""Deliveries that hung for ever under version 1.0, and their ways out under 1.1."""

import pytest

from contracts import address
from contracts.actions.table import Action
from contracts.proto.payload_pb2 import (
    DUE,
    RELEASED,
    AcceptDelivery,
    CloseDelivery,
    DisputeDelivery,
)
from contracts.proto.state_pb2 import Delivery
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from support.ledgers.hosts import Host, apply_all, refused
from support.network.world import START_MS, TERMS, Trip, delivering, key, one, registrations

OLD = RulesVersion.V1_0
DISPUTE = DisputeDelivery(delivery_id="delivery-1", reason="it never came", at_ms=START_MS)
ACCEPT = AcceptDelivery(delivery_id="delivery-1", at_ms=START_MS)
CLOSE = CloseDelivery(delivery_id="delivery-1", payment=RELEASED, at_ms=START_MS)


def delivery(host: Host) -> Delivery:
    return Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")


@pytest.mark.parametrize("action", [DISPUTE, ACCEPT, CLOSE])
def test_under_1_0_a_truck_that_never_came_left_no_way_out(host: Host, action: Action) -> None:
    apply_all(host, registrations(OLD))
    for name in ("seller", "buyer"):
        found = refused(host, one(key(name), action, version=OLD))
        assert found in (Rule.WRONG_STATE, Rule.NOT_THE_PARTY)


@pytest.mark.parametrize("name", ["seller", "buyer"])
def test_a_delivery_that_no_truck_took_is_disputed(host: Host, name: str) -> None:
    apply_all(host, registrations())
    host.apply(one(key(name), DISPUTE))
    assert delivery(host).status == Delivery.DISPUTED


def _signed_late(host: Host, version: RulesVersion) -> None:
    """Let the goods reach the buyer before the buyer has signed the terms."""
    trip = Trip()
    apply_all(host, registrations(version)[:-1])
    host.apply(one(trip.signer, trip.start, version=version))
    for name in ("carrier", "buyer"):
        host.apply(one(key(name), delivering(trip.trip_id), version=version))
    host.apply(one(key("buyer"), TERMS, version=version))


def test_under_1_0_a_buyer_that_signed_late_could_neither_accept_nor_dispute(host: Host) -> None:
    _signed_late(host, OLD)
    assert delivery(host).status == Delivery.OPEN
    for action in (ACCEPT, DISPUTE, CLOSE):
        assert refused(host, one(key("buyer"), action, version=OLD)) is Rule.WRONG_STATE


def test_a_buyer_that_signs_after_the_handover_has_the_goods(host: Host) -> None:
    _signed_late(host, RulesVersion.V1_1)
    assert (delivery(host).status, delivery(host).payment) == (Delivery.DELIVERED, DUE)
    host.apply(one(key("buyer"), ACCEPT))


def test_what_hung_under_1_0_goes_on_under_1_1(host: Host) -> None:
    _signed_late(host, OLD)
    host.apply(one(key("buyer"), DISPUTE))
    host.apply(one(key("buyer"), ACCEPT))
    assert delivery(host).status == Delivery.ACCEPTED
