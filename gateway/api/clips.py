"""Clips: a part of a video that plays by itself, and which blobs prove it."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from http import HTTPStatus
from itertools import groupby
from typing import Annotated, BinaryIO, Final

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import StreamingResponse

from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import RecordVideo
from contracts.records.clock import rfc3339
from gateway.access import Caller
from gateway.api.accesses import note_access
from gateway.api.paging import Time, span_between
from gateway.api.parts import AccessLogPart, ClipsPart, DeletionsPart, RecordsPart, StorePart
from gateway.api.problems import BINARY, Answers, errors
from gateway.api.recordings import digest_of_bytes
from gateway.api.security import may_read
from gateway.clips.clips import NoClipsError
from gateway.people.accesslog import Taken

_PIECE_BYTES: Final = 1 << 16
_MEDIA_TYPE: Final = "video/mp4"
_CLIP: Final[Answers] = {
    200: {
        "description": "MP4 with H.264, which a browser plays",
        "content": {_MEDIA_TYPE: {"schema": BINARY}},
        "headers": {
            "Wayseal-Blobs": {
                "description": "blobs of the recording that the clip was made from, such as 0,3-7; "
                "`GET /v1/evidence` takes them as `blobs`, and proves them without the rest",
                "schema": {"type": "string"},
            },
            "Wayseal-Pictures": {
                "description": "copied: bit for bit those of the recording, from the key picture "
                "before `from` on; encoded: made again, since a browser cannot play its own",
                "schema": {"type": "string", "enum": ["copied", "encoded"]},
            },
        },
    }
}


def _digest(
    records: RecordsPart, store: StorePart, deletions: DeletionsPart, recording_id: str
) -> RecordVideo:
    return digest_of_bytes(records, store, deletions, recording_id)


router = APIRouter(prefix="/v1/recordings", tags=["recordings"])


@router.get(
    "/{recording_id}/clip",
    response_class=StreamingResponse,
    responses=errors(404, 410, 501) | _CLIP,
)
def clip(
    request: Request,
    log: AccessLogPart,
    clips: ClipsPart,
    caller: Annotated[Caller, Depends(may_read)],
    digest: Annotated[RecordVideo, Depends(_digest)],
    *,
    begin: Annotated[Time, Query(alias="from", description="the first moment")],
    end: Annotated[Time, Query(alias="to", description="the moment after the last")],
) -> StreamingResponse:
    """Return what was filmed between two times, by the recording's signed start, up to ten minutes.

    It is made for viewing, and is not what the truck signed: that is the recording, whose blobs
    prove what the clip shows. A gateway of the role `gateway` makes no clips: 501 says so.
    """
    recording_id = digest.sha256.hex()
    span, began_ms = span_between(begin, end), digest.started_at_ms
    from_ms, to_ms = max(span.from_ms - began_ms, 0), span.to_ms - began_ms
    if digest.duration_ms:
        to_ms = min(to_ms, digest.duration_ms)
    if from_ms >= to_ms:
        raise RejectedError(
            f"expected a time in which recording {recording_id} was filmed, "
            f"got {begin} to {end}; it began at {rfc3339(began_ms)} and took "
            f"{digest.duration_ms / 1000} s"
        )
    note_access(request, log, caller, Taken.VIDEO, recording_id)
    try:
        made = clips.cut(digest.sha256, digest.size, from_ms, to_ms)
    except NoClipsError as error:
        raise HTTPException(HTTPStatus.NOT_IMPLEMENTED, str(error)) from error
    name = f"{recording_id[:16]}-{from_ms}-{to_ms}.mp4"
    headers = {
        "Content-Length": str(made.size),
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "private, no-transform",
        "X-Content-Type-Options": "nosniff",
        "Wayseal-Blobs": _ranges(made.blobs),
        "Wayseal-Pictures": "copied" if made.is_copied else "encoded",
    }
    return StreamingResponse(_pieces(made.file), headers=headers, media_type=_MEDIA_TYPE)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with closing(file):
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _ranges(numbers: Iterable[int]) -> str:
    """Return ascending numbers as 0,3-7."""
    runs = groupby(enumerate(numbers), lambda each: each[1] - each[0])
    ends = [[number for _, number in run] for _, run in runs]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in ends)
