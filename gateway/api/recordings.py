"""Video: every byte that leaves was checked against what the device signed."""

import re
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from itertools import chain
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from contracts.errors import RejectedError
from contracts.ids import parse_recording_id
from contracts.proto.payload_pb2 import RecordVideo
from contracts.records.clock import rfc3339
from gateway.api import models
from gateway.api.deletions import Deletion, deletion_view
from gateway.api.paging import Cursor, Limit, page_of
from gateway.api.problems import GoneError, NotFoundError, problem
from gateway.api.ranges import UnsatisfiableError, parse_range
from gateway.api.trips import recording_view
from gateway.index.store import IndexStore
from gateway.retention.deletions import Deletions
from storage.recordings.store import RecordingStore

_VIDEO: Final = re.compile(r"video/[A-Za-z0-9.+-]{1,64}")
_UNKNOWN_MEDIA: Final = "application/octet-stream"
_Row = tuple[bytes, str, int]
"""A committed digest: action, transaction id, block number."""
OTHER_TRIPS_MAX: Final = 100


class RecordingAnywhere(models.Recording):
    """One video's first digest that counts, and where else the same bytes are claimed."""

    other_trip_ids: list[str] = Field(
        description="further trips with a digest of these bytes; no digest proves whose they are"
    )
    deletions: list[Deletion] = Field(description="what this gateway deleted of it, oldest first")


def recordings_router(
    index: IndexStore,
    recordings: RecordingStore,
    deletions: Deletions,
    may_read: Callable[..., Any],
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
    def recording(recording_id: str) -> RecordingAnywhere:
        """Return a recording's digest, as committed, and the other trips that have it.

        Anyone may sign the hash of anything. A digest of another size or tree than the bytes that
        are here does not count; where they are not here, digests must agree on both.
        """
        first, *others = _digests(index, recordings, recording_id)
        trip_ids = dict.fromkeys(digest.trip_id for digest in _parsed(others))
        shown = recording_view(recordings, *first)
        trip_ids.pop(shown.trip_id, None)
        gone = deletions.of(bytes.fromhex(shown.recording_id))
        return RecordingAnywhere(
            **shown.model_dump(),
            other_trip_ids=list(trip_ids)[:OTHER_TRIPS_MAX],
            deletions=[deletion_view(each) for each in gone],
        )

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
        digest = _digest(index, recordings, recording_id)
        if recordings.find(digest.sha256) is None:
            raise _absent(deletions, digest.sha256)
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
        sha256 = _digest(index, recordings, recording_id).sha256
        if recordings.find(sha256) is None:
            raise _absent(deletions, sha256)
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


def _absent(deletions: Deletions, sha256: bytes) -> RejectedError:
    """Return why the bytes of a recording are not here."""
    gone = deletions.took_everything(sha256)
    if gone is None:
        return NotFoundError(f"the bytes of recording {sha256.hex()} are not here")
    body = gone.body
    return GoneError(
        f"the bytes of recording {sha256.hex()} were deleted here: {body.rule}, {body.reason}",
        {"deletion": body.number, "rule": body.rule, "decided_at": rfc3339(body.decided_at_ms)},
    )


def _digest(index: IndexStore, recordings: RecordingStore, recording_id: str) -> RecordVideo:
    """Return the digest that counts for a recording."""
    action, _, _ = _digests(index, recordings, recording_id)[0]
    return RecordVideo.FromString(action)


def _digests(index: IndexStore, recordings: RecordingStore, recording_id: str) -> list[_Row]:
    """Return the committed digests that count for a recording, oldest first, at least one.

    Those that fit the bytes that are here. Without bytes nobody can tell which of two that
    contradict each other lies, and an answer would be a guess.
    """
    try:
        sha256 = parse_recording_id(recording_id)
    except RejectedError as error:
        raise NotFoundError(str(error)) from error
    rows = index.query(
        "SELECT action, transaction_id, block_num FROM videos WHERE sha256 = ? ORDER BY rowid",
        sha256,
    )
    if not rows:
        raise NotFoundError(f"no recording {recording_id[:80]!r} on the ledger")
    said = [(digest.size, digest.tree_root) for digest in _parsed(rows)]
    stored = recordings.find(sha256)
    if stored is None and len(set(said)) > 1:
        raise NotFoundError(
            f"the bytes of recording {recording_id} are not here, and the digests on the ledger "
            f"contradict each other; each trip lists its own"
        )
    fitting = [row for row, of in zip(rows, said, strict=True) if not stored or stored.fits(*of)]
    if not fitting:
        raise NotFoundError(
            f"recording {recording_id}: no digest on the ledger has the size and the tree root "
            f"of the bytes that are here"
        )
    return [(action, name, block_num) for action, name, block_num in fitting]


def _parsed(rows: Iterable[tuple[Any, ...]]) -> Iterator[RecordVideo]:
    for action, _, _ in rows:
        yield RecordVideo.FromString(action)


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
