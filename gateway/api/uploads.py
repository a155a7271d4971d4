"""Resumable uploads of recordings over tus 1.0, under /v1/uploads.

An upload's URL ends in the recording id, so announcing a recording twice finds
the upload that is already there; each device finds its own. The body is read only
once the caller is known and the headers are accepted.

Source: tus resumable upload protocol 1.0.0; RFC 9457.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect

from contracts.errors import WaysealError
from contracts.runtime.serving.direct import direct_body
from gateway.access import Caller
from gateway.api import tus
from gateway.api.parts import UploadsPart
from gateway.api.problems import errors
from gateway.api.security import may_upload
from gateway.api.tusproblems import MediaTypeError, VersionError, as_problem, tus_errors
from gateway.uploads.pouring import BrokenOffError
from gateway.uploads.service import Uploads
from gateway.uploads.status import UnknownUploadError, UploadStatus

PREFIX: Final = "/v1/uploads"
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {tus.MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}},
    }
}


class TusRoute(APIRoute):
    """A route whose errors are problem documents."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the handler that FastAPI makes."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await handler(request)
            except WaysealError as error:
                return as_problem(error)

        return handle


async def _require_version(tus_resumable: Annotated[str | None, Header()] = None) -> None:
    if tus_resumable != tus.VERSION:
        raise VersionError(tus_resumable)


Sender = Annotated[Caller, Depends(may_upload)]
_CHECKS: Final = [Depends(may_upload), Depends(_require_version)]
_DENIED: Final = errors(401, 500)
_ONE: Final = "/{recording}"

router = APIRouter(prefix=PREFIX, tags=["uploads"], route_class=TusRoute)


@router.options("", status_code=204)
async def _discover(uploads: UploadsPart) -> Response:
    """Return the version and extensions of tus that this server speaks."""
    headers = {
        "Tus-Version": tus.VERSION,
        "Tus-Extension": tus.EXTENSIONS,
        "Tus-Max-Size": str(uploads.limits.bytes_max),
        "Tus-Checksum-Algorithm": ",".join(tus.CHECKSUM_ALGORITHMS),
    }
    return Response(status_code=204, headers=headers)


@router.options(_ONE, status_code=204)
async def _discover_one(uploads: UploadsPart, recording: str) -> Response:
    """Return the same for one upload, whether or not it exists."""
    del recording
    return await _discover(uploads)


@router.post(
    "",
    status_code=201,
    dependencies=_CHECKS,
    response_class=Response,
    responses=_DENIED | tus_errors(400, 403, 409, 412, 413, 422, 503),
)
async def create(
    request: Request,
    uploads: UploadsPart,
    caller: Sender,
    upload_length: Annotated[str | None, Header()] = None,
    upload_metadata: Annotated[str | None, Header()] = None,
) -> Response:
    """Announce a recording; announcing it again finds the upload that is there.

    Upload-Length is its size in bytes. Upload-Metadata names it under `sha256` (64
    hexadecimal digits, base64-encoded as tus requires); anything else may follow. HEAD returns it.
    After it was announced again, the upload may begin at 0 again, or continue at its Upload-Offset.
    """
    tus.refuse_extensions(request.headers)
    size = tus.number("Upload-Length", upload_length)
    recording_id = tus.announced(upload_metadata)
    status = await uploads.create(recording_id, size, caller, upload_metadata or "")
    location = f"{PREFIX}/{recording_id.hex()}"
    return Response(status_code=201, headers={"Location": location, **_place(status)})


@router.head(
    _ONE,
    dependencies=_CHECKS,
    response_class=Response,
    responses=_DENIED | tus_errors(403, 404, 412, 422, 503),
)
async def status(uploads: UploadsPart, caller: Sender, recording: str) -> Response:
    """Return the number of durable bytes of the caller's upload, in Upload-Offset."""
    recording_id = _named(recording)
    status = await uploads.settled_status(recording_id, caller)
    said = status.metadata or tus.metadata_of(recording_id)
    return Response(status_code=200, headers={"Upload-Metadata": said, **_place(status)})


@router.patch(
    _ONE,
    status_code=204,
    dependencies=_CHECKS,
    responses=_DENIED | tus_errors(400, 403, 404, 408, 409, 412, 413, 415, 422, 423, 429, 460, 503),
    openapi_extra=_BODY,
)
async def append(
    request: Request,
    uploads: UploadsPart,
    caller: Sender,
    recording: str,
    content_type: Annotated[str | None, Header()] = None,
    content_length: Annotated[str | None, Header()] = None,
    upload_offset: Annotated[str | None, Header()] = None,
    upload_checksum: Annotated[str | None, Header()] = None,
) -> Response:
    """Send the next bytes, from Upload-Offset on; the answer names the new durable offset.

    With Upload-Checksum (`sha256` or `sha1`, base64), the bytes count as a whole or not at all.
    Without it, the bytes that arrived before a connection broke are kept. The bytes that complete
    the recording are answered once its digest is verified and both copies are durable.
    Upload-Expires says when an upload without further progress may be deleted.
    """
    recording_id = _named(recording)
    try:
        if (content_type or "").lower() != tus.MEDIA_TYPE:
            raise MediaTypeError(f"Content-Type must be {tus.MEDIA_TYPE}, got {content_type!r}")
        status = await uploads.append(
            recording_id,
            tus.number("Upload-Offset", upload_offset),
            _body(request),
            caller,
            length=tus.number("Content-Length", content_length) if content_length else None,
            checksum=tus.checksum(upload_checksum),
            rest=partial(direct_body, request.scope),
        )
    except WaysealError as error:
        answer = as_problem(error)
        answer.headers.update(await _expiry(uploads, recording_id, caller))
        return answer
    return Response(status_code=204, headers=_place(status))


@router.delete(
    _ONE,
    status_code=204,
    dependencies=_CHECKS,
    responses=_DENIED | tus_errors(403, 404, 412, 423, 503),
)
async def terminate(uploads: UploadsPart, caller: Sender, recording: str) -> Response:
    """Forget a partial upload and its bytes; a whole recording is kept."""
    await uploads.terminate(_named(recording), caller)
    return Response(status_code=204)


async def _body(request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect as error:
        raise BrokenOffError("the connection broke before the end of the body") from error


def _named(recording: str) -> bytes:
    try:
        return tus.recording(recording)
    except tus.HeaderError as error:
        raise UnknownUploadError(str(error)) from error


async def _expiry(uploads: Uploads, recording_id: bytes, caller: Caller) -> dict[str, str]:
    """Return the expiry of an upload whose request failed; nothing if there is no such upload."""
    try:
        return _expires((await asyncio.to_thread(uploads.known.here, recording_id, caller)).left_s)
    except WaysealError:
        return {}


def _place(status: UploadStatus) -> dict[str, str]:
    at = {"Upload-Offset": str(status.offset), "Upload-Length": str(status.size)}
    return at | _expires(status.left_s)


def _expires(left_s: float | None) -> dict[str, str]:
    return {} if left_s is None else {"Upload-Expires": tus.http_date(time.time() + left_s)}
