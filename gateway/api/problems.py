"""Errors as RFC 9457 problem documents."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.text import quoted
from gateway.records.registry import NotOnLedgerError

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = "2"
PATH_SHOWN: Final = 300  # two ids of 128 digits and the words around them


class Problem(BaseModel):
    """An error, RFC 9457; some types of it have further members."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="URI of the type; about:blank: the status says it all")
    title: str
    status: int
    detail: str = Field(description="expected and actual, for people")


Answers = dict[int | str, dict[str, Any]]
"""Descriptions of answers by status, as FastAPI takes them."""
CONTENT: Final = {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}}
"""The content of an error's answer, for OpenAPI."""
BINARY: Final = {"type": "string", "format": "binary"}
"""Any bytes, for OpenAPI."""


def errors(*statuses: int) -> Answers:
    """Return the description of these statuses for OpenAPI."""
    return {
        status: {"description": HTTPStatus(status).phrase, "content": CONTENT}
        for status in statuses
    }


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


ABSENT: Final = errors(HTTPStatus.NOT_FOUND)
"""The description of a route that may not find what its path or its query names."""


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
        got = "nothing" if first["type"] == "missing" else quoted(str(first.get("input")))
        if "password" in first["loc"]:
            got = "another one"
        detail = f"{place}: {first['msg']}, got {got}"
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail)

    @app.exception_handler(HTTPException)
    async def explain_status(request: Request, error: HTTPException) -> JSONResponse:
        detail = str(error.detail)
        if error.status_code == HTTPStatus.NOT_FOUND:  # only the router says it in this way
            detail = _no_route(request.url.path)
        return problem(error.status_code, detail, headers=error.headers)


def _no_route(path: str) -> str:
    """Say that a path is not a route; a redirect to the right one would be an empty success."""
    bare = path.rstrip("/")
    hint = (
        f"; write {quoted(bare, PATH_SHOWN)}, without a slash at the end"
        if bare and bare != path
        else ""
    )
    return f"expected a route of /openapi.json, got {quoted(path, PATH_SHOWN)}{hint}"
