"""Video: every byte is checked against the digest that the device signed before it is sent."""

import re
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from itertools import chain, islice
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from contracts.errors import RejectedError, WaysealError
from contracts.ids import parse_recording_id
from contracts.proto.payload_pb2 import RecordVideo
from contracts.records.clock import rfc3339
from gateway.access import Caller
from gateway.api import models, views
from gateway.api.accesses import note_access
from gateway.api.conditions import KNOWN, Conditions
from gateway.api.deletions import Deletion, deletion_view
from gateway.api.paging import Order, Ordered, Paging, page_of
from gateway.api.partial import part_of
from gateway.api.parts import AccessLogPart, DeletionsPart, HoldsPart, RecordsPart, StorePart
from gateway.api.problems import ABSENT, BINARY, Answers, GoneError, NotFoundError, errors, problem
from gateway.api.security import may_read
from gateway.people.accesslog import Taken
from gateway.records.digests import DigestRecord
from gateway.records.records import Records
from gateway.retention.autoholds import held_because
from gateway.retention.deletions import Deletions
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore

_VIDEO: Final = re.compile(r"video/[A-Za-z0-9.+-]{1,64}")
_MEDIA: Final = {each: {"schema": BINARY} for each in ("video/*", "application/octet-stream")}
_UNKNOWN_MEDIA: Final = "application/octet-stream"
_CONTENT: Final = "/{recording_id}/content"
_BYTES: Final[Answers] = {
    200: {"description": "the whole video", "content": _MEDIA},
    206: {
        "description": "the range",
        "content": _MEDIA,
        "headers": {"Content-Range": {"schema": {"type": "string"}}},
    },
}
_HASHES: Final = {_UNKNOWN_MEDIA: {"schema": BINARY}}
_LEAVES: Final[Answers] = {
    200: {"description": "all leaf hashes", "content": _HASHES},
    206: {
        "description": "the range",
        "content": _HASHES,
        "headers": {"Content-Range": {"schema": {"type": "string"}}},
    },
}
OTHER_TRIPS_MAX: Final = 100


class RecordingAnywhere(models.Recording):
    """A recording's first digest that counts, and the other trips that claim the same bytes."""

    other_trip_ids: list[str] = Field(
        description="further trips with a digest of these bytes; a digest proves no owner"
    )
    deletions: list[Deletion] = Field(
        description="this gateway's deletions of its copies, oldest first"
    )


class Shelf:
    """Recordings as one answer shows them: their digests, bytes and holds.

    Args:
        records: What the caller may see of the ledger.
        store: The bytes.
        holds: The automatic holds.
    """

    def __init__(self, records: RecordsPart, store: StorePart, holds: HoldsPart) -> None:
        self._records = records
        self._store = store
        self._holds = holds

    def view(self, record: DigestRecord) -> models.Recording:
        """Return a committed digest, whether the bytes that it fits are here, and what holds it."""
        digest, block_num = record.digest, record.block_num
        return views.recording(
            record,
            _stored(self._store, digest.sha256),
            lambda: held_because(self._records, self._holds, digest, block_num),
        )


ShelfPart = Annotated[Shelf, Depends()]
router = APIRouter(prefix="/v1/recordings", tags=["recordings"])


@router.get("")
def every(
    records: RecordsPart, shelf: ShelfPart, window: Paging, order: Ordered = Order.OLDEST
) -> models.Page[models.Recording]:
    """List the digests of all recordings, in the ledger's order."""
    ask = partial(records.digests.listed, newest_first=order is Order.NEWEST)
    return page_of(ask, shelf.view, window)


@router.get("/{recording_id}", responses=ABSENT)
def recording(
    records: RecordsPart,
    store: StorePart,
    shelf: ShelfPart,
    deletions: DeletionsPart,
    recording_id: str,
) -> RecordingAnywhere:
    """Return a recording's digest, as committed, and the other trips that have it.

    Anyone may sign the hash of anything. If the bytes are here, a digest with another size or tree
    root does not count. If the bytes are not here, all digests must agree on both.
    """
    sha256 = _named(recording_id)
    first, *others = records.digests.that_count(sha256, store.find).digests
    trip_ids = dict.fromkeys(each.digest.trip_id for each in others)
    trip_ids.pop(first.digest.trip_id, None)
    shown = [shelf.view(each) for each in (first, *others)]
    because = dict.fromkeys(reason for each in shown for reason in each.held_because)
    return RecordingAnywhere(
        **{**shown[0].model_dump(), "held_because": list(because)},
        other_trip_ids=list(trip_ids)[:OTHER_TRIPS_MAX],
        deletions=[deletion_view(each) for each in deletions.of(sha256)],
    )


@router.head(
    _CONTENT,
    response_class=Response,
    operation_id="head_recording_content",
    responses=errors(404, 410) | KNOWN,
)
@router.get(
    _CONTENT,
    response_class=Response,
    operation_id="get_recording_content",
    responses=errors(404, 410, 416, 500) | KNOWN | _BYTES,
)
def content(
    request: Request,
    records: RecordsPart,
    store: StorePart,
    deletions: DeletionsPart,
    log: AccessLogPart,
    caller: Annotated[Caller, Depends(may_read)],
    recording_id: str,
    asked: Annotated[Conditions, Header()],
) -> Response:
    """Return the video, or the requested range of its bytes.

    If a later byte is damaged in every copy, the connection breaks: a complete answer is always a
    verified one. HEAD reads no video and ignores ranges. The ETag is the recording's SHA-256.
    """
    digest = digest_of_bytes(records, store, deletions, recording_id)
    etag = f'"{digest.sha256.hex()}"'
    is_head = request.method == "HEAD"
    part = part_of(asked.without_range() if is_head else asked, etag, digest.size)
    if isinstance(part, Response):
        return part
    headers = part.headers | _of_video(digest)
    if is_head:
        return Response(None, part.status, headers)
    note_access(request, log, caller, Taken.VIDEO, recording_id)
    pieces = store.read(digest.sha256, part.start, part.stop)
    try:
        first = list(islice(pieces, 1))  # damage in the first piece still gets a problem document
    except RejectedError as error:
        return problem(HTTPStatus.INTERNAL_SERVER_ERROR, str(error), title="Recording damaged")
    return StreamingResponse(chain(first, pieces), part.status, headers)


@router.get(
    "/{recording_id}/leaves",
    response_class=Response,
    responses=errors(404, 410, 416) | KNOWN | _LEAVES,
)
def leaves(
    records: RecordsPart,
    store: StorePart,
    deletions: DeletionsPart,
    recording_id: str,
    asked: Annotated[Conditions, Header()],
) -> Response:
    """Return the leaf hash of every blob, 32 bytes each, or a range of them.

    A leaf hash is SHA-256 of a zero byte and the 1 MiB blob; the tree over them (RFC 6962, 2.1) has
    the signed `tree_root`. With them a reader proves each part of a video by itself.
    """
    digest = digest_of_bytes(records, store, deletions, recording_id)
    stored = store.find(digest.sha256)
    if stored is None:
        raise absent(deletions, digest.sha256)
    hashes, etag = b"".join(stored.leaves), f'"{digest.tree_root.hex()}"'
    part = part_of(asked, etag, len(hashes))
    if isinstance(part, Response):
        return part
    return Response(hashes[part.start : part.stop], part.status, part.headers, _UNKNOWN_MEDIA)


def _stored(store: RecordingStore, sha256: bytes) -> StoredRecording | None:
    """Return what is known of the bytes here; a damaged entry must not spoil a whole list."""
    try:
        return store.manifest(sha256)
    except RejectedError:
        with suppress(WaysealError):
            return store.find(sha256)
        return None


def digest_of_bytes(
    records: Records, store: RecordingStore, deletions: Deletions, recording_id: str
) -> RecordVideo:
    """Return the digest that counts for a recording whose bytes are here.

    Raises:
        NotOnLedgerError: No digest of it counts.
        NotFoundError: Its bytes are not here.
        GoneError: They were deleted here.
    """
    sha256 = _named(recording_id)
    counting = records.digests.that_count(sha256, store.find)
    if counting.stored is None:
        raise absent(deletions, sha256)
    return counting.digests[0].digest


def _named(recording_id: str) -> bytes:
    try:
        return parse_recording_id(recording_id)
    except RejectedError as error:
        raise NotFoundError(str(error)) from error


def absent(deletions: Deletions, sha256: bytes) -> RejectedError:
    """Return why the bytes of a recording are not here."""
    gone = deletions.took_everything(sha256)
    if gone is None:
        return NotFoundError(f"the bytes of recording {sha256.hex()} are not here")
    body = gone.body
    return GoneError(
        f"the bytes of recording {sha256.hex()} were deleted here: {body.rule}, {body.reason}",
        {"deletion": body.number, "rule": body.rule, "decided_at": rfc3339(body.decided_at_ms)},
    )


def _of_video(digest: RecordVideo) -> dict[str, str]:
    """Return the headers of a video; the device's media type is used only if it is a video's."""
    media_type = digest.media_type
    return {
        "Content-Type": media_type if _VIDEO.fullmatch(media_type) else _UNKNOWN_MEDIA,
        "X-Content-Type-Options": "nosniff",
    }
