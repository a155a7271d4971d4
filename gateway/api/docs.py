"""The API's description, for programs and for people; it needs no token."""

from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

from gateway.api.docspage import page

_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
}

router = APIRouter(include_in_schema=False)


@router.get("/openapi.json")
@router.get("/v1/openapi.json")
def described(request: Request) -> JSONResponse:
    """Return the description in OpenAPI 3.1."""
    return JSONResponse(_description(request))


@router.get("/docs")
def read(request: Request) -> HTMLResponse:
    """Return the description as a page, which loads nothing from anywhere else."""
    return HTMLResponse(page(_description(request)), headers=_HEADERS)


def _description(request: Request) -> dict[str, Any]:
    made: dict[str, Any] = request.app.openapi()
    return made
