"""Evidence export: a file that proves a trip to readers who do not trust this gateway."""

from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import StreamingResponse

from gateway.access import Caller
from gateway.api.accesses import note_access
from gateway.api.parts import AccessLogPart, AuditPart, RecordsPart
from gateway.api.problems import ABSENT
from gateway.api.security import may_read
from gateway.people.accesslog import Taken
from gateway.records.records import Records

MEDIA_TYPE = "application/vnd.wayseal.evidence"
BINARY: Final = {"type": "string", "format": "binary"}

_Video = Annotated[
    bool,
    Query(
        description="with the videos that this gateway has; the verdict names what the file lacks"
    ),
]
_Lots = Annotated[bool, Query(description="with how the sources of the delivered lots were made")]

router = APIRouter(prefix="/v1", tags=["evidence"])


def check_whole(records: Records, caller: Caller, trip_id: str) -> None:
    """Check that a caller may see every delivery on a trip: its evidence shows them all.

    Raises:
        NotOnLedgerError: There is no such trip that the caller may see.
        HTTPException: 403: it carries deliveries that the caller may not see.
    """
    start = records.trips.get(trip_id).start
    if caller.grants is not None and not records.deliveries.has_all(start.delivery_ids):
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            f"trip {trip_id} carries deliveries that {caller.name} may not see, and evidence shows "
            "all of them: ask the gateway's operator for it",
        )


@router.get(
    "/evidence",
    response_class=StreamingResponse,
    responses=ABSENT | {200: {"content": {MEDIA_TYPE: {"schema": BINARY}}}},
)
def evidence(
    request: Request,
    audit: AuditPart,
    log: AccessLogPart,
    records: RecordsPart,
    caller: Annotated[Caller, Depends(may_read)],
    trip: Annotated[
        list[str],
        Query(min_length=1, max_length=100, description="a trip; repeat it for several trips"),
    ],
    *,
    video: _Video = False,
    lots: _Lots = True,
) -> StreamingResponse:
    """Return an evidence file about trips, with their video if asked; see docs/evidence.md.

    It includes how the sources of the delivered lots were made, unless `lots=false` is given.

    `wayseal-verify` checks the file against trusted keys, which the file itself never contains.
    """
    for each in trip:
        check_whole(records, caller, each)
    pieces = audit.evidence(trip, with_video=video, with_lots=lots)
    note_access(request, log, caller, Taken.EVIDENCE, *sorted(set(trip)))
    name = f"{trip[0]}.evidence" if len(trip) == 1 else "trips.evidence"
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(pieces, headers=disposition, media_type=MEDIA_TYPE)
