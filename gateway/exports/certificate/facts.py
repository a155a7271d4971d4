"""The contents of a trip's certificate, asked of the records once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

from contracts.errors import UnavailableError
from contracts.proto.state_pb2 import Delivery, Finding, Hold
from gateway.records.breaches import BreachRecord
from gateway.records.buckets import BucketedReadings
from gateway.records.digests import DigestRecord
from gateway.records.pages import Listed
from gateway.records.records import Records
from gateway.records.registry import NotOnLedgerError
from gateway.records.trips import RemarkRecord, TamperRecord, TripRecord

SHOWN_MAX: Final = 100
"""Things of each kind that a certificate lists."""
BUCKETS: Final = 600
_JUDGED_AGAIN: Final = 4
"""How often a trip is judged that goes on changing while it is judged."""
_ItemT = TypeVar("_ItemT")
_FactsT = TypeVar("_FactsT")
_VerdictT = TypeVar("_VerdictT")


@dataclass(frozen=True, slots=True)
class TripFacts:
    """A trip, as far as the reader may see it; at most `SHOWN_MAX` of each kind.

    Attributes:
        trip: The trip.
        sites: Names by id; without a name the id.
        deliveries: Those on it.
        measured: Its readings, summed up.
        breaches: Of limits, by time.
        tampers: Signs of tampering that began.
        remarks: What devices said of themselves.
        findings: Of the rules.
        holds: Legal holds, also released ones.
        digests: Of recordings.
        cut: Kinds of which there are more than a certificate lists.
    """

    trip: TripRecord
    sites: dict[str, str]
    deliveries: tuple[Delivery, ...]
    measured: BucketedReadings
    breaches: tuple[BreachRecord, ...]
    tampers: tuple[TamperRecord, ...]
    remarks: tuple[RemarkRecord, ...]
    findings: tuple[Finding, ...]
    holds: tuple[Hold, ...]
    digests: tuple[DigestRecord, ...]
    cut: tuple[str, ...]


def gather(records: Records, trip_id: str) -> TripFacts:
    """Ask for everything that a certificate shows.

    Raises:
        NotOnLedgerError: There is no such trip.
        UnavailableError: The index did not answer.
    """
    trips, cut = records.trips, list[str]()

    def first(kind: str, ask: Callable[[str, int, int], Listed[_ItemT]]) -> tuple[_ItemT, ...]:
        found = ask(trip_id, 0, SHOWN_MAX + 1)
        if len(found) > SHOWN_MAX:
            cut.append(kind)
        return tuple(each for _, each in found[:SHOWN_MAX])

    trip = trips.get(trip_id)
    start = trip.start
    if len(start.delivery_ids) > SHOWN_MAX:
        cut.append("deliveries")
    deliveries = tuple(_deliveries(records, start.delivery_ids[:SHOWN_MAX]))
    tampers = first("tamper events", trips.tampers)
    return TripFacts(
        trip,
        {
            site: _site(records, site)
            for site in (start.origin_site_id, *start.via_site_ids, start.destination_site_id)
        },
        deliveries,
        trips.bucketed(trip_id, BUCKETS),
        first("excursions", trips.breaches),
        tuple(each for each in tampers if each.entry.flags),
        first("remarks", trips.remarks),
        first("findings", trips.findings),
        first("holds", trips.holds),
        first("recordings", trips.digests),
        tuple(cut),
    )


def settled(
    what: str, ask: Callable[[], _FactsT], judge: Callable[[], _VerdictT]
) -> tuple[_FactsT, _VerdictT]:
    """Return the facts of something and the verdict on evidence that shows just these facts.

    Judging takes seconds, and the ledger goes on during that time. Facts that are the same before
    and after it are those of the evidence, whatever the ledger took in about other trips.

    Args:
        what: Names it in the error.
        ask: Gathers the facts as they stand.
        judge: Judges the evidence as it stands.

    Raises:
        UnavailableError: It changed each time while it was judged.
    """
    facts = ask()
    for _ in range(_JUDGED_AGAIN):
        before, verdict = facts, judge()
        facts = ask()
        if facts == before:
            return facts, verdict
    raise UnavailableError(
        f"{what}: expected it to stand still while its evidence is "
        f"judged, but it changed each time, {_JUDGED_AGAIN} times; ask again later"
    )


def _deliveries(records: Records, delivery_ids: list[str]) -> Iterator[Delivery]:
    for each in delivery_ids:
        try:
            yield records.deliveries.get(each).entry
        except NotOnLedgerError:
            continue


def _site(records: Records, site_id: str) -> str:
    try:
        return records.sites.get(site_id).name or site_id
    except NotOnLedgerError:
        return site_id
