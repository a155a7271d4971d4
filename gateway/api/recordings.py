"""Video: every byte that leaves was checked against what the device signed."""

import re
from collections.abc import Callable, Iterator
from http import HTTPStatus
from itertools import chain
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import StreamingResponse

from contracts.errors import RejectedError
from contracts.ids import parse_recording_id
from contracts.proto.payload_pb2 import RecordVideo
from gateway.api import models
from gateway.api.paging import Cursor, Limit, page_of
from gateway.api.problems import NotFoundError, problem
from gateway.api.ranges import UnsatisfiableError, parse_range
from gateway.api.trips import recording_view
from gateway.index.store import IndexStore
from storage.recordings.store import RecordingStore

_VIDEO: Final = re.compile(r"video/[A-Za-z0-9.+-]{1,64}")
_UNKNOWN_MEDIA: Final = "application/octet-stream"


def recordings_router(
    index: IndexStore, recordings: RecordingStore, may_read: Callable[..., Any]
) -> APIRouter:
    """Return the routes, for callers that `may_read` lets pass."""
    router = APIRouter(
        prefix="/v1/recordings", tags=["recordings"], dependencies=[Depends(may_read)]
    )

    @router.get("")
    def every(cursor: Cursor = 0, limit: Limit = 100) -> models.Page[models.Recording]:
        """List the digests of all recordings, oldest first."""
        sql = "SELECT rowid AS at, action, transaction_id, block_num FROM videos"
        return page_of(
            index,
            sql,
            (),
            cursor=cursor,
            limit=limit,
            view=lambda row: recording_view(recordings, *row),
        )

    @router.get("/{recording_id}")
    def recording(recording_id: str) -> models.Recording:
        """Return a recording's digest, as committed."""
        return recording_view(recordings, *_row(index, recording_id))

    @router.head(
        "/{recording_id}/content", response_class=Response, operation_id="head_recording_content"
    )
    @router.get(
        "/{recording_id}/content", response_class=Response, operation_id="get_recording_content"
    )
    def content(
        request: Request,
        recording_id: str,
        range_: Annotated[str | None, Header(alias="Range")] = None,
    ) -> Response:
        """Return the video, or the one range of its bytes that is asked for.

        If a later byte turns out damaged in every copy the connection breaks: a
        complete answer is a verified one. HEAD reads none of it and knows no ranges.
        """
        action, _, _ = _row(index, recording_id)
        digest = RecordVideo.FromString(action)
        if recordings.manifest(digest.sha256) is None:
            raise NotFoundError(f"the bytes of recording {recording_id} are not here")
        if request.method == "HEAD":
            return Response(None, HTTPStatus.OK, _headers(digest, 0, digest.size))
        try:
            start, stop = parse_range(range_, digest.size)
        except UnsatisfiableError as error:
            whole = {"Content-Range": f"bytes */{digest.size}"}
            status = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
            return problem(status, str(error), headers=whole)
        pieces = recordings.read(digest.sha256, start, stop)
        try:
            first = list(_first(pieces))
        except RejectedError as error:
            return problem(HTTPStatus.INTERNAL_SERVER_ERROR, str(error), title="Recording damaged")
        partial = range_ is not None and (start, stop) != (0, digest.size)
        status = HTTPStatus.PARTIAL_CONTENT if partial else HTTPStatus.OK
        headers = _headers(digest, start, stop, partial=partial)
        return StreamingResponse(chain(first, pieces), status, headers)

    @router.post("/{recording_id}/verify")
    def verify(recording_id: str) -> models.RecordingReport:
        """Read every byte of every copy and say what is not as the device signed it."""
        action, _, _ = _row(index, recording_id)
        sha256 = RecordVideo.FromString(action).sha256
        if recordings.manifest(sha256) is None:
            raise NotFoundError(f"the bytes of recording {recording_id} are not here")
        report = recordings.verify(sha256)
        return models.RecordingReport(
            recording_id=recording_id,
            intact=report.holds,
            copies=[
                models.CopyReport(
                    copy_name=copy.copy,
                    intact=copy.holds,
                    rotten_blobs=list(copy.rotten),
                    missing_blobs=list(copy.missing),
                    unread_blobs=list(copy.unread),
                )
                for copy in report.copies
            ],
        )

    return router


def _row(index: IndexStore, recording_id: str) -> tuple[bytes, str, int]:
    """Return the first committed digest of a recording: action, transaction id, block number."""
    try:
        sha256 = parse_recording_id(recording_id)
    except RejectedError as error:
        raise NotFoundError(str(error)) from error
    rows = index.query(
        "SELECT action, transaction_id, block_num FROM videos WHERE sha256 = ?"
        " ORDER BY rowid LIMIT 1",
        sha256,
    )
    if not rows:
        raise NotFoundError(f"no recording {recording_id[:80]!r} on the ledger")
    return rows[0][0], rows[0][1], rows[0][2]


def _headers(
    digest: RecordVideo, start: int, stop: int, *, partial: bool = False
) -> dict[str, str]:
    """Return the headers of an answer; what the device calls the video is only its word."""
    media_type = digest.media_type
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Length": str(stop - start),
        "Content-Type": media_type if _VIDEO.fullmatch(media_type) else _UNKNOWN_MEDIA,
        "ETag": f'"{digest.sha256.hex()}"',
        "Cache-Control": "private, no-transform",
        "X-Content-Type-Options": "nosniff",
    }
    if partial:
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{digest.size}"
    return headers


def _first(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield at most the first piece, so that damage there still gets a proper answer."""
    for piece in pieces:
        yield piece
        return
