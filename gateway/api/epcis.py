"""EPCIS 2.0: documents to capture, and the events of the query interface.

Source: EPCIS 2.0, 12 (REST bindings).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, Response

from contracts.errors import RejectedError
from contracts.records.clock import now_ms, parse_rfc3339
from gateway.access import Caller
from gateway.api.accesses import note_access
from gateway.api.exporting import Export, Leaving, LeavingPart, Made, exported
from gateway.api.parts import AccessLogPart, RecordsPart
from gateway.api.problems import Answers, errors, problem
from gateway.api.security import may_read
from gateway.exports.epcis.document import EPCIS_TYPE, answer, capture
from gateway.exports.epcis.eventhash import Event
from gateway.exports.epcis.gathering import AS_JOB, AT_ONCE, EventGathering
from gateway.exports.epcis.ids import lots_of
from gateway.exports.epcis.query import BEGIN, EventPlace, EventQuery, QueryError, page
from gateway.jobs.job import JobKind
from gateway.people.accesslog import Taken
from gateway.records.tracing import LotId
from gateway.records.watch import Unit, Watch

PER_PAGE_MAX: Final = 1000
EVENTS_MAX: Final = 10_000
"""Events of one document."""
JOB_EVENTS_MAX: Final = 100_000
"""The same if a job makes it, which keeps no more than one event in memory."""
_TOLD_EVERY: Final = 100
_OBJECT: Final = {"schema": {"type": "object"}}
_FOUND: Final[Answers] = {200: {"content": {EPCIS_TYPE: _OBJECT}}}
_VERSIONS: Final = {"GS1-EPCIS-Version": "2.0", "GS1-CBV-Version": "2.0"}
_Caller = Annotated[Caller, Depends(may_read)]
_Words = Annotated[str | None, Query(description="one or more values, joined by |")]
_Time = Annotated[str | None, Query(description="RFC 3339")]

router = APIRouter(prefix="/v1", tags=["exports"])


class EpcisAnswer(JSONResponse):
    """An EPCIS document."""

    media_type = EPCIS_TYPE


@router.get("/trips/{trip_id}/epcis", **exported(EPCIS_TYPE, _OBJECT["schema"]))
def trip_document(leaving: LeavingPart, records: RecordsPart, trip_id: str) -> Response:
    """Return a trip as an EPCIS 2.0 document that another system can capture.

    Its events are terms and handovers of its deliveries, departure, arrival, what was measured,
    breaches and tamper events. Departure is always among them, so the list is never empty.
    """
    records.trips.check_known(trip_id)

    def events(watch: Watch) -> Iterator[Event]:
        watch.begin(f"trip {trip_id}", 0, 1)
        return EventGathering(records, watch).of_trip(trip_id)

    return _leave(leaving, JobKind.TRIP_EVENTS, trip_id, f"{trip_id}.epcis.jsonld", events)


@router.get("/lot/epcis", **exported(EPCIS_TYPE, _OBJECT["schema"]))
def lot_document(leaving: LeavingPart, records: RecordsPart, gtin: str, lot: str) -> Response:
    """Return a lot with all lots on its trace, and their trips, as an EPCIS 2.0 document.

    A document has at most 10,000 events of 100 trips; one that a job makes 100,000 of 1,000. The
    list is empty if you may see nothing that happened to the lot.
    """
    name = LotId(gtin, lot)
    records.lots.check_known(name)

    def events(watch: Watch) -> Iterator[Event]:
        reach = AS_JOB if leaving.is_job else AT_ONCE
        return EventGathering(records, watch, reach).of_lot(name)

    return _leave(leaving, JobKind.LOT_EVENTS, f"{gtin}/{lot}", "lot.epcis.jsonld", events)


def _leave(
    leaving: Leaving,
    kind: JobKind,
    subject: str,
    file_name: str,
    events: Callable[[Watch], Iterator[Event]],
) -> Response:
    """Return a document of events, or the job that makes it."""

    def make(watch: Watch) -> Made:
        most = JOB_EVENTS_MAX if leaving.is_job else EVENTS_MAX
        pieces = capture(_bounded(events(watch), most, watch), now_ms())
        return pieces if leaving.is_job else b"".join(pieces)

    return leaving.answer(Export(kind, subject, EPCIS_TYPE, file_name, make, _VERSIONS))


def _bounded(events: Iterable[Event], most: int, watch: Watch) -> Iterator[Event]:
    """Yield the events of a document.

    Raises:
        RejectedError: There are too many.
    """
    for count, event in enumerate(events):
        if count >= most:
            raise RejectedError(f"more than {most} events: ask /v1/epcis/events page by page")
        if count % _TOLD_EVERY == 0:
            watch.tell("writes events", count, 0, Unit.EVENTS)
        yield event


async def _asked(  # noqa: PLR0913 - each is a parameter of the standard
    *,
    event_type: Annotated[_Words, Query(alias="eventType")] = None,
    since: Annotated[_Time, Query(alias="GE_eventTime")] = None,
    before: Annotated[_Time, Query(alias="LT_eventTime")] = None,
    action: Annotated[_Words, Query(alias="EQ_action")] = None,
    step: Annotated[_Words, Query(alias="EQ_bizStep")] = None,
    disposition: Annotated[_Words, Query(alias="EQ_disposition")] = None,
    read_point: Annotated[_Words, Query(alias="EQ_readPoint")] = None,
    event_id: Annotated[_Words, Query(alias="EQ_eventID")] = None,
    transformation: Annotated[_Words, Query(alias="EQ_transformationID")] = None,
    classes: Annotated[_Words, Query(alias="MATCH_anyEPCClass")] = None,
) -> EventQuery:
    asked = {
        "type": event_type,
        "action": action,
        "bizStep": step,
        "disposition": disposition,
        "readPoint": read_point,
        "eventID": event_id,
        "transformationID": transformation,
    }
    wanted = _split(classes) if classes is not None else frozenset()
    for each in wanted:
        lots_of(each)
    return EventQuery(
        {name: _split(text) for name, text in asked.items() if text is not None},
        None if since is None else parse_rfc3339(since),
        None if before is None else parse_rfc3339(before),
        wanted,
    )


def _split(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


@router.get(
    "/epcis/events",
    response_class=EpcisAnswer,
    responses=_FOUND | errors(HTTPStatus.BAD_REQUEST),
)
def events(
    request: Request,
    records: RecordsPart,
    log: AccessLogPart,
    caller: _Caller,
    asked: Annotated[EventQuery, Depends(_asked)],
    per_page: Annotated[int, Query(alias="perPage", ge=1, le=PER_PAGE_MAX)] = 30,
    token: Annotated[str | None, Query(alias="nextPageToken")] = None,
) -> JSONResponse:
    """Return events of the ledger, as the EPCIS 2.0 query interface does, page by page.

    A page may be short or empty although more follow: as long as there is a header
    `Link: <…>; rel="next"`, ask for that. The order is the ledger's, transformations before trips.
    """
    try:
        begin = BEGIN if token is None else EventPlace.parse(token)
    except QueryError as error:
        kind = "epcisException:QueryParameterException"
        return problem(HTTPStatus.BAD_REQUEST, str(error), kind=kind, title="Query parameter")
    found, following = page(records, asked, begin, per_page)
    note_access(request, log, caller, Taken.EVENTS)
    headers: Mapping[str, str] = _VERSIONS
    if following is not None:
        url = request.url.include_query_params(nextPageToken=str(following))
        headers = {**_VERSIONS, "Link": f'<{url.path}?{url.query}>; rel="next"'}
    return EpcisAnswer(answer(found, now_ms()), headers=dict(headers))
