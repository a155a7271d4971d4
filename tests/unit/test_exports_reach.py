"""How far an export goes, at once and in a job: nothing is left out silently, and it can stop."""

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from contracts.errors import RejectedError
from contracts.proto.state_pb2 import Transformation
from gateway.api.epcis import lot_document
from gateway.api.exporting import Export, Leaving
from gateway.exports.epcis.gathering import AS_JOB, AT_ONCE, EventGathering
from gateway.exports.fsmarecords import Spreadsheet
from gateway.exports.readings import every_reading
from gateway.jobs.progress import Following, Progress
from gateway.records.entries import TransformationRecord
from gateway.records.lots import TraceRecord
from gateway.records.pages import EVERYTHING, Span
from gateway.records.tracing import Direction, LotId
from gateway.records.trips import ReadingRecord, Trips
from gateway.records.watch import StoppedError, Unit

if TYPE_CHECKING:
    from gateway.records.records import Records

LOT: Final = LotId("12345670", "L42")
ALONE: Final = TraceRecord((), (), (), (), deliveries_cut=False, trips_cut=False)


class Traced:
    """Records of a lot that has a trace, and nothing else; keeps how far it was followed."""

    def __init__(self, trace: TraceRecord) -> None:
        self.lots = self
        self.limits: list[int] = []
        self._trace = trace

    def check_known(self, lot: LotId) -> None:
        assert lot == LOT

    def trace(self, lot: LotId, way: Direction, limit: int) -> TraceRecord:
        del lot, way
        self.limits.append(limit)
        return self._trace


@pytest.mark.parametrize(
    "trace",
    [
        replace(ALONE, cut_at=(LOT,)),
        replace(ALONE, deliveries_cut=True),
        replace(ALONE, trips_cut=True),
    ],
    ids=["transformations", "deliveries", "trips"],
)
def test_a_lot_whose_trace_was_cut_makes_no_document_that_looks_whole(trace: TraceRecord) -> None:
    with pytest.raises(RejectedError, match="ask for its trips"):
        list(EventGathering(cast("Records", Traced(trace))).of_lot(LOT))


class Reader:
    """Takes an export, at once or in a job."""

    def __init__(self, *, is_job: bool) -> None:
        self.is_job = is_job
        self.content = b""

    def answer(self, export: Export) -> None:
        made = export.make(Following())
        self.content = made if isinstance(made, bytes) else b"".join(made)


@pytest.mark.parametrize("is_job", [False, True], ids=["at once", "as a job"])
def test_a_document_of_a_job_reaches_further(is_job: bool) -> None:  # noqa: FBT001 - a parameter
    reader, records = Reader(is_job=is_job), Traced(ALONE)
    lot_document(cast("Leaving", reader), cast("Records", records), *LOT)
    assert records.limits == [(AS_JOB if is_job else AT_ONCE).traced] * 2
    assert b'"eventList":[]' in reader.content
    assert AS_JOB.trips > AT_ONCE.trips


def test_a_spreadsheet_of_a_time_stops_between_transformations() -> None:
    watch, asked = Following(), list[int]()
    old = TransformationRecord(Transformation(), "ab" * 64)

    def transformations(after: int, count: int) -> list[tuple[int, Any]]:
        del count
        asked.append(after)
        if len(asked) == 2:
            watch.cancel()
        return [(after + 1, old)] if len(asked) < 5 else []

    lots = SimpleNamespace(transformations=transformations)
    trips = SimpleNamespace(listed=lambda *_, **__: [])
    records = cast("Records", SimpleNamespace(lots=lots, trips=trips))
    with pytest.raises(StoppedError):
        Spreadsheet(records, watch).add_span(Span(from_ms=1, to_ms=2))
    assert asked == [0, 1]
    assert watch.progress.subject == "transformations"


def test_readings_tell_how_many_were_written_of_how_many() -> None:
    pages = [[(1, ReadingRecord), (2, ReadingRecord)], [(3, ReadingRecord)], []]
    trips = SimpleNamespace(
        get=lambda _: SimpleNamespace(readings=3), readings=lambda *_: pages.pop(0)
    )
    watch, told = Following(), list[Progress]()
    for _ in every_reading(cast("Trips", trips), "trip-1", EVERYTHING, watch):
        told.append(watch.progress)
    assert told[-1] == Progress(1, 1, "trip trip-1", "writes readings", 2, 3, Unit.READINGS)
    assert watch.progress.done == 3
