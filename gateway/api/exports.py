"""Records in other people's forms: readings as CSV and SenML, and the spreadsheet of FSMA 204.

Each is on the record of accesses, and runs as a job for a caller who prefers that.
"""

from typing import Annotated, Final

from fastapi import APIRouter, Query
from fastapi.responses import Response

from contracts.errors import RejectedError
from contracts.records.clock import now_ms, rfc3339
from gateway.api.exporting import Export, LeavingPart, Made, exported
from gateway.api.paging import Overlapping, Spanned
from gateway.api.parts import RecordsPart
from gateway.api.problems import BINARY
from gateway.exports.cells import CSV_TYPE
from gateway.exports.fsma import XLSX_TYPE
from gateway.exports.fsmarecords import Spreadsheet
from gateway.exports.readings import SENML_TYPE, as_csv, as_senml, every_reading
from gateway.jobs.job import JobKind
from gateway.records.pages import EVERYTHING
from gateway.records.tracing import LotId
from gateway.records.watch import Watch

_TEXT: Final = {"type": "string"}
_SENML: Final = {"type": "array", "minItems": 1, "items": {"type": "object"}}

router = APIRouter(prefix="/v1", tags=["exports"])


@router.get("/trips/{trip_id}/readings.csv", **exported(CSV_TYPE, _TEXT))
def readings_csv(
    leaving: LeavingPart, records: RecordsPart, trip_id: str, span: Spanned
) -> Response:
    """Return a trip's readings as CSV, one a line, in the ledger's order.

    A cell is empty where nothing was measured; without readings there is the heading alone. Text
    that a spreadsheet program would take for a formula begins with an apostrophe.
    """
    records.trips.check_known(trip_id)

    def make(watch: Watch) -> Made:
        return as_csv(every_reading(records.trips, trip_id, span, watch))

    name = f"{trip_id}.csv"
    return leaving.answer(Export(JobKind.READINGS_CSV, trip_id, CSV_TYPE, name, make))


@router.get("/trips/{trip_id}/readings.senml", **exported(SENML_TYPE, _SENML))
def readings_senml(
    leaving: LeavingPart, records: RecordsPart, trip_id: str, span: Spanned
) -> Response:
    """Return a trip's readings as a SenML pack in JSON (RFC 8428), in the ledger's order.

    Base name is the device; each reading has its sequence number, and says whether it shows signs
    of tampering. A pack without readings has one record that counts 0 of them.
    """
    records.trips.check_known(trip_id)

    def make(watch: Watch) -> Made:
        return as_senml(every_reading(records.trips, trip_id, span, watch), trip_id)

    name = f"{trip_id}.senml.json"
    return leaving.answer(Export(JobKind.READINGS_SENML, trip_id, SENML_TYPE, name, make))


@router.get("/fsma204.xlsx", **exported(XLSX_TYPE, BINARY))
def fsma(
    leaving: LeavingPart,
    records: RecordsPart,
    span: Overlapping,
    gtin: Annotated[str | None, Query(description="with `lot`: of that lot and its trace")] = None,
    lot: str | None = None,
) -> Response:
    """Return the sortable spreadsheet of FSMA 204, of a lot or of the time between `from` and `to`.

    Its sheets are shipping, receiving and transformation, as in FDA's example; `About` says what
    the ledger does not know, and how many rows there are. `order` has no effect.
    """
    name = None
    if gtin is not None and lot is not None and span == EVERYTHING:
        name = LotId(gtin, lot)
        records.lots.check_known(name)
        asked = f"lot {lot} of GTIN {gtin}"
    elif (gtin, lot) == (None, None) and span.from_ms and span.to_ms != EVERYTHING.to_ms:
        asked = f"{rfc3339(span.from_ms)} to {rfc3339(span.to_ms)}"
    else:
        raise RejectedError("query: expected gtin and lot, or from and to")

    def make(watch: Watch) -> Made:
        sheet = Spreadsheet(records, watch)
        if name is None:
            sheet.add_span(span)
        else:
            sheet.add_lot(name)
        return sheet.file(asked, now_ms())

    return leaving.answer(Export(JobKind.SPREADSHEET, asked, XLSX_TYPE, "fsma204.xlsx", make))
