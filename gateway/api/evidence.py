"""Evidence export: a file that proves a trip to readers who do not trust this gateway."""

from typing import Annotated, Final

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from gateway.api.parts import AuditPart
from gateway.api.problems import ABSENT

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


@router.get(
    "/evidence",
    response_class=StreamingResponse,
    responses=ABSENT | {200: {"content": {MEDIA_TYPE: {"schema": BINARY}}}},
)
def evidence(
    audit: AuditPart,
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
    pieces = audit.evidence(trip, with_video=video, with_lots=lots)
    name = f"{trip[0]}.evidence" if len(trip) == 1 else "trips.evidence"
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(pieces, headers=disposition, media_type=MEDIA_TYPE)
