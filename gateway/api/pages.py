"""The pages at `/`: one document for all of their paths, and the files that it loads.

`web/` has their source, `gateway/web/` what is built from it. Nothing is loaded from elsewhere, and
the policy allows no inline script or style.
"""

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from importlib import resources
from typing import Annotated, Final

from fastapi import APIRouter, Header, Response

from gateway.api.conditions import is_known
from gateway.api.headers import PAGE_POLICY
from gateway.api.problems import NotFoundError

PATHS: Final = (
    "/",
    "/trips",
    "/trips/{trip}",
    "/lots",
    "/lot",
    "/deliveries",
    "/deliveries/{delivery}",
    "/parties",
    "/devices",
    "/storage",
    "/ledger",
    "/access",
    "/search",
)
"""Where a page is; `ROUTES` in web/src/lib/router.svelte.ts has the same ones."""
_VARIES: Final = {"Vary": "Accept-Encoding"}
_ASK_AGAIN: Final = "no-cache"
_NAMED_BY_CONTENT: Final = "public, max-age=31536000, immutable"
_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "md": "text/plain; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
_PACKED: Final = frozenset({"json", "woff2"})
"""Compressed already, or, as all JSON is, by the gateway for each answer."""
_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class _File:
    """A built file, as it is sent."""

    content: bytes
    packed: bytes | None
    media_type: str
    etag: str


async def document(
    accept_encoding: Annotated[str, Header()] = "",
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Return the document of all pages."""
    headers = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": _ASK_AGAIN}
    return _answer("", "index.html", headers, accept_encoding, if_none_match)


for _path in PATHS:
    router.add_api_route(_path, document, methods=["GET", "HEAD"])


@router.api_route("/assets/{name}", methods=["GET", "HEAD"])
async def asset(
    name: str,
    accept_encoding: Annotated[str, Header()] = "",
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Return a script, style or font; its name changes with its content."""
    headers = {"Cache-Control": _NAMED_BY_CONTENT}
    return _answer("assets", name, headers, accept_encoding, if_none_match)


@router.api_route("/map/{name}", methods=["GET", "HEAD"])
async def cell(
    name: str,
    accept_encoding: Annotated[str, Header()] = "",
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Return a part of the map."""
    headers = {"Cache-Control": _ASK_AGAIN}
    return _answer("map", name, headers, accept_encoding, if_none_match)


@router.api_route("/favicon.svg", methods=["GET", "HEAD"])
async def icon(
    accept_encoding: Annotated[str, Header()] = "",
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Return the icon."""
    headers = {"Cache-Control": _ASK_AGAIN}
    return _answer("", "favicon.svg", headers, accept_encoding, if_none_match)


@router.api_route("/licenses.md", methods=["GET", "HEAD"])
async def licences(
    accept_encoding: Annotated[str, Header()] = "",
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Return the licences of what the pages are made of."""
    headers = {"Cache-Control": _ASK_AGAIN}
    return _answer("", "licenses.md", headers, accept_encoding, if_none_match)


def _answer(
    folder: str, name: str, headers: dict[str, str], accepted: str, if_none_match: str | None
) -> Response:
    found = _file(folder, name)
    headers = _VARIES | headers | {"ETag": found.etag}
    if is_known(if_none_match, found.etag):
        return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    if found.packed is not None and "gzip" in accepted:
        headers["Content-Encoding"] = "gzip"
        return Response(found.packed, HTTPStatus.OK, headers, found.media_type)
    return Response(found.content, HTTPStatus.OK, headers, found.media_type)


@lru_cache(maxsize=256)
def _file(folder: str, name: str) -> _File:
    """Return a built file, which is read and compressed once.

    Raises:
        NotFoundError: Nothing has that name.
    """
    place = resources.files("gateway") / "web" / folder / name
    media_type = _TYPES.get(name.rpartition(".")[2])
    if not _NAME.fullmatch(name) or media_type is None or not place.is_file():
        raise NotFoundError(f"expected a file of the pages, got {folder}/{name[:128]}")
    content = place.read_bytes()
    is_packed = name.rpartition(".")[2] in _PACKED
    packed = None if is_packed else gzip.compress(content, 9, mtime=0)
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return _File(content, packed, media_type, etag)
