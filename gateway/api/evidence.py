"""Evidence export: a file that proves a trip to someone who does not trust this gateway."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse

from gateway.api.problems import NotFoundError
from gateway.audit import Audit
from gateway.subjects import UnknownTripError

MEDIA_TYPE = "application/vnd.wayseal.evidence"


def evidence_router(audit: Audit, may_read: Callable[..., Any]) -> APIRouter:
    """Return the routes, for callers that `may_read` lets pass."""
    router = APIRouter(prefix="/v1", tags=["evidence"], dependencies=[Depends(may_read)])

    @router.get("/evidence", response_class=StreamingResponse)
    def evidence(
        trip: Annotated[list[str], Query(min_length=1, max_length=100)],
        *,
        video: bool = False,
        lots: bool = True,
    ) -> StreamingResponse:
        """Return an evidence file about trips, with their video if asked; see docs/evidence.md.

        It holds what the delivered lots were made from, unless told `lots=false`.

        `wayseal-verify` checks it against keys that the file does not bring itself.
        """
        try:
            pieces = audit.evidence(trip, with_video=video, with_lots=lots)
        except UnknownTripError as error:
            raise NotFoundError(str(error)) from error
        name = f"{trip[0]}.evidence" if len(trip) == 1 else "trips.evidence"
        disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingResponse(pieces, headers=disposition, media_type=MEDIA_TYPE)

    return router
