"""Resumable uploads of recordings over tus 1.0, under /v1/uploads.

An upload's URL ends in the recording id, so announcing a recording twice finds
the upload that is already there. Nothing of a body is read before the caller
is known and the headers are judged.

Source: tus resumable upload protocol 1.0.0; RFC 9457.
"""

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect

from contracts.errors import RejectedError, UnavailableError, WaysealError
from gateway.access import Caller
from gateway.api import tus
from gateway.api.problems import MEDIA_TYPE as PROBLEM
from gateway.api.problems import problem
from gateway.uploads.lanes import (
    BrokenOffError,
    BusyError,
    ChecksumError,
    OversizedError,
)
from gateway.uploads.service import (
    UPLOAD_BYTES_MAX,
    ConflictError,
    NotAcceptedError,
    UnknownUploadError,
    Uploads,
    UploadStatus,
)
from storage.recordings.writer import DigestError

PREFIX: Final = "/v1/uploads"
RETRY_AFTER_S: Final = 5
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {tus.MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}},
    }
}


class _VersionError(RejectedError):
    """The client speaks another version of tus, or none."""


class _MediaTypeError(RejectedError):
    """The body is not what PATCH takes."""


_PROBLEMS: Final[dict[type[WaysealError], tuple[int, str]]] = {
    UnknownUploadError: (404, "Unknown upload"),
    BrokenOffError: (408, "Sender stopped early"),
    ConflictError: (409, "Conflict with what is here"),
    _VersionError: (412, "Other tus version"),
    OversizedError: (413, "Too many bytes"),
    _MediaTypeError: (415, "Other media type"),
    DigestError: (422, "Digest mismatch"),
    BusyError: (423, "Upload in use"),
    ChecksumError: (460, "Checksum mismatch"),
    NotAcceptedError: (403, "Not accepted"),
    tus.HeaderError: (400, "Malformed header"),
    RejectedError: (400, "Rejected"),
    WaysealError: (503, "Unavailable"),
}


class TusRoute(APIRoute):
    """A route whose errors are problem documents and whose answers all name the tus version."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the handler that FastAPI makes."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                response = await handler(request)
            except WaysealError as error:
                response = _as_problem(error)
            response.headers["Tus-Resumable"] = tus.VERSION
            response.headers["Cache-Control"] = "no-store"
            return response

        return handle


def uploads_router(uploads: Uploads, require_device: Callable[..., Any]) -> APIRouter:
    """Return the routes under /v1/uploads.

    Args:
        uploads: What they serve.
        require_device: FastAPI dependency that returns the `Caller` or raises; it runs before
            any byte of a body is read.
    """

    async def identify(
        request: Request, caller: Annotated[Caller, Depends(require_device)]
    ) -> None:
        request.state.caller = caller

    routes, one = _Routes(uploads), "/{recording}"
    checks = [Depends(identify), Depends(_require_version)]
    router = APIRouter(prefix=PREFIX, tags=["uploads"], route_class=TusRoute)
    add = router.add_api_route
    add("", _discover, methods=["OPTIONS"], status_code=204)
    add(one, _discover_one, methods=["OPTIONS"], status_code=204)
    add(
        "",
        routes.create,
        methods=["POST"],
        status_code=201,
        dependencies=checks,
        responses=_errors(400, 403, 409, 412, 413, 422, 503),
    )
    add(
        one,
        routes.status,
        methods=["HEAD"],
        dependencies=checks,
        responses=_errors(404, 412, 422, 503),
    )
    add(
        one,
        routes.append,
        methods=["PATCH"],
        status_code=204,
        dependencies=checks,
        responses=_errors(400, 403, 404, 408, 409, 412, 413, 415, 422, 423, 460, 503),
        openapi_extra=_BODY,
    )
    add(
        one,
        routes.terminate,
        methods=["DELETE"],
        status_code=204,
        dependencies=checks,
        responses=_errors(403, 404, 412, 423, 503),
    )
    add(
        one,
        routes.override,
        methods=["POST"],
        status_code=204,
        dependencies=checks,
        include_in_schema=False,
    )
    return router


class _Routes:
    """The handlers, over one `Uploads`."""

    def __init__(self, uploads: Uploads) -> None:
        self._uploads = uploads

    async def create(
        self,
        request: Request,
        upload_length: Annotated[str | None, Header()] = None,
        upload_metadata: Annotated[str | None, Header()] = None,
    ) -> Response:
        """Announce a recording; announcing it again finds the upload that is there.

        Upload-Length is its size in bytes. Upload-Metadata names it under `sha256` (64
        hexadecimal digits, in base64 as tus has it); `device` and `trip` may follow.
        """
        size = tus.number("Upload-Length", upload_length)
        recording_id = tus.recording(tus.metadata(upload_metadata).get("sha256"))
        status = await self._uploads.create(recording_id, size, request.state.caller)
        location = f"{PREFIX}/{recording_id.hex()}"
        return Response(status_code=201, headers={"Location": location, **_place(status)})

    async def status(self, recording: str) -> Response:
        """Say how many bytes of an upload are durable, in Upload-Offset."""
        recording_id = _named(recording)
        status = await self._uploads.settled_status(recording_id)
        headers = {"Upload-Metadata": tus.metadata_of(recording_id), **_place(status)}
        return Response(status_code=200, headers=headers)

    async def append(
        self,
        request: Request,
        recording: str,
        content_type: Annotated[str | None, Header()] = None,
        content_length: Annotated[str | None, Header()] = None,
        upload_offset: Annotated[str | None, Header()] = None,
        upload_checksum: Annotated[str | None, Header()] = None,
    ) -> Response:
        """Send the next bytes, from Upload-Offset on; the answer names the new durable offset.

        With Upload-Checksum (`sha256` or `sha1`, base64) they count as a whole or not at all.
        When the link breaks without it, what arrived is kept. The bytes that complete the
        recording are answered once its digest is verified and both copies are durable.
        """
        recording_id = _named(recording)
        if content_type != tus.MEDIA_TYPE:
            raise _MediaTypeError(f"Content-Type must be {tus.MEDIA_TYPE}, got {content_type!r}")
        status = await self._uploads.append(
            recording_id,
            tus.number("Upload-Offset", upload_offset),
            _body(request),
            request.state.caller,
            length=tus.number("Content-Length", content_length) if content_length else None,
            checksum=tus.checksum(upload_checksum),
        )
        return Response(status_code=204, headers=_place(status))

    async def terminate(self, request: Request, recording: str) -> Response:
        """Forget a partial upload and its bytes; a whole recording is kept."""
        await self._uploads.terminate(_named(recording), request.state.caller)
        return Response(status_code=204)

    async def override(
        self,
        request: Request,
        recording: str,
        x_http_method_override: Annotated[str | None, Header()] = None,
    ) -> Response:
        """Do what X-HTTP-Method-Override says, for clients whose network lets no PATCH through."""
        if x_http_method_override == "DELETE":
            return await self.terminate(request, recording)
        if x_http_method_override != "PATCH":
            raise tus.HeaderError(
                f"POST here needs X-HTTP-Method-Override PATCH or DELETE, "
                f"got {x_http_method_override!r}"
            )
        get = request.headers.get
        return await self.append(
            request,
            recording,
            content_type=get("content-type"),
            content_length=get("content-length"),
            upload_offset=get("upload-offset"),
            upload_checksum=get("upload-checksum"),
        )


async def _discover() -> Response:
    """Say which version and extensions of tus are spoken here."""
    headers = {
        "Tus-Version": tus.VERSION,
        "Tus-Extension": tus.EXTENSIONS,
        "Tus-Max-Size": str(UPLOAD_BYTES_MAX),
        "Tus-Checksum-Algorithm": ",".join(tus.CHECKSUM_ALGORITHMS),
    }
    return Response(status_code=204, headers=headers)


async def _discover_one(recording: str) -> Response:
    """Say the same of one upload, whatever its name."""
    del recording
    return await _discover()


async def _require_version(tus_resumable: Annotated[str | None, Header()] = None) -> None:
    if tus_resumable != tus.VERSION:
        raise _VersionError(f"Tus-Resumable must be {tus.VERSION}, got {tus_resumable!r}")


async def _body(request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect as error:
        raise BrokenOffError("the connection broke off before the body's end") from error


def _named(recording: str) -> bytes:
    try:
        return tus.recording(recording)
    except tus.HeaderError as error:
        raise UnknownUploadError(str(error)) from error


def _place(status: UploadStatus) -> dict[str, str]:
    return {"Upload-Offset": str(status.offset), "Upload-Length": str(status.size)}


def _as_problem(error: WaysealError) -> Response:
    status, title = next(
        _PROBLEMS[kind]
        for kind in type(error).__mro__
        if issubclass(kind, WaysealError) and kind in _PROBLEMS
    )
    members: dict[str, str | int] = {}
    headers: dict[str, str] = {}
    match error:
        case DigestError():
            members = {"expected": error.expected.hex(), "actual": error.actual.hex()}
        case ConflictError():
            members = {"expected": error.expected, "actual": error.actual}
        case UnavailableError():
            headers = {"Retry-After": str(RETRY_AFTER_S)}
        case _VersionError():
            headers = {"Tus-Version": tus.VERSION}
    return problem(
        status,
        str(error),
        kind=f"urn:wayseal:problem:{title.lower().replace(' ', '-')}",
        title=title,
        members=members,
        headers=headers,
    )


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    titles = dict(_PROBLEMS.values())
    return {
        status: {"description": titles[status], "content": {PROBLEM: {}}} for status in statuses
    }
