"""Errors as RFC 9457 problem documents."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from contracts.errors import RejectedError, UnavailableError, WaysealError
from gateway.records.registry import NotOnLedgerError

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = "2"


class NotFoundError(RejectedError):
    """The requested thing does not exist."""


class GoneError(RejectedError):
    """The requested thing was here and was deleted.

    Attributes:
        members: Further members of the problem document.
    """

    def __init__(self, detail: str, members: Mapping[str, str | int]) -> None:
        super().__init__(detail)
        self.members = members


def problem(
    status: int,
    detail: str,
    *,
    kind: str = "about:blank",
    title: str | None = None,
    members: Mapping[str, str | int] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return a problem document.

    Args:
        status: HTTP status code.
        detail: Expected and actual, for people.
        kind: URI of the problem's type.
        title: The type in words; by default the phrase of the status.
        members: Further members of the document.
        headers: Further headers of the answer.
    """
    document = {
        "type": kind,
        "title": title or HTTPStatus(status).phrase,
        "status": int(status),
        "detail": detail,
        **(members or {}),
    }
    return JSONResponse(document, status, dict(headers or {}), media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Make every error of `app` a problem document."""

    @app.exception_handler(WaysealError)
    async def explain(_: Request, error: WaysealError) -> JSONResponse:
        if isinstance(error, NotFoundError | NotOnLedgerError):
            return problem(HTTPStatus.NOT_FOUND, str(error))
        if isinstance(error, GoneError):
            return problem(
                HTTPStatus.GONE,
                str(error),
                kind="urn:wayseal:problem:deleted",
                title="Deleted",
                members=error.members,
            )
        if isinstance(error, UnavailableError):
            busy = {"Retry-After": RETRY_AFTER_S}
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error), headers=busy)
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))

    @app.exception_handler(RequestValidationError)
    async def explain_request(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        detail = f"{place}: {first['msg']}, got {str(first.get('input'))[:80]!r}"
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail)

    @app.exception_handler(HTTPException)
    async def explain_status(_: Request, error: HTTPException) -> JSONResponse:
        return problem(error.status_code, str(error.detail), headers=error.headers)
