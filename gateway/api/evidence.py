"""Evidence export: a file that proves a trip to readers who do not trust this gateway."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import StreamingResponse

from gateway.access import Caller
from gateway.api.accesses import note_access
from gateway.api.chosenvideo import ChosenVideo
from gateway.api.parts import AccessLogPart, AuditPart, RecordsPart
from gateway.api.problems import BINARY, errors
from gateway.api.security import may_read
from gateway.people.accesslog import Taken
from gateway.records.records import Records

MEDIA_TYPE = "application/vnd.wayseal.evidence"

_Lots = Annotated[bool, Query(description="with how the sources of the delivered lots were made")]

router = APIRouter(prefix="/v1", tags=["evidence"])


def may_see_whole(records: Records, caller: Caller, trip_id: str) -> bool:
    """Say whether a caller may see every delivery on a trip.

    Raises:
        NotOnLedgerError: There is no such trip that the caller may see.
    """
    start = records.trips.get(trip_id).start
    return caller.grants is None or records.deliveries.has_all(start.delivery_ids)


def check_whole(records: Records, caller: Caller, trip_id: str) -> None:
    """Check that a caller may see every delivery on a trip: its evidence shows them all.

    Raises:
        NotOnLedgerError: There is no such trip that the caller may see.
        HTTPException: 403: it carries deliveries that the caller may not see.
    """
    if not may_see_whole(records, caller, trip_id):
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            f"trip {trip_id} carries deliveries that {caller.name} may not see, and evidence shows "
            "all of them: ask the gateway's operator for it",
        )


@router.get(
    "/evidence",
    response_class=StreamingResponse,
    responses=errors(404, 410) | {200: {"content": {MEDIA_TYPE: {"schema": BINARY}}}},
)
def evidence(
    request: Request,
    audit: AuditPart,
    log: AccessLogPart,
    records: RecordsPart,
    caller: Annotated[Caller, Depends(may_read)],
    video: ChosenVideo,
    trip: Annotated[
        list[str],
        Query(min_length=1, max_length=100, description="a trip; repeat it for several trips"),
    ],
    *,
    lots: _Lots = True,
) -> StreamingResponse:
    """Return an evidence file about trips, with their video if asked; see docs/evidence.md.

    A trip is always told whole. Of its video the file has nothing, or all with `video=true`, or one
    `recording`, or some `blobs` of it, or what was filmed between `from` and `to`: each part is
    proved without the rest. It includes how the sources of the delivered lots were made, unless
    `lots=false` is given.

    `wayseal-verify` checks the file against trusted keys, which the file itself never contains.
    """
    for each in trip:
        check_whole(records, caller, each)
    pieces = audit.evidence(trip, video=video.of_trips(trip), with_lots=lots)
    note_access(request, log, caller, Taken.EVIDENCE, *sorted(set(trip)))
    name = f"{trip[0]}.evidence" if len(trip) == 1 else "trips.evidence"
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(pieces, headers=disposition, media_type=MEDIA_TYPE)
