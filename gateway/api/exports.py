"""Records in other people's forms: readings as CSV and SenML, and the spreadsheet of FSMA 204.

Each is on the record of accesses.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response, StreamingResponse

from contracts.errors import RejectedError
from contracts.records.clock import now_ms, rfc3339
from gateway.access import Caller
from gateway.api.accesses import note_access
from gateway.api.paging import Overlapping, Spanned
from gateway.api.parts import AccessLogPart, RecordsPart
from gateway.api.problems import ABSENT, BINARY, Answers
from gateway.api.security import may_read
from gateway.exports.cells import CSV_TYPE
from gateway.exports.fsma import XLSX_TYPE
from gateway.exports.fsmarecords import Spreadsheet
from gateway.exports.readings import SENML_TYPE, as_csv, as_senml, every_reading
from gateway.people.accesslog import Taken
from gateway.records.pages import EVERYTHING
from gateway.records.tracing import LotId

_Caller = Annotated[Caller, Depends(may_read)]
_TEXT: Final = {"type": "string"}
_SENML: Final = {"type": "array", "minItems": 1, "items": {"type": "object"}}

router = APIRouter(prefix="/v1", tags=["exports"])


def _of_type(media_type: str, schema: Mapping[str, object]) -> Answers:
    return ABSENT | {200: {"content": {media_type.partition(";")[0]: {"schema": schema}}}}


@router.get(
    "/trips/{trip_id}/readings.csv",
    response_class=StreamingResponse,
    responses=_of_type(CSV_TYPE, _TEXT),
)
def readings_csv(
    request: Request,
    records: RecordsPart,
    log: AccessLogPart,
    caller: _Caller,
    trip_id: str,
    span: Spanned,
) -> StreamingResponse:
    """Return a trip's readings as CSV, one a line, in the ledger's order.

    A cell is empty where nothing was measured. Text that a spreadsheet program would take for a
    formula begins with an apostrophe.
    """
    records.trips.check_known(trip_id)
    readings = every_reading(records.trips, trip_id, span)
    note_access(request, log, caller, Taken.READINGS, trip_id)
    return _file(as_csv(readings), f"{trip_id}.csv", CSV_TYPE)


@router.get(
    "/trips/{trip_id}/readings.senml",
    response_class=StreamingResponse,
    responses=_of_type(SENML_TYPE, _SENML),
)
def readings_senml(
    request: Request,
    records: RecordsPart,
    log: AccessLogPart,
    caller: _Caller,
    trip_id: str,
    span: Spanned,
) -> StreamingResponse:
    """Return a trip's readings as a SenML pack in JSON (RFC 8428), in the ledger's order.

    Base name is the device; each reading has its sequence number, and says whether it shows signs
    of tampering.
    """
    records.trips.check_known(trip_id)
    readings = every_reading(records.trips, trip_id, span)
    note_access(request, log, caller, Taken.READINGS, trip_id)
    return _file(as_senml(readings, trip_id), f"{trip_id}.senml.json", SENML_TYPE)


@router.get(
    "/fsma204.xlsx",
    response_class=Response,
    responses=ABSENT | {200: {"content": {XLSX_TYPE: {"schema": BINARY}}}},
)
def fsma(
    request: Request,
    records: RecordsPart,
    log: AccessLogPart,
    caller: _Caller,
    span: Overlapping,
    gtin: Annotated[str | None, Query(description="with `lot`: of that lot and its trace")] = None,
    lot: str | None = None,
) -> Response:
    """Return the sortable spreadsheet of FSMA 204, of a lot or of the time between `from` and `to`.

    Its sheets are shipping, receiving and transformation, as in FDA's example; `About` says what
    the ledger does not know. `order` has no effect.
    """
    sheet = Spreadsheet(records)
    if gtin is not None and lot is not None and span == EVERYTHING:
        name = LotId(gtin, lot)
        records.lots.check_known(name)
        sheet.add_lot(name)
        asked = f"lot {lot} of GTIN {gtin}"
    elif (gtin, lot) == (None, None) and span.from_ms and span.to_ms != EVERYTHING.to_ms:
        sheet.add_span(span)
        asked = f"{rfc3339(span.from_ms)} to {rfc3339(span.to_ms)}"
    else:
        raise RejectedError("query: expected gtin and lot, or from and to")
    content = sheet.file(asked, now_ms())
    note_access(request, log, caller, Taken.SPREADSHEET, asked)
    disposition = {"Content-Disposition": 'attachment; filename="fsma204.xlsx"'}
    return Response(content, headers=disposition, media_type=XLSX_TYPE)


def _file(pieces: Iterable[bytes], name: str, media_type: str) -> StreamingResponse:
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(pieces, headers=disposition, media_type=media_type)
