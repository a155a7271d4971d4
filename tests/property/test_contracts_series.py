"""Trips in a row, committed in any order: a deleted trip shows, an honest row has no false word."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from contracts.actions.payload import decode
from contracts.proto.payload_pb2 import SealTrip
from contracts.proto.sawtooth_pb2 import Batch
from contracts.rules.ids import Rule
from contracts.rules.series import seal_digest
from contracts.sawtooth.batches import build_batch
from support.ledgers.hosts import DirectHost, apply_all, rules_found
from support.network.world import Trip, one, registrations

TRIPS = 5


def row(count: int) -> list[tuple[Batch, Batch]]:
    """Return the start and the seal of each trip of an honest device."""
    batches, before = [], b""
    for number in range(1, count + 1):
        trip = Trip(nonce=bytes([number]) * 16, number=number, seal_before=before, deliveries=[])
        seal = trip.seal()
        action = decode(seal.payload)
        assert isinstance(action, SealTrip)
        before = seal_digest(action)
        batches.append((one(trip.signer, trip.start), build_batch(trip.signer, [seal])))
    return batches


ROW = row(TRIPS)


@st.composite
def orders(draw: st.DrawFn) -> list[int]:
    """Return trip numbers, each twice: first its start, then its seal."""
    return draw(st.permutations([number for number in range(TRIPS) for _ in range(2)]))


def findings(order: Sequence[int], without: int | None = None) -> list[str]:
    host = DirectHost()
    apply_all(host, registrations())
    met: set[int] = set()
    said: list[str] = []
    for number in order:
        if number != without:
            said += rules_found(host.apply(ROW[number][number in met]))
            met.add(number)
    return said


def test_in_order_nothing_is_found() -> None:
    assert findings([number for number in range(TRIPS) for _ in range(2)]) == []


@given(orders())
def test_in_any_order_no_honest_seal_is_doubted_and_no_number_is_repeated(
    order: list[int],
) -> None:
    assert set(findings(order)) <= {Rule.TRIP_NUMBER_GAP}


@given(orders(), st.integers(0, TRIPS - 2))
def test_a_deleted_trip_shows_in_any_order(order: list[int], deleted: int) -> None:
    assert Rule.TRIP_NUMBER_GAP in findings(order, deleted)
