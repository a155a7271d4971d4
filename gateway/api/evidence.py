"""Evidence export: a file that proves a trip to readers who do not trust this gateway."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import Response, StreamingResponse

from gateway.access import Caller
from gateway.api.accesses import TakingPart
from gateway.api.chosenvideo import ChosenVideo
from gateway.api.jobs import EVIDENCE_TYPE, STARTED, BackgroundPart
from gateway.api.parts import AuditPart, RecordsPart
from gateway.api.problems import BINARY, errors
from gateway.jobs.job import JobKind
from gateway.jobs.work import Work
from gateway.people.accesslog import Taken
from gateway.records.records import Records

_Trips = Annotated[
    list[str],
    Query(min_length=1, max_length=100, description="a trip; repeat it for several trips"),
]
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
    responses=errors(404, 410) | {200: {"content": {EVIDENCE_TYPE: {"schema": BINARY}}}},
)
def evidence(
    taking: TakingPart,
    audit: AuditPart,
    records: RecordsPart,
    video: ChosenVideo,
    trip: _Trips,
    *,
    lots: _Lots = True,
) -> StreamingResponse:
    """Return an evidence file about trips, with their video if asked; see docs/evidence.md.

    The file always has the whole trip. Of its video it has nothing, or all with `video=true`, or
    one `recording`, or some `blobs` of it, or the film between `from` and `to`: each part is
    proved without the rest. It includes how the sources of the delivered lots were made, unless
    `lots=false` is given.

    `wayseal-verify` checks the file against trusted keys, which the file itself never contains.
    """
    for each in trip:
        check_whole(records, taking.caller, each)
    pieces = audit.evidence(trip, video=video.of_trips(trip), with_lots=lots)
    taking.note(Taken.EVIDENCE, *sorted(set(trip)))
    disposition = {"Content-Disposition": f'attachment; filename="{_name(trip)}"'}
    return StreamingResponse(pieces, headers=disposition, media_type=EVIDENCE_TYPE)


@router.post(
    "/evidence",
    name="export_evidence",
    status_code=202,
    response_class=Response,
    responses=errors(404, 410) | STARTED,
)
def export(
    taking: TakingPart,
    audit: AuditPart,
    records: RecordsPart,
    video: ChosenVideo,
    background: BackgroundPart,
    trip: _Trips,
    *,
    lots: _Lots = True,
) -> Response:
    """Make the same evidence file in a job: its owner sees how far it is, and fetches it in ranges.

    The result is kept for a day. Errors of the question are reported at once, as with GET.
    """
    for each in trip:
        check_whole(records, taking.caller, each)
    blobs, subjects = video.of_trips(trip), sorted(set(trip))
    work = Work(
        JobKind.EVIDENCE,
        subjects,
        lambda watch: audit.evidence(trip, video=blobs, with_lots=lots, watch=watch),
        EVIDENCE_TYPE,
        _name(trip),
    )
    return background.begin(work, lambda: taking.note(Taken.EVIDENCE, *subjects))


def _name(trip_ids: list[str]) -> str:
    return f"{trip_ids[0]}.evidence" if len(trip_ids) == 1 else "trips.evidence"
