"""A node's blocks have times, and what trucks claim is compared with them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contracts import address
from contracts.ledger.client import LedgerClient
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.state_pb2 import Delivery, Findings
from contracts.records.clock import now_ms
from contracts.rules.blocktimes import TOLERANCE_MS
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch
from support.gateways.appliance import founded
from support.network.world import Trip, reading, registrations

pytestmark = pytest.mark.integration


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[LedgerClient]:
    """Run a node that founded its network; a delivery is open on it."""
    with founded(tmp_path) as (_, client):
        commit(client, *registrations())
        yield client


def commit(ledger: LedgerClient, *batches: Batch) -> None:
    ledger.submit(batches)
    found = ledger.statuses([batch.header_signature for batch in batches], wait_s=30)
    assert {answer.status for answer in found.values()} == {"COMMITTED"}


def found(ledger: LedgerClient, trip: Trip, offset_ms: int) -> list[str]:
    """Return what the rules find about a reading that claims a time that far from now.

    Its trip's start claims the same, so that the device's clock agrees with itself.
    """
    start = trip.start
    start.clock.CopyFrom(reading(0).clock.message())
    start.clock.utc_ms = start.started_at_ms = now_ms() + offset_ms
    commit(ledger, build_batch(trip.signer, [trip.sign(start)]))
    clock = replace(reading(0).clock, utc_ms=now_ms() + offset_ms)
    made = trip.record(replace(reading(0), clock=clock))
    commit(ledger, build_batch(trip.signer, [made]))
    entry = ledger.state(address.finding(trip.trip_id, made.header_signature))
    return [each.rule for each in Findings.FromString(entry or b"").findings]


def test_what_a_truck_claims_is_compared_with_the_blocks(ledger: LedgerClient) -> None:
    entry = Delivery.FromString(ledger.state(address.delivery("delivery-1")) or b"")
    assert abs(entry.agreed_at_s * 1000 - now_ms()) < TOLERANCE_MS
    trips = [Trip(nonce=bytes([number]) * 16) for number in range(3)]
    assert found(ledger, trips[0], 0) == []
    assert found(ledger, trips[1], 2 * TOLERANCE_MS) == [Rule.TIME_IMPLAUSIBLE]
    assert found(ledger, trips[2], -2 * TOLERANCE_MS) == [Rule.TIME_IMPLAUSIBLE]
