"""EPCIS 2.0: documents to capture, and the events of the query interface.

Source: EPCIS 2.0, 12 (REST bindings).
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse

from contracts.errors import RejectedError
from contracts.records.clock import now_ms, parse_rfc3339
from gateway.access import Caller
from gateway.api.accesses import note_access
from gateway.api.parts import AccessLogPart, RecordsPart
from gateway.api.problems import ABSENT, Answers, errors, problem
from gateway.api.security import may_read
from gateway.exports.epcis.document import EPCIS_TYPE, answer, capture
from gateway.exports.epcis.eventhash import Event
from gateway.exports.epcis.gathering import EventGathering
from gateway.exports.epcis.ids import lots_of
from gateway.exports.epcis.query import BEGIN, EventPlace, EventQuery, QueryError, page
from gateway.people.accesslog import Taken
from gateway.records.tracing import LotId

PER_PAGE_MAX: Final = 1000
EVENTS_MAX: Final = 10_000
"""Events of one document."""
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


@router.get("/trips/{trip_id}/epcis", response_class=EpcisAnswer, responses=ABSENT | _FOUND)
def trip_document(
    request: Request, records: RecordsPart, log: AccessLogPart, caller: _Caller, trip_id: str
) -> EpcisAnswer:
    """Return a trip as an EPCIS 2.0 document that another system can capture.

    Its events are terms and handovers of its deliveries, departure, arrival, what was measured,
    breaches and tamper events.
    """
    events = _whole(EventGathering(records).of_trip(trip_id))
    note_access(request, log, caller, Taken.EVENTS, trip_id)
    return EpcisAnswer(capture(events, now_ms()), headers=_VERSIONS)


@router.get("/lot/epcis", response_class=EpcisAnswer, responses=ABSENT | _FOUND)
def lot_document(
    request: Request,
    records: RecordsPart,
    log: AccessLogPart,
    caller: _Caller,
    gtin: str,
    lot: str,
) -> EpcisAnswer:
    """Return a lot with all lots on its trace, and their trips, as an EPCIS 2.0 document."""
    name = LotId(gtin, lot)
    records.lots.check_known(name)
    events = _whole(EventGathering(records).of_lot(name))
    note_access(request, log, caller, Taken.EVENTS, f"{gtin}/{lot}")
    return EpcisAnswer(capture(events, now_ms()), headers=_VERSIONS)


def _whole(events: Iterable[Event]) -> list[Event]:
    """Return the events of a document.

    Raises:
        RejectedError: There are too many.
    """
    found = list(islice(events, EVENTS_MAX + 1))
    if len(found) > EVENTS_MAX:
        raise RejectedError(f"more than {EVENTS_MAX} events: ask /v1/epcis/events page by page")
    return found


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
