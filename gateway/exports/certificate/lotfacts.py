"""The contents of a lot's certificate, asked of the records once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeVar

from contracts.proto.state_pb2 import Finding, Lot
from gateway.exports.certificate.facts import SHOWN_MAX
from gateway.records.breaches import BreachRecord
from gateway.records.deliveries import DeliveryRecord, HandOverRecord
from gateway.records.lots import TraceRecord
from gateway.records.records import Records
from gateway.records.tracing import Direction, LotId

TRACED_MAX: Final = 200
"""Transformations that a certificate follows each way, and about as many lots."""
_ItemT = TypeVar("_ItemT")


@dataclass(frozen=True, slots=True)
class LotFacts:
    """A lot, as far as the reader may see it; at most `SHOWN_MAX` of each kind.

    Attributes:
        lot: Its name.
        entry: Its state on the ledger; None when nobody put its making or use on record.
        backward: What it was made from.
        forward: What was made from it.
        deliveries: That it was part of.
        handovers: Of these deliveries, by time.
        breaches: Of their limits, by time.
        tampers: Tamper events on their trips.
        findings: Of the rules, on these deliveries, their trips, and all transformations reached.
        cut: Kinds of which there are more than a certificate lists.
        narrowed: Whether the reader sees only what grants give: there may be more of everything.
    """

    lot: LotId
    entry: Lot | None
    backward: TraceRecord
    forward: TraceRecord
    deliveries: tuple[DeliveryRecord, ...]
    handovers: tuple[HandOverRecord, ...]
    breaches: tuple[BreachRecord, ...]
    tampers: int
    findings: tuple[Finding, ...]
    cut: tuple[str, ...]
    narrowed: bool


def gather_lot(records: Records, lot: LotId, *, narrowed: bool) -> LotFacts:
    """Ask for everything that a certificate shows.

    Args:
        records: As the reader may see them.
        lot: Its name.
        narrowed: See `LotFacts`.

    Raises:
        NotOnLedgerError: No record names the lot.
        UnavailableError: The index did not answer.
    """
    records.lots.check_known(lot)
    backward, forward = (
        records.lots.trace(lot, way, TRACED_MAX) for way in (Direction.BACKWARD, Direction.FORWARD)
    )
    cut = list[str]()
    every = records.deliveries.of_lot(*lot)
    deliveries = _first("deliveries", every, cut)
    ids = [each.entry.terms.delivery_id for each in deliveries]
    handovers = _first("handovers", _handovers(records, ids), cut)
    breaches = _first("excursions", _breaches(records, ids), cut)
    own = set(ids)
    trips = {
        trip.trip_id: trip.tampers
        for each in forward.deliveries
        if each.entry.terms.delivery_id in own
        for trip in each.trips
    }
    findings = _first("findings", _findings(records, deliveries, (backward, forward)), cut)
    return LotFacts(
        lot,
        records.lots.entry(lot),
        backward,
        forward,
        deliveries,
        tuple(sorted(handovers, key=lambda each: each.entry.terms.at_ms)),
        tuple(sorted(breaches, key=lambda each: each.entry.since_ms)),
        sum(trips.values()),
        findings,
        tuple(cut),
        narrowed,
    )


def _first(kind: str, found: Iterable[_ItemT], cut: list[str]) -> tuple[_ItemT, ...]:
    first = tuple(islice(found, SHOWN_MAX + 1))
    if len(first) > SHOWN_MAX:
        cut.append(kind)
    return first[:SHOWN_MAX]


def _handovers(records: Records, delivery_ids: list[str]) -> Iterator[HandOverRecord]:
    for each in delivery_ids:
        yield from (found for _, found in records.deliveries.handovers(each, 0, SHOWN_MAX + 1))


def _breaches(records: Records, delivery_ids: list[str]) -> Iterator[BreachRecord]:
    for each in delivery_ids:
        yield from (found for _, found in records.deliveries.breaches(each, 0, SHOWN_MAX + 1))


def _findings(
    records: Records, deliveries: tuple[DeliveryRecord, ...], traces: tuple[TraceRecord, ...]
) -> Iterator[Finding]:
    for each in deliveries:
        yield from each.entry.findings
    for trip_id in dict.fromkeys(name for each in deliveries for name in each.trip_ids):
        yield from (found for _, found in records.trips.findings(trip_id, 0, SHOWN_MAX + 1))
    made = {
        each.entry.terms.transformation_id: each.entry
        for trace in traces
        for each in trace.transformations
    }
    for entry in made.values():
        yield from entry.findings
